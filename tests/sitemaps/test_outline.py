from __future__ import annotations

import pytest

from tests.sitemaps.reading import located, paths, read, urlset


@pytest.mark.parametrize(
    ("document", "found", "problem"),
    [
        # Whole entries count, half ones don't: their URL may be a half one, too.
        ("<urlset><url><loc>/1</loc></url><url><loc>/2</loc>", ["1"], "Premature end"),
        ("<urlset><url><loc>/1</loc></url><url><loc>/2", ["1"], "Premature end"),
        ("<urlset><url><loc>/1</loc></url><url><loc>/2</l", ["1"], "XML"),
        ("<urlset><url><loc>/1</loc></url>", ["1"], "Premature end"),
        ("<urlset", [], "XML"),
        # An end is missing, there is one too many, or a wrong one.
        (urlset("<url><loc>/1</url><url><loc>/2</loc></url>"), ["1", "2"], "tag mismatch"),
        (urlset("<url><loc>/1</loc><url><loc>/2</loc></url>"), ["1", "2"], "tag mismatch"),
        (urlset("<url><loc>/1</loc></url></url><url><loc>/2</loc></url>"), ["1"], "tag mismatch"),
        (urlset("<url><loc>/1</lock></url><url><loc>/2</loc></url>"), ["1", "2"], "tag mismatch"),
        ("<urlset><url><loc>/1</loc></url></feed>", ["1"], "tag mismatch"),
        (urlset(located("/1") + "<a b='<![CDATA[' c='&#xD800;'/>"), ["1"], "XML"),
        # Attributes as in HTML, and one twice.
        (urlset(located("/1") + "<url a=b>"), ["1"], "AttValue"),
        (urlset(located("/1") + "<url a='b' a='c'/>" + located("/2")), ["1", "2"], "redefined"),
    ],
)
def test_of_broken_xml_what_can_be_read_counts(
    document: str, found: list[str], problem: str
) -> None:
    sitemap = read(document)
    assert (sitemap.kind, sitemap.is_cut) == ("urlset", True)
    assert paths(sitemap) == found
    assert problem in str(sitemap.problem)


@pytest.mark.parametrize(
    "document",
    [
        urlset(located("/1?a=1&b=2", "/caf&eacute;")),
        urlset("<title>1 < 2 & 3 <4</title>" + located("/1?b=2&a=1", "/café")),
        urlset("<title>]]> \x00\x0b</title>" + located("/1?b=2&a=1", "/caf&#xe9;")),
        urlset("<x:y z:a='b'/>" + located("/1?b=2&amp;a=1", "/caf%C3%A9")),
        "\n \ufeff" + urlset(located("/1?b=2&amp;a=1", "/caf%C3%A9")),
        "\n <?xml version='1.0'?>" + urlset(located("/1?b=2&amp;a=1", "/caf%C3%A9")),
        "Notice: x in y\n<?xml version='1.0'?>" + urlset(located("/1?b=2&a=1", "/café")),
        "<br />\n<b>Warning</b>: x<?xml version='1.0'?>" + urlset(located("/1?b=2&a=1", "/café")),
        urlset(located("/1?b=2&a=1", "/café")) + "<!-- 0.1 s --><script>1 < 2</script> x & y",
        urlset(located("/1?b=2&a=1", "/café")) + urlset(located("/3")),
        "<?xml version='1.1' encoding='unheard-of'?>" + urlset(located("/1?b=2&a=1", "/café")),
    ],
)
def test_what_is_wrong_in_a_way_that_leaves_no_doubt_is_whole(document: str) -> None:
    sitemap = read(document)
    assert paths(sitemap) == ["1?a=1&b=2", "caf%C3%A9"]
    assert (sitemap.is_cut, sitemap.problem) == (False, None)


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ("<!DOCTYPE html><html><head><title>404</title></head></html>", "it is HTML"),
        ("<!doctype html>\n<html lang=en><p>Not found", "it is HTML"),
        ('<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>', "it is HTML"),
        ("<HTML><BODY>", "it is HTML"),
        ("<p>Not found</p>", "its root element is 'p'"),
        ("<opml><outline xmlUrl='/feed'/></opml>", "its root element is 'opml'"),
        (f"<{'é' * 100}/>", f"its root element is '{chr(92)}xe9"),
    ],
)
def test_other_documents_are_no_sitemaps(document: str, problem: str) -> None:
    sitemap = read(document)
    assert sitemap[:4] == ("", {}, {}, False)
    assert str(sitemap.problem).startswith(f"no sitemap: {problem}")


@pytest.mark.parametrize(
    ("inside", "problem"),
    [
        ("<a>" * 100_000, "it has more than 256 elements in each other"),
        ("<a/>" * 1_001, "it has more than 1,000 elements"),
        (f"<url>{'<a/>' * 1_001}</url>", "it has more than 1,000 elements"),
    ],
)
def test_what_nobody_needs_to_write(
    monkeypatch: pytest.MonkeyPatch, inside: str, problem: str
) -> None:
    monkeypatch.setattr("crawlproject.sitemaps.outline.MOST_PARTS", 1_000)
    sitemap = read(urlset(located("/1") + inside))
    assert (paths(sitemap), sitemap.is_cut, sitemap.problem) == (["1"], True, problem)


def test_what_is_deep_is_read() -> None:
    inside = "<a>" * 250 + "</a>" * 250
    assert paths(read(urlset(f"{inside}<url><loc>/1</loc>{inside}</url>"))) == ["1"]


def test_a_base_holds_as_far_as_its_element() -> None:
    inside = "".join(
        (
            "<url xml:base='/x/'><loc xml:base='y/'>1</loc></url>",
            "<url xml:base='mailto:'><loc>2</loc></url>",
            "<a xml:base='/z/'><url><loc>3</loc></url></a>",
            "<url><a xml:base='/v/'/><loc>4</loc></url>",
        )
    )
    found = paths(read(urlset(inside, "xml:base='/w/'")))
    assert found == ["x/y/1", "w/2", "z/3", "w/4"]
