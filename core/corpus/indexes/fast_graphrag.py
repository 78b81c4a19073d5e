"""Reader of fast-graphrag's indexes, which are pickled chunks and a pickled igraph.

The pickles are read as plain data, without running any of their code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from core.corpus.indexes.files import check_weight, text_value
from core.corpus.indexes.index import (
    IndexChunk,
    IndexContent,
    IndexDocument,
    IndexEntity,
    IndexRelation,
)
from core.corpus.indexes.pickled_data import InertObject, read_pickle
from core.corpus.indexes.vectors import IndexVectors, hnsw_vectors, read_vectors
from core.corpus.readers.file_sources import read_bytes
from core.errors import BadInput
from core.io.files import FileSource

CHUNKS_FILE, GRAPH_FILE = "chunks_kv_data.pkl", "graph_igraph_data.pklz"
VECTORS_NAME = re.compile(r"entities_hnsw_index_\d{1,6}\.bin")
# keys of a text's metadata that may name its file
FILE_KEYS = ("file", "filename", "file_name", "source", "title", "name")


def holds_index(names: set[str]) -> bool:
    """Return whether files of these names are an index of fast-graphrag."""
    return {CHUNKS_FILE, GRAPH_FILE} <= names


def read_index(files: Mapping[str, FileSource]) -> IndexContent:
    """Read an index of fast-graphrag 0.0.5.

    It holds entities and relations with descriptions, and chunks with their metadata. An entity
    belongs to the chunks of its relations, as fast-graphrag counts it; an entity without a relation
    belongs to none. The index has no texts of documents. Chunks whose metadata name the same file
    are one document, and each other chunk is a document of its own.

    Raises BadInput for a damaged file.
    """
    index = IndexContent()
    chunk_data = read_pickle(read_bytes(files[CHUNKS_FILE]), CHUNKS_FILE)
    index.chunks, index.documents = _chunks(chunk_data)
    names, details, relations, texts = _graph(read_pickle(_unzip(files[GRAPH_FILE]), GRAPH_FILE))
    node_chunks: dict[str, dict[str, None]] = {name: {} for name in names}
    for relation in relations:
        for end in (relation.head, relation.tail):
            node_chunks[end].update(dict.fromkeys(relation.chunks))
    index.relations = relations
    index.entities = [
        IndexEntity(name, type, description, tuple(node_chunks[name]))
        for name, (type, description) in zip(names, details)
    ]
    readers = [
        ("entities", partial(_vectors, file, names, texts))
        for name, file in files.items()
        if VECTORS_NAME.fullmatch(name)
    ]
    index.vectors = read_vectors(readers, index.notes) if len(readers) == 1 else []
    n_without_chunk = sum(not chunks for chunks in node_chunks.values())
    if n_without_chunk:
        index.notes.append(
            f"Entities without a relation of a chunk: {n_without_chunk:,}; the index does not say "
            "in which chunk they are."
        )
    if len(index.documents) < len(index.chunks):
        index.notes.append(
            "Which chunks are of one document goes by the file that the texts' metadata name."
        )
    return index


def _vectors(file: FileSource, names: list[str], texts: list[str]) -> IndexVectors:
    """Return the vectors of the entities. Their labels in hnswlib are their node numbers.

    `names` and `texts` hold the name and the encoded text of each node.
    """
    labels, matrix = hnsw_vectors(file)
    is_node = (labels >= 0) & (labels < len(names))
    rows = labels[is_node].tolist()
    return IndexVectors(
        "nodes",
        tuple(names[row] for row in rows),
        tuple(texts[row] for row in rows),
        matrix[is_node],
    )


def _unzip(file: FileSource) -> bytes:
    """Return the bytes of a gzip file whose name does not end in `.gz`."""
    return read_bytes(_GzipFile(file))


class _GzipFile:
    """A file with the suffix of gzip added to its name.

    The suffix causes it to be unpacked.
    """

    def __init__(self, file: FileSource):
        self.name, self.size, self.open = f"{file.name}.gz", file.size, file.open


def _chunks(data: Any) -> tuple[list[IndexChunk], list[IndexDocument]]:
    """Return the chunks in their order, and their documents without texts.

    The index does not hold the documents' texts.
    """
    rows = data[0] if isinstance(data, tuple) and data and isinstance(data[0], dict) else None
    if rows is None:
        raise BadInput(f"{CHUNKS_FILE} does not hold chunks as fast-graphrag writes them.")
    states = [_state(row) for row in rows.values()]
    check_weight(CHUNKS_FILE, [state.values() for state in states])
    chunks: list[IndexChunk] = []
    documents: dict[str, IndexDocument] = {}
    for state in states:
        key = _key(state.get("id"))
        file = _file_name(state.get("metadata"))
        document = file or key
        documents.setdefault(document, IndexDocument(document, file=file))
        chunks.append(IndexChunk(key, text_value(state.get("content")), document))
    return chunks, list(documents.values())


def _state(row: Any) -> dict[Any, Any]:
    """Return the attributes of a pickled chunk; empty for any other object."""
    if isinstance(row, InertObject) and isinstance(row.state, dict):
        return row.state
    return {}


def _file_name(metadata: Any) -> str:
    """Return the file that a text's metadata name; empty if they name none."""
    if not isinstance(metadata, dict):
        return ""
    for key in FILE_KEYS:
        name = text_value(metadata.get(key))
        if name:
            return name
    return ""


