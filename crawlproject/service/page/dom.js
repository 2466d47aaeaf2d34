// The only way that anything gets into the page: as text, whatever a site has put into it.
// Nodes are kept and changed in place, so that focus, scrolling and marked text survive an update.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) setAttribute(node, name, value);
  node.append(...children.filter((child) => child !== null));
  return node;
}

export function setAttribute(node, name, value) {
  if (value === null || value === undefined) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

export function setText(node, text) {
  if (node.textContent === text) return;
  const only = node.firstChild;
  // A new text node would end a selection that begins in the old one.
  if (only && only === node.lastChild && only.nodeType === Node.TEXT_NODE) only.data = text;
  else node.textContent = text;
}

export function show(node, isShown) {
  if (node.hidden === !isShown) return;
  const hadFocus = !isShown && node.contains(document.activeElement);
  node.hidden = !isShown;
  // Or the keyboard would be at the top of the page again.
  if (hadFocus) byId("job-title").focus({ preventScroll: true });
}

const known = new WeakMap();

/**
 * Make the children of `parent` those of `items`: known keys keep their node, others come and go.
 * What `update` does not bring up to date belongs to the key.
 */
export function reconcile(parent, items, keyOf, create, update = () => {}) {
  const before = known.get(parent) ?? new Map();
  const now = new Map();
  for (const item of items) {
    let key = String(keyOf(item));
    while (now.has(key)) key += "+";
    const node = before.get(key) ?? create(item);
    update(node, item);
    now.set(key, node);
  }
  for (const [key, node] of before) if (!now.has(key)) node.remove();
  known.set(parent, now);
  let place = parent.firstChild;
  for (const node of now.values()) {
    if (node === place) place = place.nextSibling;
    else parent.insertBefore(node, place);
  }
}

/** Somebody points at it, is in it with the keyboard, or has marked some of its text. */
export function isRead(node) {
  const selection = document.getSelection();
  return (
    (matchMedia("(hover: hover)").matches && node.matches(":hover")) ||
    node.querySelector(":focus-visible") !== null ||
    (!selection.isCollapsed && selection.containsNode(node, true))
  );
}

// Controls, and marks that turn the direction of what follows: shown, so that nobody is fooled.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+/g;

export const visible = (text) => String(text ?? "").replace(UNSEEN, "\ufffd");

/** Text of a site, in a direction of its own. */
export const foreign = (text, attributes = {}) => element("bdi", attributes, visible(text));

/** A URL of a site: a link if a browser may follow it. */
export function siteLink(url, attributes = {}) {
  const text = foreign(url, { class: "url", title: url, ...attributes });
  if (!/^https?:\/\//i.test(url)) return text;
  return element("a", { href: url, target: "_blank", rel: "noreferrer noopener" }, text);
}

/** A path that the service names, from where the page is: it may be behind a proxy's prefix. */
export const ownPath = (href) => `./${String(href).replace(/^[/\\]+/, "")}`;
