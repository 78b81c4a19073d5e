"""An index of another tool as a corpus has it: its documents, and a graph with the tool's own chunks, communities and reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from core.corpus.chunks import chunk_id
from core.corpus.document import Document
from core.corpus.indexes.index import Chunk, Community, Index, Text
from core.corpus.indexes.matching import matched
from core.corpus.indexes.vectors import ItemVectors, item_vectors
from core.corpus.tokens import tokens
from core.errors import BadInput
from core.graph.building.text_graph import assemble, with_tables
from core.graph.columns import Table
from core.graph.store import Graph

MAX_LEVEL = 1000  # of communities within communities
RELATED = "related to"  # the name of a relation that has none, as in graphs that are built here


@dataclass
class Opened:
    """An index as a corpus has it: the documents, the graph, what is left out by what it is (with how often), sentences on what was
    guessed, and the vectors of the graph's `nodes`, `relations`, `chunks` and `communities` that it holds. The tables of the graph are as
    those of one that is built here."""

    documents: list[Document]
    graph: Graph
    left_out: Counter[str]
    notes: list[str]
    vectors: dict[str, ItemVectors] = field(default_factory=dict)


@dataclass
class _Gathered:
    """What an index says of one node or edge, in however many places."""

    type: str = ""
    descriptions: dict[str, None] = field(default_factory=dict)
    keywords: dict[str, None] = field(default_factory=dict)
    chunks: set[int] = field(default_factory=set)
    weight: float = 0.0

    def add(self, description: str, chunks: Iterable[int]) -> None:
        """Add what one place says."""
        self.descriptions.update({description: None} if description else {})
        self.chunks.update(chunks)

    @property
    def description(self) -> str:
        return " ".join(self.descriptions)


def assembled(
    index: Index, tool: str, name: str, known: Sequence[Document] | None = None
) -> Opened:
    """The documents and the graph of an index; `tool` is a short word for the tool, by which its chunks are told from ours, `name` the
    graph's.

    Entities of one name are one node. What names a chunk or an entity that the index lacks is left out and counted, as are entities
    without a name. With `known` the documents are the ones among these that have its texts (`core.corpus.indexes.matching`). Raises
    BadInput where there is no chunk with a text, or a text is none of the known.
    """
    left, notes = Counter(index.left_out), list(index.notes)
    documents, chunks, rows = _texts(index, tool, notes, known)
    nodes = _nodes(index, rows, left)
    edges = _edges(index, nodes, rows, left)
    graph = assemble(
        name,
        list(nodes),
        list(edges),
        {
            "type": [one.type for one in nodes.values()],
            "description": [one.description for one in nodes.values()],
            "chunks": [sorted(one.chunks) for one in nodes.values()],
        },
        {
            "description": [one.description for one in edges.values()],
            "keywords": [", ".join(one.keywords) for one in edges.values()],
            "weight": [one.weight for one in edges.values()],
            "chunks": [sorted(one.chunks) for one in edges.values()],
        },
        chunks,
    )
    communities, numbers = _communities(index.communities, graph, left)
    graph = with_tables(graph, communities=communities) if communities else graph
    items: dict[str, Any] = {
        "nodes": _by_name(graph),
        "relations": _by_ends(graph),
        "chunks": rows,
        "communities": numbers,
    }
    sizes = {
        "nodes": graph.n_nodes,
        "relations": graph.n_edges,
        "chunks": len(chunks),
        "communities": len(communities or ()),
    }
    vectors = {one.of: item_vectors(one, items[one.of], sizes[one.of]) for one in index.vectors}
    return Opened(
        documents, graph, +left, notes, {of: one for of, one in vectors.items() if one is not None}
    )


def _by_name(graph: Graph) -> dict[str, int]:
    """Each node by its name."""
    return {name: node for node, name in enumerate(graph.names(range(graph.n_nodes)))}


def _by_ends(graph: Graph) -> dict[frozenset[str], int]:
    """Each edge by the names of its ends, where no two edges join the same; else none."""
    names = graph.names(range(graph.n_nodes))
    heads, _, tails = graph.triples(np.arange(graph.n_edges))
    found = {
        frozenset((names[head], names[tail])): edge
        for edge, (head, tail) in enumerate(zip(heads.tolist(), tails.tolist()))
    }
    return found if len(found) == graph.n_edges else {}


def _texts(
    index: Index, tool: str, notes: list[str], known: Sequence[Document] | None
) -> tuple[list[Document], Table, dict[str, int]]:
    """The documents, the table of chunks in the order of the documents, and the row of each chunk by the tool's key."""
    chunks = [
        replace(one, document=one.document or one.key)
        for one in _unique(index.chunks)
        if one.text.strip()
    ]
    if not chunks:
        raise BadInput(
            "The index has no chunk with a text, so there is nothing that answers could rest on."
        )
    of: dict[str, list[Chunk]] = {}
    for one in chunks:
        of.setdefault(one.document, []).append(one)
    documents = _documents(index.documents, of, notes if known is None else [])
    if known is not None:
        documents, of = matched(documents, of, known)
    columns: dict[str, list] = {
        column: [] for column in ("id", "document", "title", "place", "text", "tokens")
    }
    rows: dict[str, int] = {}
    for key in sorted(of, key=lambda key: documents[key].id):
        document = documents[key]
        for number, chunk in enumerate(of[key]):
            rows[chunk.key] = len(rows)
            whole = len(of[key]) == 1 and chunk.text == document.text
            values = (
                chunk_id(document.id, 0, 1) if whole else f"{document.id}#{tool}-{number}",
                document.id,
                document.heading,
                "",
            )
            for column, value in zip(columns, (*values, chunk.text, len(tokens(chunk.text)))):
                columns[column].append(value)
    return list(documents.values()), Table.of(**columns), rows


