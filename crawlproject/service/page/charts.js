// Charts as inline SVG. Each says in its label what it shows; what it shows is text nearby, too.

import { element, reconcile, setAttribute, setText, svg } from "./dom.js";
import { duration, number, rate, shortNumber } from "./words.js";

// A rate is taken over as many seconds as in the live line of a terminal; over more in a long crawl, and
// where that would be a few pages only, which make a saw of the curve.
const WINDOW_SECONDS = 5;
const WINDOW_PAGES = 8;
const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];
const MAX_COLUMNS = 20;

/** Drawn for the width that it has: a viewBox would stretch its text. */
class Chart {
  constructor(node, title, height) {
    this.node = node;
    this.height = height;
    this.room = svg("g");
    node.append(svg("title", {}, title), this.room);
    setAttribute(node, "height", height);
    new ResizeObserver(() => this.fit()).observe(node);
  }

  show(data, label) {
    this.data = data;
    setAttribute(this.node, "aria-label", label);
    this.fit();
  }

  fit() {
    this.width = this.node.clientWidth;
    if (this.width && this.data) this.draw();
  }

  /** Shapes by key: [key, name, attributes, text]. */
  put(shapes) {
    const create = ([, name]) => svg(name);
    reconcile(this.room, shapes, ([key]) => key, create, (node, [, , attributes, text]) => {
      for (const [name, value] of Object.entries(attributes)) setAttribute(node, name, value);
      if (text !== undefined) setText(node, text);
    });
  }
}

/** [seconds, pages a second], from [seconds, pages]. */
export function rates(history) {
  const [span, pages] = history.at(-1) ?? [0, 0];
  const window = Math.max(WINDOW_SECONDS, span / 60, pages ? Math.min(span / 6, (WINDOW_PAGES * span) / pages) : 0);
  let first = 0;
  return history.slice(1).map(([at, count]) => {
    while (history[first + 1][0] <= at - window) first += 1;
    const [then, before] = history[first];
    return [at, at > then ? Math.max(0, count - before) / (at - then) : 0];
  });
}

export class SpeedChart extends Chart {
  constructor(node, text) {
    super(node, "Pages per second over time", 190);
    this.text = text;
  }

  show(history, now) {
    const points = rates(history);
    const [span, pages] = history.at(-1) ?? [0, 0];
    const peak = Math.max(0, ...points.map(([, value]) => value));
    const mean = span ? pages / span : 0;
    const words = `${now === null ? "" : `now ${rate(now)} · `}mean ${rate(mean)} · peak ${rate(peak)}`;
    setText(this.text, words);
    super.show({ points, span, top: niceTop(peak) }, `Pages per second over ${duration(span)}: ${words.replaceAll(" · ", ", ")}.`);
  }

  draw() {
    const { points, span, top } = this.data;
    const left = 36;
    const right = this.width - 10;
    const bottom = this.height - 22;
    const toX = (at) => left + (span ? at / span : 0) * (right - left);
    const toY = (value) => bottom - (value / top) * (bottom - 10);
    const shapes = [];
    for (let value = 0; value <= top; value += top / 2) {
      const y = Math.round(toY(value)) + 0.5;
      shapes.push([`line ${value}`, "line", { class: "rule", x1: left, x2: right, y1: y, y2: y }]);
      shapes.push([`value ${value}`, "text", { class: "end", x: left - 8, y: y + 4 }, shortNumber(value)]);
    }
    const step = TIME_STEPS.find((one) => span / one <= this.width / 90) ?? span;
    for (let at = 0; span && at <= span; at += step) {
      const side = at === 0 ? "start" : toX(at) > right - 20 ? "end" : "middle";
      const words = at ? duration(at) : "0";
      shapes.push([`time ${at}`, "text", { class: side, x: toX(at), y: this.height - 4 }, words]);
    }
    if (points.length > 1) {
      const line = points.map(([at, value]) => `${toX(at).toFixed(1)} ${toY(value).toFixed(1)}`).join("L");
      const [from, to] = [points[0], points.at(-1)].map(([at]) => `${toX(at).toFixed(1)} ${bottom}`);
      shapes.push(["area", "path", { class: "area", d: `M${from}L${line}L${to}Z` }]);
      shapes.push(["curve", "path", { class: "curve", d: `M${line}` }]);
    }
    this.put(shapes);
  }
}

