"""Cache folders of numba's compiled loops, one for each state of their sources.

By default numba looks only at the file that holds a loop. A loop that calls one of another file
would then run the old code of that file. A loop with arguments of a class that has moved could not
be loaded at all.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path

from core.errors import StoreError
from core.io.home import home_folder

GRAPH_PACKAGE = Path(__file__).parent
LOOP_FOLDER_PREFIX = "loops-"


def keep_loops_by_source(folder: Path = GRAPH_PACKAGE) -> None:
    """Make numba cache compiled loops by the state of their sources.

    The cache folder is named by a digest of the sources. The folder lies in the `__pycache__` of
    `folder`, or in the user's home folder of Hopscope if the installation is read-only. If neither
    can be written, each process compiles the loops in memory. Folders of earlier sources are
    removed. If NUMBA_CACHE_DIR is set, nothing is changed.
    """
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    cache_folder = _writable_folder(folder)
    if cache_folder is None:
        _compile_in_memory()
        return
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = str(cache_folder)
    os.environ["NUMBA_CACHE_DIR"] = str(cache_folder)


def _writable_folder(folder: Path) -> Path | None:
    """Return the first folder that can be written, created if needed, or None."""
    name = f"{LOOP_FOLDER_PREFIX}{_digest(folder)}"
    for parent in (lambda: folder / "__pycache__", lambda: home_folder() / "compiled"):
        try:
            cache_folder = parent() / name
            if not cache_folder.exists():
                for old_folder in cache_folder.parent.glob(f"{LOOP_FOLDER_PREFIX}*"):
                    shutil.rmtree(old_folder, ignore_errors=True)
                cache_folder.mkdir(parents=True, exist_ok=True)
        except (OSError, StoreError):
            continue
        if os.access(cache_folder, os.W_OK):
            return cache_folder
    return None


def _compile_in_memory() -> None:
    """Let `njit(cache=True)` compile without a cache.

    Without this, numba raises an error where it can write no cache.
    """
    from numba.core.dispatcher import Dispatcher

    # numba has no setting for it
    Dispatcher.enable_caching = lambda dispatcher: None  # type: ignore


def _digest(folder: Path) -> str:
    """Digest of the names and contents of all files that hold compiled loops."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        content = file.read_bytes()
        if b"njit" in content:
            digest.update(f"{file.relative_to(folder)}\n".encode() + content)
    return digest.hexdigest()[:16]
