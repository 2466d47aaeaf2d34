"""Pages that are empty until their scripts have run, where these did not: nobody has seen them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlproject.report.known import Flag
from crawlproject.report.lists import Issue, Section, Severity, pages_list

if TYPE_CHECKING:
    from crawlproject.report.survey import Survey

ROWS = 20_000


def section(survey: Survey) -> Section:
    known = survey.known
    places = np.flatnonzero(known.has(Flag.SCRIPTED))
    places = places[np.lexsort((known.ids[places], -survey.web.inlinks[places]))]
    why = (
        "Scripts did not run, so what they show and where they link to is not in this report: "
        "-a render=auto shows them to a browser. Search engines may find them empty, too."
    )
    words = ("page that looks empty without scripts", "pages that look empty without scripts")
    listing = pages_list(
        "scripted",
        "Empty without scripts",
        survey.ids(places[:ROWS]),
        lead="They have a script, hardly any words or links, and a place that waits for something "
        "to be put there. They answered, and so they count as fine.",
        empty="No page looks empty without scripts.",
        total=len(places),
        of_page=("words", "outlinks", "depth", "inlinks"),
        issues=[Issue(Severity.WARNING, len(places), *words, why, "scripted")],
    )
    return Section("scripts", "Pages made by scripts", [listing])
