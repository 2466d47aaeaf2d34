// The form that starts a crawl.

import { byId, setAttribute, setText } from "./dom.js";
import { ask } from "./service.js";

const form = byId("form");
const NUMBERS = ["depth", "max_pages", "delay", "concurrency"];

/** `started(id)` is called when the service has taken a crawl. */
export function prepareForm(started) {
  let isBusy = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (isBusy) return;
    isBusy = true;
    blame(null);
    setText(byId("start"), "Starting…");
    try {
      const job = await ask("crawl", "POST", order());
      // The options stay: the next crawl may want them, too.
      form.elements.url.value = "";
      started(job.id);
    } catch (error) {
      blame(error);
    }
    setText(byId("start"), "Start crawl");
    isBusy = false;
  });
}

/** What the fields say, without those that are empty. What makes no sense is for the service to tell. */
function order() {
  const data = new FormData(form);
  const result = { outputs: data.getAll("outputs") };
  result.store_bodies = data.has("store_bodies");
  for (const [name, value] of data) {
    const text = value.trim();
    if (text === "" || name === "outputs" || name === "store_bodies") continue;
    result[name] = NUMBERS.includes(name) && /^\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  }
  result.url = withScheme(result.url ?? "");
  return result;
}

const withScheme = (url) => (url === "" || /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `https://${url}`);

/** Say what was wrong, and go to the field that it names, as in 'depth: … is not a number'. */
function blame(error) {
  for (const field of form.elements) {
    setAttribute(field, "aria-invalid", null);
    setAttribute(field, "aria-errormessage", null);
  }
  if (!error) {
    setText(byId("form-error"), "");
    return;
  }
  const again = error.status === 0 ? "; please try again" : "";
  setText(byId("form-error"), `${error.message}${again}`.replace(/\.?$/, "."));
  const name = /^(\w+):/.exec(error.message)?.[1];
  const field = name === "outputs" ? byId("crawl-outputs") : form.elements[["seed", "urls"].includes(name) ? "url" : name];
  if (!(field instanceof HTMLElement)) return;
  if (field.closest("details")) field.closest("details").open = true;
  setAttribute(field, "aria-invalid", "true");
  setAttribute(field, "aria-errormessage", "form-error");
  field.focus();
}
