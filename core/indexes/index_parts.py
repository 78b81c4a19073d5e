"""Files of faiss indexes, and HNSW indexes in several parts for large vector sets.

The parts are built and searched one after the other, so a build holds only one in memory.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from core.indexes.index_storage import write_atomically
from core.io import digests

INDEX_FILE = "index.faiss"
HNSW_LINKS = 32  # M
HNSW_BUILD_EF = 80  # efConstruction
HNSW_SEARCH_EF = 512  # efSearch
# efSearch of one part, lower because each part holds few of the nearest vectors
HNSW_PART_SEARCH_EF = 128


@dataclass(frozen=True, eq=False)
class SplitIndex:
    """Several faiss indexes that are searched as one.

    The vectors of each part follow those of the part before. The class has the methods of a faiss
    index that this project uses.

    >>> import faiss, numpy as np
    >>> from core.indexes.index_parts import SplitIndex
    >>> two = SplitIndex((faiss.IndexFlatIP(2), faiss.IndexFlatIP(2)))
    >>> two.parts[0].add(np.eye(2, dtype=np.float32))
    >>> two.parts[1].add(np.array([[0.6, 0.8]], np.float32))
    >>> two.search(np.array([[0.0, 1.0]], np.float32), 2)[1].tolist(), two.ntotal
    ([[1, 2]], 3)
    """

    parts: tuple[Any, ...]

    @property
    def d(self) -> int:
        """Dimension of the vectors."""
        return self.parts[0].d

    @property
    def ntotal(self) -> int:
        """Number of vectors."""
        return sum(part.ntotal for part in self.parts)

    @property
    def starts(self) -> np.ndarray:
        """Position of the first vector of each part, int64.

        The number of vectors follows as the last entry.
        """
        return np.cumsum([0, *(part.ntotal for part in self.parts)])

    def search(
        self, queries: np.ndarray, k: int, mask: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the `k` vectors with the largest cosine for each query.

        Parameters
        ----------
        queries : query vectors, float32 [n, d].
        k : number of vectors for each query.
        mask : boolean mask of the positions that may be returned; None for all.

        Returns
        -------
        Cosines float32 and positions int64, each [n, min(k, ntotal)]. A missing vector has position
            -1 and cosine -inf.
        """
        cosines, positions = [], []
        for part, start in zip(self.parts, self.starts.tolist()):
            part_mask = None if mask is None else mask[start : start + part.ntotal]
            part_cosines, part_positions = part.search(
                queries, min(k, part.ntotal), params=restrict_search(part, part_mask)
            )
            cosines.append(np.where(part_positions < 0, -np.inf, part_cosines))
            positions.append(np.where(part_positions < 0, -1, part_positions + start))
        all_cosines = np.concatenate(cosines, axis=1)
        all_positions = np.concatenate(positions, axis=1)
        best = np.argsort(-all_cosines, axis=1, kind="stable")[:, :k]
        best_cosines = np.take_along_axis(all_cosines, best, axis=1)
        return best_cosines, np.take_along_axis(all_positions, best, axis=1)

    def reconstruct_batch(self, positions: np.ndarray) -> np.ndarray:
        """Return the vectors at some positions, float32 [n, d]."""
        starts = self.starts
        vectors = np.empty((len(positions), self.d), np.float32)
        part_numbers = np.searchsorted(starts, positions, "right") - 1
        for number in np.unique(part_numbers).tolist():
            part_rows = np.flatnonzero(part_numbers == number)
            vectors[part_rows] = self.parts[number].reconstruct_batch(
                np.ascontiguousarray(positions[part_rows] - starts[number], np.int64)
            )
        return vectors


def restrict_search(index: Any, mask: np.ndarray | None) -> Any:
    """Return the search parameters that restrict a faiss search to some positions.

    Parameters
    ----------
    index : a faiss index.
    mask : bool [vectors], the positions that may be found; None allows all.

    Returns
    -------
    None if all positions are allowed.
    """
    import faiss

    if mask is None:
        return None
    bits = faiss.IDSelectorBitmap(  # type: ignore[call-arg]
        np.packbits(mask, bitorder="little")  # type: ignore[arg-type]
    )
    if hasattr(index, "hnsw"):
        return faiss.SearchParametersHNSW(  # type: ignore[attr-defined]
            sel=bits, efSearch=index.hnsw.efSearch
        )
    return faiss.SearchParameters(sel=bits)  # type: ignore[call-arg]


