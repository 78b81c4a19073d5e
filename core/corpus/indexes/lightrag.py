"""Reader of the indexes of LightRAG and nano-graphrag.

LightRAG is derived from nano-graphrag. Both write a graph in GraphML, and texts and reports in
JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from functools import partial

from core.corpus.indexes.files import Row, number_value, read_keyed_json, text_value, text_values
from core.corpus.indexes.index import (
    IndexChunk,
    IndexCommunity,
    IndexContent,
    IndexDocument,
    IndexEntity,
    IndexRelation,
)
from core.corpus.indexes.vectors import IndexVectors, nano_vectors, one_line_value, read_vectors
from core.graph.readers.graphml import read_attributed
from core.io.files import FileSource

GRAPHML_FILE = "graph_chunk_entity_relation.graphml"
CHUNK_STORE_FILE = "kv_store_text_chunks.json"
DOCUMENT_STORE_FILE = "kv_store_full_docs.json"
REPORT_STORE_FILE = "kv_store_community_reports.json"
ENTITY_CHUNKS_FILE = "kv_store_entity_chunks.json"
RELATION_CHUNKS_FILE = "kv_store_relation_chunks.json"
VECTOR_FILES = {
    "nodes": "vdb_entities.json",
    "relations": "vdb_relationships.json",
    "chunks": "vdb_chunks.json",
}
ITEM_TITLES = {"nodes": "entities", "relations": "relations", "chunks": "chunks"}
PART_SEPARATOR = "<SEP>"  # separates the parts of one attribute
# names that LightRAG writes for unknown files
UNKNOWN_FILES = ("unknown_source", "no-file-path", "custom_kg", "UNKNOWN")


def holds_index(names: set[str]) -> bool:
    """Return whether files of these names are an index of LightRAG."""
    return {GRAPHML_FILE, CHUNK_STORE_FILE} <= names and REPORT_STORE_FILE not in names


def holds_nano_index(names: set[str]) -> bool:
    """Return whether files of these names are an index of nano-graphrag."""
    return {GRAPHML_FILE, CHUNK_STORE_FILE, REPORT_STORE_FILE} <= names


def read_index(files: Mapping[str, FileSource]) -> IndexContent:
    """Read an index of LightRAG 1.0 to 1.5.

    It holds entities, relations with keywords and weights, chunks and documents. The chunks of
    entities and relations come from `source_id`. From version 1.4 on they also come from separate
    files, because the graph then names only some of them.

    Raises BadInput for a damaged file.
    """
    index = _texts_and_graph(files)
    if ENTITY_CHUNKS_FILE in files:
        entity_chunks = {
            name: text_values(row.get("chunk_ids"))
            for name, row in read_keyed_json(files[ENTITY_CHUNKS_FILE]).items()
        }
        index.entities = [
            replace(entity, chunks=_union(entity.chunks, entity_chunks.get(entity.name, ())))
            for entity in index.entities
        ]
    if RELATION_CHUNKS_FILE in files:
        relation_chunks = {
            # the key is head, separator and tail
            _pair(*key.partition(PART_SEPARATOR)[::2]): text_values(row.get("chunk_ids"))
            for key, row in read_keyed_json(files[RELATION_CHUNKS_FILE]).items()
        }
        relations = []
        for relation in index.relations:
            more_chunks = relation_chunks.get(_pair(relation.head, relation.tail), ())
            relations.append(replace(relation, chunks=_union(relation.chunks, more_chunks)))
        index.relations = relations
    index.vectors = _vectors(files, lambda kind, row: text_value(row.get("content")), index.notes)
    return index


def read_nano_index(files: Mapping[str, FileSource]) -> IndexContent:
    """Read an index of nano-graphrag 0.0.8.

    It is like LightRAG's, without keywords, but with communities on levels and their reports. A
    community's parent is the one that names it as a part.

    Raises BadInput for a damaged file.
    """
    index = _texts_and_graph(files)
    chunk_texts = {chunk.key: chunk.text for chunk in index.chunks}
    # the text that nano-graphrag encodes for each entity, by its name as stored
    entity_texts = {
        id: f"{id}{attributes.get('description', '')}"
        for id, attributes in read_attributed(files[GRAPHML_FILE])[0].items()
    }

    def text_of(kind: str, row: Row) -> str:
        if kind == "chunks":
            return chunk_texts.get(text_value(row.get("__id__")), "")
        return entity_texts.get(text_value(row.get("entity_name")), "")

    index.vectors = _vectors(files, text_of, index.notes)
    reports = read_keyed_json(files[REPORT_STORE_FILE])
    parents: dict[str, str] = {}
    for key, row in reports.items():
        parents.update(dict.fromkeys(text_values(row.get("sub_communities")), key))
    index.communities = [_community(key, row, parents.get(key, "")) for key, row in reports.items()]
    return index


def _texts_and_graph(files: Mapping[str, FileSource]) -> IndexContent:
    """Read the data that both tools write in the same form."""
    index = IndexContent()
    rows = read_keyed_json(files[CHUNK_STORE_FILE])
    ordered = sorted(rows, key=lambda key: number_value(rows[key].get("chunk_order_index")))
    index.chunks = [
        IndexChunk(
            key, text_value(rows[key].get("content")), text_value(rows[key].get("full_doc_id"))
        )
        for key in ordered
    ]
    if DOCUMENT_STORE_FILE in files:
        index.documents = [
            IndexDocument(key, text=text_value(row.get("content")), file=_file(row))
            for key, row in read_keyed_json(files[DOCUMENT_STORE_FILE]).items()
        ]
    nodes, edges = read_attributed(files[GRAPHML_FILE])
    index.entities = [
        IndexEntity(
            unquoted_name(id),
            unquoted_name(attributes.get("entity_type", "")),
            _description(attributes),
            _parts(attributes.get("source_id", "")),
        )
        for id, attributes in nodes.items()
    ]
    index.relations = [
        _relation(unquoted_name(head), unquoted_name(tail), attributes)
        for head, tail, attributes in edges
    ]
    return index


def _vectors(
    files: Mapping[str, FileSource], text_of: Callable[[str, Row], str], notes: list[str]
) -> list[IndexVectors]:
    """Return the vectors of entities, relations and chunks.

    `text_of` returns the text that was encoded for a row, given the kind of item and the row.
    """
    readers = []
    for kind, name in VECTOR_FILES.items():
        if name in files:
            row_text = partial(text_of, kind)
            read = partial(nano_vectors, files[name], kind, ITEM_KEYS[kind], row_text)
            readers.append((ITEM_TITLES[kind], read))
    return read_vectors(readers, notes)


def _relation(head: str, tail: str, attributes: Mapping[str, str]) -> IndexRelation:
    keywords = ", ".join(_parts(attributes.get("keywords", "")))
    return IndexRelation(
        head,
        tail,
        description=_description(attributes),
        keywords=keywords,
        weight=number_value(attributes.get("weight"), 1.0),
        chunks=_parts(attributes.get("source_id", "")),
    )


def _community(key: str, row: Row, parent: str) -> IndexCommunity:
    reply = row.get("report_json")  # the language model's reply, absent if it was no JSON
    reply = reply if isinstance(reply, dict) else {}
    title = text_value(reply.get("title")) or text_value(row.get("title"))
    report = text_value(row.get("report_string")).removeprefix(f"# {title}").strip()
    return IndexCommunity(
        key,
        int(number_value(row.get("level"))),
        parent,
        title=title,
        members=tuple(map(unquoted_name, text_values(row.get("nodes")))),
        report=report,
        rating=number_value(reply.get("rating")),
    )


def _file(row: Row) -> str:
    """Return the name of a document's file; empty if unknown."""
    name = text_value(row.get("file_path"))
    return "" if name in UNKNOWN_FILES else name


