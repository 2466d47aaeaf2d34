// One crawl in detail: everything that `crawler/jobs/ID/live` tells.

import { DepthChart, SpeedChart, StripChart } from "./charts.js";
import { byId, element, foreign, ownPath, reconcile, setAttribute, setText, show, siteLink, svg, visible } from "./dom.js";
import { showFeeds } from "./feeds.js";
import { jobTime, showStatus } from "./jobs.js";
import {
  STATES, UNKNOWN, answerWords, duration, isActive, moment, number, otherSeeds, plural, progress, rate, seconds, size,
  statusClass, subject,
} from "./words.js";

const CLASSES = ["2xx", "3xx", "4xx", "5xx", "1xx", "other"];
const MAX_ANSWERS = 8;

const charts = {
  speed: new SpeedChart(byId("chart-speed"), byId("speed-text")),
  urls: new StripChart(byId("chart-urls"), "URLs by state", byId("legend-urls")),
  answers: new StripChart(byId("chart-answers"), "Answers by class", byId("legend-answers")),
  depths: new DepthChart(byId("chart-depths")),
};

let shown = null;

export function showJob(live) {
  const { job, snapshot } = live;
  const isOther = shown !== job.id;
  shown = job.id;
  if (isOther) showTitle(job);
  showStatus(byId("job-status"), job);
  setText(byId("job-when"), isActive(job) ? jobTime(job) : `ended ${jobTime(job)}`);
  showNote(job, snapshot);
  showFigures(job, snapshot);
  showProgress(job);
  showOutputs(job);
  showFacts(job, snapshot);
  const has = {
    snapshot: snapshot !== null,
    hosts: live.hosts.length > 0,
    skips: snapshot !== null || live.skips.length > 0,
  };
  for (const panel of document.querySelectorAll("[data-needs]")) show(panel, has[panel.dataset.needs]);
  showHosts(live.hosts, snapshot);
  showFeeds(live, isOther);
  if (snapshot) showCharts(job, snapshot);
}

function showTitle(job) {
  const others = otherSeeds(job);
  const seed = job.seeds?.[0];
  const name = seed ? siteLink(seed) : foreign(subject(job));
  byId("job-title").replaceChildren(name, ...(others ? [element("span", { class: "soft" }, ` ${others}`)] : []));
}

// --- how it is

function showNote(job, snapshot) {
  const text = note(job, snapshot);
  setText(byId("job-note"), visible(text));
  setAttribute(byId("job-note"), "data-kind", job.problem || snapshot?.problem ? "bad" : null);
  show(byId("job-note"), text !== "");
}

function note(job, snapshot) {
  const problem = job.problem ?? snapshot?.problem;
  if (problem) return problem;
  if (job.status === "queued") return "It waits for its turn: it starts when another crawl ends.";
  if (!isActive(job)) return "";
  const phase = snapshot?.phase ?? job.phase;
  if (phase === "writing") return "It writes its outputs.";
  if (job.status === "stopping" || phase === "stopping") return "It stops: what is in flight is finished, then the outputs are written.";
  return snapshot ? waiting(snapshot.waits ?? []) : "It is starting.";
}

function waiting(waits) {
  if (waits.length === 0) return "";
  const { host, reason, next_try_at: next, until } = waits[0];
  const others = waits.length > 1 ? ` ${plural(waits.length - 1, "other host")} wait, too.` : "";
  const end = until === null ? "" : `, and is given up at ${time(until)}`;
  return `It waits for ${host} (${reason}), which is tried again at ${time(next)}${end}.${others}`;
}

const time = (seconds) => new Date(seconds * 1000).toLocaleTimeString();

function showFigures(job, snapshot) {
  const figures = [
    ["Pages", number(job.pages)],
    ["Queued", number(job.queued)],
    ["Failed", number(job.failed)],
    ["Skipped", number(job.skipped)],
    isActive(job) ? ["Pages/s", rate(job.pages_per_second)] : ["Pages/s, mean", rate(meanSpeed(snapshot))],
    isActive(job) ? ["Time left", job.eta_seconds === null ? "unknown" : duration(job.eta_seconds)] : ["Received", size(snapshot?.bytes)],
    ["Elapsed", duration(job.elapsed_seconds)],
    ["Memory", size(snapshot?.memory_bytes)],
  ];
  const create = () => element("div", {}, element("dt"), element("dd"));
  let place = 0;
  reconcile(byId("figures"), figures, () => place++, create, (node, [label, value]) => {
    setText(node.firstChild, label);
    setText(node.lastChild, value);
    setAttribute(node, "data-is", label === "Failed" && job.failed > 0 ? "bad" : null);
  });
}

function meanSpeed(snapshot) {
  const [span, pages] = snapshot?.history.at(-1) ?? [];
  return span ? pages / span : undefined;
}

function showProgress(job) {
  const { settled, total, percent } = progress(job);
  const text = total ? `${number(settled)} of ${plural(total, "URL")} crawled, ${percent} %` : "No URL crawled yet";
  setText(byId("progress-text"), text);
  setAttribute(byId("progress"), "aria-valuenow", percent);
  setAttribute(byId("progress"), "aria-valuetext", text);
  byId("progress-done").style.width = `${percent}%`;
}

