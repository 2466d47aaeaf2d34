// The shape of the site: its folders, as large as the number of their pages, red where many are broken.

import { Chart } from "./charts.js";
import { byId, element, foreign, ownLink, visible } from "./dom.js";
import { placeOf } from "./place.js";
import { number, plural, share } from "./words.js";

// The part of broken and blocked pages up to which a folder is fine, and beyond which it is bad.
const FINE = 0.02;
const BAD = 0.1;

export function shapePanel() {
  const legend = ["fine", "some", "many"].map((kind) => element("li", {}, element("span", { class: `swatch is-${kind}` }), LEGEND[kind]));
  return element(
    "div", { class: "panel shape" },
    element("p", { class: "lead" }, "Folders by the number of pages below them. Choose one to look into it; its pages are listed below."),
    element("ul", { class: "legend" }, ...legend),
    element("div", { class: "chart", id: "chart-shape", role: "img" }),
    element("p", { class: "chosen", id: "shape-chosen", role: "status" }),
  );
}

const LEGEND = { fine: "up to 2 % of the pages broken or blocked", some: "up to 10 %", many: "more" };

export function showShape(echarts, { shape }) {
  if (!shape.length) return null;
  // Most sites have one host, which then need not be said.
  const [only] = shape;
  const root = shape.length === 1 ? `${only.name}/` : "";
  const nodes = shape.length === 1 ? inner(only, root) : shape.map((host) => nodeOf(host, `${host.name}/`));
  const top = shape.length === 1 ? only.name : "all hosts";
  byId("chart-shape").setAttribute("aria-label", `Folders of the site: ${nodes.slice(0, 12).map(({ name, value }) => `${name} ${number(value)}`).join(", ")}. The list below has them all.`);
  const chart = new Chart(echarts, "chart-shape", (all) => treemapOption(nodes, top, all), 650);
  chart.chart.on("click", ({ data }) => {
    if (!data?.prefix) return;
    choose(data);
    if (data.children) chart.chart.dispatchAction({ type: "treemapRootToNode", seriesIndex: 0, targetNodeId: data.id });
  });
  return chart;
}

function nodeOf(folder, prefix) {
  const node = { id: prefix, name: visible(folder.name), value: folder.pages, failed: folder.failed, prefix };
  if (folder.folders) node.children = inner(folder, prefix);
  return node;
}

function inner(folder, prefix) {
  const nodes = (folder.folders ?? []).map((one) => (one.rest
    ? { name: plural(one.rest, "other folder"), value: one.pages, failed: one.failed, prefix }
    : nodeOf(one, `${prefix}${one.name}`)));
  const failed = folder.failed - nodes.reduce((sum, node) => sum + node.failed, 0);
  const own = folder.folders ? folder.own : folder.pages;
  if (own) nodes.push({ name: "pages here", value: own, failed, prefix });
  return nodes;
}

function choose({ name, value, failed, prefix }) {
  const words = failed ? `, ${number(failed)} of them broken or blocked (${share(failed / value)})` : "";
  byId("shape-chosen").replaceChildren(
    foreign(prefix, { class: "url" }), `: ${plural(value, "page")}${words}. `,
    ownLink(placeOf("pages", { path: prefix }), {}, `List the pages below ${name}`),
  );
}

function treemapOption(nodes, top, { ink, soft, panel, raised, done, "warn-fill": warn, "bad-fill": bad }) {
  const coloured = (node) => ({
    ...node,
    itemStyle: { color: node.failed / node.value > BAD ? bad : node.failed / node.value > FINE ? warn : done },
    ...(node.children ? { children: node.children.map(coloured) } : {}),
  });
  const label = { show: true, color: "#fff", fontSize: 13, lineHeight: 18, overflow: "truncate", formatter: ({ name, value }) => `${name}\n${number(value)}` };
  return {
    tooltip: { renderMode: "richText", confine: true, formatter: ({ name, value, data }) => `${name}: ${plural(value, "page")}${data?.failed ? `, ${number(data.failed)} broken or blocked` : ""}` },
    series: [{
      type: "treemap", name: visible(top), data: nodes.map(coloured), leafDepth: 2, roam: false, nodeClick: "link",
      left: 0, right: 0, top: 0, bottom: 34, visibleMin: 300, childrenVisibleMin: 9000, label,
      upperLabel: { show: true, height: 22, color: ink, fontSize: 12, formatter: ({ name, value }) => `${name} ${number(value)}` },
      breadcrumb: { bottom: 0, left: 0, height: 24, itemStyle: { color: raised, borderColor: raised, shadowBlur: 0, textStyle: { color: ink } }, emphasis: { itemStyle: { color: soft, textStyle: { color: panel } } } },
      itemStyle: { borderColor: panel, borderWidth: 1, gapWidth: 2 },
      levels: [
        { itemStyle: { borderColor: panel, borderWidth: 0, gapWidth: 4 }, upperLabel: { show: false } },
        { itemStyle: { borderColor: raised, borderWidth: 3, gapWidth: 2 } },
        { itemStyle: { borderColor: panel, borderWidth: 0, gapWidth: 1 } },
      ],
    }],
  };
}
