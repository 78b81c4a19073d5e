"""Indexes of fast-graphrag: its chunks and its igraph are pickled, and read as plain data without being unpickled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.corpus.indexes.files import text
from core.corpus.indexes.index import Chunk, Entity, Index, Relation, Text
from core.corpus.indexes.pickled import Thing, plain
from core.corpus.readers.packed import bytes_of
from core.errors import BadInput
from core.io.files import Source

CHUNKS, GRAPH = "chunks_kv_data.pkl", "graph_igraph_data.pklz"
FILE_KEYS = ("file", "filename", "file_name", "source", "title", "name")  # of a text's metadata, which may name its file


def holds(names: set[str]) -> bool:
    """Whether these files are an index of fast-graphrag."""
    return {CHUNKS, GRAPH} <= names


def read(files: Mapping[str, Source]) -> Index:
    """The index in these files, of fast-graphrag 0.0.5: entities and relations with descriptions, and chunks with their metadata.

    An entity is in the chunks of its relations, as fast-graphrag counts it; those without a relation are in none. Its texts are not kept:
    chunks of one metadata that names a file are one document, else each chunk is one. Raises BadInput for a damaged file.
    """
    index = Index()
    index.chunks, index.documents = _chunks(plain(bytes_of(files[CHUNKS]), CHUNKS))
    names, about, edges = _graph(plain(_unzipped(files[GRAPH]), GRAPH))
    chunks_of: dict[str, dict[str, None]] = {name: {} for name in names}
    for relation in edges:
        for end in (relation.head, relation.tail):
            chunks_of[end].update(dict.fromkeys(relation.chunks))
    index.relations = edges
    index.entities = [Entity(name, type, description, tuple(chunks_of[name])) for name, (type, description) in zip(names, about)]
    alone = sum(not some for some in chunks_of.values())
    if alone:
        index.notes.append(f"Entities without a relation of a chunk: {alone:,}; the index does not say in which chunk they are.")
    if len(index.documents) < len(index.chunks):
        index.notes.append("Which chunks are of one document goes by the file that the texts' metadata name.")
    return index


def _unzipped(file: Source) -> bytes:
    """The bytes of a gzip file that is not called so."""
    return bytes_of(_Gzip(file))


class _Gzip:
    """A file under a name that says how it is packed."""

    def __init__(self, file: Source):
        self.name, self.size, self.open = f"{file.name}.gz", file.size, file.open


def _chunks(found: Any) -> tuple[list[Chunk], list[Text]]:
    """The chunks in the order in which they came, and their documents, whose texts the index does not have."""
    rows = found[0] if isinstance(found, tuple) and found and isinstance(found[0], dict) else None
    if rows is None:
        raise BadInput(f"{CHUNKS} does not hold chunks as fast-graphrag writes them.")
    chunks: list[Chunk] = []
    documents: dict[str, Text] = {}
    for row in rows.values():
        state = row.state if isinstance(row, Thing) and isinstance(row.state, dict) else {}
        key = _key(state.get("id"))
        metadata = state.get("metadata")
        named = next((text(metadata[one]) for one in FILE_KEYS if text(metadata.get(one))), "") if isinstance(metadata, dict) else ""
        document = named or key
        documents.setdefault(document, Text(document, named))
        chunks.append(Chunk(key, text(state.get("content")), document))
    return chunks, list(documents.values())


def _graph(found: Any) -> tuple[list[str], list[tuple[str, str]], list[Relation]]:
    """The names of the nodes, their types and descriptions, and the relations of a described igraph."""
    try:
        count, ends, _, _, nodes, edges = found.given
        names = [" ".join(text(name).split()) or f"node {number}" for number, name in enumerate(nodes["name"])]
        about = list(zip(map(text, nodes["type"]), map(_lines, nodes["description"])))
        rows = list(zip(ends, edges.get("description", [""] * len(ends)), edges.get("chunks", [None] * len(ends))))
        relations = [Relation(names[head], names[tail], description=_lines(said), chunks=_keys(some)) for (head, tail), said, some in rows]
        if not len(names) == len(about) == count or min((end for pair in ends for end in pair), default=0) < 0:
            raise ValueError
    except (AttributeError, ValueError, KeyError, TypeError, IndexError):
        raise BadInput(f"{GRAPH} does not hold a graph as fast-graphrag writes it.") from None
    return names, about, relations


def _lines(value: Any) -> str:
    """A description of several lines, each of which is there once."""
    return " ".join(dict.fromkeys(" ".join(line.split()) for line in text(value).splitlines() if line.strip()))


def _keys(value: Any) -> tuple[str, ...]:
    return tuple(filter(None, map(_key, value))) if isinstance(value, (list, tuple)) else ()


def _key(value: Any) -> str:
    """A chunk's key: a number, which NumPy may have wrapped."""
    if isinstance(value, Thing) and value.name.endswith(".multiarray.scalar") and isinstance(value.given, tuple):
        raw = value.given[-1]
        return str(int.from_bytes(raw, "little", signed=True)) if isinstance(raw, bytes) and len(raw) <= 8 else ""
    return text(value)