// --- what came out, and what was asked for

function showOutputs(job) {
  const files = job.outputs ?? [];
  reconcile(byId("outputs"), files, (file) => file.href, outputItem, (item, file) => setText(item.children[1], size(file.bytes)));
  show(byId("outputs-empty"), files.length === 0);
  setText(byId("outputs-empty"), isActive(job) ? "Outputs are written when the crawl ends." : "It has no outputs.");
}

function outputItem(file) {
  const href = ownPath(file.href);
  const name = element("a", { href, target: "_blank", rel: "noopener" }, file.name);
  const download = element("a", { class: "button", href, download: file.name, "aria-label": `Download ${file.name}` }, "Download");
  return element("li", {}, name, element("span", { class: "soft" }), download);
}

function showFacts(job, snapshot) {
  const facts = [
    ["job", job.id],
    ["queued", moment(job.queued_at)],
    ["started", moment(job.started_at)],
    ["ended", moment(job.ended_at)],
    ["runs", job.runs > 1 ? number(job.runs) : null],
    ["exit status", job.exit_status],
    ["reason", snapshot?.reason],
    ...Object.entries(job.arguments ?? {}).map(([name, value]) => [name, argumentText(value)]),
    ["log", job.log],
  ].filter(([, value]) => value !== null && value !== undefined && value !== UNKNOWN);
  reconcile(byId("facts"), facts, JSON.stringify, factItem);
}

const argumentText = (value) => (typeof value === "string" ? value : JSON.stringify(value));

function factItem([name, value]) {
  const log = () => element("a", { href: ownPath(value), target: "_blank", rel: "noopener" }, "Open the log");
  return element("div", {}, element("dt", {}, name), element("dd", {}, name === "log" ? log() : foreign(value)));
}

// --- charts and hosts

function showCharts(job, snapshot) {
  charts.speed.show(snapshot.history, isActive(job) ? snapshot.pages_per_second : null);
  charts.urls.show(STATES.map(([key, label]) => [key, label, snapshot.urls[key] ?? 0]));
  charts.depths.show(snapshot.depths);
  const classes = {};
  for (const [status, count] of Object.entries(snapshot.responses)) {
    classes[statusClass(status)] = (classes[statusClass(status)] ?? 0) + count;
  }
  charts.answers.show(CLASSES.filter((name) => classes[name]).map((name) => [name, name, classes[name]]));
  showAnswers(snapshot);
}

function showAnswers({ responses, errors }) {
  const rows = [
    ...Object.entries(responses).map(([status, count]) => [status, answerWords(status), count, statusClass(status)]),
    ...Object.entries(errors).map(([word, count]) => [UNKNOWN, word, count, "failed"]),
  ].filter(([, , count]) => count).sort((one, other) => other[2] - one[2]);
  const rest = rows.splice(MAX_ANSWERS);
  if (rest.length) rows.push(["…", plural(rest.length, "other"), rest.reduce((sum, row) => sum + row[2], 0), "other"]);
  const most = Math.max(1, ...rows.map(([, , count]) => count));
  reconcile(byId("answers"), rows, ([status, word]) => `${status} ${word}`, answerRow, (row, [, word, count]) => {
    setText(row.firstChild.lastChild, word);
    setAttribute(row.children[1].firstChild.firstChild, "width", `${Math.max(0.5, (100 * count) / most)}%`);
    setText(row.lastChild, number(count));
  });
}

function answerRow([status, , , kind]) {
  const bar = svg("svg", { class: "bar", "aria-hidden": "true" }, svg("rect", { class: `fill-${kind}`, height: "100%", rx: 2 }));
  const words = element("th", { scope: "row" }, element("b", {}, status), " ", foreign(""));
  return element("tr", {}, words, element("td", {}, bar), element("td", { class: "number" }));
}

function showHosts(hosts, snapshot) {
  // By name: in the order of their queues, rows would change places all the time.
  const sorted = [...hosts].sort((one, other) => (one.name < other.name ? -1 : 1));
  reconcile(byId("hosts"), sorted, (host) => host.name, hostRow, (row, host) => {
    setText(row.children[1], number(host.queued));
    setText(row.children[2], number(host.requests));
    setText(row.children[3], seconds(host.delay));
    const wait = host.ready_in < 0.05 ? "now" : seconds(Number(host.ready_in.toFixed(1)));
    setText(row.children[4], host.held ? `held, ${wait}` : wait);
    setAttribute(row, "data-is", host.held ? "held" : null);
  });
  const total = snapshot?.hosts.total ?? hosts.length;
  const held = snapshot?.hosts.held ?? 0;
  const words = total > hosts.length ? `${number(hosts.length)} of ${number(total)}` : number(total);
  setText(byId("hosts-text"), held ? `${words}, ${number(held)} held` : words);
}

function hostRow(host) {
  const cell = () => element("td", { class: "number" });
  return element("tr", {}, element("th", { scope: "row" }, foreign(host.name)), cell(), cell(), cell(), element("td"));
}
