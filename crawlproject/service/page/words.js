// Numbers, times and the crawler's own words, as a reader would say them.

const WHOLE = new Intl.NumberFormat("en");
const TENTHS = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const SHORT = new Intl.NumberFormat("en", { notation: "compact" });
const TIME = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

export const UNKNOWN = "–";

const orUnknown = (words) => (value) => (Number.isFinite(value) ? words(value) : UNKNOWN);

export const number = orUnknown((value) => WHOLE.format(Math.round(value)));
export const shortNumber = orUnknown((value) => SHORT.format(value));
export const rate = orUnknown((value) => (value < 9.95 ? TENTHS.format(value) : number(value)));
export const milliseconds = orUnknown((value) => `${number(value)} ms`);
export const seconds = orUnknown((value) => (value < 10 ? `${Number(value.toFixed(2))} s` : duration(value)));
export const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

export const size = orUnknown((bytes) => {
  if (bytes < 1000) return plural(bytes, "byte");
  let value = bytes;
  let unit = -1;
  while (value >= 999.5 && unit < 3) {
    value /= 1000;
    unit += 1;
  }
  return `${rate(value)} ${["kB", "MB", "GB", "TB"][unit]}`;
});

export const duration = orUnknown((value) => {
  const whole = Math.max(0, Math.round(value));
  const pairs = [[86400, "d", 3600, "h"], [3600, "h", 60, "min"], [60, "min", 1, "s"]];
  for (const [large, largeWord, small, smallWord] of pairs) {
    if (whole < large) continue;
    const rest = Math.floor((whole % large) / small);
    return `${Math.floor(whole / large)} ${largeWord}${rest ? ` ${rest} ${smallWord}` : ""}`;
  }
  return `${whole} s`;
});

/** The time of day; of another day, the day too. */
export function moment(value) {
  if (!value) return UNKNOWN;
  const date = new Date(typeof value === "number" ? value * 1000 : value);
  return date.toDateString() === new Date().toDateString() ? TIME.format(date) : DAY.format(date);
}

// --- jobs

export const statusWord = ({ status }) => status[0].toUpperCase() + status.slice(1);
export const isActive = (job) => ["queued", "running", "stopping"].includes(job.status);

/** What a job crawls, short. */
export function subject(job) {
  const seed = job.seeds?.[0];
  return seed ? seed.replace(/^https?:\/\//i, "").replace(/^([^/]+)\/$/, "$1") : job.spider ?? job.id;
}

export function otherSeeds(job) {
  const others = (job.seed_count ?? 1) - 1;
  return others > 0 ? `and ${plural(others, "other seed")}` : "";
}

/** URLs that are settled, of those that are to be fetched: skipped ones are not. */
export function progress(job) {
  const settled = (job.crawled ?? 0) + (job.failed ?? 0);
  const total = settled + (job.in_progress ?? 0) + (job.queued ?? 0);
  return { settled, total, percent: total ? Math.floor((100 * settled) / total) : 0 };
}

// --- URLs and answers

export const STATES = [
  ["done", "done"], ["leased", "in progress"], ["queued", "queued"], ["failed", "failed"], ["skipped", "skipped"],
];

const SKIPS = {
  depth: "deeper than the limit",
  offsite: "on another host",
  nofollow: "marked nofollow",
  excluded: "excluded by a pattern",
  "not included": "not included by a pattern",
  "url too long": "URL too long",
  "internal address": "in a private network",
  "repeated path": "its path goes round in circles",
  "growing path": "only makes the path of its page longer",
  "too many parameters": "too many parameters",
  "host budget": "beyond the budget of its host",
  "prefix budget": "beyond the budget of a calendar, facets or the like",
  robots: "robots.txt forbids it",
  "robots unreachable": "its robots.txt can't be had",
};

export const skipWords = (reason) => meaning(SKIPS, reason) ?? reason;

const ERRORS = {
  timeout: "no complete answer in time",
  dns: "its name has no address",
  "connection refused": "nobody listens there",
  "connection lost": "the server hung up",
  truncated: "the body ends too early",
  tls: "no secure connection, or a certificate that can't be trusted",
  robots: "robots.txt forbids it",
  "internal address": "it is in a private network",
};

const ANSWERS = {
  200: "OK", 204: "No Content", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
  307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden",
  404: "Not Found", 405: "Method Not Allowed", 410: "Gone", 429: "Too Many Requests", 500: "Internal Server Error",
  502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
};

// A gatekeeper's word may be any, 'constructor' too.
const meaning = (words, key) => (Object.hasOwn(words, key) ? words[key] : null);

export const answerWords = (status) => meaning(ANSWERS, status) ?? "";

/** A page's error, with what it means where the word alone may puzzle. */
export function errorWords(error, status) {
  if (!error || /^unexpected status \d+$/.test(error)) return answerWords(status) || error || "";
  const words = meaning(ERRORS, error);
  return words ? `${error}: ${words}` : error;
}

/** 2xx and so on; what is no HTTP status is 'other'. */
export const statusClass = (status) => (/^[1-5]\d\d$/.test(status) ? `${String(status)[0]}xx` : "other");
