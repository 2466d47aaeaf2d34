"""What the elements of sitemaps and feeds mean, in documents as sites have them."""

from __future__ import annotations

import pytest

from crawlproject.sitemaps.hints import Hint
from tests.sitemaps.reading import HOME, NOTHING, located, paths, read, urlset

ALL_THAT_IT_MAY_SAY = """<?xml version="1.0" encoding="UTF-8"?>
<?xml-stylesheet type="text/xsl" href="/sitemap.xsl"?>
<!-- made by hand -->
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
        xmlns:xhtml="http://www.w3.org/1999/xhtml"
        xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
        xmlns:video="http://www.google.com/schemas/sitemap-video/1.1">
  <url>
    <loc>
      https://a.example/plants/fern?b=2&amp;a=1
    </loc>
    <lastmod>2025-03-04T05:06:07+01:00</lastmod>
    <changefreq>Weekly</changefreq>
    <priority>0.8</priority>
    <xhtml:link rel="alternate" hreflang="de-AT" href="https://a.example/at/farn"/>
    <xhtml:link rel="alternate" hreflang="x-default" href="../plants/fern"/>
    <xhtml:link rel="alternate" hreflang="de-at" href="https://a.example/second"/>
    <xhtml:link rel="alternate" href="https://a.example/no-language"/>
    <xhtml:link rel="canonical" hreflang="fr" href="https://a.example/no-alternate"/>
    <xhtml:link rel="alternate" hreflang="es" href="javascript:void(0)"/>
    <image:image>
      <image:loc><![CDATA[https://a.example/fern.jpg?w=1&h=2]]></image:loc>
      <image:caption>A &lt;b&gt;fern</image:caption>
      <image:license>https://a.example/license</image:license>
    </image:image>
    <image:image><image:loc>https://b.example/fern.png</image:loc></image:image>
    <image:image><image:loc>https://b.example/fern.png#again</image:loc></image:image>
    <image:image><image:loc>data:image/png;base64,AAAA</image:loc></image:image>
    <video:video>
      <video:thumbnail_loc>https://a.example/v.jpg</video:thumbnail_loc>
      <video:content_loc>https://a.example/v.mp4</video:content_loc>
      <video:publication_date>2001-01-01</video:publication_date>
      <video:loc>https://a.example/v</video:loc>
    </video:video>
  </url>
</urlset>
"""


def test_all_that_a_sitemap_may_say() -> None:
    assert read(ALL_THAT_IT_MAY_SAY) == (
        "urlset",
        {
            f"{HOME}plants/fern?a=1&b=2": Hint(
                "2025-03-04T05:06:07+01:00",
                "weekly",
                0.8,
                {"de-at": f"{HOME}at/farn", "x-default": f"{HOME}plants/fern"},
                [f"{HOME}fern.jpg?h=2&w=1", "https://b.example/fern.png"],
            )
        },
        {},
        False,
        None,
    )


@pytest.mark.parametrize(
    "document",
    [
        "<urlset><url><loc>https://a.example/b</loc></url></urlset>",
        '<urlset xmlns="http://www.google.com/schemas/sitemap/0.84">'
        "<url><loc>https://a.example/b</loc></url></urlset>",
        '<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9">'
        "<s:url><s:loc>https://a.example/b</s:loc></s:url></s:urlset>",
        "<ns1:urlset><ns1:url><ns1:loc>https://a.example/b</ns1:loc></ns1:url></ns1:urlset>",
        urlset("<url><loc>/b</loc></url>"),
        urlset("<url><loc>b</loc></url>", 'xml:base="https://a.example/"'),
        urlset("<url><loc>ht<!-- c -->tps://a.e<?d?>xample/b</loc></url>"),
        urlset("<url><loc><![CDATA[https://a]]>.example<![CDATA[/b]]></loc></url>"),
        urlset("<url><loc/><loc>mailto:x</loc><loc>/b</loc><loc>/c</loc></url>"),
        urlset("<group><url><loc>/b</loc></url></group>"),
        urlset("<url><priority/><lastmod>soon</lastmod><loc>/b</loc><loc></loc></url>"),
        urlset("<url><image:image><image:title>t</image:title></image:image><loc>/b</loc></url>"),
        urlset(located("/b", "https://a.example/b#c", "/./b")),
    ],
)
def test_one_url_in_many_spellings(document: str) -> None:
    assert read(document) == ("urlset", {f"{HOME}b": NOTHING}, {}, False, None)


