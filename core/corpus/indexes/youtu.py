"""Reader of Youtu-GraphRAG's indexes.

An index is a JSON list of relations between nodes, and a text file of chunks. A node is an entity,
an attribute, a keyword or a community.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.corpus.indexes.files import read_index_json, text_value, text_values
from core.corpus.indexes.index import (
    IndexChunk,
    IndexCommunity,
    IndexContent,
    IndexEntity,
    IndexRelation,
)
from core.corpus.readers.file_sources import read_bytes
from core.errors import BadInput
from core.io.files import FileSource

# before and after the name of a set of documents in the path of its graph
GRAPH_FOLDER = "graphs/"
GRAPH_SUFFIX = "_new.json"
CHUNK_START = re.compile(r"^id: ([^\t\n]{1,200}?) ?\tChunk: ", re.MULTILINE)


def holds_index(names: set[str]) -> bool:
    """Return whether files of these names are an index of Youtu-GraphRAG."""
    return bool(_sets(names))


def _sets(names: set[str]) -> list[str]:
    """Return the sets of documents that have a graph and a file of chunks."""
    sets = []
    for file in sorted(names):
        if file.startswith(GRAPH_FOLDER) and file.endswith(GRAPH_SUFFIX):
            name = file[len(GRAPH_FOLDER) : -len(GRAPH_SUFFIX)]
            if f"chunks/{name}.txt" in names:
                sets.append(name)
    return sets


@dataclass
class _Entity:
    """An entity, with its attributes and chunks, each once and in order."""

    type: str = ""
    attributes: dict[str, None] = field(default_factory=dict)
    chunks: dict[str, None] = field(default_factory=dict)


def read_index(files: Mapping[str, FileSource]) -> IndexContent:
    """Read the index in the files “graphs/SET_new.json” and “chunks/SET.txt”.

    It holds entities with their attributes as descriptions, named relations, and communities with
    their descriptions as reports. Each chunk is a document, as the index does not name the
    documents of chunks. A relation belongs to the first chunk that both its entities name. Keywords
    are counted but not taken. Chunks of earlier runs remain in the file; they are left out if their
    text occurs again. Source: “format_output” and “save_chunks_to_file” of the project's kt_gen.py.

    Raises BadInput for a damaged file, or several sets.
    """
    sets = _sets(set(files))
    if len(sets) > 1:
        raise BadInput(
            f"There are indexes of several sets of documents, {', '.join(sets[:6])}. Give a "
            "folder with one of them."
        )
    index, graph_rows = IndexContent(), _GraphRows()
    rows = read_index_json(files[f"graphs/{sets[0]}_new.json"])
    if not isinstance(rows, list):
        raise BadInput(f"{sets[0]}_new.json holds no list of relations.")
    for row in rows:
        graph_rows.add(row)
    index.entities = [
        IndexEntity(name, entity.type, "; ".join(entity.attributes), tuple(entity.chunks))
        for name, entity in graph_rows.entities.items()
    ]
    for head, name, tail in graph_rows.relations:
        head_chunks, tail_chunks = (graph_rows.entities[end].chunks for end in (head, tail))
        shared_chunks = tuple(chunk for chunk in head_chunks if chunk in tail_chunks)
        index.relations.append(IndexRelation(head, tail, name, chunks=shared_chunks[:1]))
    index.communities = [
        IndexCommunity(name, 0, title=name, members=tuple(members), report=report)
        for name, (report, members) in graph_rows.communities.items()
    ]
    index.left_out = graph_rows.left_out
    entities = graph_rows.entities.values()
    named_chunks = set[str]().union(*(entity.chunks for entity in entities))
    index.chunks = _chunks(files[f"chunks/{sets[0]}.txt"], named_chunks, index.left_out)
    index.notes += [
        "The index does not say of which document a chunk is: each chunk is a document.",
        (
            "The index does not say in which chunk a relation is: it is in the first that both "
            "its entities name."
        ),
    ]
    return index


@dataclass
class _GraphRows:
    """The content of a graph's rows, collected row by row.

    `relations` are head, relation and tail. `communities` holds the report and the members of each
    community by its name.
    """

    entities: dict[str, _Entity] = field(default_factory=dict)
    relations: dict[tuple[str, str, str], None] = field(default_factory=dict)
    communities: dict[str, tuple[str, dict[str, None]]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, row: Any) -> None:
        """Add the two nodes of a row, and the relation between them."""
        row = row if isinstance(row, dict) else {}
        head_kind, head = _node(row.get("start_node"))
        tail_kind, tail = _node(row.get("end_node"))
        head_name = text_value(head.get("name"))
        tail_name = text_value(tail.get("name"))
        relation = text_value(row.get("relation"))
        if not head_name or not tail_name:
            self.left_out["Left out, rows that are no relation"] += 1
            return
        for kind, name, properties in ((head_kind, head_name, head), (tail_kind, tail_name, tail)):
            if kind == "entity":
                self._add_entity(name, properties)
            elif kind == "community":
                report = text_value(properties.get("description"))
                _, members = self.communities.setdefault(name, (report, {}))
                members.update(dict.fromkeys(text_values(properties.get("members"))))
        if head_kind == tail_kind == "entity":
            self.relations[head_name, relation, tail_name] = None
        elif (head_kind, tail_kind) == ("entity", "attribute"):
            entity = self._add_entity(head_name, {"chunk id": tail.get("chunk id")})
            entity.attributes[tail_name] = None
        elif (head_kind, tail_kind) == ("entity", "community"):
            self.communities[tail_name][1][head_name] = None
        else:
            self.left_out["Left out, relations of keywords"] += 1

    def _add_entity(self, name: str, properties: Mapping[str, Any]) -> _Entity:
        """Add the properties of a node to its entity, and return the entity."""
        entity = self.entities.setdefault(name, _Entity())
        entity.type = entity.type or text_value(properties.get("schema_type"))
        chunk = text_value(properties.get("chunk id"))
        if chunk:
            entity.chunks[chunk] = None
        return entity


def _node(value: Any) -> tuple[str, Mapping[str, Any]]:
    """Return the kind of a node and its properties."""
    value = value if isinstance(value, dict) else {}
    properties = value.get("properties")
    return text_value(value.get("label")), properties if isinstance(properties, dict) else {}


def _chunks(file: FileSource, used_keys: set[str], left_out: Counter[str]) -> list[IndexChunk]:
    """Return the chunks in their order, and count those left out.

    Of chunks with the same text, those are returned that entities name, given by `used_keys`. If
    entities name none, the first is returned.
    """
    try:
        content = read_bytes(file).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{file.name} is not UTF-8 text (byte {error.start + 1}).") from None
    marks = list(CHUNK_START.finditer(content))
    ends = [mark.start() for mark in marks[1:]] + [len(content)]
    chunk_texts = {mark[1]: content[mark.end() : end].strip() for mark, end in zip(marks, ends)}
    if not chunk_texts:
        raise BadInput(
            f"{file.name} has no line “id: …, Chunk: …”, as Youtu-GraphRAG writes chunks."
        )
    retained_texts = {chunk_texts[key] for key in used_keys if key in chunk_texts}
    chunks: dict[str, IndexChunk] = {}
    for key, chunk in chunk_texts.items():
        if key in used_keys or chunk not in retained_texts:
            retained_texts.add(chunk)
            chunks[key] = IndexChunk(key, chunk)
    left_out["Left out, chunks of earlier runs with a text that is there again"] += len(
        chunk_texts
    ) - len(chunks)
    return list(chunks.values())
