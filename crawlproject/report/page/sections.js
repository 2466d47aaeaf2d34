// The sections of the report, each with its lists, and the way to them.

import { byId, element, ownLink } from "./dom.js";
import { shapePanel } from "./shape.js";
import { Table } from "./table.js";
import { shortNumber } from "./words.js";

// What is always there, and needs no number.
const UNCOUNTED = new Set(["shape", "weight", "links", "hosts-section", "structured-data"]);
// What only says the same in another way, or is no finding.
const BESIDE = new Set(["robots", "sitemaps", "reasons", "clusters"]);

/** Tables by the name of their list. */
export function showSections(store) {
  const tables = new Map();
  const links = [navLink("overview", "Overview"), navLink("issues", "What to mend", store.head.issues.length)];
  for (const section of [...store.head.sections, { name: "all-pages", title: "All pages", notes: [], lists: ["pages"] }]) {
    const node = element(
      "section", { class: "section", id: section.name, "aria-labelledby": `${section.name}-title` },
      element("h2", { id: `${section.name}-title`, tabindex: "-1" }, section.title),
      ...section.notes.map((note) => element("p", { class: "note" }, note)),
    );
    if (section.name === "shape") node.append(shapePanel());
    for (const name of section.lists) {
      const table = new Table(store.lists.get(name));
      tables.set(name, table);
      node.append(table.node);
    }
    byId("sections").append(node);
    links.push(navLink(section.name, section.title, countOf(store, section)));
  }
  byId("nav").append(element("ol", {}, ...links));
  follow();
  return tables;
}

/** How much there is to see; not of what is always there, and not a number where nobody has looked. */
function countOf(store, { name, lists }) {
  if (UNCOUNTED.has(name)) return null;
  if (!lists.length) return NaN;
  const counts = lists.filter((one) => !BESIDE.has(one)).map((one) => store.lists.get(one).total);
  return counts.reduce((sum, count) => sum + count, 0);
}

function navLink(name, title, count = null) {
  const words = Number.isNaN(count) ? "–" : shortNumber(count);
  const badge = count === null ? null : element("span", { class: "count" }, words);
  return element("li", {}, ownLink(name, {}, element("span", {}, title), badge));
}

/** The link of the section that is read stands out. */
function follow() {
  const links = new Map([...byId("nav").querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
  const seen = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) seen[isIntersecting ? "add" : "delete"](target.id);
    const current = [...links.keys()].findLast((name) => seen.has(name));
    if (!current) return;
    for (const [name, link] of links) {
      if (name !== current) link.removeAttribute("aria-current");
      else if (!link.hasAttribute("aria-current")) {
        link.setAttribute("aria-current", "true");
        // On a small screen the links are a strip, of which a part is seen.
        byId("nav").scrollLeft = link.offsetLeft - 40;
      }
    }
  }, { rootMargin: "-15% 0px -70% 0px" });
  for (const name of links.keys()) observer.observe(byId(name));
}
