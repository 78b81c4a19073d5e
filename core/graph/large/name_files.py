"""Names in two files: their concatenated bytes in UTF-8, and the offsets of each name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath

import numpy as np

from core.graph.bytes.byte_order import sorted_pieces
from core.graph.large.journal import NPY_HEADER_BYTES, GrowingArray
from core.graph.readers.text_loops import copy_parts
from core.watch import NO_WATCH, Watch

# Number of names written at a time.
NAME_BATCH = 1 << 20


class NameFiles:
    """Two files of names, to which names are appended.

    If the files exist, the first `size` bytes of text and the first `count` ends are kept, and the
    rest is dropped. The first end is 0, so the ends are CSR offsets.
    """

    def __init__(self, text: FilePath, ends: FilePath, size: int = 0, count: int = 0):
        self.text = GrowingArray(text, np.uint8, size)
        self.ends = GrowingArray(ends, np.int64, count, NPY_HEADER_BYTES)
        if not count:
            self.ends.add(np.zeros(1, np.int64))

    def add(self, data: np.ndarray, sizes: np.ndarray) -> None:
        """Append names, given by their concatenated bytes and their sizes in bytes."""
        self.ends.add(self.text.length + np.cumsum(sizes))
        self.text.add(data)

    def sync(self) -> None:
        """Wait until the appended names are on the disk."""
        self.text.sync()
        self.ends.sync()

    def close(self) -> None:
        """Finish both files."""
        self.text.close()
        self.ends.close()


def read_names(text: FilePath, ends: FilePath) -> tuple[np.ndarray, np.ndarray]:
    """Open both files as memory maps, and return (bytes of all names, offsets)."""
    return np.memmap(text, np.uint8, "r"), np.load(ends, mmap_mode="r")


def write_in_order(
    data: np.ndarray, offsets: np.ndarray, out: NameFiles, memory: int, watch: Watch = NO_WATCH
) -> Iterator[np.ndarray]:
    """Append names to `out` in the order of their bytes.

    The positions of the names are yielded in that order. Equal names are ordered by position. The
    positions are yielded piece by piece, and a piece is written before it is yielded, so the caller
    must iterate to the end. The sort takes about `memory` bytes.
    """
    for progress, ids in sorted_pieces(data, offsets, memory, watch):
        watch.step(progress)
        for first in range(0, len(ids), NAME_BATCH):
            part = ids[first : first + NAME_BATCH]
            starts, sizes = offsets[part], offsets[part + 1] - offsets[part]
            text = np.empty(int(sizes.sum()), np.uint8)
            copy_parts(data, starts, sizes, text)
            out.add(text, sizes)
            yield part
