// The list of crawls, newest first.

import { byId, element, foreign, reconcile, setAttribute, setText, show, svg } from "./dom.js";
import { duration, isActive, moment, number, plural, progress, rate, statusWord, subject } from "./words.js";

// A shape for each status, so that it is not told by colour alone.
const SHAPES = {
  queued: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M8 5v3l2 1.5",
  running: "M5 3.2v9.6L12.8 8z",
  stopping: "M5.5 3.5v9M10.5 3.5v9",
  finished: "M3 8.5l3.2 3.2L13 4.8",
  stopped: "M4 4h8v8H4z",
  failed: "M4 4l8 8M12 4l-8 8",
  killed: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M3.8 3.8l8.4 8.4",
};

export function showStatus(node, job) {
  const { status } = job;
  if (node.dataset.status === status) return;
  node.dataset.status = status;
  const icon = svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: SHAPES[status] ?? "" }));
  node.replaceChildren(icon, statusWord(job));
}

export const addressOf = (id) => `#job/${encodeURIComponent(id)}`;

export function jobTime(job) {
  if (job.status === "queued") return `since ${moment(job.queued_at)}`;
  if (isActive(job)) return `since ${moment(job.started_at)}`;
  return moment(job.ended_at ?? job.started_at ?? job.queued_at);
}

export function showJobs(jobs, total, chosen) {
  reconcile(byId("jobs-list"), jobs, (job) => job.id, createItem, (item, job) => updateItem(item, job, chosen));
  show(byId("jobs-empty"), jobs.length === 0);
  show(byId("jobs-more"), total > jobs.length);
  setText(byId("jobs-toggle"), total ? `Crawls (${number(total)})` : "Crawls");
  setText(byId("sum"), summary(jobs));
}

function summary(jobs) {
  const running = jobs.filter((job) => job.status === "running" || job.status === "stopping");
  const queued = jobs.filter((job) => job.status === "queued").length;
  if (!running.length && !queued) return "Nothing runs";
  const speed = running.reduce((sum, job) => sum + (job.pages_per_second ?? 0), 0);
  return `${number(running.length)} running · ${number(queued)} queued · ${rate(speed)} pages/s`;
}

function createItem(job) {
  const top = element("span", { class: "job-top" }, element("span", { class: "status" }), element("span", { class: "soft" }));
  const bar = element("span", { class: "progress small", "aria-hidden": "true" }, element("span", { class: "progress-done" }));
  const name = foreign(subject(job), { class: "job-name" });
  const numbers = element("span", { class: "soft job-numbers" });
  return element("li", {}, element("a", { href: addressOf(job.id) }, top, name, bar, numbers));
}

function updateItem(item, job, chosen) {
  const link = item.firstChild;
  const [top, , bar, numbers] = link.children;
  setAttribute(link, "aria-current", job.id === chosen ? "page" : null);
  showStatus(top.firstChild, job);
  setText(top.lastChild, jobTime(job));
  const { percent } = progress(job);
  bar.hidden = !isActive(job) || job.status === "queued";
  bar.firstChild.style.width = `${percent}%`;
  setText(numbers, jobNumbers(job, percent));
}

function jobNumbers(job, percent) {
  const pages = plural(job.pages ?? 0, "page");
  if (job.status === "queued") return job.pages ? `${pages} so far` : "waits for its turn";
  if (isActive(job)) return `${pages} · ${rate(job.pages_per_second)} pages/s · ${percent} %`;
  return Number.isFinite(job.elapsed_seconds) ? `${pages} in ${duration(job.elapsed_seconds)}` : pages;
}
