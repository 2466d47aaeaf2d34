// What came last: pages, errors, skips. A list waits while somebody reads it.

import { byId, element, foreign, isRead, reconcile, show, siteLink } from "./dom.js";
import { errorWords, milliseconds, moment, skipWords, statusClass } from "./words.js";

export function showFeeds({ snapshot, skips }, isOtherJob) {
  const put = (id, items, keyOf, create) => showFeed(id, items, keyOf, create, isOtherJob);
  put("latest", snapshot?.latest_pages ?? [], (page) => page.url, pageItem);
  put("errors", snapshot?.latest_errors ?? [], (error) => `${error.at} ${error.url}`, errorItem);
  put("skips", skips, (skip) => skip.url, skipItem);
}

function showFeed(id, items, keyOf, create, isOtherJob) {
  const list = byId(id);
  const waits = !isOtherJob && isRead(list);
  list.classList.toggle("waits", waits);
  if (waits) return;
  reconcile(list, items, keyOf, create);
  show(byId(`${id}-empty`), items.length === 0);
}

export function statusBadge(status) {
  return element("span", { class: "badge", "data-class": statusClass(status ?? "") }, status ? String(status) : "none");
}

function pageItem(page) {
  const title = page.title ? foreign(page.title, { class: "title" }) : element("span", { class: "title soft" }, "no title");
  const facts = [`depth ${page.depth}`, milliseconds(page.fetch_ms)];
  const words = page.error ? [foreign(errorWords(page.error, page.status_code)), " · "] : [];
  return item(statusBadge(page.status_code), [title, siteLink(page.url, { class: "url one-line" }), meta(...words, facts.join(" · "))]);
}

function errorItem(error) {
  const words = foreign(errorWords(error.error, error.status_code), { class: "title" });
  return item(statusBadge(error.status_code), [words, siteLink(error.url), referrer(error.referrer), meta(moment(error.at))]);
}

function skipItem(skip) {
  const rule = skip.rule ? meta("rule ", foreign(skip.rule, { class: "code" })) : null;
  const words = foreign(skipWords(skip.reason), { class: "title" });
  return item(null, [words, rule, siteLink(skip.url), referrer(skip.referrer)]);
}

function item(badge, lines) {
  return element("li", {}, badge, element("div", { class: "lines" }, ...lines));
}

const meta = (...parts) => element("span", { class: "soft meta" }, ...parts);
const referrer = (url) => (url ? meta("linked from ", siteLink(url)) : null);
