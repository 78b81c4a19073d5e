"""Names in two files, of any size: their bytes one behind the other, and where each ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath

import numpy as np

from core.graph.bytes.byte_order import in_order
from core.graph.large.journal import HEADER, Growing
from core.graph.readers.textkernels import gather
from core.watch import NO_WATCH, Watch

CHUNK = 1 << 20  # names written at a time


class NameFiles:
    """Names that are added at the end. `size` bytes of `count` names (the first end among them, 0) are there already."""

    def __init__(self, text: FilePath, ends: FilePath, size: int = 0, count: int = 0):
        self.text, self.ends = Growing(text, np.uint8, size), Growing(ends, np.int64, count, HEADER)
        if not count:
            self.ends.add(np.zeros(1, np.int64))

    def add(self, data: np.ndarray, sizes: np.ndarray) -> None:
        """Names at the end, by their bytes one behind the other and how many each has."""
        self.ends.add(self.text.length + np.cumsum(sizes))
        self.text.add(data)

    def sync(self) -> None:
        """Makes what was added durable."""
        self.text.sync()
        self.ends.sync()

    def close(self) -> None:
        """Finishes both files."""
        self.text.close()
        self.ends.close()


def read_names(text: FilePath, ends: FilePath) -> tuple[np.ndarray, np.ndarray]:
    """(bytes of all names, offsets) of two files, mapped."""
    return np.memmap(text, np.uint8, "r"), np.load(ends, mmap_mode="r")


def write_in_order(
    data: np.ndarray, offsets: np.ndarray, out: NameFiles, memory: int, watch: Watch = NO_WATCH
) -> Iterator[np.ndarray]:
    """Writes names in the order of their bytes, and by number where they are alike; piece by piece, their numbers in that order."""
    for share, ids in in_order(data, offsets, memory, watch):
        watch.step(share)
        for first in range(0, len(ids), CHUNK):
            part = ids[first : first + CHUNK]
            starts, sizes = offsets[part], offsets[part + 1] - offsets[part]
            text = np.empty(int(sizes.sum()), np.uint8)
            gather(data, starts, sizes, text)
            out.add(text, sizes)
            yield part
