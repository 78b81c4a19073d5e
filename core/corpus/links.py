"""Links between the documents of a corpus, such as references, and files of links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path as FilePath
from typing import Any

from core.corpus.document import utf8_text
from core.errors import BadInput, shorten
from core.graph.columns import Table
from core.io.files import numbered_lines

LINKS_NAME = "links.tsv"  # the file of links in a folder of documents
LINK_COLUMNS = ("source", "target", "type", "count")
LINK_HEADERS = {("from", "to"), ("source", "target"), ("head", "tail")}
MAX_LINK_BYTES = 1 << 32  # of text in a file of links


@dataclass(frozen=True, slots=True, order=True)
class DocumentLink:
    """A link from one document to another, named by their ids.

    `type` is empty if it has none. `count` is a number of occurrences, or any weight above 0.
    """

    source: str
    target: str
    type: str = ""
    count: float = 1.0


def read_links(file: FilePath) -> list[DocumentLink]:
    """Read the links of a file, one on each line.

    The tab-separated columns are source, target and, optionally, type and count. A header is
    allowed. Raises BadInput that names file and line for a line that is no link.
    """
    links = []
    for number, line in numbered_lines(file, max_bytes=MAX_LINK_BYTES):
        cells = line.rstrip("\r\n").split("\t")
        if number == 1 and tuple(cell.strip().casefold() for cell in cells[:2]) in LINK_HEADERS:
            continue
        links.append(_link(file, number, cells, line))
    return links


def _link(file: FilePath, number: int, cells: list[str], line: str) -> DocumentLink:
    if not 2 <= len(cells) <= 4 or not all(cell.strip() for cell in cells[:2]):
        message = "expected two ids, and at most a type and a count, separated by tabs"
        raise BadInput(f"{file.name}, line {number}: {message}; found “{shorten(line)}”.")
    try:
        count = float(cells[3]) if len(cells) == 4 else 1.0
    except ValueError:
        count = -1.0  # reported below
    if not 0 < count < float("inf"):
        raise BadInput(
            f"{file.name}, line {number}: the count “{shorten(cells[3])}” is no number above 0."
        )
    return DocumentLink(
        utf8_text(cells[0].strip()),
        utf8_text(cells[1].strip()),
        utf8_text(cells[2].strip()) if len(cells) > 2 else "",
        count,
    )


def read_folder_links(folder: FilePath) -> list[DocumentLink]:
    """Return the links in a folder's `links.tsv`, plain or gzipped; empty without that file."""
    files = [file for file in (folder / LINKS_NAME, folder / f"{LINKS_NAME}.gz") if file.is_file()]
    return read_links(files[0]) if files else []


def link_table(links: Iterable[DocumentLink]) -> Table:
    """Return a table of links. The counts of repeated links are added."""
    import pyarrow as pa

    counts: dict[tuple[str, str, str], float] = {}
    for link in links:
        key = (link.source, link.target, link.type)
        counts[key] = counts.get(key, 0.0) + link.count
    keys = sorted(counts)
    columns = zip(*keys) if keys else ((), (), ())
    arrays = [pa.array(values, pa.large_string()) for values in columns]
    arrays.append(pa.array([counts[key] for key in keys], pa.float64()))
    return Table(pa.table(dict(zip(LINK_COLUMNS, arrays))))


def links_in(table: Table | None) -> list[DocumentLink]:
    """Return the links of a table made by `link_table`; empty for None."""
    if table is None:
        return []
    return [DocumentLink(*row) for row in _link_rows(table)]


def link_digest(table: Table) -> str:
    """Return the SHA-256 digest of a table of links in hex."""
    lines = ["\t".join(map(str, row)) for row in _link_rows(table)]
    return sha256("\n".join(lines).encode()).hexdigest()


def _link_rows(table: Table) -> Iterator[tuple[Any, ...]]:
    return zip(*(table.arrow.column(name).to_pylist() for name in LINK_COLUMNS))
