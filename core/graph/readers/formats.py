"""The formats of files of triples: one table, which the command, the page and both builders read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from core.errors import BadInput, nearest
from core.graph.readers import delimited, graphml, json_graphs, networks, rdf
from core.graph.readers.skip_report import Tally
from core.graph.readers.source import Triple, TripleSource
from core.io.files import PACKED

if TYPE_CHECKING:
    from core.graph.readers.blocks import Block, Place

AUTO = "auto"


def triples_in_blocks(read: Callable[[TripleSource], Iterator[Triple]], source: TripleSource, place: Place, size: int) -> Iterator[Block]:
    """The triples that `read` gives from a place on, in blocks of about `size` bytes of text. A place counts triples: those before it are
    read again and passed over, without a second count of what was left out among them."""
    from core.graph.readers.blocks import Place, packed  # they bring numba

    tally, source.tally = source.tally, Tally(source.tally.skips)
    triples = read(source)
    for _ in islice(triples, place.offset):
        pass
    source.tally = tally
    parts: list[str] = []
    lines: list[int] = []
    count, length = place.offset, 0
    for triple in triples:
        parts += triple
        lines.append(source.line)
        count, length = count + 1, length + sum(map(len, triple))
        if length >= size:
            yield packed(parts, lines, Place(count, source.line))
            parts, lines, length = [], [], 0
    if lines or not count:
        yield packed(parts, lines, Place(count, source.line))


def _delimited_blocks(source: TripleSource, place: Place, size: int) -> Iterator[Block]:
    from core.graph.readers.blocks import DelimitedBlocks

    return DelimitedBlocks(source, size).read(place)


def _term_blocks(source: TripleSource, place: Place, size: int) -> Iterator[Block]:
    from core.graph.readers.terms import TermBlocks

    if rdf.named_by_labels(source):
        return triples_in_blocks(rdf.read, source, place, size)
    return TermBlocks(source, size).read(place)


@dataclass(frozen=True)
class Format:
    """A format of files of triples.

    `read` gives the triples of a source in the order of the file; for a fault it raises what `TripleSource.bad` returns to it, or passes
    over the line where that returns nothing. `in_blocks` gives the same triples from a place on, in blocks of bytes; a format without one
    of its own has its triples put into blocks. `delimited`: lines of columns, which can be chosen, and may be numbers; of a `table` they
    can be chosen too. `terms`: parts in blocks are terms of RDF, which get readable names once all are known.
    """

    title: str
    suffixes: tuple[str, ...]
    read: Callable[[TripleSource], Iterator[Triple]]
    in_blocks: Callable[[TripleSource, Place, int], Iterator[Block]] | None = None
    delimited: bool = False
    table: bool = False
    terms: bool = False

    def blocks(self, source: TripleSource, place: Place, size: int) -> Iterator[Block]:
        """The triples from a place on, in blocks of about `size` bytes of text. Raises BadInput as `read` does."""
        return self.in_blocks(source, place, size) if self.in_blocks else triples_in_blocks(self.read, source, place, size)


def _columns(title: str, *suffixes: str) -> Format:
    return Format(title, suffixes, delimited.read, _delimited_blocks, delimited=True)


FORMATS: dict[str, Format] = {
    "tab": _columns("Tab-separated text", ".tsv", ".tab"),
    "bar": _columns("Text separated by “|”"),
    "comma": _columns("Comma-separated text", ".csv"),
    "semicolon": _columns("Text separated by semicolons"),
    "tab-quoted": _columns("Tab-separated text with quoted names"),
    "edges": Format("Edge list, links without relations", (".edgelist", ".edges"), delimited.read_edges),
    "ntriples": Format("N-Triples", (".nt",), rdf.read, _term_blocks, terms=True),
    "turtle": Format("Turtle", (".ttl",), rdf.read),
    "nquads": Format("N-Quads", (".nq",), rdf.read),
    "trig": Format("TriG", (".trig",), rdf.read),
    "rdfxml": Format("RDF/XML", (".rdf", ".owl"), rdf.read),
    "jsonld": Format("JSON-LD", (".jsonld",), rdf.read),
    "n3": Format("N3", (".n3",), rdf.read),
    "graphml": Format("GraphML", (".graphml",), graphml.read),
    "gexf": Format("GEXF", (".gexf",), networks.read_gexf),
    "gml": Format("GML", (".gml",), networks.read_gml),
    "pajek": Format("Pajek", (".net", ".paj"), networks.read_pajek),
    "parquet": Format("Parquet", (".parquet",), networks.read_parquet, table=True),
    "arrow": Format("Arrow", (".arrow", ".feather"), networks.read_arrow, table=True),
    "rows": Format("JSON: rows of triples, nodes and links, question rows with a graph each", (".json", ".jsonl"), json_graphs.read),
}
GRAPHML = "Write the graph as GraphML: networkx.write_graphml(graph, 'graph.graphml')."
ADVICE = {
    ".dot": f"DOT says how a graph is drawn. {GRAPHML}",
    ".gv": f"DOT says how a graph is drawn. {GRAPHML}",
    ".pkl": f"A pickle can run anything. {GRAPHML}",
    ".pickle": f"A pickle can run anything. {GRAPHML}",
    ".gpickle": f"A pickle can run anything. {GRAPHML}",
    ".xlsx": "Save the sheet as CSV.",
    ".xls": "Save the sheet as CSV.",
    ".ods": "Save the sheet as CSV.",
}
BY_FIRST_LINES = _columns("Delimited text, by its first lines")


def format_named(name: str) -> Format:
    """The format of a name as `format_of` gives it."""
    return BY_FIRST_LINES if name == AUTO else FORMATS[name]


def format_of(path: FilePath, name: str) -> str:
    """The name of the format that a file is read in: for `auto` that of its suffix, and `auto` where its first lines have to say. Raises
    BadInput for an unknown one."""
    if name == AUTO:
        suffix = bare_suffix(path)
        found = next((known for known, one in FORMATS.items() if suffix in one.suffixes), AUTO)
        if found == AUTO and suffix in ADVICE:
            raise BadInput(f"{path.name} is not read. {ADVICE[suffix]}")
        return AUTO if found == "comma" else found  # spreadsheets of some languages write semicolons into such files
    if name not in FORMATS:
        raise BadInput(f"There is no format “{name}” of triples.{nearest(name, FORMATS)}")
    return name


def bare_suffix(path: FilePath) -> str:
    """The suffix of a file's name in lower case, that of the file inside where it is packed."""
    return (path.with_suffix("") if path.suffix.lower() in PACKED else path).suffix.lower()


def format_list() -> str:
    """The formats by name, each with its title and suffixes: tab (Tab-separated text, .tsv .tab), ..."""
    return ", ".join(f"{name} ({', '.join(filter(None, (one.title, ' '.join(one.suffixes))))})" for name, one in FORMATS.items())
