"""Indexes of LightRAG and of nano-graphrag, from which it came: a graph in GraphML, and texts and reports in JSON by key."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from core.corpus.indexes.files import Row, keyed, number, text, texts
from core.corpus.indexes.index import Chunk, Community, Entity, Index, Relation, Text
from core.corpus.indexes.vectors import IndexVectors, called, nano_vectors, read_vectors
from core.graph.readers.graphml import attributed
from core.io.files import Source

GRAPH, CHUNKS, DOCUMENTS, REPORTS = (
    "graph_chunk_entity_relation.graphml",
    "kv_store_text_chunks.json",
    "kv_store_full_docs.json",
    "kv_store_community_reports.json",
)
OF_ENTITIES, OF_RELATIONS = "kv_store_entity_chunks.json", "kv_store_relation_chunks.json"
VECTORS = {
    "nodes": "vdb_entities.json",
    "relations": "vdb_relationships.json",
    "chunks": "vdb_chunks.json",
}
BETWEEN = "<SEP>"  # between the parts of one attribute
# what LightRAG writes for a file that it does not know
UNNAMED = ("unknown_source", "no-file-path", "custom_kg", "UNKNOWN")


def holds(names: set[str]) -> bool:
    """Whether these files are an index of LightRAG."""
    return {GRAPH, CHUNKS} <= names and REPORTS not in names


def holds_nano(names: set[str]) -> bool:
    """Whether these files are an index of nano-graphrag, which writes reports on communities."""
    return {GRAPH, CHUNKS, REPORTS} <= names


def read(files: Mapping[str, Source]) -> Index:
    """The index in these files, of LightRAG 1.0 to 1.5: entities, relations with keywords and weights, chunks, documents.

    Chunks of entities and relations are those of `source_id` and, from version 1.4 on, of their own files, as the graph names only so many.
    Raises BadInput for a damaged file.
    """
    index = _texts_and_graph(files)
    if OF_ENTITIES in files:
        more = {
            name: texts(row.get("chunk_ids")) for name, row in keyed(files[OF_ENTITIES]).items()
        }
        index.entities = [
            replace(one, chunks=_both(one.chunks, more.get(one.name, ()))) for one in index.entities
        ]
    if OF_RELATIONS in files:
        both = {
            _ends(*key.partition(BETWEEN)[::2]): texts(row.get("chunk_ids"))
            for key, row in keyed(files[OF_RELATIONS]).items()
        }
        index.relations = [
            replace(one, chunks=_both(one.chunks, both.get(_ends(one.head, one.tail), ())))
            for one in index.relations
        ]
    index.vectors = _vectors(files, lambda of, row: text(row.get("content")), index.notes)
    return index


def read_nano(files: Mapping[str, Source]) -> Index:
    """The index in these files, of nano-graphrag 0.0.8: as LightRAG's, without keywords, with communities on levels and their reports. A
    community is a part of the one that names it among its parts. Raises BadInput for a damaged file."""
    index = _texts_and_graph(files)
    contents = {one.key: one.text for one in index.chunks}
    nodes = {
        id: f"{id}{about.get('description', '')}"
        for id, about in attributed(files[GRAPH])[0].items()
    }
    worded = lambda of, row: (
        contents.get(text(row.get("__id__")), "")
        if of == "chunks"
        else nodes.get(text(row.get("entity_name")), "")
    )
    index.vectors = _vectors(files, worded, index.notes)
    reports = keyed(files[REPORTS])
    parents = {
        part: key for key, row in reports.items() for part in texts(row.get("sub_communities"))
    }
    index.communities = [_community(key, row, parents.get(key, "")) for key, row in reports.items()]
    return index


def _texts_and_graph(files: Mapping[str, Source]) -> Index:
    """What the two tools have in common."""
    index = Index()
    rows = keyed(files[CHUNKS])
    ordered = sorted(rows, key=lambda key: number(rows[key].get("chunk_order_index")))
    index.chunks = [
        Chunk(key, text(rows[key].get("content")), text(rows[key].get("full_doc_id")))
        for key in ordered
    ]
    if DOCUMENTS in files:
        index.documents = [
            Text(key, text=text(row.get("content")), file=_file(row))
            for key, row in keyed(files[DOCUMENTS]).items()
        ]
    nodes, edges = attributed(files[GRAPH])
    index.entities = [
        Entity(
            bare(id),
            bare(about.get("entity_type", "")),
            _description(about),
            _parts(about.get("source_id", "")),
        )
        for id, about in nodes.items()
    ]
    index.relations = [_relation(bare(head), bare(tail), about) for head, tail, about in edges]
    return index


def _vectors(
    files: Mapping[str, Source], worded: Callable[[str, Row], str], notes: list[str]
) -> list[IndexVectors]:
    """The vectors of entities, relations and chunks; `worded` gives the text that the vector of a row is of."""
    readers = [
        (OF[of], partial(nano_vectors, files[name], of, KEYS[of], partial(worded, of)))
        for of, name in VECTORS.items()
        if name in files
    ]
    return read_vectors(readers, notes)


def _relation(head: str, tail: str, about: Mapping[str, str]) -> Relation:
    keywords = ", ".join(_parts(about.get("keywords", "")))
    more: dict[str, Any] = {
        "weight": number(about.get("weight"), 1.0),
        "chunks": _parts(about.get("source_id", "")),
    }
    return Relation(head, tail, description=_description(about), keywords=keywords, **more)


def _community(key: str, row: Row, parent: str) -> Community:
    reply = row.get("report_json")
    reply = reply if isinstance(reply, dict) else {}
    title = text(reply.get("title")) or text(row.get("title"))
    report = text(row.get("report_string")).removeprefix(f"# {title}").strip()
    members = tuple(map(bare, texts(row.get("nodes"))))
    about: dict[str, Any] = {
        "title": title,
        "members": members,
        "report": report,
        "rating": number(reply.get("rating")),
    }
    return Community(key, int(number(row.get("level"))), parent, **about)


def _file(row: Row) -> str:
    """The name of a document's file; empty where it is not known."""
    name = text(row.get("file_path"))
    return "" if name in UNNAMED else name


def bare(name: str) -> str:
    """A name without the quotation marks that language models put around it.

    >>> from core.corpus.indexes.lightrag import bare
    >>> bare('"ANN LEE"'), bare('the "Marie"')
    ('ANN LEE', 'the "Marie"')
    """
    name = name.strip()
    return name[1:-1].strip() if len(name) > 2 and name[0] == name[-1] == '"' else name


def _parts(value: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(bare, value.split(BETWEEN)))))


def _description(about: Mapping[str, str]) -> str:
    return " ".join(_parts(about.get("description", "")))


def _both(first: Iterable[str], second: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _ends(one: str, other: str) -> tuple[str, str]:
    return min(one, other), max(one, other)


OF = {"nodes": "entities", "relations": "relations", "chunks": "chunks"}
KEYS: dict[str, Callable[[Row], Hashable]] = {  # of what the vector of a row is
    "nodes": lambda row: bare(called(row, "entity_name")),
    "relations": lambda row: frozenset((bare(called(row, "src_id")), bare(called(row, "tgt_id")))),
    "chunks": lambda row: text(row.get("__id__")),
}
