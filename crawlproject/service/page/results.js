// The table of a crawl's pages, fifty at a time.

import { byId, element, reconcile, setText, show } from "./dom.js";
import { pageLines, statusBadge } from "./feeds.js";
import { ask, jobPath } from "./service.js";
import { isActive, milliseconds, number, size } from "./words.js";

const BATCH = 50;
const PAUSE_MS = 5000;

export class Results {
  constructor() {
    this.forget(null);
    byId("pages-more").addEventListener("click", () => this.more());
  }

  forget(job) {
    this.job = job;
    this.pages = new Map();
    // Where the last batch began: the last one of a running crawl gets longer, and is asked for again.
    this.after = 0;
    this.next = null;
    this.askedAt = -Infinity;
    this.pagesThen = 0;
    setText(byId("pages-error"), "");
  }

  /** Part of a turn of the poller, so that there is one request at a time. */
  async follow(job) {
    const isOther = job.id !== this.job?.id;
    if (isOther) this.forget(job);
    this.job = job;
    // Those of another crawl go at once.
    if (isOther) this.draw();
    const isShort = this.next === null && this.pages.size < BATCH && this.pagesThen !== (job.pages ?? 0);
    if (isShort && performance.now() > this.askedAt + PAUSE_MS) await this.load(this.after);
    this.draw();
  }

  async more() {
    const button = byId("pages-more");
    if (button.ariaDisabled === "true") return;
    button.ariaDisabled = "true";
    try {
      await this.load(this.next ?? this.after);
      setText(byId("pages-error"), "");
    } catch (error) {
      setText(byId("pages-error"), `${error.message}.`);
    }
    button.ariaDisabled = null;
    const hadFocus = document.activeElement === button;
    this.draw();
    // It was the last batch, and the button is gone.
    if (hadFocus && button.hidden) byId("pages-heading").focus({ preventScroll: true });
  }

  async load(after) {
    const { job } = this;
    this.askedAt = performance.now();
    const batch = await ask(jobPath(job.id, `pages?limit=${BATCH}&after=${after}`));
    // Somebody may have chosen another crawl meanwhile.
    if (job.id !== this.job.id) return;
    for (const page of batch.pages) this.pages.set(page.url, page);
    this.after = after;
    this.next = batch.next;
    this.pagesThen = job.pages;
  }

  draw() {
    const { job, pages } = this;
    reconcile(byId("pages"), pages.values(), JSON.stringify, pageRow);
    const total = Math.max(job.pages ?? 0, pages.size);
    setText(byId("pages-text"), pages.size < total ? `${number(pages.size)} of ${number(total)}` : number(total));
    show(byId("panel-pages"), pages.size > 0);
    show(byId("pages-more"), this.next !== null || (isActive(job) && pages.size < total));
  }
}

function pageRow(page) {
  const cell = (text) => element("td", { class: "number" }, text);
  return element(
    "tr", {},
    element("td", {}, statusBadge(page.status_code)),
    element("th", { scope: "row" }, pageLines(page)),
    cell(number(page.depth)), cell(milliseconds(page.fetch_ms)), cell(size(page.bytes)),
  );
}
