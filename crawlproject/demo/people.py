"""Who works in the garden, and what its shop sells."""

from __future__ import annotations

from typing import NamedTuple


class Person(NamedTuple):
    slug: str
    name: str
    role: str
    text: str


class Product(NamedTuple):
    slug: str
    name: str
    pence: int
    hue: int
    text: str


STAFF = (
    Person(
        "idris-vane",
        "Idris Vane",
        "Head gardener",
        "Came for a summer in 1986 and has not yet found a good moment to leave. Idris keeps the "
        "ledgers in pencil, because ink runs in the rain, and can tell you what flowered in any "
        "week of the last thirty-nine years. He is responsible for the meadows, the flood, and "
        "the rule about whistling. Ask him about sluices only if you have the afternoon free.",
    ),
    Person(
        "maud-ferrier",
        "Maud Ferrier",
        "Cook",
        "Trained on a sleeper train, where she learned to bake in a kitchen as wide as her elbows. "
        "The menu on the terrace follows whatever the vegetable plot has too much of. Her seed "
        "cake has won the county show four times and been disqualified once, for reasons that she "
        "will explain at length. The sourdough is older than the apprentices.",
    ),
    Person(
        "osei-lindqvist",
        "Dr Osei Lindqvist",
        "Botanist",
        "Looks after the herbarium, the seed bank and everything with a barcode. Osei studies how "
        "wetland plants cope with salt, which on this coast is a question with a deadline. On the "
        "first Sunday of the month his microscopes are set up in the long barn, and anyone may "
        "bring a puzzle in a jar. He has identified a button, twice.",
    ),
    Person(
        "petra-salt",
        "Petra Salt",
        "Glasshouse keeper",
        "Nurses the giant waterlilies from a pea-sized seed every January, talking to them, she "
        "says, only when the heating fails. Petra was a ship's engineer and rebuilt the vents with "
        "parts from a trawler winch. She grows two hundred orchids and admits to liking nine. If "
        "the lamp above the gate is lit at dusk, it was she who lit it.",
    ),
)

PRODUCTS = (
    Product(
        "fen-honey",
        "Fen honey",
        750,
        40,
        "From six hives behind the ash wood. Summer jars taste of lime blossom and meadowsweet, "
        "autumn jars of ivy, which not everybody forgives. It sets hard by Christmas; stand it "
        "on a warm pipe. Two hundred and forty jars were filled last year, and they go quickly.",
    ),
    Product(
        "field-notebook",
        "Field notebook",
        480,
        205,
        "Waterproof paper, a loop for a pencil, and a ruler printed inside the back cover. Idris "
        "has tested one by leaving it in the lagoon for a week, by accident. Ninety-six pages, "
        "squared, stitched so that it lies flat on a knee.",
    ),
    Product(
        "meadow-seed",
        "Wet meadow seed mix",
        620,
        95,
        "Fourteen species collected on site with a brush harvester: ragged robin, yellow rattle, "
        "great burnet and friends. Sow in autumn on bare, poor, damp soil, tread it in, and wait. "
        "The first summer will disappoint you. The third will not. Enough for ten square metres.",
    ),
    Product(
        "spindle-needles",
        "Spindle-wood knitting needles",
        1400,
        355,
        "Turned on the lathe in the tool barn from hedge prunings, finished with beeswax, no two "
        "pairs alike. Sizes are whatever the branch allowed and are stamped on the end. Available "
        "in most Novembers; otherwise we keep a list and write to you.",
    ),
    Product(
        "waterlily-print",
        "Waterlily linocut",
        3200,
        160,
        "A two-colour print of a pad seen from below, ribs, spines and all, cut by the Oxney "
        "printmakers from drawings made lying on the glasshouse floor. Edition of eighty, signed, "
        "on cotton paper, posted flat between boards.",
    ),
)
