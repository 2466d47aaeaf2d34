// What came last: pages, errors, skips. A list waits while somebody reads it.

import { byId, element, foreign, isRead, reconcile, show, siteLink } from "./dom.js";
import { UNKNOWN, errorWords, milliseconds, moment, skipWords, statusClass } from "./words.js";

export function showFeeds({ snapshot, skips }, isOtherJob) {
  showFeed("latest", snapshot?.latest_pages ?? [], pageItem, isOtherJob);
  showFeed("errors", snapshot?.latest_errors ?? [], errorItem, isOtherJob);
  showFeed("skips", skips, skipItem, isOtherJob);
}

function showFeed(id, items, create, isOtherJob) {
  const list = byId(id);
  const waits = !isOtherJob && isRead(list);
  list.classList.toggle("waits", waits);
  if (waits) return;
  reconcile(list, items, JSON.stringify, create);
  show(byId(`${id}-empty`), items.length === 0);
}

export function statusBadge(status) {
  const attributes = { class: "badge", "data-class": statusClass(status ?? ""), title: status ? null : "no answer" };
  return element("span", attributes, status ? String(status) : UNKNOWN);
}

/** A page by its title, else by what went wrong. */
export function pageLines(page, ...more) {
  const error = page.error ? errorWords(page.error, page.status_code) : null;
  const title = foreign(page.title || error || "no title", { class: "title" });
  return element("div", { class: "lines" }, title, siteLink(page.url), page.title && error ? meta(foreign(error)) : null, ...more);
}

function pageItem(page) {
  const facts = meta(`depth ${page.depth} · ${milliseconds(page.fetch_ms)}`);
  return element("li", {}, statusBadge(page.status_code), pageLines(page, facts));
}

function errorItem(error) {
  const words = foreign(errorWords(error.error, error.status_code), { class: "title" });
  return item(statusBadge(error.status_code), words, siteLink(error.url), origin(error.referrer, moment(error.at)));
}

function skipItem(skip) {
  const rule = skip.rule ? meta("rule ", foreign(skip.rule, { class: "code" })) : null;
  const words = foreign(skipWords(skip.reason), { class: "title" });
  return item(null, words, rule, siteLink(skip.url), origin(skip.referrer));
}

const item = (badge, ...lines) => element("li", {}, badge, element("div", { class: "lines" }, ...lines));
const meta = (...parts) => element("span", { class: "soft meta" }, ...parts);

function origin(referrer, time = "") {
  if (!referrer) return time ? meta(time) : null;
  return element("span", { class: "soft meta from" }, time ? `${time}, linked from ` : "linked from ", siteLink(referrer));
}
