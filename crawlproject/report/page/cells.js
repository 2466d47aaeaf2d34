// One value of a list, as it stands in a table.

import { element, foreign, ownLink, siteLink } from "./dom.js";
import { filledIn } from "./place.js";
import { optionOf } from "./rows.js";
import { answerClass, iso, milliseconds, moment, number, rank, share, size } from "./words.js";

const NUMBERS = { number, bytes: size, ms: milliseconds, share, rank };

export function cellOf(list, column, row) {
  const value = column.value(row);
  const { store } = list;
  if (value === null || value === undefined || value === "") return list.columns[0] === column ? "none" : "";
  if (column.kind === "page") return pageLines(store, value);
  if (column.kind === "url") return siteLink(store.url(value), store.shortUrl(value));
  if (column.kind === "urls") return number(value.length);
  if (column.kind === "time") return timeOf(value);
  if (column.kind === "answer") return answerBadge(value);
  if (column.kind === "yes") return value ? "yes" : "no";
  const words = NUMBERS[column.kind]?.(value);
  if (words !== undefined) return column.link && value ? linked(list, column, row, words) : words;
  return foreign(Array.isArray(value) ? value.join("; ") : value);
}

function linked(list, column, row, words) {
  const valueOf = (name) => {
    const other = list.column(name);
    const value = other.value(row);
    return other.kind === "url" ? list.store.url(value) : optionOf(value);
  };
  return ownLink(filledIn(column.link, valueOf), {}, words);
}

/** A page by its title, and its URL; what is no page of this crawl has a URL alone. */
export function pageLines(store, ref) {
  const title = store.title(ref);
  return element(
    "div", { class: "lines" },
    title ? foreign(title, { class: "title" }) : null,
    siteLink(store.url(ref), store.shortUrl(ref)),
  );
}

export function timeOf(seconds) {
  const exact = iso(seconds);
  return element("time", { datetime: exact, title: exact }, moment(seconds));
}

/** '404 Not Found': the number stands out; where there is none, the words do. */
export function answerBadge(answer) {
  const [, status, words] = /^(\d{3})?\s*(.*)$/s.exec(answer);
  const badge = element("b", { class: "badge", "data-class": answerClass(answer) }, status ?? foreign(words));
  return element("span", { class: "answer" }, badge, status && words && words !== "OK" ? foreign(words) : null);
}
