"""Vectors in indexes of other tools, with the text of each.

They are read from files of nano-vectordb, hnswlib and Parquet.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.corpus.indexes.files import Row, read_index_json, read_parquet_rows, text_value
from core.corpus.readers.file_sources import read_bytes
from core.errors import BadInput
from core.io.files import FileSource

MAX_DIMENSION = 1 << 14  # largest dimension of a vector


@dataclass(frozen=True, eq=False)
class IndexVectors:
    """Vectors of one kind of item in an index.

    Parameters
    ----------
    kind : `nodes`, `relations`, `chunks` or `communities`.
    keys : the item of each vector: the name of an entity, both names of a relation, or the key of
        a chunk or community.
    texts : the texts that were encoded.
    matrix : the vectors, float32 [n, d].
    """

    kind: str
    keys: tuple[Hashable, ...]
    texts: tuple[str, ...]
    matrix: np.ndarray


@dataclass(frozen=True, eq=False)
class ItemVectors:
    """The vectors of an index, in the order of its graph's items.

    Parameters
    ----------
    texts : the encoded text of each item; empty for an item without a vector.
    matrix : unit rows, float16 [n, d].
    """

    texts: tuple[str, ...]
    matrix: np.ndarray

    @property
    def count(self) -> int:
        """The number of items that have a vector."""
        return sum(map(bool, self.texts))


def item_vectors(
    vectors: IndexVectors, rows: Mapping[Hashable, int], items: int
) -> ItemVectors | None:
    """Return the vectors in the order of a graph's items.

    An item with several vectors, such as entities of one name, gets none, as each vector covers
    only a part of it.

    Parameters
    ----------
    vectors : the vectors as the index has them.
    rows : item of each key.
    items : number of items.

    Returns
    -------
    Unit vectors float16 [items, d] with their texts; zeros and an empty text for an item without
        one. None if no item has one.
    """
    lengths = np.linalg.norm(vectors.matrix.astype(np.float64), axis=1)
    usable = np.isfinite(lengths) & (lengths > 1e-6)
    item_positions: dict[int, list[int]] = {}
    for position, key in enumerate(vectors.keys):
        if key in rows:
            item_positions.setdefault(rows[key], []).append(position)
    alone = {
        item: positions[0]
        for item, positions in item_positions.items()
        if len(positions) == 1 and usable[positions[0]] and vectors.texts[positions[0]]
    }
    if not alone:
        return None
    texts, matrix = [""] * items, np.zeros((items, vectors.matrix.shape[1]), np.float16)
    for item, position in alone.items():
        texts[item] = vectors.texts[position]
        matrix[item] = vectors.matrix[position] / lengths[position]
    return ItemVectors(tuple(texts), matrix)


def nano_vectors(
    file: FileSource, kind: str, key: Callable[[Row], Hashable], text_of: Callable[[Row], str]
) -> IndexVectors:
    """Read the vectors of a nano-vectordb file.

    It holds rows under `data`, and their float32 numbers in base64 under `matrix`.

    Parameters
    ----------
    file : the file.
    kind : kind of the items.
    key : returns the key of a row.
    text_of : returns the text whose vector a row holds.

    Returns
    -------
    The vectors, float32 [rows, d].

    Raises
    ------
    BadInput : the file has any other content.
    """
    content = read_index_json(file)
    try:
        rows = [row for row in content["data"] if isinstance(row, dict)]
        size = int(content["embedding_dim"])
        numbers = np.frombuffer(base64.b64decode(content["matrix"], validate=True), "<f4")
        if not 0 < size <= MAX_DIMENSION or len(rows) != len(content["data"]):
            raise ValueError
        matrix = numbers.reshape(len(rows), size)
    except (KeyError, TypeError, ValueError, OverflowError, binascii.Error):
        raise BadInput(f"{file.name} does not hold vectors as nano-vectordb writes them.") from None
    return IndexVectors(kind, tuple(map(key, rows)), tuple(map(text_of, rows)), matrix)


# the header of an hnswlib file: counts and offsets, as its saveIndex writes them
HNSW_HEADER = struct.Struct("<6QiI3QdQ")


def hnsw_vectors(file: FileSource) -> tuple[np.ndarray, np.ndarray]:
    """Return labels, int64 [n], and vectors, float32 [n, d], of an hnswlib file.

    Its links are ignored. Raises BadInput if the file has another format.
    """
    data = read_bytes(file)
    try:
        _, _, count, size, label, start, *_ = HNSW_HEADER.unpack_from(data)
        width = (label - start) // 4
        if not (
            0 <= start < label <= size - 8
            and 0 < width <= MAX_DIMENSION
            and HNSW_HEADER.size + count * size <= len(data)
        ):
            raise ValueError
    except (struct.error, ValueError):
        raise BadInput(f"{file.name} is damaged or no file of hnswlib.") from None
    rows = np.frombuffer(data, np.uint8, count * size, HNSW_HEADER.size).reshape(count, size)
    labels = np.ascontiguousarray(rows[:, label : label + 8]).view("<i8").ravel()
    vectors = np.ascontiguousarray(rows[:, start : start + 4 * width]).view("<f4")
    return labels, vectors.reshape(count, width)


def parquet_vectors(
    file: FileSource, kind: str, names: tuple[str, str], item: Callable[[str], tuple[Hashable, str]]
) -> IndexVectors:
    """Read the vectors of a Parquet file.

    Parameters
    ----------
    kind : the kind of item, as in `IndexVectors`.
    names : the columns of ids and of lists of numbers.
    item : returns the key and the text of an id.

    Returns
    -------
    The vectors, float [items, d].

    Raises
    ------
    BadInput
        If there are no vectors, or they differ in length.
    """
    ids, numbers = names
    rows = [row for row in read_parquet_rows(file, names) if row[numbers] is not None]
    try:
        matrix = np.array([row[numbers] for row in rows], np.float32)
        if matrix.ndim != 2 or not 0 < matrix.shape[1] <= MAX_DIMENSION:
            raise ValueError
    except (ValueError, TypeError, OverflowError):
        raise BadInput(
            f"{file.name} does not hold vectors of one length under “{numbers}”."
        ) from None
    items = [item(text_value(row[ids])) for row in rows]
    keys, texts = tuple(key for key, _ in items), tuple(text for _, text in items)
    return IndexVectors(kind, keys, texts, matrix)


def read_vectors(
    readers: Sequence[tuple[str, Callable[[], IndexVectors]]], notes: list[str]
) -> list[IndexVectors]:
    """Return the vectors that several readers find.

    A damaged file only adds a note, as the rest of the index is usable without it.

    Parameters
    ----------
    readers : words for the items, and a function that reads their vectors.
    notes : receives a sentence about each damaged file.

    Returns
    -------
    The vectors that could be read.
    """
    vectors = []
    for item_kind, read in readers:
        try:
            vectors.append(read())
        except BadInput as error:
            notes.append(f"Vectors of {item_kind} are computed again. {error}")
    return vectors


def one_line_value(row: Row, name: str) -> str:
    """Return a value of a row as one line of text.

    Parameters
    ----------
    row : the row.
    name : name of the field.

    Returns
    -------
    The text; empty if the row has no such field.
    """
    return " ".join(text_value(row.get(name)).split())
