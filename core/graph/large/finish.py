"""A long build from its source to the finished store.

This module chooses the memory, reports progress, and decides if work is kept after a failure.
"""

from __future__ import annotations

import shutil
import traceback
from pathlib import Path as FilePath

import numpy as np

from core.errors import BadInput
from core.graph.large.journal import STORE
from core.graph.large.run import Build
from core.graph.large.sources import Numbers, TextSource
from core.graph.storage.digest import digest_of, stamp
from core.graph.storage.write import UNFINISHED, note_source, place, write_degrees
from core.graph.store import BLOB, VERSION, arrays_of
from core.io.durations import with_time_left
from core.types import Direction
from core.watch import NO_WATCH, Watch

# Divisor of the machine's memory, of which a build takes one part by default.
SHARE = 4
# Progress when all arrays are written; the rest is the digest.
BUILT = 0.95


def build_large(
    source: TextSource | Numbers,
    folder: FilePath,
    name: str,
    direction: Direction,
    watch: Watch = NO_WATCH,
) -> None:
    """Build the store of a source in `folder`, whose lock must be held.

    After a kill or a cancellation, the same call continues. After invalid input, or if the source
    says so, nothing is kept.
    """
    import psutil

    memory = source.memory or psutil.virtual_memory().total // SHARE
    unfinished = folder / UNFINISHED
    watch = with_time_left(watch)
    try:
        build = Build(source, unfinished, memory, watch.part(0.0, BUILT))
        relations = build.run()
        watch.report("Checking", BUILT)
        arrays = arrays_of(unfinished / STORE, lambda path: np.load(path, mmap_mode="r"))
        blob = unfinished / STORE / BLOB
        names = np.memmap(blob, np.uint8, "r") if blob.stat().st_size else np.empty(0, np.uint8)
        digest = digest_of(arrays, names, relations, direction)
        known = stamp(source.path) if isinstance(source, TextSource) else None
        if isinstance(source, TextSource) and build.journal.identity["source"] != source.identity():
            raise BadInput(f"{source.path.name} was changed while it was read; build again.")
    except BaseException as error:
        if isinstance(error, BadInput) or not source.keep:
            # Windows could not remove files that the frames hold open.
            traceback.clear_frames(error.__traceback__)
            shutil.rmtree(unfinished, ignore_errors=True)
        raise
    del arrays, names
    write_degrees(unfinished / STORE)
    note_source(unfinished / STORE, known)
    meta = {
        "version": VERSION,
        "name": name,
        "digest": digest,
        "direction": direction,
        "relations": relations,
    }
    watch.check()
    place(folder, unfinished / STORE, meta)
    shutil.rmtree(unfinished, ignore_errors=True)
