"""Cache folder of numba's compiled functions, one for each version of their source code.

By default numba recompiles a function only if its own file has changed. If the function calls one
in another file and that file has changed, the cache would run old code. If the class of an argument
has moved to another module, the cached function could not be loaded at all.
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


def set_numba_cache_folder(folder: Path = GRAPH_PACKAGE) -> None:
    """Make numba cache compiled functions per version of the source code in `folder`.

    The cache folder is named by a digest of the source files. It is in the `__pycache__` of
    `folder`, or in the user's home folder of Hopscope if the installation is read-only. If neither
    can be written, each process compiles in memory. If NUMBA_CACHE_DIR is set, nothing is changed.
    """
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    cache_folder = _prepare_cache_folder(folder)
    if cache_folder is None:
        _compile_in_memory()
        return
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = str(cache_folder)
    os.environ["NUMBA_CACHE_DIR"] = str(cache_folder)


def _prepare_cache_folder(folder: Path) -> Path | None:
    """Return the first cache folder that can be written, or None.

    A missing folder is created. The cache folders of earlier source code next to it are then
    removed.
    """
    name = f"{LOOP_FOLDER_PREFIX}{_digest(folder)}"
    # Called inside the `try`, because `home_folder` may raise StoreError.
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

    Without this, numba raises an error if it cannot write a cache.
    """
    from numba.core.dispatcher import Dispatcher

    # numba has no setting that turns off its cache.
    Dispatcher.enable_caching = lambda dispatcher: None  # type: ignore


def _digest(folder: Path) -> str:
    """Digest of the names and contents of all files with compiled functions."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        content = file.read_bytes()
        if b"njit" in content:
            digest.update(f"{file.relative_to(folder)}\n".encode() + content)
    return digest.hexdigest()[:16]
