// The only way that anything gets into the page: as text, whatever a site has put into it.

export const byId = (id) => document.getElementById(id);

export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(key, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** What a click, a key or a choice does. */
export function on(node, event, action) {
  node.addEventListener(event, action);
  return node;
}

// Control characters, halves of characters, and marks that turn the direction of what follows: shown, so that nobody is
// fooled. Not what joins letters or keeps them apart (U+200C, U+200D): Persian, Indic scripts and emoji are written with it.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+/gu;
// These say on which side a comma stands: in an element of its own direction they do no harm.
const SIDES = /[\u200e\u200f]+/g;

const shown = (text) => String(text ?? "").replace(UNSEEN, "\ufffd");

export const visible = (text) => shown(text).replace(SIDES, "\ufffd");

/** Text of a site, in a direction of its own. */
export const foreign = (text, attributes = {}) => element("bdi", attributes, shown(text));

// What is longer was cut, and leads nowhere.
const WHOLE_URL = 2000;

/** A URL of a site: a link if a browser may follow it. */
export function siteLink(url, text = url, attributes = {}) {
  const words = foreign(text, { class: "url", title: visible(url), ...attributes });
  const isCut = url.length >= WHOLE_URL && url.endsWith("…");
  if (isCut || !/^https?:\/\//i.test(url)) return words;
  return element("a", { href: url, target: "_blank", rel: "noreferrer noopener" }, words);
}

/** To a list of this report. */
export const ownLink = (place, attributes, ...children) => element("a", { href: `#${place}`, ...attributes }, ...children);

/** A file of what is in the page; no server is asked. */
export function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