def _unique(chunks: Iterable[Chunk]) -> list[Chunk]:
    """Each chunk once by its key."""
    return list({one.key: one for one in chunks}.values())


def _documents(
    given: Sequence[Text], chunks: dict[str, list[Chunk]], notes: list[str]
) -> dict[str, Document]:
    """Return the documents by the tool's key, called by their titles or files where no two share one.

    A text that the index lacks is put together of its chunks.
    """
    known = {one.key: one for one in given} | {
        key: Text(key) for key in chunks if key not in {one.key for one in given}
    }
    titles = Counter(_called(one) for one in known.values())
    found: dict[str, Document] = {}
    joined = 0
    for key, one in known.items():
        title, text = _called(one), one.text
        if not text.strip():
            text = "\n\n".join(chunk.text for chunk in chunks.get(key, ()))
            joined += len(chunks.get(key, ())) > 1
        if text.strip():
            id = title if title and titles[title] == 1 else key
            found[key] = Document(id, text, title, one.file)
    if joined:
        notes.append(
            f"The index does not hold the text of {joined:,} document{'s' * (joined > 1)}; it was put together of the chunks, so what they "
            "have in common is there twice."
        )
    return found


def _called(one: Text) -> str:
    """Return what a document is called: its title, else the name of its file."""
    return " ".join((one.title or one.file).split())


def _nodes(index: Index, rows: dict[str, int], left: Counter[str]) -> dict[str, _Gathered]:
    found: dict[str, _Gathered] = {}
    for one in index.entities:
        name = " ".join(one.name.split())
        if not name:
            left["Left out, entities without a name"] += 1
            continue
        left["Put together, entities of one name"] += name in found
        node = found.setdefault(name, _Gathered())
        node.type = node.type or " ".join(one.type.split())
        node.add(" ".join(one.description.split()), _known(one.chunks, rows, left))
    return found


def _edges(
    index: Index, nodes: dict[str, _Gathered], rows: dict[str, int], left: Counter[str]
) -> dict[tuple[str, str, str], _Gathered]:
    found: dict[tuple[str, str, str], _Gathered] = {}
    for one in index.relations:
        head, tail = " ".join(one.head.split()), " ".join(one.tail.split())
        if head not in nodes or tail not in nodes:
            left["Left out, relations of an entity that the index lacks"] += 1
            continue
        key = (head, " ".join(one.name.split()) or RELATED, tail)
        left["Put together, relations between the same two entities"] += key in found
        edge = found.setdefault(key, _Gathered())
        edge.weight += one.weight
        edge.keywords.update(
            dict.fromkeys(
                filter(None, (" ".join(word.split()) for word in one.keywords.split(",")))
            )
        )
        edge.add(" ".join(one.description.split()), _known(one.chunks, rows, left))
    return found


def _known(chunks: Iterable[str], rows: dict[str, int], left: Counter[str]) -> list[int]:
    """The rows of some chunks; those that the index lacks are counted."""
    chunks = list(chunks)
    left["Left out, mentions of chunks that the index lacks"] += sum(
        chunk not in rows for chunk in chunks
    )
    return [rows[chunk] for chunk in chunks if chunk in rows]


def _communities(
    communities: Sequence[Community], graph: Graph, left: Counter[str]
) -> tuple[Table | None, dict[str, int]]:
    """The table of communities, coarsest first, and the row of each by its key; None where there is none with a member."""
    number = _by_name(graph)
    inside: dict[str, list[int]] = {}
    for one in communities:
        names = [" ".join(name.split()) for name in one.members]
        left["Left out, members of communities that are no entities of the index"] += sum(
            name not in number for name in names
        )
        inside[one.key] = sorted({number[name] for name in names if name in number})
    retained = sorted(
        (one for one in {one.key: one for one in communities}.values() if inside[one.key]),
        key=lambda one: one.level,
    )
    left["Left out, communities without a member"] += len(inside) - len(retained)
    row = {one.key: at for at, one in enumerate(retained)}
    if not retained:
        return None, row
    levels = [one.level if 0 <= one.level <= MAX_LEVEL else 0 for one in retained]
    wrong = sum(level != one.level for level, one in zip(levels, retained))
    left["Left out, levels of communities that are none"] += wrong
    table = Table.of(
        level=levels,
        parent=[row.get(one.parent, -1) for one in retained],
        title=[" ".join(one.title.split()) or f"Community {one.key}" for one in retained],
        members=[inside[one.key] for one in retained],
        report=[one.report for one in retained],
        rating=[min(10.0, max(0.0, one.rating)) for one in retained],
    )
    return table, row
