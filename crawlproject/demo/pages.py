"""The garden's pages that stand alone: path to HTML.*"""

from __future__ import annotations

from functools import partial

from crawlproject.demo import prose
from crawlproject.demo.layout import (
    GARDEN,
    LANDSCAPE,
    cards,
    flower,
    link,
    page,
    paragraphs,
    telling,
)
from crawlproject.demo.listings import plant_card
from crawlproject.demo.news import ARTICLES
from crawlproject.demo.plants import PLANTS


def home() -> dict[str, bytes]:
    latest = "".join(
        f"<li>{link(f'/news/{article.slug}?utm_source=home&utm_medium=teaser', article.title)}</li>"
        for article in ARTICLES[:3]
    )
    content = (
        '<p class="lead">Forty acres of fen, shingle and glass at the end of the causeway, where '
        f"the water decides.</p>{LANDSCAPE}"
        "<p>Walk the lagoon circuit, lean on the oldest poplar in the county, and stay for seed "
        f"cake in the {link('/visit/café', 'café')}. First time here? Read our "
        f"{link('/guide', 'one-page guide')}, check the {link('/hours', 'opening hours')} and "
        f"get your {link('/tickets', 'tickets')} at the gate. All of our "
        f"{link('/plants', 'plants')} have a page of their own, and {link('/events/', 'events')} "
        "happen in the long barn.</p><h2>In flower now</h2>"
        + cards(plant_card(plant, "/plants/") for plant in PLANTS[2:6])
        + f"<h2>Latest news</h2><ul>{latest}</ul>"
    )
    lead = "Forty acres of fen, shingle and glass at the end of the causeway."
    garden: dict[str, object] = {
        "@type": "TouristAttraction",
        "name": GARDEN,
        "description": lead,
        "openingHours": "Mo-Su 10:00-16:00",
    }
    return {"/": page(GARDEN, content, head=telling(lead, data=garden))}


def visit() -> dict[str, bytes]:
    inside = partial(page, section="/visit/", crumbs=(("/visit/", "Visit"),))
    getting_here = inside(
        "Getting here",
        paragraphs(prose.GETTING_HERE)
        + f"<p>{link('https://example.org/bus-timetable', 'Bus timetable')}, "
        f"{link('/old-map', 'interactive map')}, "
        f"{link('/files/visitor-map.pdf', 'map to print')}.</p>",
    )
    hours = (
        "<table><tr><th>Month</th><th>Gate</th><th>Glasshouse</th></tr>"
        "<tr><td>January to March</td><td>10:00–16:00</td><td>11:00–15:30</td></tr>"
        "<tr><td>April to August</td><td>10:00–20:00</td><td>10:00–19:00</td></tr>"
        "<tr><td>September to December</td><td>10:00–17:00</td><td>11:00–16:00</td></tr></table>"
        "<p>We close on the day of the highest spring tide, announced at the hut and in the "
        f"{link('/news/', 'news')}, and whenever the causeway is under water. The last boat "
        "round the lagoon leaves an hour before the gate shuts; the ferryman does not wait.</p>"
    )
    pictures = (
        (48, 5, "opening-hours", "Opening hours", "When the gate, the glass and the café open."),
        (205, 7, "getting-here", "Getting here", "By bus, bicycle or boat. By car if you must."),
        (130, 6, "accessibility", "Accessibility", "Boardwalks, benches, braille, quiet hours."),
        (20, 9, "café", "Café", "Soup, stove, seed cake."),
    )
    overview = cards(
        (flower(hue, petals), href, name, text) for hue, petals, href, name, text in pictures
    )
    return {
        "/visit/": page(
            "Plan your visit",
            '<p class="lead">Open all year, best in the rain.</p>'
            + overview
            + f"<p>Coming by road? The {link('/visit/directions#parking', 'directions')} say where "
            f"to park, and the {link('/files/visitor-map.pdf', 'visitor map')} prints on one "
            "sheet.</p>",
            section="/visit/",
        ),
        "/visit/opening-hours": inside("Opening hours", hours),
        # One document under two addresses, as a renamed page that was never redirected.
        "/visit/getting-here": getting_here,
        "/visit/directions": getting_here,
        "/visit/accessibility": inside("Accessibility", paragraphs(prose.ACCESSIBILITY)),
        "/visit/café": inside("The café", paragraphs(prose.CAFE)),
        "/visit/tickets": inside("Tickets and prices", paragraphs(prose.TICKETS)),
        "/visit/plan-your-day": inside("One hour or all day", paragraphs(prose.PLAN)),
    }


def about() -> dict[str, bytes]:
    inside = partial(page, section="/about/", crumbs=(("/about/", "About"),))
    history = paragraphs(prose.HISTORY)
    picture = (
        '<p><a href="/files/lagoon.png"><img src="/files/lagoon.png" width="320" height="120" '
        'alt="The lagoon at dawn"></a></p>'
    )
    return {
        "/about/": page(
            "About the garden",
            '<p class="lead">A botanic garden that its founder did not intend.</p>'
            f"<p>Read {link('history', 'our history')}, look up the "
            f"{link('weather-records', 'weather records')} kept since 1889, or meet "
            f"{link('../staff/', 'the people')} behind the labels. We are owned by the "
            f"{link('https://example.org/fen-trust', 'Fen Trust')}, a charity, and cared for by "
            "ninety volunteers who would like you to know that the newts are doing well.</p>",
            section="/about/",
        ),
        "/about/history": inside(
            "Our history",
            picture + history + f"<p>{link('/about/history/print', 'Print this page')}</p>",
        ),
        "/about/history/print": inside("Our history (print version)", picture + history),
        "/about/weather-records": inside("Weather records", paragraphs(prose.WEATHER)),
        "/about/seed-list-1887": inside("The seed list of 1887", paragraphs(prose.SEED_LIST)),
    }


def contact() -> dict[str, bytes]:
    content = (
        "<p>Thistlemere Botanic Garden, The Causeway, Oxney. Telephone "
        f"{link('tel:+441632960147', '01632 960147')}, answered when it can be heard over the "
        "pump. Letters are read aloud at tea, unless marked private. For lost gloves ask the "
        "ticket hut; for lost children, the café.</p>"
        f"<p>After writing you will see {link('/contact/thank-you', 'this page')}. Friends of the "
        f"garden {link('/members', 'sign in here', 'nofollow')}.</p>"
    )
    return {
        "/contact": page("Contact", content),
        "/contact/thank-you": page(
            "Thank you",
            "<p>Your message is in the tray. Somebody with muddy hands will answer it by Friday, "
            "or by the Friday after, if the tide is right and the printer is not.</p>",
            crumbs=(("/contact", "Contact"),),
            head='<meta name="robots" content="noindex">\n',
        ),
        "/members": page("Friends sign-in", paragraphs(prose.MEMBERS)),
        "/privacy": page("Privacy", paragraphs(prose.PRIVACY)),
    }