def search_index(
    index: Any, queries: np.ndarray, k: int, mask: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Search a faiss index or `SplitIndex` for the nearest vectors.

    Parameters
    ----------
    index : the index.
    queries : float32 [queries, d].
    k : number of vectors for each query.
    mask : bool [vectors], the positions that may be found; None allows all.

    Returns
    -------
    Cosines and positions, each [queries, k]; the position is -1 if fewer are found.
    """
    if isinstance(index, SplitIndex):
        return index.search(queries, k, mask)
    return index.search(queries, k, params=restrict_search(index, mask))


def set_search_effort(index: Any) -> Any:
    """Set `efSearch` of an HNSW index or of all its parts, and return the index."""
    is_split = isinstance(index, SplitIndex)
    for part in index.parts if is_split else (index,):
        if hasattr(part, "hnsw"):
            part.hnsw.efSearch = HNSW_PART_SEARCH_EF if is_split else HNSW_SEARCH_EF
    return index


def index_files(folder: Path, n_parts: int) -> list[Path]:
    """Return the files of a saved index.

    Parameters
    ----------
    folder : folder of the index.
    n_parts : number of its parts; 0 for an index that is not split.

    Returns
    -------
    One file for each part, or a single one.
    """
    return [folder / f"index-{i:03}.faiss" for i in range(n_parts)] or [folder / INDEX_FILE]


def open_saved_index(folder: Path, n_parts: int) -> Any:
    """Open the index in a folder by memory map.

    Parameters
    ----------
    folder : folder of the index.
    n_parts : number of its parts; 0 for an index that is not split.

    Returns
    -------
    A faiss index or a `SplitIndex`.

    Raises
    ------
    ValueError, OSError, RuntimeError : the index is damaged.
    """
    parts_in_files = [map_index(file) for file in index_files(folder, n_parts)]
    return set_search_effort(SplitIndex(tuple(parts_in_files)) if n_parts else parts_in_files[0])


def map_index(file: Path) -> Any:
    """Open the faiss index in a file by memory map. Raises as `open_saved_index`."""
    import faiss

    digests.check_appended_digest(file)
    return faiss.read_index(str(file), faiss.IO_FLAG_MMAP_IFC)


def save_index(index: Any, file: Path) -> None:
    """Write a faiss index into a file.

    Parameters
    ----------
    index : the index.
    file : the file, which is replaced.

    Raises
    ------
    StoreError : the file cannot be written.
    """
    import faiss

    def write(stream: IO[bytes]) -> None:
        # The stubs of faiss lack PyCallbackIOWriter.
        writer = faiss.PyCallbackIOWriter(stream.write)  # type: ignore[attr-defined]
        faiss.write_index(index, writer)

    write_atomically(file, write)


def extend_saved_index(old_folder: Path, n_parts: int, folder: Path, vectors: np.ndarray) -> Any:
    """Return a saved index with new vectors added at its end.

    If the index has parts, the last one is extended and saved in `folder`. The other parts are
    linked there unchanged.

    Parameters
    ----------
    old_folder : folder of the saved index.
    n_parts : number of its parts; 0 for an index that is not split.
    folder : folder of the extended index.
    vectors : float32 [n, d], the new vectors.

    Returns
    -------
    A faiss index that is not saved, or a saved `SplitIndex`.

    Raises
    ------
    ValueError, OSError, RuntimeError : the index is damaged.
    StoreError : the extended part cannot be written.
    """
    import faiss

    *earlier_files, last = index_files(old_folder, n_parts)
    # Without the check of its digest (see `map_index`), which the caller has made.
    index = faiss.read_index(str(last))
    if len(vectors):
        index.add(vectors)
    if not n_parts:
        return index
    *unchanged_files, changed = index_files(folder, n_parts)
    for file, old_file in zip(unchanged_files, earlier_files):
        _link_file(old_file, file)
    save_index(index, changed)
    return open_saved_index(folder, n_parts)


def _link_file(source: Path, file: Path) -> None:
    """Link a file that never changes, or copy it on disks without hard links."""
    with suppress(FileNotFoundError):
        file.unlink()
    try:
        os.link(source, file)
    except OSError:
        shutil.copyfile(source, file)
