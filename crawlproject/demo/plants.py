"""What grows in the garden."""

from __future__ import annotations

from typing import NamedTuple

SEASONS = ("spring", "summer", "autumn", "winter")


class Plant(NamedTuple):
    slug: str
    name: str
    latin: str
    season: str
    hue: int
    petals: int
    text: tuple[str, ...]


PLANTS = (
    Plant(
        "black-poplar",
        "Black poplar",
        "Populus nigra subsp. betulifolia",
        "spring",
        8,
        4,
        (
            "Our oldest living exhibit leans over the boat shed at an angle that alarms insurers. "
            "The trunk was propped with a ship's spar after the storm of 1953, and the bark has "
            "since swallowed most of the iron band that holds it.",
            "In April the male catkins drop in such numbers that the path turns crimson. Visitors "
            "take them for caterpillars; the café sweeps them up twice a day. Cuttings taken in "
            "February root in a bucket of ditch water, which is how the eleven young trees along "
            "the causeway began.",
        ),
    ),
    Plant(
        "marsh-marigold",
        "Marsh marigold",
        "Caltha palustris",
        "spring",
        48,
        5,
        (
            "Nothing else in the fen is quite so yellow. The cups open while the reeds are still "
            "straw, and for three weeks they are the only warm colour between the pump house and "
            "the sea bank.",
            "It asks for wet feet and no company. We cut the sedge back by hand in October so the "
            "crowns get winter light, and we never feed them: a well-fed clump grows leaves the "
            "size of saucers and forgets to flower.",
        ),
    ),
    Plant(
        "snakes-head-fritillary",
        "Snake's-head fritillary",
        "Fritillaria meleagris",
        "spring",
        325,
        6,
        (
            "A chequerboard on a hanging lantern: look underneath, where the pattern is sharpest. "
            "About one in ten is white, and even those carry the squares as a faint green "
            "watermark.",
            "The meadow held forty plants when counting began in 1988 and a little over nine "
            "thousand last spring. The whole recipe is a hay cut in late July, sheep until "
            "Christmas, and a flood most winters. Keep to the mown strip, because seedlings look "
            "exactly like grass for their first three years.",
        ),
    ),
    Plant(
        "wild-garlic",
        "Wild garlic",
        "Allium ursinum",
        "spring",
        110,
        6,
        (
            "You will smell the ash wood before you see it. The leaves come up in February, the "
            "white stars in late April, and by midsummer there is no sign that anything grew there "
            "at all.",
            "Our cook is licensed, by a letter framed in the kitchen, to pick one basket a week. "
            "Everybody else is asked to enjoy it with the nose. Do not confuse the leaves with "
            "lords-and-ladies, which grows through the same carpet and burns the tongue for hours.",
        ),
    ),
    Plant(
        "giant-waterlily",
        "Giant waterlily",
        "Victoria cruziana",
        "summer",
        340,
        12,
        (
            "Sown in January in a jam jar, planted out in May, and by August each pad is wide "
            "enough to hold a sleeping heron. The ribs underneath are armed with spines against "
            "the fish that would like to eat them.",
            "Every bloom lasts two nights. It opens white and smelling of pineapple, closes over "
            "any beetle inside, and opens again the next evening deep pink. The glasshouse stays "
            "open until ten on those nights; the gate has a lamp that tells you when.",
        ),
    ),
    Plant(
        "meadowsweet",
        "Meadowsweet",
        "Filipendula ulmaria",
        "summer",
        52,
        5,
        (
            "Cream froth along every ditch in July. Crush a leaf and it smells of cucumber, crush "
            "a flower and it smells of almonds, and the two never seem to belong to one plant.",
            "Chemists drew salicylic acid from it in the nineteenth century, and its old botanical "
            "name survives inside the word aspirin. Ours is left standing until the goldfinches "
            "have finished with the seed, usually in the second week of September.",
        ),
    ),
    Plant(
        "sea-holly",
        "Sea holly",
        "Eryngium maritimum",
        "summer",
        215,
        9,
        (
            "Steel blue from stem to flower, and as stiff as it looks. It grows on the shingle "
            "bank beyond the wall, where salt, drought and gravel keep every softer plant away.",
            "The taproot goes down two metres, so it cannot be moved, only sown. We scatter fresh "
            "seed in November and expect one seedling in fifty. Candied roots were sold in coastal "
            "towns as a sweet for centuries; we have tried it, once.",
        ),
    ),
    Plant(
        "yellow-flag",
        "Yellow flag iris",
        "Iris pseudacorus",
        "summer",
        55,
        3,
        (
            "Three falls, three standards, and a landing strip of brown lines that leads the "
            "bumblebee to the nectar. It edges both lagoons and would fill them if we let it.",
            "Once a year volunteers in chest waders lift a third of the rhizomes, which go to "
            "neighbours with new ponds. The plant cleans the water as it grows: the outflow of "
            "the iris bed carries half the nitrate of the inflow, by our own weekly sample.",
        ),
    ),
    Plant(
        "devils-bit-scabious",
        "Devil's-bit scabious",
        "Succisa pratensis",
        "autumn",
        250,
        11,
        (
            "Violet buttons on wiry stems, at their best when the rest of the meadow has gone to "
            "seed. The root ends abruptly, as if bitten off, and legend blames the devil, who "
            "envied its healing powers.",
            "It feeds the caterpillars of the marsh fritillary butterfly, which came back to the "
            "west field in 2016 after an absence of sixty years. From August to October that field "
            "is grazed by four cattle instead of forty, and a walk through it takes twice as long.",
        ),
    ),
    Plant(
        "meadow-saffron",
        "Meadow saffron",
        "Colchicum autumnale",
        "autumn",
        300,
        6,
        (
            "Flowers without leaves in September, leaves without flowers in March: gardeners of "
            "two centuries ago took them for separate plants. The pale goblets fall over in the "
            "first gale, and new ones stand up the morning after.",
            "Every part is poisonous. The signs around the orchard bed are there for a reason, "
            "and so is the low fence; please lift small children over neither.",
        ),
    ),
    Plant(
        "spindle",
        "Spindle",
        "Euonymus europaeus",
        "autumn",
        350,
        4,
        (
            "A hedgerow shrub that nobody notices for ten months. Then the leaves turn the red of "
            "old brick and the fruit splits, shocking pink outside and orange within, a "
            "combination no designer would dare.",
            "The wood is dense and fine, and was turned into spindles, skewers and toothpicks. A "
            "lathe in the tool barn still makes knitting needles from our prunings, and they are "
            "sold in the shop when there are any.",
        ),
    ),
    Plant(
        "snowdrop",
        "Snowdrop",
        "Galanthus nivalis",
        "winter",
        130,
        3,
        (
            "The drive is white with them in the last week of January, a sheet so even that it "
            "has been reported to us as litter. They came as a hatful of bulbs from a churchyard "
            "in 1902 and have been divided every decade since.",
            "Lift them after flowering, while the leaves are green, and replant the same day. Dry "
            "bulbs from a packet sulk for years. The collection under the walnut holds thirty-one "
            "named forms, most of which differ in ways visible only to their owners.",
        ),
    ),
    Plant(
        "stinking-hellebore",
        "Stinking hellebore",
        "Helleborus foetidus",
        "winter",
        85,
        5,
        (
            "It does not stink unless you insult it by crushing a leaf. Green bells with a maroon "
            "hem hang out all winter, and yeast living in the nectar warms them by a degree or "
            "two, which early bees appreciate.",
            "A short-lived plant that seeds itself into chalk rubble. Ours chose the foot of the "
            "lime kiln without being asked and has been the best thing about the lime kiln ever "
            "since.",
        ),
    ),
    Plant(
        "witch-hazel",
        "Witch hazel",
        "Hamamelis mollis",
        "winter",
        45,
        4,
        (
            "Shredded lemon peel on bare twigs, in the dead middle of January. The scent carries "
            "on still, cold air as far as the ticket hut and vanishes entirely if you bring a "
            "branch indoors.",
            "In frost the ribbons curl up like clock springs and unroll at noon. The two by the "
            "bridge were planted as a pair in 1931; one is twice the size of the other, and "
            "nobody has found out why.",
        ),
    ),
)
