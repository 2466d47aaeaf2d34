// A list as a file for spreadsheets, as it is filtered now.

import { download } from "./dom.js";
import { iso } from "./words.js";

// As exports/cells.py has it, and tests/exports/cells.json: what a spreadsheet would run as a formula
// gets a quote in front, also behind what other spreadsheets split rows by.
const BLANK = "\\x00-\\x20\\x7f-\\xa0\\xad\\u061c\\u1680\\u180e\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u3000" +
  "\\ufe00-\\ufe0f\\ufeff\\u{e0000}-\\u{e007f}";
const SIGN = "=+\\-@＝＋－＠﹦﹢﹣﹫";
const FORMULA = new RegExp(`^(?:[${BLANK}]*[${SIGN}]|[\\t\\r])`, "u");
const INNER = new RegExp(`([;|\\u061b][${BLANK}"]*)(?=[${SIGN}])`, "gu");
const NUMBER = /^[+-]?\d{1,300}(\.\d{1,300})?([eE][+-]?\d{1,3})?$/;
const BREAK = /\r\n|[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]/g;
const CONTROL = /[\x00-\x1f\x7f-\x9f]/g;

export function saveCsv(list, rows) {
  download(`${list.name}.csv`, csvOf(list, rows), "text/csv;charset=utf-8");
}

export function csvOf(list, rows) {
  const columns = list.columns.filter(({ kind, name }) => kind !== "urls" || name === list.unrolled);
  const isPages = columns.some(({ kind }) => kind === "page") && list.name !== "pages";
  const header = columns.flatMap(({ name, kind }) => (kind === "page" && isPages ? [name, "title"] : [name]));
  const lines = [header.map(cell).join(",")];
  for (const row of rows) {
    const unrolled = list.unrolled ? list.column(list.unrolled).value(row) : [null];
    // A row without any is a row all the same.
    for (const ref of unrolled.length ? unrolled : [null]) {
      const cells = columns.flatMap((column) => cellsOf(list, column, row, ref, isPages));
      lines.push(cells.map(cell).join(","));
    }
  }
  // The mark at the beginning tells spreadsheets that it is UTF-8.
  return `\ufeff${lines.join("\r\n")}\r\n`;
}

function cellsOf(list, column, row, ref, isPages) {
  const { store } = list;
  if (column.kind === "urls") return [ref === null ? "" : store.url(ref)];
  const value = column.value(row);
  if (column.kind === "page") return isPages ? [store.url(value), store.title(value) ?? ""] : [store.url(value)];
  if (column.kind === "url") return [store.url(value)];
  if (column.kind === "time") return [value ? iso(value) : ""];
  if (column.kind === "yes") return [value ? "true" : "false"];
  return [Array.isArray(value) ? value.join("; ") : value ?? ""];
}

/** One cell: on one line, no formula, quoted where it must be. */
export function cell(value) {
  if (typeof value === "number") return String(value);
  const clean = value.replace(BREAK, " ").replace(CONTROL, "").replace(INNER, "$1'");
  const isFormula = (FORMULA.test(value) || FORMULA.test(clean)) && !NUMBER.test(value);
  const safe = isFormula ? `'${clean}` : clean;
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