/** The next number above that reads well and can be halved. */
function niceTop(peak) {
  if (peak <= 0) return 2;
  const unit = 10 ** Math.floor(Math.log10(peak));
  return [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].find((times) => times * unit >= peak) * unit;
}

/** Parts of a whole in one strip, with a legend: [key, label, count]. */
export class StripChart extends Chart {
  constructor(node, title, legend) {
    super(node, title, 14);
    this.legend = legend;
    this.name = title;
  }

  show(parts) {
    const words = parts.map(([, label, count]) => `${label} ${number(count)}`).join(", ");
    super.show(parts, `${this.name}: ${words || "none"}.`);
    reconcile(this.legend, parts, ([key]) => key, legendItem, (item, [, label, count]) => {
      setText(item.children[1], label);
      setText(item.children[2], number(count));
    });
  }

  draw() {
    const parts = this.data.filter(([, , count]) => count > 0);
    const total = parts.reduce((sum, [, , count]) => sum + count, 0);
    // What is there at all can be seen, however few they are.
    const room = this.width + 2 - 5 * parts.length;
    let x = 0;
    const shapes = parts.map(([key, , count]) => {
      const width = 3 + Math.max(0, room) * (count / total);
      const shape = [key, "rect", { class: `fill-${key}`, x, width, height: this.height, rx: 2 }];
      x += width + 2;
      return shape;
    });
    const nothing = ["nothing", "rect", { class: "fill-nothing", width: this.width, height: this.height, rx: 2 }];
    this.put(shapes.length ? shapes : [nothing]);
  }
}

function legendItem([key]) {
  const swatch = svg("svg", { class: "swatch", "aria-hidden": "true" }, svg("rect", { class: `fill-${key}` }));
  return element("li", {}, swatch, element("span"), element("b"));
}

/** Pages by depth, a column each. */
export class DepthChart extends Chart {
  constructor(node) {
    super(node, "Pages by depth", 280);
  }

  show(depths) {
    const columns = depthColumns(depths);
    const words = columns.map(([depth, count]) => `depth ${depth}: ${number(count)}`).join(", ");
    super.show(columns, `Pages by depth: ${words || "none yet"}.`);
  }

  draw() {
    const columns = this.data;
    const most = Math.max(1, ...columns.map(([, count]) => count));
    const step = Math.min(72, this.width / Math.max(1, columns.length));
    const bottom = this.height - 22;
    const shapes = [["base", "line", { class: "rule", x1: 0, x2: this.width, y1: bottom + 0.5, y2: bottom + 0.5 }]];
    columns.forEach(([depth, count], index) => {
      const height = count ? Math.max(2, (count / most) * (bottom - 22)) : 0;
      const middle = (index + 0.5) * step;
      const bar = { class: "fill-done", x: middle - step * 0.36, y: bottom - height, width: step * 0.72, height, rx: 2 };
      shapes.push([`bar ${depth}`, "rect", bar]);
      shapes.push([`depth ${depth}`, "text", { class: "middle", x: middle, y: this.height - 4 }, depth]);
      const words = step < 22 ? "" : step < 48 ? shortNumber(count) : number(count);
      shapes.push([`count ${depth}`, "text", { class: "middle strong", x: middle, y: bottom - height - 6 }, words]);
    });
    this.put(shapes);
  }
}

/** [depth, count] from 0 without gaps; those far down share the last column. */
function depthColumns(depths) {
  const deepest = Math.max(-1, ...Object.keys(depths).map(Number));
  const columns = [];
  for (let depth = 0; depth <= Math.min(deepest, MAX_COLUMNS); depth += 1) columns.push([String(depth), depths[depth] ?? 0]);
  if (deepest > MAX_COLUMNS) {
    const far = Object.entries(depths).filter(([depth]) => Number(depth) >= MAX_COLUMNS);
    columns[MAX_COLUMNS] = [`${MAX_COLUMNS}+`, far.reduce((sum, [, count]) => sum + count, 0)];
  }
  return columns;
}
