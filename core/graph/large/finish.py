"""Entry point of a long build, from its source to the finished store.

`build_large` chooses the memory, runs the phases, and installs the result as a store. After a
failure, it removes the unfinished files if the next build cannot use them.
"""

from __future__ import annotations

import shutil
import traceback
from pathlib import Path as FilePath

import numpy as np

from core.errors import BadInput
from core.graph.large.journal import STORE_FOLDER
from core.graph.large.large_build import LargeBuild
from core.graph.large.sources import NumberSource, TextSource
from core.graph.storage.digest import digest_of, file_stamp
from core.graph.storage.store_files import (
    UNFINISHED_FOLDER,
    install_store,
    write_degrees,
    write_source_state,
)
from core.graph.store import NAMES_FILE, STORE_VERSION, arrays_of
from core.io.durations import with_time_left
from core.types import Direction
from core.watch import NO_WATCH, Watch

# By default, a build may use this part of the machine's memory.
MEMORY_DIVISOR = 4
# Share of the progress at which all arrays are written; the rest is the digest.
BUILT_PROGRESS = 0.95


def build_large(
    source: TextSource | NumberSource,
    folder: FilePath,
    name: str,
    direction: Direction,
    watch: Watch = NO_WATCH,
) -> None:
    """Build the store of a source in `folder`.

    The caller must hold the lock of the folder. After a kill or a cancellation, the same call
    continues the build. After invalid input, or if `source.resumes_after_stop` is False, the
    unfinished files are removed.
    """
    import psutil

    memory = source.memory_bytes or psutil.virtual_memory().total // MEMORY_DIVISOR
    work_folder = folder / UNFINISHED_FOLDER
    watch = with_time_left(watch)
    try:
        build = LargeBuild(source, work_folder, memory, watch.part(0.0, BUILT_PROGRESS))
        relations = build.run()
        watch.report("Checking", BUILT_PROGRESS)
        arrays = arrays_of(work_folder / STORE_FOLDER, lambda path: np.load(path, mmap_mode="r"))
        blob = work_folder / STORE_FOLDER / NAMES_FILE
        names = np.memmap(blob, np.uint8, "r") if blob.stat().st_size else np.empty(0, np.uint8)
        digest = digest_of(arrays, names, relations, direction)
        source_stamp = file_stamp(source.path) if isinstance(source, TextSource) else None
        if isinstance(source, TextSource) and build.journal.identity["source"] != source.identity():
            raise BadInput(f"{source.path.name} was changed while it was read; build again.")
    except BaseException as error:
        if isinstance(error, BadInput) or not source.resumes_after_stop:
            # Windows could not remove files that the frames hold open.
            traceback.clear_frames(error.__traceback__)
            shutil.rmtree(work_folder, ignore_errors=True)
        raise
    del arrays, names
    write_degrees(work_folder / STORE_FOLDER)
    write_source_state(work_folder / STORE_FOLDER, source_stamp)
    meta = {
        "version": STORE_VERSION,
        "name": name,
        "digest": digest,
        "direction": direction,
        "relations": relations,
    }
    watch.check()
    install_store(folder, work_folder / STORE_FOLDER, meta)
    shutil.rmtree(work_folder, ignore_errors=True)
