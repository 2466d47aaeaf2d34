// What stands above a table: a search field, a choice for some columns, and the way out as CSV.

import { element, on, visible } from "./dom.js";
import { isNumeric, optionOf } from "./rows.js";
import { number } from "./words.js";

// Fewer rows are seen at a glance.
const FEW = 8;
const MOST_OPTIONS = 200;
const AT_ONCE = 3;
const PATIENCE_MS = 150;
// No value of a site is called so.
const ANY = "\u0000any";

export class Filters {
  /** ``changed`` is called when something else is to be shown. */
  constructor(rows, changed) {
    this.rows = rows;
    this.changed = changed;
    this.selects = new Map();
    this.node = element("div", { class: "filters" });
    if (rows.list.count > FEW) this.addSearch();
    this.addSelects();
    this.chip = this.node.appendChild(element("span", { class: "chip", hidden: true }));
  }

  addSearch() {
    const label = `Search in ${this.rows.list.title}`;
    this.search = element("input", { type: "search", placeholder: "Search", "aria-label": label, autocomplete: "off", spellcheck: "false" });
    let timer = 0;
    on(this.search, "input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        this.rows.query = this.search.value;
        this.changed();
      }, PATIENCE_MS);
    });
    this.node.append(this.search);
  }

  addSelects() {
    const columns = this.rows.list.columns.filter(({ is_filter: isFilter }) => isFilter);
    const useful = columns.filter((column) => {
      const count = this.rows.optionsOf(column).length;
      return count > 1 && (count < this.rows.list.count || count <= FEW);
    });
    if (this.rows.list.count <= FEW) return;
    const selects = useful.map((column) => this.selectOf(column));
    this.node.append(...selects.slice(0, AT_ONCE));
    if (selects.length > AT_ONCE) {
      const summary = element("summary", {}, "More filters");
      this.more = element("details", { class: "more" }, summary, element("div", {}, ...selects.slice(AT_ONCE)));
      this.node.append(this.more);
    }
  }

  selectOf(column) {
    const options = this.rows.optionsOf(column).slice(0, MOST_OPTIONS).map(([value, count]) => (
      element("option", { value }, `${column.label}: ${wordsOf(column, value)} (${number(count)})`)
    ));
    const select = element("select", { "aria-label": column.label }, element("option", { value: ANY }, `${column.label}: any`), ...options);
    on(select, "change", () => {
      if (select.value === ANY) delete this.rows.chosen[column.name];
      else this.rows.chosen[column.name] = select.value;
      this.changed();
    });
    this.selects.set(column.name, select);
    return select;
  }

  /** Show what is chosen, which may have come from a link. */
  update() {
    const { chosen, path, query, url } = this.rows;
    if (this.search && this.search.value !== query) this.search.value = query;
    for (const [name, select] of this.selects) {
      const value = name in chosen ? chosen[name] : ANY;
      if (![...select.options].some((option) => option.value === value)) {
        select.append(element("option", { value }, visible(value)));
      }
      select.value = value;
      select.classList.toggle("is-chosen", value !== ANY);
      if (value !== ANY && this.more?.contains(select)) this.more.open = true;
    }
    const others = Object.entries(chosen).filter(([name]) => !this.selects.has(name)).map(([name, value]) => `${name}: ${value}`);
    const words = [path && `${path}…`, url, ...others].filter(Boolean);
    this.chip.hidden = words.length === 0;
    this.chip.replaceChildren(visible(words.join(", ")));
  }

  get isActive() {
    const { chosen, path, query, url } = this.rows;
    return Object.keys(chosen).length > 0 || [path, query, url].some(Boolean);
  }

  clear() {
    Object.assign(this.rows, { chosen: {}, path: "", query: "", url: "" });
    this.changed();
  }
}

function wordsOf(column, value) {
  if (value === "") return "none";
  if (column.kind === "yes") return value === "1" ? "yes" : "no";
  return isNumeric(column) ? number(Number(value)) : visible(optionOf(value)).slice(0, 80);
}
