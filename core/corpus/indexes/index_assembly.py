"""Conversion of the content of another tool's index into documents and a graph.

The graph keeps the tool's own chunks, communities and reports.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from core.corpus.chunks import CHUNK_COLUMNS, chunk_id
from core.corpus.document import Document
from core.corpus.indexes.index import IndexChunk, IndexCommunity, IndexContent, IndexDocument
from core.corpus.indexes.text_matches import match_texts
from core.corpus.indexes.vectors import ItemVectors, item_vectors
from core.corpus.tokens import token_spans
from core.errors import BadInput
from core.graph.building.text_graph import assemble, with_tables
from core.graph.columns import Table
from core.graph.store import Graph

MAX_COMMUNITY_LEVELS = 1000
UNNAMED_RELATION_LABEL = "related to"  # as in graphs that Hopscope builds


@dataclass
class AssembledIndex:
    """An index as documents and a graph.

    Parameters
    ----------
    graph : its tables have the form of graphs that Hopscope builds.
    left_out : number of things that were left out or merged, by a phrase that names them.
    notes : sentences on what was guessed.
    vectors : the index's vectors of the graph's `nodes`, `relations`, `chunks` and `communities`.
    """

    documents: list[Document]
    graph: Graph
    left_out: Counter[str]
    notes: list[str]
    vectors: dict[str, ItemVectors] = field(default_factory=dict)


@dataclass
class _ItemMentions:
    """The data of one node or edge.

    It is gathered from all its mentions in an index. Dicts without values keep descriptions and
    keywords once, in their order. `chunks` are rows of the table of chunks.
    """

    type: str = ""
    descriptions: dict[str, None] = field(default_factory=dict)
    keywords: dict[str, None] = field(default_factory=dict)
    chunks: set[int] = field(default_factory=set)
    weight: float = 0.0

    def add(self, description: str, chunks: Iterable[int]) -> None:
        """Add the data of one mention."""
        if description:
            self.descriptions[description] = None
        self.chunks.update(chunks)

    @property
    def description(self) -> str:
        return " ".join(self.descriptions)


def assemble_index(
    index: IndexContent, tool: str, name: str, existing: Sequence[Document] | None = None
) -> AssembledIndex:
    """Convert an index into documents and a graph.

    Entities of one name are one node. References to chunks or entities that the index lacks are
    left out and counted, as are entities without a name.

    Parameters
    ----------
    index : the content of the index.
    tool : the key of the tool in `TOOLS`, which becomes part of the ids of its chunks.
    name : the graph's name.
    existing : the documents of a corpus. If given, the index's texts are matched to them
        (`core.corpus.indexes.text_matches`).

    Returns
    -------
    Documents, graph and vectors, with what was left out.

    Raises
    ------
    BadInput
        If no chunk has a text, or a text is none of the known documents.
    """
    left_out, notes = Counter(index.left_out), list(index.notes)
    documents, chunks, chunk_rows = _documents_and_chunks(index, tool, notes, existing)
    nodes = _nodes(index, chunk_rows, left_out)
    edges = _edges(index, nodes, chunk_rows, left_out)
    graph = assemble(
        name,
        list(nodes),
        list(edges),
        {
            "type": [node.type for node in nodes.values()],
            "description": [node.description for node in nodes.values()],
            "chunks": [sorted(node.chunks) for node in nodes.values()],
        },
        {
            "description": [edge.description for edge in edges.values()],
            "keywords": [", ".join(edge.keywords) for edge in edges.values()],
            "weight": [edge.weight for edge in edges.values()],
            "chunks": [sorted(edge.chunks) for edge in edges.values()],
        },
        chunks,
    )
    communities, community_rows = _communities(index.communities, graph, left_out)
    if communities:
        graph = with_tables(graph, communities=communities)
    # the number of each item in the graph, by the key that its vector has in the index
    items: dict[str, Any] = {
        "nodes": _nodes_by_name(graph),
        "relations": _edges_by_ends(graph),
        "chunks": chunk_rows,
        "communities": community_rows,
    }
    sizes = {
        "nodes": graph.n_nodes,
        "relations": graph.n_edges,
        "chunks": len(chunks),
        "communities": len(communities or ()),
    }
    vectors = {
        item.kind: item_vectors(item, items[item.kind], sizes[item.kind]) for item in index.vectors
    }
    return AssembledIndex(
        documents,
        graph,
        +left_out,  # without phrases that count nothing
        notes,
        {kind: one for kind, one in vectors.items() if one is not None},
    )


def _nodes_by_name(graph: Graph) -> dict[str, int]:
    """Return the number of each node by its name."""
    return {name: node for node, name in enumerate(graph.names(range(graph.n_nodes)))}


def _edges_by_ends(graph: Graph) -> dict[frozenset[str], int]:
    """Return the number of each edge by the names of its two nodes.

    Empty if two edges join the same nodes, as their vectors could not be told apart.
    """
    names = graph.names(range(graph.n_nodes))
    heads, _, tails = graph.triples(np.arange(graph.n_edges))
    edges = {
        frozenset((names[head], names[tail])): edge
        for edge, (head, tail) in enumerate(zip(heads.tolist(), tails.tolist()))
    }
    return edges if len(edges) == graph.n_edges else {}


def _documents_and_chunks(
    index: IndexContent, tool: str, notes: list[str], existing: Sequence[Document] | None
) -> tuple[list[Document], Table, dict[str, int]]:
    """Return the documents and the table of chunks.

    The third result is the row of each chunk by the tool's key. Chunks are in the order of their
    documents' ids. A chunk that names no document becomes a document of its own.
    """
    chunks = [
        replace(chunk, document=chunk.document or chunk.key)
        for chunk in _unique(index.chunks)
        if chunk.text.strip()
    ]
    if not chunks:
        raise BadInput(
            "The index has no chunk with a text, so there is nothing that answers could rest on."
        )
    document_chunks: dict[str, list[IndexChunk]] = {}
    for chunk in chunks:
        document_chunks.setdefault(chunk.document, []).append(chunk)
    # Texts joined from chunks only serve to find the existing documents, and need no note then.
    documents = _documents(index.documents, document_chunks, notes if existing is None else [])
    if existing is not None:
        documents, document_chunks = match_texts(documents, document_chunks, existing)
    columns: dict[str, list] = {column: [] for column in CHUNK_COLUMNS}
    rows: dict[str, int] = {}
    for key in sorted(document_chunks, key=lambda key: documents[key].id):
        document = documents[key]
        for number, chunk in enumerate(document_chunks[key]):
            rows[chunk.key] = len(rows)
            id = f"{document.id}#{tool}-{number}"  # differs from the ids of Hopscope's chunks
            if len(document_chunks[key]) == 1 and chunk.text == document.text:
                id = chunk_id(document.id, 0, 1)
            n_tokens = len(token_spans(chunk.text))
            values = (id, document.id, document.heading, "", chunk.text, n_tokens)
            for column, value in zip(columns.values(), values):
                column.append(value)
    return list(documents.values()), Table.from_columns(**columns), rows


def _unique(chunks: Iterable[IndexChunk]) -> list[IndexChunk]:
    """Return the chunks with distinct keys; of equal keys, the last chunk remains."""
    return list({chunk.key: chunk for chunk in chunks}.values())


def _documents(
    items: Sequence[IndexDocument], chunks: dict[str, list[IndexChunk]], notes: list[str]
) -> dict[str, Document]:
    """Return the documents by the tool's key.

    The id of a document is its title or file name if no other one has it, else its key. A missing
    text is joined from its chunks; a document without text or chunks is left out.
    """
    index_documents = {document.key: document for document in items}
    for key in chunks:
        index_documents.setdefault(key, IndexDocument(key))
    titles = Counter(_document_name(document) for document in index_documents.values())
    documents_by_key: dict[str, Document] = {}
    n_joined = 0
    for key, index_document in index_documents.items():
        title, text = _document_name(index_document), index_document.text
        if not text.strip():
            text = "\n\n".join(chunk.text for chunk in chunks.get(key, ()))
            n_joined += len(chunks.get(key, ())) > 1
        if text.strip():
            id = title if title and titles[title] == 1 else key
            documents_by_key[key] = Document(id, text, title, index_document.file)
    if n_joined:
        notes.append(
            f"The index does not hold the text of {n_joined:,} document{'s' * (n_joined > 1)}; it "
            "was put together of the chunks, so what they have in common is there twice."
        )
    return documents_by_key


def _document_name(document: IndexDocument) -> str:
    """Return a document's title, else the name of its file; empty without both."""
    return " ".join((document.title or document.file).split())


