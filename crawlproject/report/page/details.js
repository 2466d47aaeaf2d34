// What a row has to say when it is opened: what there was no room for, and all that is known of its page.

import { cellOf, pageLines } from "./cells.js";
import { element, foreign, on, ownLink } from "./dom.js";
import { placeOf } from "./place.js";
import { number } from "./words.js";

const FIRST = 15;

export function hasDetails(list) {
  return list.columns.some(({ kind, is_aside: isAside }) => kind === "page" || isAside);
}

/** ``shown``: names of the columns that the row itself has. */
export function detailsOf(list, row, shown) {
  const facts = [];
  const told = new Set(shown);
  for (const column of list.columns) {
    if (!told.has(column.name)) facts.push(...factOf(list, column, row));
    told.add(column.name);
  }
  const page = list.pageOf(row);
  if (page !== null) facts.push(...pageFacts(list.store, page, told));
  if (!facts.length) facts.push(element("p", { class: "soft" }, "Nothing more is known of it."));
  return element("div", { class: "facts" }, ...facts);
}

function pageFacts(store, page, told) {
  const pages = store.lists.get("pages");
  const facts = pages.columns
    .filter(({ name }) => name !== "page" && !told.has(name))
    .flatMap((column) => factOf(pages, column, page));
  const redirects = told.has("way") ? [] : store.redirectsTo(page);
  if (redirects.length) facts.push(fact("Redirects that end here", refList(store, redirects, redirects.length), true));
  return facts;
}

function factOf(list, column, row) {
  const value = column.value(row);
  if (value === null || value === undefined || value === "" || value?.length === 0) return [];
  if (column.kind === "urls") {
    const total = column.name === "sources" ? inlinksOf(list, row) ?? value.length : value.length;
    return [fact(column.label, refList(list.store, value, total), true)];
  }
  if (column.kind === "lines") {
    return [fact(column.label, element("ul", {}, ...value.map((line) => element("li", {}, foreign(line)))), true)];
  }
  return [fact(column.label, cellOf(list, column, row), column.kind === "url" || column.name === "description")];
}

/** How many pages link there in all, of which some are named. */
function inlinksOf(list, row) {
  const column = list.column("linked") ?? list.column("inlinks");
  return column?.value(row);
}

function fact(label, content, isWide = false) {
  return element("div", { class: isWide ? "fact wide" : "fact" }, element("h4", {}, label), element("div", {}, content));
}

function refList(store, refs, total) {
  const items = refs.map((ref) => element("li", {}, pageLines(store, ref), inReport(store, ref)));
  const list = element("ul", { class: "refs" }, ...items.slice(0, FIRST));
  const rest = total > refs.length ? element("p", { class: "soft" }, `${number(refs.length)} of ${number(total)} are named here.`) : null;
  if (refs.length <= FIRST) return element("div", {}, list, rest);
  const more = on(element("button", { type: "button", class: "small" }, `Show ${number(refs.length - FIRST)} more`), "click", () => {
    list.append(...items.slice(FIRST));
    more.remove();
  });
  return element("div", {}, list, more, rest);
}

/** To the page's own row in the list of pages. */
function inReport(store, ref) {
  if (!store.isPage(ref)) return null;
  return ownLink(placeOf("pages", { url: store.url(ref) }), { class: "small-link", title: "Show it in the list of all pages" }, "show");
}