def unquoted_name(name: str) -> str:
    """Return a name without the quotation marks that language models put around it.

    >>> from core.corpus.indexes.lightrag import unquoted_name
    >>> unquoted_name('"ANN LEE"'), unquoted_name('the "Marie"')
    ('ANN LEE', 'the "Marie"')
    """
    name = name.strip()
    return name[1:-1].strip() if len(name) > 2 and name[0] == name[-1] == '"' else name


def _parts(value: str) -> tuple[str, ...]:
    """Return the distinct parts of an attribute without quotation marks, in their order."""
    return tuple(dict.fromkeys(filter(None, map(unquoted_name, value.split(PART_SEPARATOR)))))


def _description(attributes: Mapping[str, str]) -> str:
    return " ".join(_parts(attributes.get("description", "")))


def _union(first: Iterable[str], second: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _pair(head: str, tail: str) -> tuple[str, str]:
    """Return the ends of an undirected relation in alphabetical order."""
    return min(head, tail), max(head, tail)


# by kind of item, functions that return the key of the item to which a row's vector belongs
ITEM_KEYS: dict[str, Callable[[Row], Hashable]] = {
    "nodes": lambda row: unquoted_name(one_line_value(row, "entity_name")),
    "relations": lambda row: frozenset(
        (unquoted_name(one_line_value(row, "src_id")), unquoted_name(one_line_value(row, "tgt_id")))
    ),
    "chunks": lambda row: text_value(row.get("__id__")),
}