def _nodes(
    index: IndexContent, rows: dict[str, int], left_out: Counter[str]
) -> dict[str, _ItemMentions]:
    """Return the nodes by name. `rows` holds the row of each chunk by its key."""
    nodes: dict[str, _ItemMentions] = {}
    for entity in index.entities:
        name = " ".join(entity.name.split())
        if not name:
            left_out["Left out, entities without a name"] += 1
            continue
        left_out["Put together, entities of one name"] += name in nodes
        node = nodes.setdefault(name, _ItemMentions())
        node.type = node.type or " ".join(entity.type.split())
        node.add(" ".join(entity.description.split()), _known_rows(entity.chunks, rows, left_out))
    return nodes


def _edges(
    index: IndexContent,
    nodes: dict[str, _ItemMentions],
    rows: dict[str, int],
    left_out: Counter[str],
) -> dict[tuple[str, str, str], _ItemMentions]:
    """Return the edges by head, relation and tail. The weights of repeated relations are added."""
    edges: dict[tuple[str, str, str], _ItemMentions] = {}
    for relation in index.relations:
        head, tail = " ".join(relation.head.split()), " ".join(relation.tail.split())
        if head not in nodes or tail not in nodes:
            left_out["Left out, relations of an entity that the index lacks"] += 1
            continue
        key = (head, " ".join(relation.name.split()) or UNNAMED_RELATION_LABEL, tail)
        left_out["Put together, relations between the same two entities"] += key in edges
        edge = edges.setdefault(key, _ItemMentions())
        edge.weight += relation.weight
        keywords = (" ".join(word.split()) for word in relation.keywords.split(","))
        edge.keywords.update(dict.fromkeys(filter(None, keywords)))
        relation_rows = _known_rows(relation.chunks, rows, left_out)
        edge.add(" ".join(relation.description.split()), relation_rows)
    return edges


