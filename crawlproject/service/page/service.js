// Talking to the service: one request, and asking again and again.

const PATIENCE_MS = 15_000;
const LONGEST_PAUSE_MS = 30_000;

/** It answered with an error, or (status 0) not at all. */
export class ServiceError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export async function ask(path, method = "GET", body = undefined) {
  const headers = body === undefined ? {} : { "Content-Type": "application/json" };
  const signal = AbortSignal.timeout(PATIENCE_MS);
  let response;
  try {
    response = await fetch(path, { method, headers, body: JSON.stringify(body), signal, cache: "no-store" });
  } catch {
    throw new ServiceError(0, "The service does not answer");
  }
  const answer = await response.json().catch(() => null);
  if (!response.ok || answer === null) {
    throw new ServiceError(response.status, answer?.error ?? `The service answered ${response.status}`);
  }
  return answer;
}

export const jobPath = (id, rest) => `crawler/jobs/${encodeURIComponent(id)}/${rest}`;

/**
 * Asks in turns, one request at a time: each of `tasks` has `run()` and `pause()`, the milliseconds until it is
 * due again. Nothing is asked while nobody sees the page, and less and less while nobody answers.
 */
export class Poller {
  constructor(tasks, report) {
    this.tasks = tasks.map((task) => ({ ...task, due: 0 }));
    this.report = report;
    this.failures = 0;
    this.isBusy = false;
    document.addEventListener("visibilitychange", () => this.wake());
  }

  /** Ask now: something has changed, or somebody looks again. */
  wake() {
    for (const task of this.tasks) task.due = 0;
    if (!this.isBusy) this.turn();
  }

  async turn() {
    clearTimeout(this.timer);
    if (document.hidden) return;
    this.isBusy = true;
    try {
      await this.runWhatIsDue();
      this.failures = 0;
      this.report(null);
    } catch (error) {
      if (!(error instanceof ServiceError)) console.error(error);
      this.failures += 1;
      this.report(error);
    }
    this.isBusy = false;
    this.timer = setTimeout(() => this.turn(), this.rest());
  }

  async runWhatIsDue() {
    for (const task of this.tasks) {
      if (task.due > performance.now()) continue;
      // Before it runs: who wakes us meanwhile wants it once more.
      task.due = Infinity;
      try {
        await task.run();
      } catch (error) {
        task.due = 0;
        throw error;
      }
      if (task.due) task.due = performance.now() + task.pause();
    }
  }

  rest() {
    if (this.failures) return Math.min(LONGEST_PAUSE_MS, 1000 * 2 ** this.failures);
    return Math.max(0, Math.min(...this.tasks.map((task) => task.due)) - performance.now());
  }
}
