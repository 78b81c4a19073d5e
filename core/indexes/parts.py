"""Very many vectors in several graphs of neighbours, searched one after the other: each is made by itself, in the memory of one."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.indexes.place import keep
from core.io import digests

INDEX = "index.faiss"
LINKS, BUILDING, SEARCHING = 32, 80, 512  # of HNSW: M, efConstruction, efSearch
SEARCHING_PART = 128  # efSearch of one part, which holds few of the nearest


@dataclass(frozen=True, eq=False)
class Parts:
    """Several faiss indexes as one: the vectors of each lie behind those of the one before. Has what is asked of an index of faiss here.

    >>> import faiss, numpy as np
    >>> from core.indexes.parts import Parts
    >>> two = Parts((faiss.IndexFlatIP(2), faiss.IndexFlatIP(2)))
    >>> two.parts[0].add(np.eye(2, dtype=np.float32))
    >>> two.parts[1].add(np.array([[0.6, 0.8]], np.float32))
    >>> two.search(np.array([[0.0, 1.0]], np.float32), 2)[1].tolist(), two.ntotal
    ([[1, 2]], 3)
    """

    parts: tuple[Any, ...]

    @property
    def d(self) -> int:
        """The dimension of a vector."""
        return self.parts[0].d

    @property
    def ntotal(self) -> int:
        """How many vectors there are."""
        return sum(part.ntotal for part in self.parts)

    @property
    def starts(self) -> np.ndarray:
        """The place of the first vector of each part, and behind them how many there are, int64."""
        return np.cumsum([0, *(part.ntotal for part in self.parts)])

    def search(
        self, asked: np.ndarray, k: int, there: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The `k` of largest cosine with each of some vectors, as faiss gives them: (cosines float32, places int64), -1 where there are
        fewer; none that is not `there`, bool by place."""
        cosines, places = [], []
        for part, start in zip(self.parts, self.starts.tolist()):
            inside = None if there is None else there[start : start + part.ntotal]
            found, at = part.search(asked, min(k, part.ntotal), params=only(part, inside))
            cosines.append(np.where(at < 0, -np.inf, found))
            places.append(np.where(at < 0, -1, at + start))
        every, of = np.concatenate(cosines, axis=1), np.concatenate(places, axis=1)
        best = np.argsort(-every, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(every, best, axis=1), np.take_along_axis(of, best, axis=1)

    def reconstruct_batch(self, places: np.ndarray) -> np.ndarray:
        """float32 [n, d]: the vectors at some places."""
        found, starts = np.empty((len(places), self.d), np.float32), self.starts
        of = np.searchsorted(starts, places, "right") - 1
        for number in np.unique(of).tolist():
            here = np.flatnonzero(of == number)
            found[here] = self.parts[number].reconstruct_batch(
                np.ascontiguousarray(places[here] - starts[number], np.int64)
            )
        return found


def only(index: Any, there: np.ndarray | None) -> Any:
    """What a search of faiss is given so that it finds those places alone that are `there`, bool; None for all."""
    import faiss

    if there is None:
        return None
    bits = faiss.IDSelectorBitmap(np.packbits(there, bitorder="little"))  # type: ignore[call-arg, arg-type]
    if hasattr(index, "hnsw"):
        return faiss.SearchParametersHNSW(sel=bits, efSearch=index.hnsw.efSearch)  # type: ignore[attr-defined]
    return faiss.SearchParameters(sel=bits)  # type: ignore[call-arg]


def search(
    index: Any, asked: np.ndarray, k: int, there: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """The (cosines, places) of the `k` nearest in an index of faiss or in parts, of the places that are `there`."""
    if isinstance(index, Parts):
        return index.search(asked, k, there)
    return index.search(asked, k, params=only(index, there))


def tuned(index: Any) -> Any:
    """The index with how thoroughly it is searched."""
    for part in index.parts if isinstance(index, Parts) else (index,):
        if hasattr(part, "hnsw"):
            part.hnsw.efSearch = SEARCHING_PART if isinstance(index, Parts) else SEARCHING
    return index


def files(folder: Path, parts: int) -> list[Path]:
    """Where an index lies: the file of each part, or its one file where it has none."""
    return [folder / f"index-{number:03}.faiss" for number in range(parts)] or [folder / INDEX]


def read(folder: Path, parts: int) -> Any:
    """The index in a folder by memory map, with as many `parts`, 0 for one that is whole. Raises ValueError, OSError and RuntimeError where
    it is damaged."""
    found = [mapped(file) for file in files(folder, parts)]
    return tuned(Parts(tuple(found)) if parts else found[0])


def mapped(file: Path) -> Any:
    """The faiss index in a file by memory map. Raises as `read`."""
    import faiss

    digests.check_sealed(file)
    return faiss.read_index(str(file), faiss.IO_FLAG_MMAP_IFC)


def save(index: Any, file: Path) -> None:
    """Write a faiss index into a file. Raises StoreError."""
    import faiss

    writer = lambda stream: faiss.PyCallbackIOWriter(stream.write)  # type: ignore[attr-defined]  # not in its stubs
    keep(file, lambda stream: faiss.write_index(index, writer(stream)))


def added_to(before: Path, parts: int, folder: Path, fresh: np.ndarray) -> Any:
    """The index in the folder `before` with some vectors more, float32; of one in parts the last has them, saved in `folder` beside the
    others, which are the same files. Raises RuntimeError where it is damaged."""
    import faiss

    *others, last = files(before, parts)
    index = faiss.read_index(str(last))
    if len(fresh):
        index.add(fresh)
    if not parts:
        return index
    *same, changed = files(folder, parts)
    for file, known in zip(same, others):
        _same_file(known, file)
    save(index, changed)
    return read(folder, parts)


def _same_file(known: Path, file: Path) -> None:
    """Has a file that is never changed in a second place, as a link where the disk has links."""
    with suppress(FileNotFoundError):
        file.unlink()
    try:
        os.link(known, file)
    except OSError:
        shutil.copyfile(known, file)