def _known_rows(chunks: Iterable[str], rows: dict[str, int], left_out: Counter[str]) -> list[int]:
    """Return the rows of chunks, and count keys that the index lacks."""
    chunks = list(chunks)
    left_out["Left out, mentions of chunks that the index lacks"] += sum(
        chunk not in rows for chunk in chunks
    )
    return [rows[chunk] for chunk in chunks if chunk in rows]


def _communities(
    communities: Sequence[IndexCommunity], graph: Graph, left_out: Counter[str]
) -> tuple[Table | None, dict[str, int]]:
    """Return the table of communities, coarsest first.

    The second result is the row of each community by its key. The table is None if no community has
    a member.
    """
    members = _community_members(communities, graph, left_out)
    by_key = {community.key: community for community in communities}
    non_empty = [community for community in by_key.values() if members[community.key]]
    non_empty.sort(key=lambda community: community.level)
    left_out["Left out, communities without a member"] += len(members) - len(non_empty)
    rows = {community.key: row for row, community in enumerate(non_empty)}
    if not non_empty:
        return None, rows
    table = Table.from_columns(
        level=_community_levels(non_empty, left_out),
        parent=[rows.get(community.parent, -1) for community in non_empty],
        title=[
            " ".join(community.title.split()) or f"Community {community.key}"
            for community in non_empty
        ],
        members=[members[community.key] for community in non_empty],
        report=[community.report for community in non_empty],
        rating=[min(10.0, max(0.0, community.rating)) for community in non_empty],
    )
    return table, rows


def _community_members(
    communities: Sequence[IndexCommunity], graph: Graph, left_out: Counter[str]
) -> dict[str, list[int]]:
    """Return the nodes of each community, and count members that are none."""
    nodes = _nodes_by_name(graph)
    members: dict[str, list[int]] = {}
    for community in communities:
        names = [" ".join(name.split()) for name in community.members]
        left_out["Left out, members of communities that are no entities of the index"] += sum(
            name not in nodes for name in names
        )
        members[community.key] = sorted({nodes[name] for name in names if name in nodes})
    return members


def _community_levels(communities: Sequence[IndexCommunity], left_out: Counter[str]) -> list[int]:
    """Return the levels of communities, with 0 for an impossible level."""
    levels = [one.level if 0 <= one.level <= MAX_COMMUNITY_LEVELS else 0 for one in communities]
    left_out["Left out, levels of communities that are none"] += sum(
        level != one.level for level, one in zip(levels, communities)
    )
    return levels
