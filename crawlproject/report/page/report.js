// From data to page; where a link leads; what print and another scheme need.

import { showCharts } from "./charts.js";
import { Store } from "./data.js";
import { byId } from "./dom.js";
import { showOverview } from "./overview.js";
import { goAgain, readPlace } from "./place.js";
import { showSections } from "./sections.js";
import { showShape } from "./shape.js";
import { loadCharts, unpackedParts } from "./unpack.js";

async function start() {
  const [[head], parts, lists] = await Promise.all(["report", "pages", "list"].map(async (kind) => (await unpackedParts(kind)).map(JSON.parse)));
  const store = new Store(head, parts, lists);
  showOverview(head);
  const tables = showSections(store);
  byId("wait").hidden = true;
  byId("report").hidden = false;
  go(tables);
  addEventListener("hashchange", () => go(tables));
  addEventListener("click", followAgain);
  const echarts = await loadCharts();
  const charts = [...showCharts(echarts, head), showShape(echarts, head)].filter(Boolean);
  const redraw = () => charts.forEach((chart) => chart.draw());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  matchMedia("print").addEventListener("change", redraw);
  addEventListener("beforeprint", () => print(tables, charts, true));
  addEventListener("afterprint", () => print(tables, charts, false));
  document.documentElement.dataset.ready = "";
  prepare([...tables.values()].map(({ rows }) => rows));
}

/** While nobody does anything, so that the first letter that is typed need not wait. */
function prepare(lists) {
  if (!globalThis.requestIdleCallback) return;
  requestIdleCallback((deadline) => {
    while (lists.length && deadline.timeRemaining() > 5) if (lists[0].prepare(500)) lists.shift();
    if (lists.length) prepare(lists);
  });
}

function print(tables, charts, isPrinted) {
  for (const one of [...tables.values(), ...charts]) one.print(isPrinted);
}

/** To the place that the address names, and what it asks to see there. */
function go(tables) {
  const { name, settings } = readPlace();
  const node = name && byId(name);
  if (!node) return;
  tables.get(name)?.apply(settings);
  node.scrollIntoView();
  byId(`${name}-title`)?.focus({ preventScroll: true });
}

/** A link to where the reader is changes no address, so the browser tells nobody of it. */
function followAgain(event) {
  const link = event.target.closest?.('a[href^="#"]');
  const isElsewhere = event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey;
  if (!link || isElsewhere || link.hash !== location.hash) return;
  event.preventDefault();
  goAgain();
}

start().catch((error) => {
  byId("wait").textContent = `The report can't be shown: ${error.message}. It needs a browser of 2023 or later, and the whole file.`;
});
