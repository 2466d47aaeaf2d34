"""The garden's collections, each a list and a page for every entry: path to HTML.*"""

from __future__ import annotations

from functools import partial
from html import escape

from crawlproject.demo.layout import cards, flower, link, page, paragraphs, telling
from crawlproject.demo.news import ARTICLES, TAGS, Article
from crawlproject.demo.people import PRODUCTS, STAFF, Product
from crawlproject.demo.plants import PLANTS, SEASONS, Plant

NEWS_PER_PAGE = 4


def plant_card(plant: Plant, base: str = "") -> tuple[str, str, str, str]:
    text = plant.text[0].split(". ")[0].rstrip(".") + "."
    return flower(plant.hue, plant.petals), base + plant.slug, plant.name, text


def plants() -> dict[str, bytes]:
    crumbs = (("/plants/", "Plants"),)
    inside = partial(page, section="/plants/", crumbs=crumbs)
    seasons = " · ".join(link(f"/plants/?season={season}", season) for season in SEASONS)
    pages = {
        "/plants/": page(
            "Plants of the garden",
            f'<p class="lead">Fourteen that are worth the walk.</p><p>By season: {seasons}. '
            f"{link('/plants/featured', 'Plant of the month')}.</p>"
            + cards(map(plant_card, PLANTS)),
            section="/plants/",
        )
    }
    for season in SEASONS:
        pages[f"/plants/?season={season}"] = inside(
            f"In flower in {season}",
            cards(plant_card(plant) for plant in PLANTS if plant.season == season)
            + f"<p>Other seasons: {seasons}</p>",
        )
    for number, plant in enumerate(PLANTS):
        neighbour = PLANTS[(number + 1) % len(PLANTS)]
        content = (
            flower(plant.hue, plant.petals, "big")
            + f'<p class="meta">{escape(plant.latin)}, at its best in '
            f"{link(f'/plants/?season={plant.season}', plant.season)}</p>"
            + paragraphs(plant.text)
            + f"<p>Next along the path: {link(neighbour.slug, neighbour.name)}.</p>"
        )
        pages[f"/plants/{plant.slug}"] = inside(plant.name, content)
    lily = next(plant for plant in PLANTS if plant.slug == "giant-waterlily")
    pages["/plants/featured"] = inside(
        f"Plant of the month: {lily.name}",
        flower(lily.hue, lily.petals, "big") + paragraphs(lily.text[1:]),
        head=f'<link rel="canonical" href="/plants/{lily.slug}">\n',
    )
    return pages


def teaser(article: Article) -> str:
    return (
        f"<h2>{link(f'/news/{article.slug}', article.title)}</h2>"
        f'<p class="meta"><time>{article.date}</time></p><p>{escape(article.text[0])}</p>'
    )


def news() -> dict[str, bytes]:
    inside = partial(page, section="/news/", crumbs=(("/news/", "News"),))
    tags = ", ".join(link(f"/news/tag/{tag}", tag) for tag in TAGS)
    count = -(-len(ARTICLES) // NEWS_PER_PAGE)
    pages = {}
    addresses = ["/news/", *(f"/news/?page={number}" for number in range(2, count + 1))]
    for index, address in enumerate(addresses):
        first = index * NEWS_PER_PAGE
        content = "".join(map(teaser, ARTICLES[first : first + NEWS_PER_PAGE]))
        if index:
            content += f"<p>{link(addresses[index - 1], '← Newer', 'prev')}</p>"
        if index + 1 < count:
            content += f"<p>{link(addresses[index + 1], 'Older →', 'next')}</p>"
        title = f"News, page {index + 1}" if index else "News"
        pages[address] = page(title, content + f"<p>Tags: {tags}</p>", section="/news/")
    for tag in TAGS:
        tagged = [article for article in ARTICLES if tag in article.tags]
        entries = "".join(
            f"<li><time>{article.date}</time> {link(f'../{article.slug}', article.title)}</li>"
            for article in tagged
        )
        pages[f"/news/tag/{tag}"] = inside(f"News about {tag}", f"<ul>{entries}</ul>")
    extra = {
        "tea-and-tulips": "Thank you to all who gave to the "
        + link("/news/roof-appeal", "roof appeal")
        + ".",
        "apprentices": f"They follow {link('/staff/jonah-alder', 'Jonah Alder')}, now in Kent.",
    }
    for number, article in enumerate(ARTICLES):
        older = ARTICLES[(number + 1) % len(ARTICLES)]
        filed = ", ".join(link(f"/news/tag/{tag}", tag) for tag in article.tags)
        pages[f"/news/{article.slug}"] = inside(
            article.title,
            f'<p class="meta"><time>{article.date}</time>, filed under {filed}</p>'
            + paragraphs(article.text)
            + (f"<p>{extra[article.slug]}</p>" if article.slug in extra else "")
            + f"<p>Read on: {link(older.slug, older.title)}</p>",
        )
    return pages


def price(product: Product) -> str:
    return f"£{product.pence // 100}.{product.pence % 100:02}"


def shop() -> dict[str, bytes]:
    def listing(title: str, intro: str, products: list[Product], head: str = "") -> bytes:
        return page(
            title,
            f'<p class="lead">{intro}</p><p>Sort by {link("/shop/", "name")} or '
            f"{link('/shop/?sort=price', 'price')}. "
            f"{link('/shop/basket', 'Your basket')}.</p>"
            + cards(
                (flower(item.hue, 8), f"/shop/{item.slug}", item.name, price(item))
                for item in products
            )
            + "<p>Everything is made within sight of the windmill. Older things are in the "
            f"{link('/shop/seed-catalogue-2019', 'seed catalogue')}.</p>",
            section="/shop/",
            head=head,
        )

    canonical = '<link rel="canonical" href="/shop/">\n'
    pages = {
        "/shop/": listing(
            "Garden shop",
            "Five things that fit in a bicycle basket. What you spend here buys gravel, seed "
            "and, once in ten years, a new pump.",
            list(PRODUCTS),
        ),
        "/shop/?sort=price": listing(
            "Garden shop, by price",
            "Pocket money first.",
            sorted(PRODUCTS, key=lambda item: item.pence),
            canonical,
        ),
    }
    for item in PRODUCTS:
        pages[f"/shop/{item.slug}"] = page(
            item.name,
            flower(item.hue, 8, "big")
            + f'<p class="lead">{price(item)}</p>'
            + paragraphs([item.text])
            + f"<p>{link('/shop/basket', 'Add to basket')}</p>",
            section="/shop/",
            crumbs=(("/shop/", "Shop"),),
            head=telling(f"{item.name}, {price(item)}", kind="product", data=_product(item)),
        )
    return pages


def _product(item: Product) -> dict[str, object]:
    offer = {"@type": "Offer", "price": price(item)[1:], "priceCurrency": "GBP"}
    return {"@type": "Product", "name": item.name, "offers": offer}


def staff() -> dict[str, bytes]:
    portraits = (
        (flower(60 + 70 * number, 5 + number), person.slug, person.name, person.role)
        for number, person in enumerate(STAFF)
    )
    pages = {
        "/staff/": page(
            "The people",
            '<p class="lead">Eleven are paid, ninety are not, and these four answer letters.</p>'
            + cards(portraits),
            section="/staff/",
        )
    }
    for person in STAFF:
        pages[f"/staff/{person.slug}"] = page(
            person.name,
            f'<p class="meta">{person.role}</p>'
            + paragraphs([person.text])
            + f"<p>{link('/contact', 'Write a letter')}</p>",
            section="/staff/",
            crumbs=(("/staff/", "People"),),
        )
    return pages