def _graph(graph: Any) -> tuple[list[str], list[tuple[str, str]], list[IndexRelation], list[str]]:
    """Return the content of a pickled igraph.

    Returns
    -------
    The nodes' names, their types and descriptions, the relations, and the text that fast-graphrag's
    encoder read for each node.
    """
    try:
        # igraph pickles the number of nodes, the edges as pairs of nodes, whether they are
        # directed, and the attributes of the graph, of its nodes and of its edges.
        count, pairs, _, _, nodes, edges = graph.arguments
        check_weight(GRAPH_FILE, [*nodes.values(), *edges.values()])
        names = [
            " ".join(text_value(name).split()) or f"node {number}"
            for number, name in enumerate(nodes["name"])
        ]
        texts = list(map(_entity_text, nodes["name"], nodes["type"], nodes["description"]))
        details = list(zip(map(text_value, nodes["type"]), map(_one_line, nodes["description"])))
        descriptions = edges.get("description", [""] * len(pairs))
        chunks = edges.get("chunks", [None] * len(pairs))
        relations = [
            IndexRelation(names[head], names[tail], description=_one_line(text), chunks=_keys(keys))
            for (head, tail), text, keys in zip(pairs, descriptions, chunks)
        ]
        if not len(names) == len(details) == count or any(min(pair) < 0 for pair in pairs):
            raise ValueError
    except (AttributeError, ValueError, KeyError, TypeError, IndexError):
        raise BadInput(f"{GRAPH_FILE} does not hold a graph as fast-graphrag writes it.") from None
    return names, details, relations, texts


def _entity_text(name: Any, type: Any, description: Any) -> str:
    """Return the text that fast-graphrag encodes for an entity, by its “to_str”."""
    text = f"[{text_value(type)}] {text_value(name)}"
    about = text_value(description)
    return f"{text}\n[DESCRIPTION] {about}" if about else text


def _one_line(value: Any) -> str:
    """Return a description of several lines as one line, without repeated lines."""
    lines = (" ".join(line.split()) for line in text_value(value).splitlines())
    return " ".join(dict.fromkeys(filter(None, lines)))


def _keys(value: Any) -> tuple[str, ...]:
    """Return the keys of a list of chunks; empty for any other value."""
    return tuple(filter(None, map(_key, value))) if isinstance(value, (list, tuple)) else ()


def _key(value: Any) -> str:
    """Return a chunk's key, a number or NumPy scalar; empty for other values."""
    if (
        isinstance(value, InertObject)
        and value.name.endswith(".multiarray.scalar")
        and isinstance(value.arguments, tuple)
    ):
        raw = value.arguments[-1]
        if isinstance(raw, bytes) and len(raw) <= 8:
            return str(int.from_bytes(raw, "little", signed=True))
        return ""
    return text_value(value)
