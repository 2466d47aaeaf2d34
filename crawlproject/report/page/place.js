// Where the reader is: '#broken', '#pages?depth=3&q=shop&sort=-inlinks'. Every figure is such a link.

export const RESERVED = ["q", "sort", "path", "url"];

export function readPlace(hash = location.hash) {
  const [name, query = ""] = hash.replace(/^#/, "").split(/\?(.*)/s);
  const settings = {};
  for (const [key, value] of new URLSearchParams(query.replaceAll("+", "%2B"))) settings[key] = value;
  return { name: decoded(name), settings };
}

export function placeOf(name, settings = {}) {
  const parts = Object.entries(settings)
    .filter(([, value]) => value !== "" && value !== null && value !== undefined)
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`);
  return parts.length ? `${name}?${parts.join("&")}` : name;
}

/** Put values of a row into a link such as 'pages?host={host}'. */
export function filledIn(link, valueOf) {
  return link.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(valueOf(name) ?? ""));
}

/** Go there, also when that is where the reader is: the list may be filtered anew, or out of sight. */
export function goTo(place) {
  const before = location.hash;
  location.hash = place;
  if (location.hash === before) goAgain();
}

export const goAgain = () => dispatchEvent(new Event("hashchange"));

/** Without a step in the history for each letter that is typed. */
export function keepPlace(name, settings) {
  history.replaceState(null, "", `#${placeOf(name, settings)}`);
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
