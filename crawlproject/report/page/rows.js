// Which rows of a list are shown, and in which order. No part of the page: values in, numbers of rows out.

const TEXTUAL = new Set(["page", "url", "text", "words", "answer", "lines"]);
const NUMBERED = new Set(["number", "bytes", "ms", "share", "rank", "time", "yes"]);

export const isSortable = ({ kind }) => kind !== "urls" && kind !== "lines";
export const isNumeric = ({ kind }) => NUMBERED.has(kind);

export class Rows {
  constructor(list) {
    this.list = list;
    this.query = "";
    // A beginning of URLs, and one URL.
    this.path = "";
    this.url = "";
    // Values by the name of their column.
    this.chosen = {};
    // The name of a column, with a minus before it: the largest first. Empty: as the list came.
    this.sort = "";
    // All that can be searched of each row, as one text.
    this.texts = [];
    this.orders = new Map();
    this.options = new Map();
  }

  /** The rows that are left, in their order. */
  found() {
    const { count } = this.list;
    const order = this.order();
    const tests = this.tests();
    const found = [];
    for (let place = 0; place < count; place += 1) {
      const row = order ? order[place] : place;
      if (tests.every((test) => test(row))) found.push(row);
    }
    return found;
  }

  tests() {
    const tests = [];
    for (const [name, wanted] of Object.entries(this.chosen)) {
      const column = this.list.column(name);
      if (!column) continue;
      tests.push((row) => optionsOf(column, row).includes(wanted));
    }
    const first = this.list.columns.find(({ kind }) => kind === "page" || kind === "url");
    const urlOf = (row) => this.list.store.url(first.value(row));
    if (this.path && first) tests.push((row) => urlOf(row).startsWith(this.path));
    if (this.url && first) tests.push((row) => urlOf(row) === this.url);
    const words = this.query.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length) {
      this.prepare(this.list.count);
      tests.push((row) => words.every((word) => this.texts[row].includes(word)));
    }
    return tests;
  }

  /** Put together what can be searched, of some more rows; whether that was all. */
  prepare(more) {
    const { list, texts } = this;
    const columns = list.columns.filter(({ kind, name }) => TEXTUAL.has(kind) && name !== "host");
    const end = Math.min(list.count, texts.length + more);
    for (let row = texts.length; row < end; row += 1) {
      texts.push(columns.map((column) => textOf(column, column.value(row), list.store)).join("\n").toLowerCase());
    }
    return texts.length === list.count;
  }

  order() {
    const name = this.sort.replace(/^-/, "");
    const column = this.list.column(name);
    if (!column || !isSortable(column)) return null;
    if (!this.orders.has(this.sort)) this.orders.set(this.sort, sorted(this.list, column, this.sort.startsWith("-")));
    return this.orders.get(this.sort);
  }

  /** The values of a column, each with how many rows have it, the most frequent first. */
  optionsOf(column) {
    if (this.options.has(column.name)) return this.options.get(column.name);
    const counts = new Map();
    for (let row = 0; row < this.list.count; row += 1) {
      for (const one of optionsOf(column, row)) counts.set(one, (counts.get(one) ?? 0) + 1);
    }
    const isCounted = isNumeric(column) && column.kind !== "yes";
    const options = [...counts].sort((one, other) => (isCounted ? one[0] - other[0] : other[1] - one[1]));
    this.options.set(column.name, options);
    return options;
  }
}

/** A value as it stands in a filter and in an address. */
export const optionOf = (value) => (value === null || value === undefined ? "" : String(value));

/** All that a row has in a column: of several words each, or that there is none. */
function optionsOf(column, row) {
  const value = column.value(row);
  if (column.kind !== "words") return [optionOf(value)];
  return value?.length ? value : [""];
}

/** What a value says; of a page its URL and its title. */
export function textOf(column, value, store) {
  if (column.kind === "page") return `${store.url(value)} ${store.title(value) ?? ""}`;
  if (column.kind === "url") return store.url(value);
  return Array.isArray(value) ? value.join(" ") : optionOf(value);
}

/** Rows by the values of a column; where there is none, last in both directions. */
function sorted(list, column, isDescending) {
  const sign = isDescending ? -1 : 1;
  const keys = new Array(list.count);
  for (let row = 0; row < list.count; row += 1) {
    const value = column.value(row);
    const isUrl = column.kind === "page" || column.kind === "url";
    keys[row] = isUrl ? list.store.url(value) : Array.isArray(value) ? value.join(" ") : value;
    if (keys[row] === "" || keys[row] === undefined) keys[row] = null;
    else if (typeof keys[row] === "string") keys[row] = keys[row].toLowerCase();
  }
  const order = Uint32Array.from({ length: list.count }, (_, row) => row);
  return order.sort((one, other) => {
    const [first, second] = [keys[one], keys[other]];
    if (first === second) return one - other;
    if (first === null) return 1;
    if (second === null) return -1;
    return first < second ? -sign : sign;
  });
}
