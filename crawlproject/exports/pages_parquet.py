"""A table of the pages for data tools: Parquet, one row a page, sorted by URL, columns with types.

A column for each field of a page, in the page's own order, then one for each field that a
team has added, by name: text, whole numbers (64 bits), numbers, booleans, lists of text,
``fetched_at`` as a time in UTC; whatever is nested is JSON, as text. The type of an added field
follows from its values; where they differ, it is JSON. What is unknown is null.

- pyarrow writes it, which is an extra: ``requirements-parquet.txt``.
- Memory is flat: rows are written in groups.
- The feed option ``fields`` chooses the columns, in that order.
- Items that are no pages are not in it.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import IO, TYPE_CHECKING, Any

from crawlproject.exports.columns import KINDS, Kind, common, kind_of, value_of
from crawlproject.exports.sorted_pages import SortedPagesExporter
from crawlproject.extras import how_to_install
from crawlproject.records import encodable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pyarrow
    from pyarrow.parquet import ParquetWriter

    from crawlproject.records import Record

# Rows of a group, and about how many bytes, at most.
_ROWS = 10_000
_BYTES = 8 * 1024 * 1024
_LINK_BYTES = 60


class PagesParquetExporter(SortedPagesExporter):
    keeps_others = False

    def __init__(self, file: IO[bytes], **options: Any) -> None:
        super().__init__(file, **options)
        self.needs_links = not self.chosen or "links" in self.chosen
        self._added: set[str] = set()

    @classmethod
    def problem(cls, options: Mapping[str, Any]) -> str | None:
        if find_spec("pyarrow") is None:
            return f"pyarrow is not installed: {how_to_install('parquet')}"
        return None

    def condense(self, record: Record) -> Record:
        self._added.update(record.keys() - KINDS.keys())
        return record

    def write_document(self) -> None:
        # A fifth of a second, for who writes no such file.
        from pyarrow.parquet import ParquetWriter

        columns = self._columns()
        schema = _schema({name: columns[field] for field, name in self._names(columns).items()})
        with ParquetWriter(_Sink(self.file), schema, compression="zstd") as writer:
            rows: list[Record] = []
            size = 0
            for page in self.pages():
                rows.append(page)
                size += _size(page)
                if len(rows) >= _ROWS or size >= _BYTES:
                    _write(writer, schema, columns, rows)
                    rows, size = [], 0
            _write(writer, schema, columns, rows)

    def _columns(self) -> dict[str, Kind]:
        """The kind of each column, by its field."""
        added = (self._added | self.added_fields()) - KINDS.keys()
        if self.chosen:
            added = {field for field in self.chosen if field not in KINDS}
        kinds = {**KINDS, **self._kinds_of(sorted(added))}
        return {field: kinds[field] for field in self._names(kinds)}

    def _names(self, columns: Iterable[str]) -> dict[str, str]:
        return self.chosen or {name: name for name in columns}

    def _kinds_of(self, names: list[str]) -> dict[str, Kind]:
        """What fields are that a team has added, by a look at all of them."""
        found: dict[str, set[Kind]] = {name: set() for name in names}
        if names:
            for page in self._without_links():
                for name, kinds in found.items():
                    if page.get(name) is not None:
                        kinds.add(kind_of(page[name]))
        return {name: common(kinds) for name, kinds in found.items()}

    def _without_links(self) -> Iterable[Record]:
        if self._reader is None:
            return self._pages.newest()
        return (record for _, record in self._reader.pages(with_links=False))


class _Sink:
    """A file as pyarrow wants it. Where it is written to may not know how far it has come."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._written = 0

    def write(self, data: bytes) -> int:
        self._file.write(data)
        self._written += len(data)
        return len(data)

    def tell(self) -> int:
        return self._written

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        """Whoever opened the file closes it."""


def _schema(kinds: Mapping[str, Kind]) -> pyarrow.Schema:
    import pyarrow

    types = {
        Kind.TEXT: pyarrow.string(),
        Kind.WHOLE: pyarrow.int64(),
        Kind.NUMBER: pyarrow.float64(),
        Kind.BOOLEAN: pyarrow.bool_(),
        Kind.TEXTS: pyarrow.list_(pyarrow.string()),
        Kind.TIME: pyarrow.timestamp("ms", tz="UTC"),
        Kind.JSON: pyarrow.string(),
    }
    return pyarrow.schema([(encodable(name), types[kind]) for name, kind in kinds.items()])


def _write(
    writer: ParquetWriter,
    schema: pyarrow.Schema,
    columns: Mapping[str, Kind],
    rows: list[Record],
) -> None:
    import pyarrow

    arrays = [
        pyarrow.array([value_of(kind, row.get(field)) for row in rows], type=schema.types[place])
        for place, (field, kind) in enumerate(columns.items())
    ]
    if rows:
        writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))


def _size(page: Record) -> int:
    """About how many bytes a row takes in memory."""
    return sum(
        len(value) if isinstance(value, str) else len(value) * _LINK_BYTES
        for value in page.values()
        if isinstance(value, str | list)
    )