@pytest.mark.parametrize(
    "inside",
    [
        "",
        "<url/>",
        "<url>https://a.example/b</url>",
        "<loc>https://a.example/b</loc>",
        "<url><loc></loc></url>",
        "<url><loc>https://</loc></url>",
        "<url><loc>ftp://a.example/b</loc></url>",
        "<url><loc>/b<br/>c</loc></url>",
        "<url><loc>/caf\ufffd</loc></url>",
        "<url><loc>/caf&unheard-of;</loc></url>",
        "<url><loc>/&#xD83D;</loc></url>",
        "<url><location><loc>/b</loc></location></url>",
        "<url><image><loc>/b.jpg</loc></image></url>",
        f"<url><loc>/{'x' * 10_000}</loc></url>",
    ],
)
def test_what_names_no_url(inside: str) -> None:
    sitemap = read(urlset(inside), content_type="text/xml; charset=utf-8")
    assert sitemap == ("urlset", {}, {}, False, None)


@pytest.mark.parametrize(
    ("inside", "lastmod"),
    [
        ("<news:news><news:publication_date>2025-03-04</news:publication_date></news:news>", "04"),
        (
            "<news><publication_date>2025-03-04</publication_date></news>"
            "<lastmod>2025-03-05</lastmod>",
            "05",
        ),
        ("<lastmod>2025-03-05</lastmod><lastmod>2025-03-06</lastmod>", "05"),
    ],
)
def test_news_are_as_old_as_their_publication(inside: str, lastmod: str) -> None:
    [hint] = read(urlset(f"<url><loc>/</loc>{inside}</url>")).urls.values()
    assert hint == NOTHING._replace(lastmod=f"2025-03-{lastmod}")


@pytest.mark.parametrize(("root", "kind"), [("sitemapindex", "index"), ("urlset", "urlset")])
def test_an_index_names_sitemaps_and_may_be_mixed_with_urls(root: str, kind: str) -> None:
    document = f"""<{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
      <sitemap><loc>/maps/1.xml.gz</loc><lastmod>2025-03-04</lastmod></sitemap>
      <sitemap><loc>2.xml</loc></sitemap>
      <sitemap><loc>/maps/1.xml.gz</loc><lastmod>2025-03-05</lastmod></sitemap>
      <url><loc>/b</loc></url>
    </{root}>"""
    nested = {f"{HOME}maps/1.xml.gz": "2025-03-05", f"{HOME}maps/2.xml": None}
    assert read(document) == (kind, {f"{HOME}b": NOTHING}, nested, False, None)


RSS = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://x.example/rss.dtd">
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"
     xmlns:content="http://purl.org/rss/1.0/modules/content/"
     xmlns:media="http://search.yahoo.com/mrss/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel>
  <title>Ferns &amp; mosses&nbsp;&ndash; news</title>
  <link>https://a.example/</link>
  <atom:link href="https://a.example/feed" rel="self"/>
  <image><url>https://a.example/logo.png</url><link>https://a.example/</link></image>
  <item>
    <title>One</title>
    <link>https://a.example/1?utm_source=rss</link>
    <guid isPermaLink="false">https://a.example/?p=1</guid>
    <comments>https://a.example/1#comments</comments>
    <pubDate>Tue, 04 Mar 2025 05:06:07 +0100</pubDate>
    <content:encoded><![CDATA[<a href="https://a.example/no">1 & 2</a>]]></content:encoded>
    <enclosure url="/1.jpg" type="image/jpeg" length="1"/>
    <enclosure url="/1.mp3" type="audio/mpeg" length="1"/>
    <media:content url="/2.png" medium="image"><media:thumbnail url="/3.png"/></media:content>
    <media:group><media:content url="/4.webp" type="image/webp"/></media:group>
    <media:thumbnail url="/1.jpg"/>
  </item>
  <item><guid>https://a.example/2</guid><dc:date>2025-03-04T05:06:07Z</dc:date></item>
  <item><guid>12345</guid></item>
  <item><guid isPermaLink="false">https://a.example/never</guid></item>
  <item><link/><guid isPermaLink="true">https://a.example/3</guid></item>
  <item><atom:link rel="self" href="/self"/><link>4</link><atom:updated>2025</atom:updated></item>
