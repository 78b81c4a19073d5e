"""Reader of triples in network files (GEXF, GML, Pajek) and columnar tables (Parquet, Arrow).

Network files are parsed by networkx, tables by pyarrow.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from typing import Any
from xml.parsers import expat

from core.errors import BadInput, shorten
from core.graph.readers.header_columns import (
    TRIPLE_PARTS,
    check_columns,
    find_attribute_columns,
    find_triple_columns,
)
from core.graph.readers.json_graphs import link_triples, names_in, read_whole, row_triples
from core.graph.readers.list_cells import name_combinations
from core.graph.readers.source import Triple, TripleSource
from core.io.files import size_text
from core.runtime.row_files import file_rows
from core.runtime.separate_columns import SeparateColumns

GRAPH_COLUMN = "graph"  # column with a list of triples in each row, as in RoG's question files
# A text in quotes, or the beginning of the graph outside of such texts.
GML_GRAPH = re.compile(r'"[^"]*"|\bgraph\s*\[')
GML_MULTIGRAPH = re.compile(r"\bmultigraph\s+[01]\b")
MAX_NETWORK_FILE_BYTES = 1 << 28  # largest size in bytes of a network file, which is read whole


def read_gexf(source: TripleSource) -> Iterator[Triple]:
    """Yield the edges of a GEXF file, named as by `core.graph.readers.json_graphs.link_triples`.

    Raises
    ------
    BadInput
        If the file is not GEXF.
    """
    import networkx

    return _network_triples(
        source, "GEXF", lambda data: networkx.read_gexf(io.BytesIO(data)), xml=True
    )


def read_gml(source: TripleSource) -> Iterator[Triple]:
    """Yield the edges of a GML file, as `read_gexf` does."""
    import networkx

    return _network_triples(
        source,
        "GML",
        lambda data: networkx.parse_gml(_mark_multigraph(data.decode("utf-8")), label="id"),
    )


def _mark_multigraph(text: str) -> str:
    """Mark GML text as a multigraph.

    networkx rejects several edges between two nodes unless the file has the mark `multigraph 1`,
    which only networkx writes.
    """
    opening = next((match for match in GML_GRAPH.finditer(text) if match[0][0] != '"'), None)
    if opening is None:
        return text
    end = opening.end()
    graph_head = text[end : end + len(text[end:].partition("[")[0])]
    return f"{text[:end]} multigraph 1 {GML_MULTIGRAPH.sub('', graph_head)}{text[end + len(graph_head) :]}"


def read_pajek(source: TripleSource) -> Iterator[Triple]:
    """Yield the edges and arcs of a Pajek file, as `read_gexf` does."""
    import networkx

    return _network_triples(
        source, "Pajek", lambda data: networkx.parse_pajek(data.decode("utf-8").splitlines())
    )


def _check_entities(name: str, data: bytes) -> None:
    """Raise BadInput if an XML file declares entities, which could expand without limit."""

    def refuse(*_: object) -> None:
        raise BadInput(f"{name}: it declares XML entities; those are not read.")

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = refuse
    with suppress(expat.ExpatError, ValueError, LookupError):  # not XML, or an unknown encoding
        parser.Parse(data, True)


def _network_triples(
    source: TripleSource, title: str, parse: Callable[[bytes], Any], xml: bool = False
) -> Iterator[Triple]:
    """Yield the edges of the networkx graph in a file.

    `parse` returns the graph for the bytes of the file. `title` is the format in messages. A file
    in XML is not decoded, since it names its encoding.
    """
    with source.open_raw() if xml else source.open_text() as stream:
        data = read_whole(stream, MAX_NETWORK_FILE_BYTES + 1)
    if len(data) > MAX_NETWORK_FILE_BYTES:
        raise BadInput(
            f"{source.name}: a file in {title} may hold {size_text(MAX_NETWORK_FILE_BYTES)}; this one holds more. "
            "Write it as N-Triples or a table."
        )
    if xml:
        _check_entities(source.name, data)
    try:
        graph = parse(data)
    except MemoryError:
        raise
    except Exception as error:  # the parsers raise errors of many kinds
        raise BadInput(
            f"{source.name} is not {title} ({shorten(str(error) or type(error).__name__, 120)})."
        ) from None
    nodes = [{**values, "id": str(node)} for node, values in graph.nodes(data=True)]
    edges = [
        {**values, "source": str(head), "target": str(tail)}
        for head, tail, values in graph.edges(data=True)
    ]
    yield from link_triples(source, nodes, edges)


COLUMNAR_TITLES = {".parquet": "Parquet", ".arrow": "Arrow", ".feather": "Arrow"}


def open_columnar(source: TripleSource) -> tuple[list[str], Iterator[list[list[Any]]]]:
    """Open a Parquet or Arrow file.

    The results are its column names and an iterator over batches of its rows. A batch is a list of
    columns, each a list of values. A separate process reads the file, as damaged files can crash
    pyarrow.

    Raises
    ------
    BadInput
        If the file has another format; also while the batches are read.
    """
    if not source.path.exists():
        raise BadInput(f"There is no file {source.path}.")
    table = SeparateColumns(source.path)

    def batches() -> Iterator[list[list[Any]]]:
        with closing(table):
            for share, columns in table.read_lists(table.names, source.most):
                source.watch.step(min(1.0, share))
                yield columns

    return table.names, batches()


def read_parquet(source: TripleSource) -> Iterator[Triple]:
    """Yield the triples in the rows of a Parquet file.

    Head, relation and tail are in columns with their usual names, or in those chosen by number.
    """
    return _table_triples(source)


def read_arrow(source: TripleSource) -> Iterator[Triple]:
    """Yield the triples in the rows of an Arrow file (Feather), as `read_parquet` does."""
    return _table_triples(source)


def _table_triples(source: TripleSource) -> Iterator[Triple]:
    check_columns(source.columns)
    names, batches = open_columnar(source)
    if (
        GRAPH_COLUMN in names
        and source.columns is None
        and find_triple_columns(list(names)) is None
    ):
        yield from _question_triples(source, names)
        return
    columns, attribute_columns = _find_columns(source, names)
    source.line = 0
    for batch in batches:
        # For head, relation and tail: the names in each row.
        parts = [[names_in(value) for value in batch[index]] for index in columns]
        attribute_values = [batch[index] for index in attribute_columns]
        for row, cells in enumerate(zip(*parts)):
            source.line += 1
            empty_part = next((title for title, part in zip(TRIPLE_PARTS, cells) if not part), None)
            if empty_part:
                source.report_bad_line(
                    "an empty name",
                    source.line,
                    f"the {empty_part} is empty; expected head, relation and tail.",
                )
                continue
            row_values = [values[row] for values in attribute_values]
            for triple in name_combinations(source, cells):
                if attribute_columns:
                    source.attributes.set_next_edge(
                        dict(zip(attribute_columns.values(), row_values))
                    )
                yield triple


def _question_triples(source: TripleSource, names: Sequence[str]) -> Iterator[Triple]:
    """Yield the triples of a `graph` column.

    Each row holds a list of triples, as in RoG's questions. `names` are all columns of the file.
    """
    others = [name for name in names if name != GRAPH_COLUMN]
    for number, (where, row) in enumerate(
        file_rows(source.path, source.watch, source.most, others), 1
    ):
        source.line = number
        try:
            triples = row_triples(source.name, where, row)
        except BadInput as error:
            source.report_bad_line("no list of triples", number, error)
            continue
        yield from triples


def _find_columns(source: TripleSource, names: Sequence[str]) -> tuple[list[int], dict[int, str]]:
    """Return the positions of head, relation and tail, from 0.

    The second result holds the edge attributes by position.

    Raises
    ------
    BadInput
        If the names of the columns do not say which hold head, relation and tail.
    """
    part_columns = source.columns or find_triple_columns(list(names))
    if part_columns is None or max(part_columns) > len(names):
        raise BadInput(
            f"{source.name} has the columns {', '.join(names[:12])}; say which hold head, relation "
            "and tail."
        )
    attribute_columns = find_attribute_columns(source, names, part_columns)
    words = [f"{part} from “{names[index - 1]}”" for part, index in zip(TRIPLE_PARTS, part_columns)]
    others = [
        name
        for index, name in enumerate(names)
        if index + 1 not in part_columns and index not in attribute_columns
    ]
    source.attributes.ignored_keys = others
    ignored_text = f"; not read: {', '.join(others[:12])}" if others else ""
    source.tally.note(f"Columns: {', '.join(words)}{ignored_text}.")
    return [index - 1 for index in part_columns], attribute_columns
