// Stop, kill, resume, delete. What can't be undone is asked for once more, in the page.

import { byId, setText, show } from "./dom.js";
import { ask, jobPath } from "./service.js";

// Stopping is quick unless a host is slow: who is in a hurry sooner than this would lose outputs for nothing.
const KILL_AFTER_MS = 10_000;

const QUESTIONS = {
  kill: ["Kill it? What is in flight is lost, and no output is written. Resume goes on from there.", "Kill it", "Wait"],
  delete: ["Delete this crawl with its pages, outputs and log? It can't be brought back.", "Delete it", "Keep it"],
};

const REQUESTS = {
  stop: (id) => ask("crawler/stop", "POST", { job_id: id, kill: false }),
  kill: (id) => ask("crawler/stop", "POST", { job_id: id, kill: true }),
  resume: (id) => ask(jobPath(id, "resume"), "POST", {}),
  delete: (id) => ask(`crawl/${encodeURIComponent(id)}`, "DELETE"),
};

export class Actions {
  /** `done(name, id)` is called after what somebody asked for has been taken. */
  constructor(done) {
    this.done = done;
    this.job = null;
    this.asked = null;
    this.stoppingSince = new Map();
    byId("stop").addEventListener("click", () => this.act("stop"));
    byId("resume").addEventListener("click", () => this.act("resume"));
    for (const name of Object.keys(QUESTIONS)) byId(name).addEventListener("click", () => this.question(name));
    byId("confirm-yes").addEventListener("click", () => this.act(this.asked));
    byId("confirm-no").addEventListener("click", () => this.close());
    byId("confirm").addEventListener("keydown", (event) => event.key === "Escape" && this.close());
  }

  show(job) {
    if (job.id !== this.job?.id) {
      this.close();
      setText(byId("action-error"), "");
    }
    this.job = job;
    const { status } = job;
    const offers = {
      stop: status === "queued" || status === "running",
      kill: status === "stopping" && this.stoppingFor(job.id) > KILL_AFTER_MS,
      resume: ["stopped", "killed", "failed"].includes(status),
      delete: ["finished", "stopped", "killed", "failed"].includes(status),
    };
    if (status !== "stopping") this.stoppingSince.delete(job.id);
    // It has ended, or runs again, while the question was open.
    if (this.asked && !offers[this.asked]) this.close();
    for (const [name, isOffered] of Object.entries(offers)) show(byId(name), isOffered);
  }

  stoppingFor(id) {
    const now = performance.now();
    if (!this.stoppingSince.has(id)) this.stoppingSince.set(id, now);
    return now - this.stoppingSince.get(id);
  }

  question(name) {
    const [text, yes, no] = QUESTIONS[name];
    this.asked = name;
    setText(byId("confirm-text"), text);
    setText(byId("confirm-yes"), yes);
    setText(byId("confirm-no"), no);
    show(byId("confirm"), true);
    byId("confirm-no").focus();
  }

  close() {
    const opener = this.asked && byId(this.asked);
    const hadFocus = byId("confirm").contains(document.activeElement);
    this.asked = null;
    show(byId("confirm"), false);
    if (hadFocus && opener && !opener.hidden) opener.focus();
  }

  async act(name) {
    const { id } = this.job;
    this.close();
    setText(byId("action-error"), "");
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      await REQUESTS[name](id);
      this.done(name, id);
    } catch (error) {
      setText(byId("action-error"), `${error.message}.`);
    }
    this.isBusy = false;
  }
}
