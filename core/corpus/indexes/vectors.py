"""Embedding vectors in indexes of other tools.

Each comes with the text that was encoded for it. They are read from files of nano-vectordb, hnswlib
and Parquet, and aligned with a graph's items.
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
    matrix : the vectors, float32 [vectors, dimensions].
    """

    kind: str
    keys: tuple[Hashable, ...]
    texts: tuple[str, ...]
    matrix: np.ndarray


@dataclass(frozen=True, eq=False)
class ItemVectors:
    """The vectors of one kind of item, in the order of the graph's items.

    Parameters
    ----------
    texts : the encoded text of each item; empty for an item without a vector.
    matrix : unit vectors, float16 [items, dimensions]; zeros for an item without a vector.
    """

    texts: tuple[str, ...]
    matrix: np.ndarray

    @property
    def count(self) -> int:
        """The number of items that have a vector."""
        return sum(map(bool, self.texts))


def item_vectors(
    vectors: IndexVectors, item_of_key: Mapping[Hashable, int], n_items: int
) -> ItemVectors | None:
    """Bring the vectors of an index into the order of a graph's items.

    An item with several vectors, such as entities of one name, gets none, as each vector covers
    only a part of it.

    Parameters
    ----------
    vectors : the vectors in the order of the index.
    item_of_key : number of the graph's item of each key.
    n_items : number of items in the graph.

    Returns
    -------
    The vectors; None if no item has one.
    """
    lengths = np.linalg.norm(vectors.matrix.astype(np.float64), axis=1)
    usable = np.isfinite(lengths) & (lengths > 1e-6)  # a zero vector has no direction
    item_positions: dict[int, list[int]] = {}
    for position, key in enumerate(vectors.keys):
        if key in item_of_key:
            item_positions.setdefault(item_of_key[key], []).append(position)
    single_positions = {
        item: positions[0]
        for item, positions in item_positions.items()
        if len(positions) == 1 and usable[positions[0]] and vectors.texts[positions[0]]
    }
    if not single_positions:
        return None
    texts = [""] * n_items
    matrix = np.zeros((n_items, vectors.matrix.shape[1]), np.float16)
    for item, position in single_positions.items():
        texts[item] = vectors.texts[position]
        matrix[item] = vectors.matrix[position] / lengths[position]
    return ItemVectors(tuple(texts), matrix)


def nano_vectors(
    file: FileSource, kind: str, key: Callable[[Row], Hashable], text_of: Callable[[Row], str]
) -> IndexVectors:
    """Read the vectors of a nano-vectordb file.

    It is a JSON object with rows under `data`, and their float32 numbers in base64 under `matrix`.

    Parameters
    ----------
    file : the file.
    kind : kind of the items.
    key : returns the key of a row.
    text_of : returns the text that was encoded for a row.

    Returns
    -------
    One vector for each row.

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


# The header of an hnswlib file as its saveIndex writes it. Its third to sixth numbers are: how many
# elements there are, the bytes of each, and the offsets in an element of its label and its vector.
HNSW_HEADER = struct.Struct("<6QiI3QdQ")


def hnsw_vectors(file: FileSource) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels and vectors of an hnswlib file.

    Labels are int64 [n], and vectors float32 [n, dimensions]. The links of its neighbour graph are
    ignored. Raises BadInput if the file has another format.
    """
    data = read_bytes(file)
    try:
        _, _, count, size, label_start, vector_start, *_ = HNSW_HEADER.unpack_from(data)
        dimension = (label_start - vector_start) // 4  # the vector lies directly before the label
        if not (
            0 <= vector_start < label_start <= size - 8
            and 0 < dimension <= MAX_DIMENSION
            and HNSW_HEADER.size + count * size <= len(data)
        ):
            raise ValueError
    except (struct.error, ValueError):
        raise BadInput(f"{file.name} is damaged or no file of hnswlib.") from None
    rows = np.frombuffer(data, np.uint8, count * size, HNSW_HEADER.size).reshape(count, size)
    labels = np.ascontiguousarray(rows[:, label_start : label_start + 8]).view("<i8").ravel()
    vectors = np.ascontiguousarray(rows[:, vector_start : vector_start + 4 * dimension]).view("<f4")
    return labels, vectors.reshape(count, dimension)


def parquet_vectors(
    file: FileSource, kind: str, names: tuple[str, str], item: Callable[[str], tuple[Hashable, str]]
) -> IndexVectors:
    """Read the vectors of a Parquet file.

    Parameters
    ----------
    file : the file.
    kind : the kind of item, as in `IndexVectors`.
    names : names of the column of ids and of the column with a list of numbers for each vector.
    item : returns, for an id, the key of the item and the text that was encoded.

    Returns
    -------
    One vector for each row that has numbers.

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
    """Run several readers of vectors and return their results.

    A damaged file only adds a note, as the rest of the index is usable without it.

    Parameters
    ----------
    readers : for each kind of item, words for it and a function that reads its vectors.
    notes : receives a sentence about each damaged file.

    Returns
    -------
    The vectors that could be read.
    """
    vectors = []
    for item_title, read in readers:
        try:
            vectors.append(read())
        except BadInput as error:
            notes.append(f"Vectors of {item_title} are computed again. {error}")
    return vectors


def one_line_value(row: Row, name: str) -> str:
    """Return a value of a row as one line of text.

    Parameters
    ----------
    row : the row.
    name : name of the field.

    Returns
    -------
    The text with single blanks; empty if the row has no such field.
    """
    return " ".join(text_value(row.get(name)).split())
