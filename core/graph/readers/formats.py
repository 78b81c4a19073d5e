"""Table of the file formats of triples.

The command line, the pages and both builders use it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from core.errors import BadInput, suggest_name
from core.graph.readers import delimited, edge_list, graphml, graphson, json_graphs, networks, rdf
from core.graph.readers.node_tables import name_ends
from core.graph.readers.skip_report import Tally
from core.graph.readers.source import Triple, TripleSource, bare_suffix

if TYPE_CHECKING:
    from core.graph.readers.blocks import Block, BlockPosition

AUTO_TRIPLE_FORMAT = "auto"


def triples_in_blocks(
    read: Callable[[TripleSource], Iterator[Triple]],
    source: TripleSource,
    position: BlockPosition,
    size: int,
) -> Iterator[Block]:
    """Yield the triples of `read` in blocks, from a position on.

    A block is of about `size` characters. The position counts triples. On continuing, the triples
    before it are read again and skipped; their bad lines are not counted a second time.
    """
    from core.graph.readers.blocks import BlockPosition, pack_block  # imports numba

    # A second tally receives the bad lines up to the position.
    tally, source.tally = source.tally, Tally(source.tally.may_skip)
    triples = read(source)
    for _ in islice(triples, position.offset):
        pass
    source.tally = tally
    parts: list[str] = []
    lines: list[int] = []
    count, length = position.offset, 0
    for triple in triples:
        parts += triple
        lines.append(source.line)
        count, length = count + 1, length + sum(map(len, triple))
        if length >= size:
            yield pack_block(parts, lines, BlockPosition(count, source.line))
            parts, lines, length = [], [], 0
    if lines or not count:  # a file without triples gives one empty block
        yield pack_block(parts, lines, BlockPosition(count, source.line))


def _delimited_blocks(source: TripleSource, position: BlockPosition, size: int) -> Iterator[Block]:
    from core.graph.readers.blocks import DelimitedBlocks

    return DelimitedBlocks(source, size).read(position)


def _term_blocks(source: TripleSource, position: BlockPosition, size: int) -> Iterator[Block]:
    from core.graph.readers.terms import TermBlocks

    if rdf.uses_labels(source) or source.literals != rdf.LITERAL_TRIPLES:
        return triples_in_blocks(rdf.read, source, position, size)
    source.tally.note("Literals, where there are some, are entities.")
    return TermBlocks(source, size).read(position)


@dataclass(frozen=True)
class Format:
    """A file format of triples.

    `read` yields the triples of a source in the order of the file. A bad line is passed to
    `TripleSource.report_bad_line`, which raises an error or lets the reader skip the line.
    `in_blocks` yields the same triples from a position on, in blocks of bytes, for files that
    exceed memory. Without such a function, blocks are made from the triples of `read`. A
    `delimited` format has lines of columns. The user may choose the columns, or build a graph whose
    names are numbers. The columns of a `table` can be chosen, too. With `terms`, blocks hold RDF
    terms, which get readable names after the whole file is read.

    `tools` are programs that write the format; those with a version are tested. `contents` and
    `omissions` describe which contents become part of the graph and which do not.
    """

    title: str
    suffixes: tuple[str, ...]
    read: Callable[[TripleSource], Iterator[Triple]]
    in_blocks: Callable[[TripleSource, BlockPosition, int], Iterator[Block]] | None = None
    delimited: bool = False
    table: bool = False
    terms: bool = False
    tools: str = ""
    contents: str = ""
    omissions: str = ""

    def blocks(self, source: TripleSource, position: BlockPosition, size: int) -> Iterator[Block]:
        """Yield the triples from a position on, in blocks.

        A block has about `size` bytes of text. If the source has tables of nodes, these give the
        names of the ends of edges.

        Raises
        ------
        BadInput
            As `read` does.
        """
        if source.nodes:

            def read_named(table_source: TripleSource) -> Iterator[Triple]:
                triples = ((table_source, triple) for triple in self.read(table_source))
                return name_ends(table_source, triples)

            return triples_in_blocks(read_named, source, position, size)
        if self.in_blocks:
            return self.in_blocks(source, position, size)
        return triples_in_blocks(self.read, source, position, size)


ATTRIBUTE_WORDS = "types and descriptions of nodes; descriptions, keywords and weights of edges"


def _delimited_format(title: str, *suffixes: str, **fields: Any) -> Format:
    fields = {"omissions": "other columns", **fields}
    return Format(title, suffixes, delimited.read, _delimited_blocks, delimited=True, **fields)


def _rdf_format(title: str, *suffixes: str, **fields: Any) -> Format:
    tools = {
        "tools": "pyoxigraph 0.5.13",
        "contents": "things and relations by their labels",
        "omissions": "datatypes, names of graphs",
    }
    return Format(title, suffixes, rdf.read, **{**tools, **fields})


def _network_format(
    title: str, read: Callable[[TripleSource], Iterator[Triple]], *suffixes: str, **fields: Any
) -> Format:
    defaults = {
        "tools": "networkx 3.6.1",
        "contents": f"nodes by labels, {ATTRIBUTE_WORDS}",
        "omissions": "positions, colours",
    }
    return Format(title, suffixes, read, **{**defaults, **fields})


FORMATS: dict[str, Format] = {
    "tab": _delimited_format(
        "Tab-separated text",
        ".tsv",
        ".tab",
        tools="pandas 3.1.1, KGX",
        contents="head, relation, tail; by a header also descriptions, keywords and weights",
    ),
    "bar": _delimited_format(
        "Text separated by “|”", tools="MetaQA", contents="head, relation, tail"
    ),
    "comma": _delimited_format(
        "Comma-separated text",
        ".csv",
        tools="pandas 3.1.1, Gephi, Neo4j, Neptune",
        contents="head, relation, tail; by a header also descriptions, keywords and weights",
        omissions="other columns, types of values",
    ),
    "semicolon": _delimited_format(
        "Text separated by semicolons", tools="spreadsheets", contents="as comma"
    ),
    "tab-quoted": _delimited_format(
        "Tab-separated text with quoted names", tools="pandas 3.1.1", contents="as tab"
    ),
    "edges": Format(
        "Edge list, links without relations",
        (".edgelist", ".edges"),
        edge_list.read,
        tools="networkx 3.6.1, igraph 1.0.0",
        contents="two ends, a weight",
        omissions="other data of edges",
    ),
    "ntriples": _rdf_format("N-Triples", ".nt", in_blocks=_term_blocks, terms=True),
    "turtle": _rdf_format("Turtle", ".ttl"),
    "nquads": _rdf_format("N-Quads", ".nq"),
    "trig": _rdf_format("TriG", ".trig"),
    "rdfxml": _rdf_format("RDF/XML", ".rdf", ".owl"),
    "jsonld": _rdf_format(
        "JSON-LD",
        ".jsonld",
        omissions="datatypes, names of graphs; contexts elsewhere are not fetched",
    ),
    "n3": _rdf_format("N3", ".n3", omissions="datatypes, rules"),
    "graphml": _network_format(
        "GraphML",
        graphml.read,
        ".graphml",
        tools="networkx 3.6.1, igraph 1.0.0, yEd, Gephi, Cytoscape, Neo4j APOC, LightRAG, "
        "nano-graphrag",
        omissions="positions, colours, nodes without edges; hyperedges stop the reading",
    ),
    "gexf": _network_format("GEXF", networks.read_gexf, ".gexf", tools="networkx 3.6.1, Gephi"),
    "gml": _network_format("GML", networks.read_gml, ".gml", tools="networkx 3.6.1, igraph 1.0.0"),
    "pajek": _network_format(
        "Pajek",
        networks.read_pajek,
        ".net",
        ".paj",
        contents="nodes by labels, weights of edges",
    ),
    "graphson": Format(
        "GraphSON",
        (".graphson",),
        graphson.read,
        tools="TinkerPop, JanusGraph, Neptune",
        contents=f"vertices by their name, their labels as types, {ATTRIBUTE_WORDS}",
        omissions="other properties, all but the first value of one",
    ),
    "parquet": Format(
        "Parquet",
        (".parquet",),
        networks.read_parquet,
        table=True,
        tools="pyarrow 26.0.1, pandas 3.1.1, microsoft/graphrag",
        contents="columns as by the header of comma; a triple for each name of a list",
        omissions="other columns",
    ),
    "arrow": Format(
        "Arrow",
        (".arrow", ".feather"),
        networks.read_arrow,
        table=True,
        tools="pyarrow 26.0.1",
        contents="columns as by the header of comma; a triple for each name of a list",
        omissions="other columns, compressed Feather of version 1",
    ),
    "rows": Format(
        "JSON: rows of triples, nodes and links, question rows with a graph each",
        (".json", ".jsonl"),
        json_graphs.read,
        tools="networkx 3.6.1, D3, Cytoscape.js, vis.js, JSON Graph Format, Neo4j APOC, Memgraph, "
        "HippoRAG's OpenIE, RoG",
        contents=f"triples of rows; of nodes and links also {ATTRIBUTE_WORDS}",
        omissions="other keys, entities without triples",
    ),
}
GRAPHML_ADVICE = "Write the graph as GraphML: networkx.write_graphml(graph, 'graph.graphml')."
# Suffix of a file that is never read -> advice for the user.
SUFFIX_ADVICE = {
    ".dot": f"DOT says how a graph is drawn. {GRAPHML_ADVICE}",
    ".gv": f"DOT says how a graph is drawn. {GRAPHML_ADVICE}",
    ".pkl": f"A pickle can run anything. {GRAPHML_ADVICE}",
    ".pickle": f"A pickle can run anything. {GRAPHML_ADVICE}",
    ".gpickle": f"A pickle can run anything. {GRAPHML_ADVICE}",
    ".xlsx": "Save the sheet as CSV.",
    ".xls": "Save the sheet as CSV.",
    ".ods": "Save the sheet as CSV.",
}
DETECTED_FORMAT = _delimited_format("Delimited text, by its first lines")


def format_named(name: str) -> Format:
    """Return the format with a name returned by `format_of`."""
    return DETECTED_FORMAT if name == AUTO_TRIPLE_FORMAT else FORMATS[name]


def format_of(path: FilePath, name: str) -> str:
    """Return the name of the format in which a file is read.

    `auto` becomes the format of the suffix. If no format has the suffix, it stays `auto`, and the
    first lines decide later.

    Raises
    ------
    BadInput
        If the format is unknown.
    """
    if name == AUTO_TRIPLE_FORMAT:
        suffix = bare_suffix(path)
        names = (name for name, format in FORMATS.items() if suffix in format.suffixes)
        format_name = next(names, AUTO_TRIPLE_FORMAT)
        if format_name == AUTO_TRIPLE_FORMAT and suffix in SUFFIX_ADVICE:
            raise BadInput(f"{path.name} is not read. {SUFFIX_ADVICE[suffix]}")
        # In some languages, spreadsheets write semicolons into such files.
        return AUTO_TRIPLE_FORMAT if format_name == "comma" else format_name
    if name not in FORMATS:
        raise BadInput(f"There is no format “{name}” of triples.{suggest_name(name, FORMATS)}")
    return name


def format_list() -> str:
    """Return the formats by name, with titles and suffixes.

    The text begins with: tab (Tab-separated text, .tsv .tab), ...
    """
    return ", ".join(
        f"{name} ({', '.join(filter(None, (format.title, ' '.join(format.suffixes))))})"
        for name, format in FORMATS.items()
    )
