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
    // Where to go on, and what the crawl was when we read.
    this.next = 0;
    this.pagesThen = 0;
    this.wasActive = false;
    this.readAt = -Infinity;
    setText(byId("pages-error"), "");
  }

  /** Part of a turn of the poller, so that there is one request at a time. */
  async follow(job) {
    const isOther = job.id !== this.job?.id;
    if (isOther) this.forget(job);
    this.job = job;
    // Those of another crawl go at once.
    if (isOther) this.draw();
    const hasRoom = isActive(job) ? this.pages.size < BATCH : true;
    if (this.isStale() && hasRoom && performance.now() > this.readAt + PAUSE_MS) {
      await this.read(Math.max(BATCH, this.pages.size));
    }
    this.draw();
  }

  /** There are others by now: of those that were found early, some are fetched late. */
  isStale() {
    return this.pagesThen !== (this.job.pages ?? 0) || (this.wasActive && !isActive(this.job));
  }

  async more() {
    const button = byId("pages-more");
    if (button.ariaDisabled === "true") return;
    button.ariaDisabled = "true";
    try {
      await this.read(this.pages.size + BATCH);
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

  /** As many rows: those that are missing, or all where some may have come in between. */
  async read(rows) {
    const { job } = this;
    const isAnew = this.isStale();
    const pages = new Map(isAnew ? [] : this.pages);
    let next = isAnew ? 0 : this.next;
    this.readAt = performance.now();
    while (next !== null && pages.size < rows) {
      const batch = await ask(jobPath(job.id, `pages?limit=${BATCH}&after=${next}`));
      for (const page of batch.pages) pages.set(page.url, page);
      next = batch.next;
    }
    // Somebody may have chosen another crawl meanwhile.
    if (job.id !== this.job.id) return;
    Object.assign(this, { pages, next, pagesThen: job.pages ?? 0, wasActive: isActive(job) });
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
