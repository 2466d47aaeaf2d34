"""The garden's news, newest first."""

from __future__ import annotations

from typing import NamedTuple

TAGS = ("events", "glasshouse", "science", "wildlife")


class Article(NamedTuple):
    slug: str
    date: str
    title: str
    tags: tuple[str, ...]
    text: tuple[str, ...]


ARTICLES = (
    Article(
        "tea-and-tulips",
        "2025-04-12",
        "Tea & tulips – the café reopens",
        ("events",),
        (
            "After eleven weeks of plaster dust the café has its roof back. The new one is slate, "
            "like the first, and the gutter now runs into the tank that waters the tulip pots on "
            "the terrace.",
            "Maud Ferrier has baked for the opening: rhubarb tart, seed cake, and a loaf made "
            "with flour from the mill at Oxney. Come between two and five on Saturday. The first "
            "fifty cups of tea are on the house, and the tulips may be picked at closing time.",
        ),
    ),
    Article(
        "fritillary-count",
        "2025-04-03",
        "Nine thousand fritillaries and counting",
        ("science", "wildlife"),
        (
            "Twenty-six volunteers, thirteen lengths of string and one very cold morning: the "
            "annual count of the wet meadow gave 9,214 flowering stems, four hundred more than "
            "last year.",
            "The increase is all at the northern end, where the new sluice lets the winter flood "
            "stand a week longer. Idris Vane, who has counted every year since 1988, says he will "
            "believe it when it happens twice.",
        ),
    ),
    Article(
        "bittern-heard",
        "2025-03-18",
        "A bittern booms in the reed bed",
        ("wildlife",),
        (
            "It sounds like somebody blowing across a bottle, and it was heard from the staff "
            "kitchen at twenty to six on Tuesday. A bittern has not called at Thistlemere since "
            "the ledgers of 1911.",
            "The reed cutting planned for March is off. The boardwalk stays open, but dogs do "
            "not, and we would be grateful if you whispered past the second bench.",
        ),
    ),
    Article(
        "boiler-retires",
        "2025-02-20",
        "The glasshouse boiler retires at ninety",
        ("glasshouse",),
        (
            "Bessie, installed in 1935 to burn anthracite and converted to oil, then gas, was shut "
            "down on Friday by the apprentice, who is nineteen. A heat pump in the lagoon does her "
            "work now, at about a third of the cost.",
            "The waterlily tank held twenty-nine degrees through the February frost. Bessie stays "
            "where she is, because nobody can think how she was ever brought in.",
        ),
    ),
    Article(
        "seed-swap",
        "2025-02-01",
        "Seed swap in the long barn",
        ("events",),
        (
            "Bring what you saved, take what you need. The rules are as ever: labelled envelopes, "
            "no hybrids, no money, and one honest sentence about how well it grew.",
            "Last year's sensation was a purple broad bean that arrived in a matchbox with no "
            "name. Its children will be back, and so, we hope, will whoever brought it.",
        ),
    ),
    Article(
        "moth-night",
        "2024-08-24",
        "What came to the lamp on moth night",
        ("science", "events", "wildlife"),
        (
            "One sheet, one lamp, sixty people in anoraks. By midnight the list stood at 143 "
            "species, among them a crimson underwing the size of a wren and four small brown ones "
            "that needed a microscope.",
            "Records have gone to the county recorder. The children's prize for best name went to "
            "the uncertain, beaten narrowly by nobody knows what.",
        ),
    ),
    Article(
        "waterlily-nights",
        "2024-08-02",
        "Late openings for the giant waterlily",
        ("glasshouse", "events"),
        (
            "Six buds are showing, which means twelve nights of flowers if the weather keeps "
            "warm. The glasshouse opens from eight until ten whenever the lamp above the gate is "
            "lit.",
            "Scent is strongest in the first hour. Stand at the east end of the tank, where the "
            "warm air leaves, and you will understand why beetles lose their heads.",
        ),
    ),
    Article(
        "peat-core",
        "2024-06-11",
        "Six metres of mud, eight thousand years",
        ("science",),
        (
            "Students from the university pushed a steel tube into the bog and pulled out a "
            "column of peat as long as a van. At 3.2 metres there is a thin grey line: the sea "
            "came in, stayed a century, and went away.",
            "Pollen from the core shows lime woods where the car park is. The section will hang "
            "in the long barn once somebody invents a shelf for it.",
        ),
    ),
    Article(
        "apprentices",
        "2024-05-07",
        "Two apprentices, one wheelbarrow",
        ("glasshouse",),
        (
            "Nessa Quill joined us in March from a plant nursery, and Tobias Hark from a submarine "
            "base, where nothing grows. They will spend two years moving through every section, "
            "beginning with compost.",
            "Applications for the next pair open in autumn. We look for patience and a strong "
            "back, in that order; certificates come a distant third.",
        ),
    ),
    Article(
        "sluice-repaired",
        "2024-03-15",
        "The Dutch sluice works again",
        ("wildlife", "science"),
        (
            "Its oak gate was built by a shipwright in 1794 and had been stuck shut since the war. "
            "Three winters of fundraising and one of carpentry later, it lifts with two fingers.",
            "Holding the flood back for a fortnight each January should suit the fritillaries, "
            "the snipe, and the neighbours downstream, who were consulted first.",
        ),
    ),
)
