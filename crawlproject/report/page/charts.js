// The charts, drawn by ECharts as SVG. What they show stands beside them as numbers, too.

import { byId, element, ownLink } from "./dom.js";
import { goTo, placeOf } from "./place.js";
import { duration, number, plural, rate, shortNumber } from "./words.js";

const MOST_DEPTHS = 24;
const TIME_STEPS = [0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];

/** Colours of the page, which are those of its scheme. */
export function colours() {
  const style = getComputedStyle(document.documentElement);
  const names = ["ink", "soft", "line", "panel", "raised", "accent", "done", "warn-fill", "bad-fill", "queued"];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

/** A chart that is drawn anew when its room or the scheme changes. */
export class Chart {
  /** ``printed``: how wide it may be on paper. */
  constructor(echarts, id, optionOf, printed = 296) {
    this.node = byId(id);
    this.printed = printed;
    this.optionOf = optionOf;
    this.chart = echarts.init(this.node, null, { renderer: "svg" });
    this.draw();
    new ResizeObserver(() => !this.isPrinted && this.chart.resize()).observe(this.node);
  }

  /** The room on paper is known only when it is too late to draw. */
  print(isPrinted) {
    this.isPrinted = isPrinted;
    this.chart.resize(isPrinted ? { width: this.printed } : { width: "auto" });
  }

  draw() {
    const { ink, panel, line } = colours();
    const tooltip = { renderMode: "richText", confine: true, backgroundColor: panel, borderColor: line, textStyle: { color: ink, fontSize: 13 } };
    this.chart.setOption({ animation: false, tooltip, ...this.optionOf(colours()) }, true);
  }
}

function barOption(labels, counts, fills, { soft, line }, title) {
  const axis = { axisLine: { lineStyle: { color: line } }, axisTick: { show: false }, axisLabel: { color: soft, fontSize: 12, hideOverlap: true } };
  return {
    grid: { left: 8, right: 8, top: 24, bottom: 4, containLabel: true },
    xAxis: { type: "category", data: labels, ...axis },
    yAxis: { type: "value", minInterval: 1, ...axis, axisLine: { show: false }, splitLine: { lineStyle: { color: line } }, axisLabel: { ...axis.axisLabel, formatter: shortNumber } },
    tooltip: { renderMode: "richText", trigger: "item", formatter: ({ name, value }) => `${title} ${name}: ${number(value)}` },
    series: [{
      type: "bar", barMaxWidth: 46, barCategoryGap: "22%", data: counts.map((value, place) => ({ value, itemStyle: { color: fills(place), borderRadius: [3, 3, 0, 0] } })),
      label: { show: counts.length <= 14, position: "top", color: soft, fontSize: 12, formatter: ({ value }) => (value ? shortNumber(value) : "") },
    }],
  };
}

export function showCharts(echarts, head) {
  const charts = [depthChart(echarts, head), timeChart(echarts, head)];
  if (head.speed.points.length > 1) charts.push(speedChart(echarts, head));
  else byId("speed").hidden = true;
  return charts;
}

function depthChart(echarts, { depths }) {
  const shown = depths.slice(0, MOST_DEPTHS);
  const labels = shown.map(([depth]) => String(depth));
  const counts = shown.map(([, count]) => count);
  byId("chart-depths").setAttribute("aria-label", `Pages by depth: ${shown.map(([depth, count]) => `${depth}: ${number(count)}`).join(", ")}`);
  byId("depth-rows").append(...depths.map(([depth, count]) => numberRow(ownLink(placeOf("pages", { depth }), {}, String(depth)), count)));
  const chart = new Chart(echarts, "chart-depths", (all) => barOption(labels, counts, () => all.done, all, "Depth"));
  chart.chart.on("click", ({ name }) => goTo(placeOf("pages", { depth: name })));
  return chart;
}

function timeChart(echarts, { times: { percentiles, steps, counts } }) {
  const labels = [...steps.map((step) => `< ${timeWords(step)}`), `≥ ${timeWords(steps.at(-1))}`];
  const last = counts.findLastIndex((count) => count > 0) + 1;
  const names = { p50: "half within", p90: "90 % within", p99: "99 % within" };
  byId("percentiles").append(...Object.entries(percentiles ?? {}).map(([name, value]) => (
    element("li", {}, element("span", { class: "soft" }, names[name]), ownLink(placeOf("pages", { sort: "-fetch_ms" }), {}, element("b", {}, `${number(value)} ms`)))
  )));
  byId("chart-times").setAttribute("aria-label", `Answers by the time they took: ${labels.slice(0, last).map((label, place) => `${label}: ${number(counts[place])}`).join(", ")}`);
  byId("time-rows").append(...labels.slice(0, last).map((label, place) => numberRow(label, counts[place])));
  const chart = new Chart(echarts, "chart-times", (all) => {
    const fill = (place) => (steps[place] <= 500 ? all.done : steps[place] <= 2000 ? all["warn-fill"] : all["bad-fill"]);
    return barOption(labels.slice(0, last), counts.slice(0, last), fill, all, "Took");
  });
  chart.chart.on("click", () => goTo("slowest"));
  return chart;
}

const timeWords = (value) => (value < 1000 ? `${value} ms` : `${value / 1000} s`);

const numberRow = (label, count) => element("tr", {}, element("th", { scope: "row" }, label), element("td", { class: "number" }, number(count)));

function speedChart(echarts, { speed: { points, seconds, pauses, answers } }) {
  const peak = Math.max(...points.map(([, value]) => value));
  const paused = pauses ? `; ${plural(pauses, "pause")} left out` : "";
  const words = `mean ${rate(answers / seconds)}, peak ${rate(peak)} pages a second${paused}`;
  byId("speed-words").textContent = words;
  byId("chart-speed").setAttribute("aria-label", `Pages a second over ${duration(seconds)}: ${words}`);
  return new Chart(echarts, "chart-speed", ({ soft, line, done }) => ({
    grid: { left: 8, right: 30, top: 16, bottom: 4, containLabel: true },
    xAxis: { type: "value", min: 0, max: seconds, interval: TIME_STEPS.find((step) => seconds / step <= 6) ?? seconds / 4, splitLine: { show: false }, axisLine: { lineStyle: { color: line } }, axisLabel: { color: soft, fontSize: 12, hideOverlap: true, formatter: (value) => (value ? duration(value) : "0") } },
    yAxis: { type: "value", min: 0, splitLine: { lineStyle: { color: line } }, axisLabel: { color: soft, fontSize: 12, formatter: shortNumber } },
    tooltip: { renderMode: "richText", trigger: "axis", formatter: ([{ value: [at, value] }]) => `${duration(at)}: ${rate(value)} pages/s` },
    series: [{ type: "line", data: [[0, points[0][1]], ...points], showSymbol: false, lineStyle: { color: done, width: 2 }, itemStyle: { color: done }, areaStyle: { color: done, opacity: 0.16 } }],
  }));
}
