"""The garden's standing pages, as paragraphs."""

from __future__ import annotations

HISTORY = (
    "Thistlemere began as a mistake. In 1871 the Reverend Ambrose Kell drained forty acres of fen "
    "to grow flax, found that the land sank as it dried, and let the water back in with an apology "
    "to the snipe. What came up instead of flax interested him more: he listed two hundred and "
    "twelve wild plants in four summers and began to label them for his parishioners.",
    "The glasshouse followed in 1889, bought second-hand from a railway company that had meant it "
    "for a station roof. It came by barge, in numbered pieces, and two of the numbers were the "
    "same. The gardener, Hannah Pask, put it up by eye. She stayed for thirty-three years, sowed "
    "the first giant waterlily, and kept a diary of the weather that we still use.",
    "The sea wall broke in the night of 31 January 1953. Salt water stood in the orchard for nine "
    "days, and most of what grew in the lower garden died. The collection that you see there now, "
    "plants of shingle, marsh and brine, was planted because nothing else would live. Visitors "
    "who remember the roses have mostly forgiven us.",
    "A trust has owned the garden since 1974. It employs eleven people, is helped by about ninety "
    "volunteers, and answers to a committee that meets in the potting shed so that meetings are "
    "short. The Dutch sluice, the boardwalk and the seed bank are its work. Its founding rule "
    "fits on the brass plate by the gate: let the water decide.",
)
GETTING_HERE = (
    "The garden lies two miles east of Oxney, where the road gives up and becomes a causeway. From "
    "the station take the number 7 bus to its last stop, then follow the dyke for ten minutes with "
    "the windmill on your left. The path is level and firm except after a spring tide.",
    "Cyclists have the old railway line almost to themselves. There are forty stands and a pump by "
    "the ticket hut. Drivers should know that the car park floods twice a month; the tide table at "
    "its entrance is not decoration. Please leave the causeway clear for the milk lorry at four.",
)
ACCESSIBILITY = (
    "Boardwalks are wide enough for two wheelchairs to pass, with a kerb on both sides and a bench "
    "at least every hundred metres. The steepest slope is the ramp into the glasshouse, one in "
    "fourteen. Two all-terrain chairs can be borrowed from the ticket hut without charge.",
    "Labels along the scent walk are in braille and large type. The long barn has a hearing loop. "
    "A quiet hour without strimmers, school parties or music is kept every Wednesday from three, "
    "and the dyke gate opens to a single-track route that avoids all steps. Assistance dogs are "
    "welcome everywhere, including the reed bed.",
)
CAFE = (
    "Nine tables inside, twelve on the terrace, and a stove that the regulars fight over. Soup is "
    "whatever the vegetable plot has in excess, bread comes out at eleven, and the seed cake is "
    "gone by three. Children eat half portions at half price without having to ask.",
    "We compost everything, wash everything, and sell nothing in plastic. Bring your own flask and "
    "the tea is cheaper. On waterlily nights the kitchen stays open until ten with one dish, "
    "usually smoked eel or barley and mushrooms, eaten by lamplight on the lagoon steps.",
)
TICKETS = (
    "Adults nine pounds, anyone under eighteen free, students and neighbours with an Oxney "
    "postcode four pounds fifty. A year's ticket costs as much as three visits and admits a guest "
    "on weekdays.",
    "Tickets are sold at the hut by the gate, by card or coin, and are not dated: if rain drives "
    "you out within the hour, keep the stub and come again. Groups of more than twelve should "
    "write first, so that we can find a gardener who likes talking.",
)
PLAN = (
    "With one hour, walk the lagoon circuit and look into the glasshouse. With two, add the wet "
    "meadow and the ash wood, in that order, so that the wind is behind you. With a whole day, "
    "bring boots: the shingle bank is a mile out, and the way back is always longer.",
    "Mornings belong to the birds, noon to the dragonflies, dusk to the waterlilies. In February "
    "come for snowdrops on a dull day, since they close in sunshine of any strength, and warm up "
    "afterwards by the stove.",
)
WEATHER = (
    "Hannah Pask read the thermometer behind the potting shed at nine every morning from 1889, and "
    "somebody has done so ever since. The series has four gaps: two funerals, one flood, and a "
    "wedding. Adding up the ledger takes a while, so this page is never in a hurry.",
    "The coldest reading is minus seventeen, in February 1895, when the lagoon carried a coach. "
    "The hottest is thirty-eight and a half, in July 2022. The last frost of spring now comes, on "
    "average, nineteen days earlier than in Hannah's first decade.",
)
SEED_LIST = (
    "Copied from a sheet found behind the panelling of the office: the seeds offered in exchange "
    "to other gardens in the winter of 1887. Spelling and pride are the Reverend Kell's.",
    "Of Flags, yellow, in quantity. Of Loosestrife, both sorts. Water Violet, a pinch, to those "
    "who will be kind to it. Marsh Pea, gathered wet. Bog Myrtle, which perfumes the desk even as "
    "I write. Of Sundew none, for the boys have been at it. I ask in return for anything with a "
    "thirst.",
)
PRIVACY = (
    "We count visitors with a clicker and remember nobody. This site sets no cookies, runs no "
    "scripts and keeps its request log for seven days, in case something breaks. If you join a "
    "mailing list, we hold your address until you ask us to drop it, which takes one line by post "
    "or by mail.",
    "Photographs taken on open days may show the back of your head. Tell the ticket hut if you "
    "would rather they did not. Volunteers' telephone numbers live in a tin, on paper, in a drawer "
    "that sticks.",
)
MEMBERS = (
    "Friends of the garden will find the newsletter, the rota of open evenings and the minutes of "
    "the potting-shed committee behind this door. The password is on the back of your card, under "
    "the drawing of the newt.",
    "Not a friend yet? It costs twenty-four pounds a year and mostly buys gravel.",
)
