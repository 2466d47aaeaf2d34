// Pages and lists. A page is a number everywhere; another URL is a number below zero.

export class Store {
  constructor(head, parts, lists) {
    this.head = head;
    this.origin = head.shape.length === 1 ? head.shape[0].name : null;
    this.urls = [];
    this.pages = {};
    for (const part of parts) this.addPages(part);
    this.count = this.pages.url?.length ?? 0;
    this.lists = new Map();
    const pageList = new List(this, pageListing(head, this));
    this.lists.set("pages", pageList);
    for (const one of lists) {
      this.rebase(one);
      this.lists.set(one.name, new List(this, { ...one, read: readOf(one) }, pageList));
    }
  }

  addPages({ texts, ...columns }) {
    const offset = this.urls.length;
    this.addTexts(texts);
    for (const name of ["canonical", "duplicate_of"]) columns[name] = columns[name].map((ref) => rebased(ref, offset));
    for (const [name, values] of Object.entries(columns)) {
      const before = this.pages[name] ??= [];
      for (const value of values) before.push(value);
    }
  }

  /** Texts of a list are numbered by themselves; from here on, by all. */
  rebase(list) {
    const offset = this.urls.length;
    this.addTexts(list.texts);
    if (offset === 0) return;
    for (const { name, kind } of list.columns) {
      const values = list.values[name];
      if (kind === "page" || kind === "url") list.values[name] = values.map((ref) => rebased(ref, offset));
      if (kind === "urls") list.values[name] = values.map((refs) => refs.map((ref) => rebased(ref, offset)));
    }
  }

  addTexts(texts) {
    for (const text of texts) this.urls.push(text);
  }

  isPage(ref) {
    return ref !== null && ref >= 0 && ref < this.count;
  }

  url(ref) {
    if (ref === null || ref === undefined) return "";
    return (ref >= 0 ? this.pages.url[ref] : this.urls[-1 - ref]) ?? "(not in this report)";
  }

  /** Without the origin, where there is one only. */
  shortUrl(ref) {
    const url = this.url(ref);
    return this.origin && url.startsWith(`${this.origin}/`) ? url.slice(this.origin.length) : url;
  }

  title(ref) {
    return this.isPage(ref) ? this.pages.title[ref] : null;
  }

  /** The ways of redirects that end at a page: rows of the list of redirects. */
  redirectsTo(ref) {
    const list = this.lists.get("redirects");
    if (!this.ends) {
      this.ends = new Map();
      const ends = list?.column("end");
      for (let row = 0; row < (list?.count ?? 0); row += 1) {
        const end = ends.value(row);
        this.ends.set(end, [...(this.ends.get(end) ?? []), row]);
      }
    }
    return (this.ends.get(ref) ?? []).map((row) => list.column("url").value(row));
  }
}

const rebased = (ref, offset) => (ref !== null && ref < 0 ? ref - offset : ref);

/** One list: what it is, and what stands in which column of which row. */
export class List {
  constructor(store, listing, pageList = null) {
    Object.assign(this, listing);
    this.store = store;
    this.count = listing.rows;
    this.columns = listing.columns.map((column) => new Column(column, listing.read(column.name)));
    const refs = this.columns.find(({ kind }) => kind === "page");
    for (const name of listing.of_page ?? []) {
      const { value, ...column } = pageList.column(name);
      this.columns.push(new Column({ ...column, is_aside: false }, (row) => {
        const ref = refs.value(row);
        return store.isPage(ref) ? value(ref) : null;
      }));
    }
  }

  column(name) {
    return this.columns.find((column) => column.name === name);
  }

  /** The page that a row is about, if it is about one. */
  pageOf(row) {
    const ref = this.columns.find(({ kind }) => kind === "page")?.value(row) ?? null;
    return this.store.isPage(ref) ? ref : null;
  }
}

class Column {
  constructor(column, value) {
    Object.assign(this, column);
    this.kind ??= "text";
    this.value = value;
  }
}

export const hostOf = (url) => url.split("/", 3)[2] ?? "";

function readOf(listing) {
  return (name) => {
    const values = listing.values[name];
    return (row) => values[row];
  };
}

function pageListing(head, store) {
  const read = (name) => {
    if (name === "page") return (row) => row;
    if (name === "host") return (row) => hostOf(store.pages.url[row]);
    const values = store.pages[name] ?? [];
    const words = head.page_list.words[name];
    if (!words) return (row) => values[row];
    return (row) => (Array.isArray(values[row]) ? values[row].map((code) => words[code]) : words[values[row]]);
  };
  return { ...head.page_list, rows: store.count, read };
}
