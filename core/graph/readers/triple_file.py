"""Triples read from a file, whatever its format: delimited text, N-Triples, GraphML, question rows that hold graphs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path as FilePath

from core.errors import BadInput, nearest, shorten
from core.graph.readers import graphml, ntriples
from core.graph.readers.delimited import read_delimited
from core.graph.readers.skip_report import Tally
from core.io.files import PACKED
from core.io.json_rows import json_rows

MEMORY = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?")
Triple = tuple[str, str, str]
Tell = Callable[[float], None]

FORMATS = {
    "tab": "Tab-separated text",
    "bar": "Text separated by “|”",
    "comma": "Comma-separated text",
    "ntriples": "N-Triples",
    "graphml": "GraphML",
    "rows": "Question rows with a graph each (JSON)",
}
SUFFIXES = {
    ".tsv": "tab",
    ".tab": "tab",
    ".csv": "comma",
    ".nt": "ntriples",
    ".graphml": "graphml",
    ".json": "rows",
    ".jsonl": "rows",
}


@dataclass(frozen=True)
class TripleFile:
    """A file of triples and how to read it; see `read_triples`.

    Triples whose relation fits a pattern of `drop` (`common.*`, `*sameAs*`) are left out; with `skips`, so are bad lines; `tally` says how
    many. With `numbered`, nodes and relations are numbers, kept as they stand, and no names are stored. Where `memory` is given, in
    bytes, a graph is built of the file within about as many, however small it is; what a stopped build has done is kept for the next one
    unless `keep` is off.
    """

    path: FilePath
    format: str = "auto"
    columns: tuple[int, int, int] | None = None
    most: int | None = None
    drop: tuple[str, ...] = ()
    skips: bool = False
    numbered: bool = False
    memory: int | None = None
    keep: bool = True
    tally: Tally = field(default_factory=Tally, compare=False)

    def read(self, progress: Tell | None = None) -> Iterator[Triple]:
        """Its triples, in its order."""
        pattern_of = lru_cache(None)(lambda relation: dropping(relation, self.drop))
        for triple in read_triples(self.path, progress, self.format, self.columns, self.most):
            if pattern := self.drop and pattern_of(triple[1]):
                self.tally.drop(pattern, 1)
            else:
                yield triple


def read_triples(
    path: str | FilePath,
    progress: Tell | None = None,
    format: str = "auto",
    columns: tuple[int, int, int] | None = None,
    most: int | None = None,
) -> Iterator[Triple]:
    """The triples (head, relation, tail) of a file, in its order.

    Every format may also be packed (`.gz`, `.zst`). `format` is one of `FORMATS`; `auto` goes by the suffix, else by the first
    lines. `columns` tells which columns, from 1, of a delimited file hold head, relation and tail, for lines that hold more
    (or in another order). `most` bounds the bytes of text read, after unpacking. `progress` hears the share of bytes read.
    Raises BadInput, naming file and line, for what cannot be read as triples, and for a file that holds none.

    >>> import pathlib, tempfile
    >>> from core.graph.readers.triple_file import read_triples
    >>> file = pathlib.Path(tempfile.mkdtemp(), "films.txt")
    >>> _ = file.write_text("Inception|directed_by|Christopher Nolan")
    >>> list(read_triples(file))
    [('Inception', 'directed_by', 'Christopher Nolan')]
    """
    path = FilePath(path)
    chosen = format_of(path, format)
    if columns and chosen in ("ntriples", "graphml", "rows"):
        raise BadInput(f"Columns can be chosen in delimited text only; {path.name} is read as {FORMATS[chosen]}.")
    read: Callable[[FilePath, Tell | None, int | None], Iterator[Triple]]
    if chosen == "ntriples":
        read = ntriples.read
    elif chosen == "graphml":
        read = graphml.read
    elif chosen == "rows":
        read = _rows
    else:
        yield from read_delimited(path, progress, chosen, columns, most)
        return
    found = False
    for triple in read(path, progress, most):
        found = True
        yield triple
    if not found:
        raise BadInput(f"{path.name} holds no triples.")


def dropping(relation: str, patterns: tuple[str, ...]) -> str:
    """The first pattern that a relation fits, letter case and all; empty where there is none."""
    return next((pattern for pattern in patterns if fnmatchcase(relation, pattern)), "")


def columns_of(text: str) -> tuple[int, int, int]:
    """The columns that a text like `1,2,3` tells. Raises BadInput where it is no three numbers."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 3 or not all(part.isdecimal() and len(part) < 6 for part in parts):
        raise BadInput(f"Columns are three different numbers from 1, for head, relation and tail, as in 1,2,3; not “{shorten(text)}”.")
    return int(parts[0]), int(parts[1]), int(parts[2])


def bare_suffix(path: FilePath) -> str:
    """The suffix of a file's name in lower case, that of the file inside where it is packed."""
    return (path.with_suffix("") if path.suffix.lower() in PACKED else path).suffix.lower()


def size_of(text: str) -> int:
    """The bytes that a text like 2GiB, 800 MB or 1000000 tells. Raises BadInput for another, and for less than 64 MiB."""
    found = MEMORY.fullmatch(text.strip().lower())
    size = int(float(found[1]) * 1024 ** " kmgt".index(found[2] or " ")) if found else 0
    if size < 1 << 26:
        raise BadInput(f"Memory is told as in 2GiB, at least 64MiB; not “{shorten(text)}”.")
    return size


def format_of(path: FilePath, format: str) -> str:
    """The format that a file is read in; `auto` where its first lines must tell. Raises BadInput for an unknown one."""
    if format == "auto":
        return SUFFIXES.get(bare_suffix(path), "auto")
    if format not in FORMATS:
        raise BadInput(f"There is no format “{format}” of triples.{nearest(format, FORMATS)}")
    return format


def _rows(path: FilePath, progress: Tell | None, most: int | None) -> Iterator[Triple]:
    """The triples of the `graph` of every row, each triple once, in the order of their first appearance."""
    seen: set[Triple] = set()
    for where, row in json_rows(path, progress, most):
        for triple in row_triples(path.name, where, row):
            if triple not in seen:
                seen.add(triple)
                yield triple


def row_triples(name: str, where: str, row: dict) -> list[Triple]:
    """The triples of a row's `graph`, none where it has none. Raises BadInput naming file and place where it is no list of
    three texts each."""
    found = []
    graph = row.get("graph") or []
    for triple in graph if isinstance(graph, list) else [graph]:
        if not (isinstance(triple, list) and len(triple) == 3 and all(isinstance(part, str) and part.strip() for part in triple)):
            raise BadInput(f"{name}, {where}: “graph” should be a list of [head, relation, tail], three texts each.")
        found.append((triple[0], triple[1], triple[2]))
    return found
