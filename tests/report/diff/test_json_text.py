from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.report.diff import json_text
from crawlproject.report.diff.json_text import BadJson, JsonText

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10
)


class Dribble(io.BytesIO):
    """Gives a few bytes at a time, however many are asked for."""

    def __init__(self, content: bytes, size: int) -> None:
        super().__init__(content)
        self._size = size

    def read(self, _: int | None = -1) -> bytes:
        return super().read(self._size)


def elements(content: bytes, size: int = 1 << 20, ahead: int = 1 << 16) -> list[Any]:
    text = JsonText(Dribble(content, size), ahead=ahead)
    found = list(text.elements())
    assert text.peek() == ""
    return found


def a_line_each(values: list[Any]) -> str:
    return "[\n" + ",\n".join(map(json.dumps, values)) + "\n]\n"


LAYOUTS = (
    json.dumps,
    a_line_each,
    lambda values: json.dumps(values, indent=2),
    lambda values: json.dumps(values, indent=1, ensure_ascii=True).replace("\n", "\r\n"),
    lambda values: json.dumps(values, separators=(",", ":"), ensure_ascii=False),
)


@given(
    st.lists(VALUES, max_size=4),
    st.sampled_from(LAYOUTS),
    st.sampled_from((1, 2, 3, 7, 64, 9999)),
    st.sampled_from((1, 20, 9999)),
)
def test_any_layout_is_read_in_pieces_of_any_size(
    values: list[Any], layout: Any, size: int, ahead: int
) -> None:
    content = layout(values).encode()
    assert elements(content, size, ahead) == json.loads(content)


@given(st.lists(VALUES, max_size=4), st.sampled_from(LAYOUTS), st.data())
def test_what_is_cut_off_is_told(values: list[Any], layout: Any, data: st.DataObject) -> None:
    content = layout(values).rstrip().encode()
    end = data.draw(st.integers(0, len(content) - 1))
    with pytest.raises(BadJson):
        elements(content[:end], data.draw(st.sampled_from((1, 5, 9999))))


def test_an_object_is_read_name_by_name_and_what_nobody_needs_is_skipped() -> None:
    content = {"a": {"b": [1, {"c": 2}]}, "list": [[1], {}, "x"], "n": -1.5e3, "": None, "z": "end"}
    for indent in (None, 0, 3):
        text = JsonText(io.BytesIO(json.dumps(content, indent=indent).encode()))
        found = {}
        for name in text.names():
            if name in ("a", "z"):
                found[name] = text.value()
            else:
                text.skip()
        assert found == {"a": content["a"], "z": "end"}
        assert text.peek() == ""


def test_a_byte_order_mark_is_no_text() -> None:
    assert elements(b"\xef\xbb\xbf[1]") == [1]


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"", 1, "it is empty"),
        (b"  \n ", 2, "it ends in the middle"),
        (b"[\n", 2, "it ends in the middle"),
        (b'[\n{"a": 1},\n{"a": "x', 3, "it ends in the middle"),
        (b'[\n{"a": 1},\n{"a": 1\n', 4, "it ends in the middle"),
        (b'[\n{"a": 1},\n\n', 4, "it ends in the middle"),
        (b'[\n{"a": 1}\n{"a": 2}]', 3, "'{' in place of , or ]"),
        (b'[\n{"a": 1},\n]', 3, "expecting value"),
        (b'[\n{"a": 1},\n{"a": 1, }\n]' + b" " * 99, 3, "expecting property name|trailing comma"),
        (b"[\n\n\xff\xfe]", 3, "it is no text in UTF-8"),
        (b"[\n\xc3", 2, "it is no text in UTF-8"),
        (b'{"a": 1}', 1, "'{' in place of \\["),
        (b"[" * 100_000, 1, "it is nested too deeply"),
        (b"[\n1,\n" + b"9" * 5000 + b"]", 3, "digits"),
        (b'[\n"a\tb"]' + b" " * 99, 2, "invalid control character"),
        (b"[truth]", 1, "expecting value"),
    ],
)
def test_broken_json_is_told_with_its_line(content: bytes, line: int, words: str) -> None:
    for size in (1, 4, 1 << 20):
        with pytest.raises(BadJson, match=words) as error:
            elements(content, size)
        assert error.value.line == line


def test_the_line_of_a_value_is_known_also_far_from_the_beginning() -> None:
    lines = [json.dumps({"number": number}) for number in range(500)]
    text = JsonText(Dribble(("[\n" + ",\n".join(lines) + "]").encode(), 100), ahead=10)
    for number, value in enumerate(text.elements()):
        assert (value["number"], text.line) == (number, number + 2)


def test_a_value_without_end_is_not_read_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "LONGEST", 3 * 1024 * 1024)
    content = b'[\n1,\n{"a": "' + b"x" * 9_000_000
    file = io.BytesIO(content)
    with pytest.raises(BadJson, match="a page of more than 3 MB") as error:
        list(JsonText(file).elements())
    assert error.value.line == 3
    assert file.tell() < len(content)


def test_a_surrogate_alone_is_read_as_it_is_written() -> None:
    assert elements(b'[\n{"a":"\\ud800"},\n{"a":1}\n]') == [{"a": "\ud800"}, {"a": 1}]