</channel>
</rss>
"""


def test_rss() -> None:
    sitemap = read(RSS, url=f"{HOME}feed")
    pictures = [f"{HOME}{name}" for name in ("1.jpg", "2.png", "3.png", "4.webp")]
    assert sitemap == (
        "rss",
        {
            f"{HOME}1": NOTHING._replace(lastmod="2025-03-04T04:06:07Z", images=pictures),
            f"{HOME}2": NOTHING._replace(lastmod="2025-03-04T05:06:07Z"),
            f"{HOME}3": NOTHING,
            f"{HOME}4": NOTHING._replace(lastmod="2025-01-01"),
        },
        {},
        False,
        None,
    )


def test_rss_1_0() -> None:
    document = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
        xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
      <channel rdf:about="https://a.example/feed"><link>https://a.example/</link>
        <items><rdf:Seq><rdf:li resource="https://a.example/1"/></rdf:Seq></items></channel>
      <item rdf:about="https://a.example/1">
        <link>https://a.example/1</link><dc:date>2025-03-04</dc:date></item>
    </rdf:RDF>"""
    assert read(document) == (
        "rss",
        {f"{HOME}1": NOTHING._replace(lastmod="2025-03-04")},
        {},
        False,
        None,
    )


ATOM = """<?xml version="1.0"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://a.example/blog/">
  <link href="https://a.example/"/><updated>2025-12-31T00:00:00Z</updated>
  <entry>
    <link rel="self" href="/self"/><link rel="edit" href="/edit"/>
    <link rel="alternate" type="text/html" href="one"/>
    <link rel="enclosure" type="image/png" href="/one.png"/>
    <link rel="enclosure" type="video/mp4" href="/one.mp4"/>
    <published>2025-03-04T05:06:07Z</published><updated>2025-03-05T05:06:07Z</updated>
    <content type="xhtml"><div><link href="/x"/><a href="/x">x</a></div></content>
  </entry>
  <entry xml:base="2025/">
    <id>tag:a.example,2025:2</id>
    <source><link href="/source"/><updated>2001-01-01T00:00:00Z</updated></source>
    <link href="two"/><published>2025-03-04T05:06:07Z</published>
    <link href="zwei" hreflang="DE"/>
  </entry>
  <entry><link xml:base="https://a.example/other/" href="three"/></entry>
  <entry><link rel="related" href="/no"/><id>https://a.example/no</id></entry>
  <entry><link href="four"/></entry>
</feed>
"""


def test_atom() -> None:
    published, updated = "2025-03-04T05:06:07Z", "2025-03-05T05:06:07Z"
    german = {"de": f"{HOME}blog/2025/zwei"}
    assert read(ATOM, url="https://cdn.example/feed") == (
        "atom",
        {
            f"{HOME}blog/one": NOTHING._replace(lastmod=updated, images=[f"{HOME}one.png"]),
            f"{HOME}blog/2025/two": NOTHING._replace(lastmod=published, alternates=german),
            f"{HOME}other/three": NOTHING,
            f"{HOME}blog/four": NOTHING,
        },
        {},
        False,
        None,
    )


def test_of_images_and_alternates_there_are_not_more_than_a_thousand() -> None:
    images = "".join(f"<image><loc>/{number}.jpg</loc></image>" for number in range(1_100))
    links = "".join(
        f'<link rel="alternate" hreflang="l{number}" href="/{number}"/>' for number in range(1_100)
    )
    [hint] = read(urlset(f"<url><loc>/</loc>{images}{links}</url>")).urls.values()
    assert (len(hint.images), len(hint.alternates)) == (1_000, 1_000)


def test_entries_do_not_share_what_they_say() -> None:
    first, second = read(urlset(located("/1", "/2"))).urls.values()
    assert first.images is not second.images
    assert first.alternates is not second.alternates


def test_the_order_is_that_of_the_document() -> None:
    assert paths(read(urlset(located("/z", "/a", "/m", "/a")))) == ["z", "a", "m"]
