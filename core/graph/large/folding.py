"""Folded names of a large graph, sorted and stored on disk.

A folded name is in lower case with plain typography (`core.languages.spelling.fold`). Nodes are
looked up by folded name, by its prefix, and by similar spelling.
"""

from __future__ import annotations

from pathlib import Path as FilePath

import numba
import numpy as np

from core.graph.large.journal import NPY_HEADER_BYTES, GrowingArray
from core.graph.large.name_files import NAME_BATCH, NameFiles, read_names, write_in_order
from core.languages.spelling import fold
from core.watch import NO_WATCH, Watch

# File names, with the version of the folded form: bytes of the names, end of each name, and its
# node. If `fold` changes, the version must change, so that the files are written again.
FOLDED, FOLDED_ENDS, FOLDED_NODES = "folded-2.bin", "folded-2-ends.npy", "folded-2-nodes.npy"

BACKTICK, APOSTROPHE = ord("`"), ord("'")


def write_folded(
    data: np.ndarray, offsets: np.ndarray, folder: FilePath, memory: int, watch: Watch = NO_WATCH
) -> None:
    """Fold the names of all nodes, sort them, and write them into a folder.

    The name of node v is `data[offsets[v]:offsets[v + 1]]` in UTF-8. The result is in the files
    `FOLDED`, `FOLDED_ENDS` and `FOLDED_NODES`. Equal names are ordered by node. The sort takes
    about `memory` bytes.
    """
    count = len(offsets) - 1
    unordered = (folder / "loose.bin", folder / "loose_offsets.npy")
    unordered_names = NameFiles(*unordered)
    for first in range(0, count, NAME_BATCH):
        watch.check()
        watch.step(0.3 * first / count)
        unordered_names.add(*_fold_names(data, np.asarray(offsets[first : first + NAME_BATCH + 1])))
    unordered_names.close()
    ordered = NameFiles(folder / FOLDED, folder / FOLDED_ENDS)
    nodes = GrowingArray(folder / FOLDED_NODES, np.int32, 0, NPY_HEADER_BYTES)
    for part in write_in_order(*read_names(*unordered), ordered, memory, watch.part(0.3, 1.0)):
        nodes.add(part)
    ordered.close()
    nodes.close()
    for path in unordered:
        path.unlink()


def _fold_names(data: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the folded names of a range of nodes: their bytes, concatenated, and their sizes."""
    text = np.array(data[offsets[0] : offsets[-1]])
    bounds = offsets - offsets[0]
    non_ascii, sizes = _lower_ascii(text, bounds), np.diff(bounds)
    if not len(non_ascii):
        return text, sizes
    cuts, raw = bounds.tolist(), text.tobytes()
    parts, start = [], 0
    for name in non_ascii.tolist():
        parts.append(raw[start : cuts[name]])
        folded = fold(raw[cuts[name] : cuts[name + 1]].decode("utf-8")).encode("utf-8")
        parts.append(folded)
        sizes[name], start = len(folded), cuts[name + 1]
    parts.append(raw[start:])
    return np.frombuffer(b"".join(parts), np.uint8), sizes


@numba.njit(cache=True)
def _lower_ascii(text, bounds):
    """Fold the names in ASCII in place.

    The positions of the other names are returned.
    """
    non_ascii, count = np.empty(len(bounds) - 1, np.int64), 0
    for name in range(len(bounds) - 1):
        is_ascii = True
        for i in range(bounds[name], bounds[name + 1]):
            is_ascii &= text[i] < 128
        if not is_ascii:
            non_ascii[count] = name
            count += 1
            continue
        for i in range(bounds[name], bounds[name + 1]):
            if 65 <= text[i] <= 90:
                text[i] += 32
            elif text[i] == BACKTICK:
                text[i] = APOSTROPHE
    return non_ascii[:count]
