// Leafing through the rows of a list: so a page has few of them, however many there are.

import { element, on } from "./dom.js";
import { number } from "./words.js";

const SIZES = [10, 25, 50, 100];

export class Pager {
  constructor(draw) {
    this.draw = draw;
    this.count = 0;
    this.start = 0;
    this.size = SIZES[0];
    // While it is printed.
    this.printed = null;
    this.text = element("span", { class: "soft" });
    const button = (label, sign, go) => on(element("button", { type: "button", class: "small", "aria-label": label, title: label }, sign), "click", (event) => {
      if (event.currentTarget.getAttribute("aria-disabled") !== "true") this.go(go());
    });
    this.back = [button("First rows", "«", () => 0), button("Previous rows", "‹", () => this.start - this.size)];
    this.on = [button("Next rows", "›", () => this.start + this.size), button("Last rows", "»", () => this.end)];
    this.select = element("select", { "aria-label": "Rows at once", class: "small" }, ...SIZES.map((size) => element("option", { value: size }, `${size} rows`)));
    on(this.select, "change", () => {
      this.size = Number(this.select.value);
      this.go(this.start);
    });
    this.node = element("div", { class: "pager" }, ...this.back, this.text, ...this.on, this.select);
  }

  get first() {
    return this.printed === null ? this.start : 0;
  }

  get last() {
    return Math.min(this.count, this.first + (this.printed ?? this.size));
  }

  /** Where the last rows begin. */
  get end() {
    return Math.max(0, Math.floor((this.count - 1) / this.size) * this.size);
  }

  reset(count) {
    this.count = count;
    this.start = 0;
    this.update();
  }

  go(start) {
    this.start = Math.min(Math.max(0, Math.floor(start / this.size) * this.size), this.end);
    this.update();
    this.draw();
  }

  show(printed) {
    this.printed = printed;
    this.update();
    this.draw();
  }

  update() {
    this.node.hidden = this.count <= SIZES[0];
    this.text.textContent = `${number(this.first + 1)}–${number(this.last)} of ${number(this.count)}`;
    for (const one of this.back) one.setAttribute("aria-disabled", String(this.start === 0));
    for (const one of this.on) one.setAttribute("aria-disabled", String(this.start >= this.end));
  }
}
