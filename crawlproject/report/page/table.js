// The one table for all lists: sorted by its columns, searched, filtered, paged, opened row by row.

import { cellOf } from "./cells.js";
import { saveCsv } from "./csv.js";
import { detailsOf, hasDetails } from "./details.js";
import { element, on, visible } from "./dom.js";
import { Filters } from "./filters.js";
import { Pager } from "./pager.js";
import { RESERVED, keepPlace } from "./place.js";
import { Rows, isNumeric, isSortable } from "./rows.js";
import { number, plural } from "./words.js";

const PRINTED = 30;

export class Table {
  constructor(list) {
    this.list = list;
    this.rows = new Rows(list);
    this.shown = new Set(list.columns.filter(({ is_aside: isAside, kind }) => !isAside && kind !== "urls").map(({ name }) => name));
    this.title = element("h3", { id: `${list.name}-title`, tabindex: "-1" }, list.title, " ", element("span", { class: "count" }, number(list.total)));
    this.node = element("section", { class: "list", id: list.name, "aria-labelledby": `${list.name}-title` }, this.title);
    if (list.count === 0) {
      this.node.classList.add("is-empty");
      this.node.append(element("p", { class: list.is_check ? "nothing passed" : "nothing" }, list.empty || "Nothing here."));
      return;
    }
    this.build();
    this.show();
  }

  build() {
    const { list } = this;
    this.filters = new Filters(this.rows, () => this.changed());
    this.found = element("p", { class: "found soft", role: "status" });
    this.clear = on(element("button", { type: "button", class: "small", hidden: true }, "Clear filters"), "click", () => this.filters.clear());
    const csv = on(element("button", { type: "button", class: "small", title: "The rows as they are filtered now" }, "CSV"), "click", () => saveCsv(list, this.current));
    this.head = element("tr");
    this.body = element("tbody");
    this.scroll = element(
      "div", { class: "scroll", role: "region", tabindex: "0", "aria-labelledby": `${list.name}-title` },
      element("table", {}, element("caption", { class: "hidden" }, list.title), element("thead", {}, this.head), this.body),
    );
    this.pager = new Pager(() => this.draw());
    const cut = list.total > list.count ? `There are ${number(list.total)}; the first ${number(list.count)} of them are in this report.` : "";
    this.node.append(
      ...(list.lead ? [element("p", { class: "lead" }, list.lead)] : []),
      ...(cut ? [element("p", { class: "note" }, cut)] : []),
      element("div", { class: "tools" }, this.filters.node, this.found, element("div", { class: "buttons" }, this.columnMenu(), this.clear, csv)),
      this.scroll, this.pager.node,
    );
    this.drawHead();
  }

  // --- what is shown

  /** Settings of an address: a search, filters, an order. */
  apply(settings) {
    if (!this.body) return;
    const { q = "", sort = "", path = "", url = "" } = settings;
    const chosen = Object.fromEntries(Object.entries(settings).filter(([name]) => !RESERVED.includes(name) && this.list.column(name)));
    Object.assign(this.rows, { query: q, sort, path, url, chosen });
    this.show();
  }

  changed() {
    const { query: q, sort, path, url, chosen } = this.rows;
    keepPlace(this.list.name, { ...chosen, path, url, q, sort });
    this.show();
  }

  show() {
    this.current = this.rows.found();
    this.filters.update();
    this.clear.hidden = !this.filters.isActive;
    const all = plural(this.list.count, "row");
    this.found.textContent = this.filters.isActive ? `${number(this.current.length)} of ${all}` : all;
    this.pager.reset(this.current.length);
    this.drawSorting();
    this.draw();
  }

  draw() {
    const rows = this.current.slice(this.pager.first, this.pager.last);
    this.body.replaceChildren(...rows.map((row) => this.rowOf(row)));
    if (!rows.length) {
      const words = element("td", { colspan: this.head.children.length, class: "nothing" }, "No row matches. Clear the filters to see all.");
      this.body.append(element("tr", {}, words));
    }
  }

  // --- head

  drawHead() {
    const columns = this.visible();
    this.heads = new Map(columns.map((column) => [column.name, this.headOf(column)]));
    const opener = hasDetails(this.list) ? [element("th", { class: "opener" }, element("span", { class: "hidden" }, "Details"))] : [];
    this.head.replaceChildren(...opener, ...this.heads.values());
    this.drawSorting();
  }

  headOf(column) {
    const attributes = { scope: "col", class: isNumeric(column) ? "number" : null, title: column.hint };
    if (!isSortable(column)) return element("th", attributes, column.label);
    const button = element("button", { type: "button", class: "sort" }, column.label);
    return element("th", attributes, on(button, "click", () => {
      const { name } = column;
      // Of numbers, most people want the largest first.
      const [first, second] = isNumeric(column) ? [`-${name}`, name] : [name, `-${name}`];
      this.rows.sort = this.rows.sort === first ? second : this.rows.sort === second ? "" : first;
      this.changed();
    }));
  }

  drawSorting() {
    const { sort } = this.rows;
    for (const [name, head] of this.heads) {
      const is = sort === name ? "ascending" : sort === `-${name}` ? "descending" : null;
      if (is) head.setAttribute("aria-sort", is);
      else head.removeAttribute("aria-sort");
    }
  }

  visible() {
    return this.list.columns.filter(({ name }) => this.shown.has(name));
  }

  /** Where there are more columns than room. */
  columnMenu() {
    const offered = this.list.columns.filter(({ kind, name }) => kind !== "page" && name !== "sources");
    if (this.list.name !== "pages") return null;
    const boxes = offered.map(({ name, label }) => {
      const box = element("input", { type: "checkbox", checked: this.shown.has(name) });
      on(box, "change", () => {
        this.shown[box.checked ? "add" : "delete"](name);
        this.drawHead();
        this.draw();
      });
      return element("label", {}, box, ` ${label}`);
    });
    return element("details", { class: "menu" }, element("summary", { class: "button small" }, "Columns"), element("div", {}, ...boxes));
  }

  // --- rows

  rowOf(row) {
    const columns = this.visible();
    const cells = columns.map((column, place) => {
      const attributes = { class: isNumeric(column) ? "number" : column.is_filter && column.kind === "text" ? "short" : null };
      const isHead = place === 0;
      return element(isHead ? "th" : "td", isHead ? { ...attributes, scope: "row" } : attributes, cellOf(this.list, column, row));
    });
    if (!hasDetails(this.list)) return element("tr", {}, ...cells);
    const opener = element("button", { type: "button", class: "open", "aria-expanded": "false", "aria-label": `Details of ${nameOf(this.list, columns[0], row)}` });
    const line = element("tr", {}, element("td", { class: "opener" }, opener), ...cells);
    on(opener, "click", () => this.toggle(line, opener, row));
    return line;
  }

  toggle(line, opener, row) {
    const isOpen = opener.getAttribute("aria-expanded") === "true";
    opener.setAttribute("aria-expanded", String(!isOpen));
    if (isOpen) line.nextSibling.remove();
    else line.after(element("tr", { class: "details" }, element("td", { colspan: line.children.length }, detailsOf(this.list, row, this.shown))));
  }

  /** On paper nobody can leaf: some more rows, and no more. */
  print(isPrinted) {
    this.pager?.show(isPrinted ? PRINTED : null);
  }
}

/** What a row is called. */
function nameOf(list, column, row) {
  const value = column.value(row);
  const isUrl = column.kind === "page" || column.kind === "url";
  return visible(isUrl ? list.store.shortUrl(value) : value).slice(0, 100);
}
