"""Reader of Youtu-GraphRAG's indexes.

An index is a JSON list of relations between nodes on four levels, and a text file of chunks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.corpus.indexes.files import json_of, text, texts
from core.corpus.indexes.index import Chunk, Community, Entity, Index, Relation
from core.corpus.readers.packed import bytes_of
from core.errors import BadInput
from core.io.files import Source

GRAPHS, GRAPH = "graphs/", "_new.json"  # before and after the name of a set of documents
CHUNK = re.compile(r"^id: ([^\t\n]{1,200}?) ?\tChunk: ", re.MULTILINE)


def holds(names: set[str]) -> bool:
    """Return whether these files are an index of Youtu-GraphRAG."""
    return bool(_sets(names))


def _sets(names: set[str]) -> list[str]:
    """Return the sets of documents that have a graph and a file of chunks."""
    graphs = (name for name in sorted(names) if name.startswith(GRAPHS) and name.endswith(GRAPH))
    return [
        name
        for name in (graph[len(GRAPHS) : -len(GRAPH)] for graph in graphs)
        if f"chunks/{name}.txt" in names
    ]


@dataclass
class _Entity:
    type: str = ""
    attributes: dict[str, None] = field(default_factory=dict)
    chunks: dict[str, None] = field(default_factory=dict)


def read(files: Mapping[str, Source]) -> Index:
    """Read the index in `graphs/SET_new.json` and `chunks/SET.txt`.

    It holds entities with their attributes as descriptions, named relations, and communities with
    their descriptions as reports. Each chunk is a document, as the index does not name the
    documents of chunks. A relation belongs to the first chunk that both its entities name. Keywords
    are counted but not taken. Chunks of earlier runs remain in the file; they are left out if their
    text occurs again. Source: `format_output` and `save_chunks_to_file` of the project's kt_gen.py.

    Raises BadInput for a damaged file, or several sets.
    """
    sets = _sets(set(files))
    if len(sets) > 1:
        raise BadInput(
            f"There are indexes of several sets of documents, {', '.join(sets[:6])}. Give a "
            "folder with one of them."
        )
    index, found = Index(), _Found()
    rows = json_of(files[f"graphs/{sets[0]}_new.json"])
    if not isinstance(rows, list):
        raise BadInput(f"{sets[0]}_new.json holds no list of relations.")
    for row in rows:
        found.add(row)
    index.entities = [
        Entity(name, one.type, "; ".join(one.attributes), tuple(one.chunks))
        for name, one in found.entities.items()
    ]
    index.relations = [
        Relation(
            head,
            tail,
            name,
            chunks=tuple(
                chunk
                for chunk in found.entities[head].chunks
                if chunk in found.entities[tail].chunks
            )[:1],
        )
        for head, name, tail in found.relations
    ]
    index.communities = [
        Community(name, 0, title=name, members=tuple(members), report=report)
        for name, (report, members) in found.communities.items()
    ]
    index.left_out = found.left_out
    named = {chunk for one in found.entities.values() for chunk in one.chunks}
    index.chunks = _chunks(files[f"chunks/{sets[0]}.txt"], named, index.left_out)
    index.notes += [
        "The index does not say of which document a chunk is: each chunk is a document.",
        (
            "The index does not say in which chunk a relation is: it is in the first that both "
            "its entities name."
        ),
    ]
    return index


@dataclass
class _Found:
    """The content of a graph's rows, collected row by row."""

    entities: dict[str, _Entity] = field(default_factory=dict)
    relations: dict[tuple[str, str, str], None] = field(default_factory=dict)
    communities: dict[str, tuple[str, dict[str, None]]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, row: Any) -> None:
        """Add one relation between two nodes of any level."""
        row = row if isinstance(row, dict) else {}
        (head_kind, head), (tail_kind, tail) = (
            _node(row.get("start_node")),
            _node(row.get("end_node")),
        )
        head_name, tail_name, relation = (
            text(head.get("name")),
            text(tail.get("name")),
            text(row.get("relation")),
        )
        if not head_name or not tail_name:
            self.left_out["Left out, rows that are no relation"] += 1
            return
        for kind, name, about in ((head_kind, head_name, head), (tail_kind, tail_name, tail)):
            if kind == "entity":
                self._entity(name, about)
            elif kind == "community":
                _, members = self.communities.setdefault(name, (text(about.get("description")), {}))
                members.update(dict.fromkeys(texts(about.get("members"))))
        if head_kind == tail_kind == "entity":
            self.relations[head_name, relation, tail_name] = None
        elif (head_kind, tail_kind) == ("entity", "attribute"):
            self._entity(head_name, {"chunk id": tail.get("chunk id")}).attributes[tail_name] = None
        elif (head_kind, tail_kind) == ("entity", "community"):
            self.communities[tail_name][1][head_name] = None
        else:
            self.left_out["Left out, relations of keywords"] += 1

    def _entity(self, name: str, about: Mapping[str, Any]) -> _Entity:
        one = self.entities.setdefault(name, _Entity())
        one.type = one.type or text(about.get("schema_type"))
        one.chunks.update({chunk: None for chunk in (text(about.get("chunk id")),) if chunk})
        return one


def _node(value: Any) -> tuple[str, Mapping[str, Any]]:
    """Return the kind of a node and its properties."""
    value = value if isinstance(value, dict) else {}
    about = value.get("properties")
    return text(value.get("label")), about if isinstance(about, dict) else {}


def _chunks(file: Source, named: set[str], left: Counter[str]) -> list[Chunk]:
    """Return the chunks of the file in its order.

    Of chunks with the same text, those that entities name are kept.
    """
    try:
        whole = bytes_of(file).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{file.name} is not UTF-8 text (byte {error.start + 1}).") from None
    marks = list(CHUNK.finditer(whole))
    ends = [mark.start() for mark in marks[1:]] + [len(whole)]
    found = {mark[1]: whole[mark.end() : end].strip() for mark, end in zip(marks, ends)}
    if not found:
        raise BadInput(
            f"{file.name} has no line “id: …, Chunk: …”, as Youtu-GraphRAG writes chunks."
        )
    held = {found[key] for key in named if key in found}
    chunks: dict[str, Chunk] = {}
    for key, chunk in found.items():
        if key in named or chunk not in held:
            held.add(chunk)
            chunks[key] = Chunk(key, chunk)
    left["Left out, chunks of earlier runs with a text that is there again"] += len(found) - len(
        chunks
    )
    return list(chunks.values())
