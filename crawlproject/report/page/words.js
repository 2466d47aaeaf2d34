// Numbers, times and sizes, as a reader would say them.

const WHOLE = new Intl.NumberFormat("en");
const ONE_DIGIT = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const TWO_DIGITS = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const PER_CENT = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const MOMENT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const UNITS = ["bytes", "kB", "MB", "GB", "TB"];

export const number = (value) => WHOLE.format(value);
export const shortNumber = (value) => SHORT.format(value);
export const share = (value) => `${PER_CENT.format(100 * value)} %`;
export const rank = (value) => (value >= 100 ? number(Math.round(value)) : TWO_DIGITS.format(value));
export const milliseconds = (value) => `${number(value)} ms`;
export const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

export function rate(value) {
  return value < 9.95 ? ONE_DIGIT.format(value) : number(Math.round(value));
}

export function size(bytes) {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return unit === 0 ? plural(bytes, "byte") : `${rate(value)} ${UNITS[unit]}`;
}

export function duration(seconds) {
  if (seconds < 60) return `${rate(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.round(hours / 24)} days`;
}

/** In the reader's own zone. */
export const moment = (seconds) => MOMENT.format(new Date(seconds * 1000));
export const iso = (seconds) => new Date(seconds * 1000).toISOString();

/** The class of an answer such as '404 Not Found' or 'timeout'. */
export function answerClass(answer) {
  const status = /^([1-5])\d\d\b/.exec(answer);
  if (status) return `${status[1]}xx`;
  // That it was not asked for is nobody's fault.
  return answer === "robots" || answer === "not fetched" ? "unasked" : "none";
}
