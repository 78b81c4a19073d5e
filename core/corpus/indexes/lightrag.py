"""Reader of the indexes of LightRAG and nano-graphrag.

LightRAG came from nano-graphrag. Both write a graph in GraphML, and texts and reports in JSON.
"""

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
BETWEEN = "<SEP>"  # separates the parts of one attribute
# names that LightRAG writes for unknown files
UNNAMED = ("unknown_source", "no-file-path", "custom_kg", "UNKNOWN")


def holds(names: set[str]) -> bool:
    """Return whether these files are an index of LightRAG."""
    return {GRAPH, CHUNKS} <= names and REPORTS not in names


def holds_nano(names: set[str]) -> bool:
    """Return whether these files are an index of nano-graphrag, which writes community reports."""
    return {GRAPH, CHUNKS, REPORTS} <= names


def read(files: Mapping[str, Source]) -> Index:
    """Read an index of LightRAG 1.0 to 1.5.

    It holds entities, relations with keywords and weights, chunks and documents. The chunks of
    entities and relations come from `source_id`. From version 1.4 on they also come from files of
    their own, as the graph names only some.

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
    """Read an index of nano-graphrag 0.0.8.

    It is like LightRAG's, without keywords, but with communities on levels and their reports. A
    community's parent is the one that names it as a part.

    Raises BadInput for a damaged file.
    """
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
    """Read the data that both tools write in the same form."""
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
    """Return the vectors of entities, relations and chunks.

    `worded` returns the text from which a row's vector was made.
    """
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
    """Return the name of a document's file; empty if unknown."""
    name = text(row.get("file_path"))
    return "" if name in UNNAMED else name


def bare(name: str) -> str:
    """Return a name without the quotation marks that language models put around it.

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
# return the key of the item to which a row's vector belongs
KEYS: dict[str, Callable[[Row], Hashable]] = {
    "nodes": lambda row: bare(called(row, "entity_name")),
    "relations": lambda row: frozenset((bare(called(row, "src_id")), bare(called(row, "tgt_id")))),
    "chunks": lambda row: text(row.get("__id__")),
}
