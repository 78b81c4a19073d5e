"""Names in two files: one of their concatenated bytes, one of the end of each name."""

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

    Of what the files already hold, the first `size` bytes of text and `count` ends remain. The
    first end is 0.
    """

    def __init__(self, text: FilePath, ends: FilePath, size: int = 0, count: int = 0):
        self.text = GrowingArray(text, np.uint8, size)
        self.ends = GrowingArray(ends, np.int64, count, NPY_HEADER_BYTES)
        if not count:
            self.ends.add(np.zeros(1, np.int64))

    def add(self, data: np.ndarray, sizes: np.ndarray) -> None:
        """Append names, given by their concatenated bytes and their sizes."""
        self.ends.add(self.text.length + np.cumsum(sizes))
        self.text.add(data)

    def sync(self) -> None:
        """Make the appended names durable."""
        self.text.sync()
        self.ends.sync()

    def close(self) -> None:
        """Finish both files."""
        self.text.close()
        self.ends.close()


def read_names(text: FilePath, ends: FilePath) -> tuple[np.ndarray, np.ndarray]:
    """Open both files as memory maps (bytes of all names, offsets)."""
    return np.memmap(text, np.uint8, "r"), np.load(ends, mmap_mode="r")


def write_in_order(
    data: np.ndarray, offsets: np.ndarray, out: NameFiles, memory: int, watch: Watch = NO_WATCH
) -> Iterator[np.ndarray]:
    """Write names in the order of their bytes; equal names are ordered by number.

    Yields their numbers in that order, piece by piece. The names are written while the caller
    iterates.
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
