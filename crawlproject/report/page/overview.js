// Is the site healthy? What the report begins with.

import { timeOf } from "./cells.js";
import { byId, element, foreign, ownLink, siteLink } from "./dom.js";
import { placeOf } from "./place.js";
import { duration, number, plural, rate, share } from "./words.js";

const SEVERITIES = { error: "Error", warning: "Warning", notice: "Notice" };
const OUTCOMES = ["fine", "broken", "blocked", "denied", "refused"];

export function showOverview(head) {
  showHead(head);
  showHealth(head);
  showIssues(head);
  showAnswers(head);
}

function showHead({ seeds, seed_count: seedCount, headline, notes, open, again, speed, began_at: began, is_round: isRound }) {
  const more = seedCount > 1 ? ` and ${plural(seedCount - 1, "other seed")}` : "";
  byId("overview-title").append(seeds.length ? siteLink(seeds[0]) : "A crawl", more);
  byId("headline").append(foreign(headline));
  const pace = speed.seconds ? [` · ${duration(speed.seconds)} · ${rate(speed.answers / speed.seconds)} pages/s`] : [];
  if (began) byId("when").append(...(isRound ? ["Visited again "] : []), timeOf(began), ...pace);
  byId("notes").append(...notes.map((note) => element("li", {}, note)));
  byId("unfinished").hidden = !open;
  byId("unfinished").append(
    `The crawl is not finished: ${plural(open, "URL")} ${open === 1 ? "is" : "are"} known and not yet fetched`,
    again ? `, or, as ${number(again)} of them, not yet again. ` : ". ",
    "The report tells of what was fetched so far; what it calls missing may still be found.",
  );
}

function showHealth({ health, figures, answers }) {
  byId("score").append(health === null ? "–" : share(Math.floor(health * 1000) / 1000));
  byId("score-words").append(health === null ? "nothing was fetched" : "of the pages that were asked for are fine");
  const counts = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0]));
  for (const { outcome, count } of answers) counts[outcome] += count;
  const present = OUTCOMES.filter((outcome) => counts[outcome]);
  byId("strip").setAttribute("aria-label", present.map((outcome) => `${number(counts[outcome])} ${outcome}`).join(", "));
  byId("strip").append(...present.map((outcome) => {
    const part = element("span", { class: `part is-${outcome}`, title: `${number(counts[outcome])} ${outcome}` });
    part.style.flexGrow = counts[outcome];
    return part;
  }));
  byId("figures").append(...figures.map(({ label, value, link, tone }) => {
    const inner = [element("b", {}, number(value)), element("span", {}, label)];
    const attributes = { class: "figure", "data-tone": tone || null };
    return element("li", {}, link ? ownLink(link, attributes, ...inner) : element("span", attributes, ...inner));
  }));
}

function showIssues({ issues, passed, page_list: { total } }) {
  byId("issue-list").append(...issues.map(({ severity, count, what, why, link }) => element(
    "li", { class: "issue", "data-severity": severity },
    element("span", { class: "severity" }, SEVERITIES[severity]),
    element("div", {}, ownLink(link, {}, element("b", {}, number(count)), ` ${what}`), element("p", { class: "soft" }, why)),
  )));
  if (!issues.length) {
    byId("issues-title").textContent = total ? "Nothing to mend" : "No pages";
    byId("issue-list").append(element("li", { class: total ? "nothing passed" : "nothing" }, total ? "No check has found anything." : "Nothing was fetched, so there is nothing to tell."));
  }
  byId("passed").hidden = passed.length === 0 || !total;
  const [summary, list] = byId("passed").children;
  summary.append(`${plural(passed.length, "check")} found nothing`);
  list.append(...passed.map((what) => element("li", {}, `no ${what}`)));
}

function showAnswers({ answers }) {
  const most = Math.max(1, ...answers.map(({ count }) => count));
  byId("answer-rows").append(...answers.slice(0, 12).map(({ answer, outcome, count }) => {
    const bar = element("span", { class: `bar is-${outcome}` });
    bar.style.width = `${(100 * count) / most}%`;
    return element(
      "tr", {},
      element("th", { scope: "row" }, ownLink(placeOf("pages", { answer }), {}, foreign(answer))),
      element("td", { class: "of-bar" }, bar), element("td", { class: "number" }, number(count)),
    );
  }));
}
