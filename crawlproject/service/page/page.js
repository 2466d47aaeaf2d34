// The live page: which crawl is shown (the part of the address behind #), and when the service is asked.

import { Actions } from "./actions.js";
import { byId, setText, show } from "./dom.js";
import { prepareForm } from "./form.js";
import { showJob } from "./job.js";
import { addressOf, showJobs } from "./jobs.js";
import { Results } from "./results.js";
import { Poller, ask, jobPath } from "./service.js";
import { isActive, moment, plural, statusWord, subject } from "./words.js";

const PAUSE_MS = { jobs: 2000, job: 1000, idle: 5000 };
// How many more are listed at a time, and how many the service names at most.
const JOBS_AT_ONCE = 50;
const MOST_JOBS = 500;

const state = {
  // The id of the crawl that is shown, or is to be.
  chosen: null,
  view: null,
  limit: JOBS_AT_ONCE,
  jobs: null,
  total: 0,
  live: null,
  // Somebody went to another view: the keyboard goes there too, once it is shown.
  takesFocus: false,
  heardAt: null,
};

const results = new Results();
const actions = new Actions(afterAction);
const poller = new Poller(
  [
    { run: refreshJobs, pause: () => (state.jobs?.some(isActive) ? PAUSE_MS.jobs : PAUSE_MS.idle) },
    { run: refreshJob, pause: () => (state.live && isActive(state.live.job) ? PAUSE_MS.job : PAUSE_MS.idle) },
  ],
  showTrouble,
);

// --- asking

async function refreshJobs() {
  const answer = await ask(`crawler/jobs?limit=${state.limit}`);
  announceChanges(answer.jobs);
  const isFirst = state.jobs === null;
  state.jobs = answer.jobs;
  state.total = answer.total;
  if (isFirst) route();
  drawJobs();
}

async function refreshJob() {
  const id = state.chosen;
  if (id === null) return;
  let live;
  try {
    live = await ask(jobPath(id, "live"));
  } catch (error) {
    // What is asked for was deleted a moment ago, and something else is shown.
    if (id !== state.chosen) return;
    if (error.status !== 404) throw error;
    state.live = null;
    setText(byId("missing-id"), id);
    showView("missing");
    return;
  }
  // Another one may have been chosen meanwhile.
  if (id !== state.chosen) return;
  state.live = live;
  showView("job");
  showJob(live);
  actions.show(live.job);
  drawTitle();
  await results.follow(live.job);
}

function showTrouble(error) {
  if (!error) state.heardAt = Date.now() / 1000;
  const since = state.heardAt ? ` Last heard at ${moment(state.heardAt)}.` : "";
  const words = error?.status === 0 || error?.status === undefined ? "The service does not answer" : error.message;
  // The same words again would be read out again.
  setText(byId("trouble"), error ? `${words}; trying again.${since}` : "");
}

// --- showing

function drawJobs() {
  showJobs(state.jobs, state.total, state.chosen);
  show(byId("welcome"), state.jobs.length === 0);
}

function drawTitle() {
  const job = state.view === "job" && state.live?.job;
  document.title = job ? `${statusWord(job)}: ${subject(job)}` : "Crawls";
}

// Where the keyboard goes.
const ENTRANCES = { job: "job-title", new: "crawl-url", missing: "missing-title" };

function showView(name) {
  state.view = name;
  for (const view of ["wait", "missing", "new", "job"]) byId(`view-${view}`).hidden = view !== name;
  drawTitle();
  if (!state.takesFocus) return;
  state.takesFocus = false;
  window.scrollTo(0, 0);
  byId(ENTRANCES[name]).focus({ preventScroll: true });
}

/** Changes of state are read out, numbers are not. */
function announceChanges(jobs) {
  const before = new Map(state.jobs?.map((job) => [job.id, job.status]));
  const changed = jobs.filter((job) => before.has(job.id) && before.get(job.id) !== job.status);
  const sentences = changed.map((job) => `${subject(job)}: ${statusWord(job)}, ${plural(job.pages ?? 0, "page")}.`);
  if (sentences.length) announce(sentences.join(" "));
}

const announce = (text) => setText(byId("announcer"), text);

// --- going places

function route() {
  const [, named] = /^#job\/(.+)$/.exec(location.hash) ?? [];
  closeList();
  if (named) return choose(decoded(named));
  const newest = state.jobs?.find((job) => job.status === "running") ?? state.jobs?.[0];
  if (location.hash !== "#new" && newest) {
    // Named from now on, so that the way back leads to the same one.
    history.replaceState(null, "", addressOf(newest.id));
    return choose(newest.id);
  }
  state.chosen = null;
  // Until the first answer nobody knows whether there is a crawl to show.
  showView(location.hash === "#new" || state.jobs ? "new" : "wait");
  if (state.jobs) drawJobs();
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function choose(id) {
  if (id === state.chosen && state.view === "job") state.takesFocus = false;
  state.chosen = id;
  if (state.jobs) drawJobs();
  poller.wake();
}

function afterAction(name, id) {
  if (name === "delete") {
    announce("The crawl was deleted.");
    state.jobs = state.jobs.filter((job) => job.id !== id);
    state.total -= 1;
    state.live = null;
    state.takesFocus = true;
    // In place of the address of what is gone.
    history.replaceState(null, "", "#");
    route();
  }
  poller.wake();
}

function closeList() {
  byId("jobs").classList.remove("is-open");
  byId("jobs-toggle").ariaExpanded = "false";
}

byId("jobs-toggle").addEventListener("click", () => {
  const isOpen = byId("jobs").classList.toggle("is-open");
  byId("jobs-toggle").ariaExpanded = String(isOpen);
});

byId("jobs-more").addEventListener("click", () => {
  state.limit = Math.min(state.limit + JOBS_AT_ONCE, MOST_JOBS);
  poller.wake();
});

byId("skip").addEventListener("click", (event) => {
  // The address says which crawl is shown.
  event.preventDefault();
  byId("main").focus();
});

window.addEventListener("hashchange", () => {
  state.takesFocus = true;
  route();
});

prepareForm((id) => {
  location.hash = addressOf(id);
});
route();
poller.wake();
