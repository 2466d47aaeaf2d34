from __future__ import annotations

import io
import logging
import tempfile
import xml.etree.ElementTree as ET
from typing import IO, TYPE_CHECKING, Any

import pytest

from crawlproject.exports.sitemap_xml import SitemapXmlExporter
from crawlproject.items import Page

if TYPE_CHECKING:
    from pathlib import Path

NAMESPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def export_to(file: IO[bytes], pages: list[Any], **options: Any) -> None:
    exporter = SitemapXmlExporter(file, **options)
    exporter.start_exporting()
    for page in pages:
        exporter.export_item(page)
    exporter.finish_exporting()


def exported(pages: list[Any], **options: Any) -> bytes:
    file = io.BytesIO()
    export_to(file, pages, **options)
    return file.getvalue()


def parsed(data: bytes) -> ET.Element:
    return ET.fromstring(data)  # noqa: S314 - our own


def locations(data: bytes) -> list[str]:
    return [element.text or "" for element in parsed(data).iter(f"{NAMESPACE}loc")]


def page(url: str = "https://a.example/", **fields: Any) -> Page:
    return Page(url, **{"status_code": 200, "content_type": "text/html", **fields})


def test_the_document_to_the_byte() -> None:
    pages = [
        page("https://a.example/b?x=1&y='2'"),
        page(last_modified="Sun, 06 Nov 1994 08:49:37 GMT"),
    ]
    assert exported(pages).decode() == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        "<url><loc>https://a.example/</loc><lastmod>1994-11-06T08:49:37Z</lastmod></url>\n"
        "<url><loc>https://a.example/b?x=1&amp;y='2'</loc></url>\n"
        "</urlset>\n"
    )


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"content_type": "Text/HTML; charset=utf-8"},
        {"content_type": "application/xhtml+xml"},
        {"canonical": "https://a.example/"},
        {"last_modified": "nonsense"},
    ],
)
def test_fit_pages_are_in(fields: dict[str, Any]) -> None:
    assert locations(exported([page(**fields)], seeds=["https://a.example/start"]))


@pytest.mark.parametrize(
    "fields",
    [
        {"status_code": 404},
        {"status_code": None},
        {"content_type": "application/pdf"},
        {"content_type": None},
        {"noindex": True},
        {"canonical": "https://a.example/other"},
        {"error": "truncated"},
        {"url": "https://b.example/"},
        {"url": "https://sub.a.example/"},
        {"url": "https://[broken"},
        {"url": "https://a.example/" + "x" * 2_048},
    ],
)
def test_unfit_pages_are_not_in(fields: dict[str, Any]) -> None:
    assert not locations(exported([page(**fields)], seeds=["https://a.example/start"]))


def test_without_seeds_any_host_is_in() -> None:
    assert len(locations(exported([page(), page("https://b.example/")]))) == 2


def test_items_that_are_no_pages_are_not_in() -> None:
    product = {"status_code": 200, "content_type": "text/html", "price": 3}
    assert not locations(exported([product, {"url": "https://a.example/", "price": 3}]))


def test_the_host_a_seed_redirects_to_counts_as_a_seed_host() -> None:
    pages = [
        page("https://www.a.example/", depth=0, redirected_from=["https://a.example/"]),
        page("https://www.a.example/x", depth=1),
        page("https://c.example/", depth=1, redirected_from=["https://a.example/out"]),
    ]
    data = exported(pages, seeds=["https://a.example/"])
    assert locations(data) == ["https://www.a.example/", "https://www.a.example/x"]


def test_hostile_urls_and_dates_give_valid_xml() -> None:
    urls = ["https://a.example/<x>]]>&\x00\x0b\ud800é \ufffe", 'https://a.example/"']
    data = exported([page(url, last_modified="</lastmod>\x00") for url in urls])
    assert locations(data) == [
        'https://a.example/"',
        "https://a.example/%3Cx%3E]]%3E&%00%0B?%C3%A9%20%EF%BF%BE",
    ]


def three_pages() -> list[Page]:
    return [page(f"https://a.example/{name}") for name in "cab"]


@pytest.mark.parametrize("limits", [{"max_urls": 2}, {"max_bytes": 200}])
@pytest.mark.parametrize("mode", ["wb", "ab"])
def test_too_many_urls_are_split_into_parts_beside_an_index(
    tmp_path: Path, mode: str, limits: dict[str, int]
) -> None:
    path = tmp_path / "site map.xml"
    path.write_bytes(b"old" * 1_000)
    with path.open(mode) as file:
        export_to(file, three_pages(), seeds=["https://me:secret@a.example:8443/x"], **limits)
    index = path.read_bytes()
    assert parsed(index).tag == f"{NAMESPACE}sitemapindex"
    assert locations(index) == [
        "https://a.example:8443/site%20map-1.xml",
        "https://a.example:8443/site%20map-2.xml",
    ]
    parts = [(tmp_path / f"site map-{number}.xml").read_bytes() for number in (1, 2)]
    assert [len(locations(part)) for part in parts] == [2, 1]
    assert locations(parts[0]) + locations(parts[1]) == [
        f"https://a.example/{name}" for name in "abc"
    ]
    if "max_bytes" in limits:
        assert all(len(part) <= 200 for part in parts)
    assert len(list(tmp_path.iterdir())) == 3


def test_what_just_fits_is_not_split(tmp_path: Path) -> None:
    path = tmp_path / "sitemap.xml"
    with path.open("wb") as file:
        export_to(file, three_pages(), max_urls=3, max_bytes=len(exported(three_pages())))
    assert len(locations(path.read_bytes())) == 3
    assert list(tmp_path.iterdir()) == [path]


def test_an_entry_larger_than_a_part_has_a_part_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "sitemap.xml"
    with path.open("wb") as file:
        export_to(
            file, [page("https://a.example/404", status_code=404), *three_pages()], max_bytes=1
        )
    assert locations(path.read_bytes()) == [
        f"https://a.example/sitemap-{number}.xml" for number in (1, 2, 3)
    ]


def test_without_a_place_for_parts_the_rest_is_left_out_and_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with tempfile.NamedTemporaryFile(prefix="feed-") as file:
        export_to(file, three_pages(), max_urls=1)
        file.seek(0)
        assert locations(file.read()) == ["https://a.example/a"]
    (message,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert message.getMessage().startswith("2 URLs were left out of the XML sitemap")


def test_a_part_that_cannot_be_written_leaves_a_valid_sitemap(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "sitemap.xml"
    (tmp_path / "sitemap-2.xml").mkdir()
    with path.open("wb") as file:
        export_to(file, three_pages(), max_urls=1)
    assert locations(path.read_bytes()) == ["https://a.example/a"]
    assert "2 URLs were left out" in caplog.text


def test_a_sitemap_without_urls_says_why(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    other = "https://a.example/other"
    pages = [
        page(canonical=other),
        page("https://a.example/b", canonical=other),
        page("https://a.example/c", noindex=True),
    ]
    with (tmp_path / "sitemap.xml").open("w+b") as file:
        export_to(file, pages)
    assert (
        "sitemap.xml has no URLs; of the pages 2 name another page as the canonical one, "
        "1 ask not to be indexed"
    ) in caplog.text
    caplog.clear()
    exported([*pages, page("https://a.example/d")])
    exported([])
    assert not caplog.text
