"""Where numba keeps the compiled loops: a folder for each state of their sources.

Left to itself, numba looks at the file of a loop alone. A loop that calls one of another file would then run what that file held
before, and one whose arguments are of a class that has moved could not be loaded at all.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path

from core.errors import StoreError
from core.io.home import home

HERE = Path(__file__).parent
PREFIX = "loops-"


def keep_loops_by_source(folder: Path = HERE) -> None:
    """Have numba keep compiled loops in a folder named after their sources.

    The folder lies beside the sources; below the person's folder where the install cannot be
    written. Where neither can be, the loops are compiled in memory by each process. Folders of
    earlier sources are removed. A folder that a person named in NUMBA_CACHE_DIR is left alone.
    """
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    place = _writable_place(folder)
    if place is None:
        _compile_in_memory()
        return
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = str(place)
    os.environ["NUMBA_CACHE_DIR"] = str(place)


def _writable_place(folder: Path) -> Path | None:
    """Return the first folder that can be written, made if need be; None if there is none."""
    name = f"{PREFIX}{_digest(folder)}"
    for parent in (lambda: folder / "__pycache__", lambda: home() / "compiled"):
        try:
            place = parent() / name
            if not place.exists():
                for earlier in place.parent.glob(f"{PREFIX}*"):
                    shutil.rmtree(earlier, ignore_errors=True)
                place.mkdir(parents=True, exist_ok=True)
        except (OSError, StoreError):
            continue
        if os.access(place, os.W_OK):
            return place
    return None


def _compile_in_memory() -> None:
    """Let `njit(cache=True)` compile without a cache, which numba refuses where nothing can be written."""
    from numba.core.dispatcher import Dispatcher

    # numba has no setting for it
    Dispatcher.enable_caching = lambda dispatcher: None  # type: ignore


def _digest(folder: Path) -> str:
    """Of the names and contents of the files that hold compiled loops."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        content = file.read_bytes()
        if b"njit" in content:
            digest.update(f"{file.relative_to(folder)}\n".encode() + content)
    return digest.hexdigest()[:16]
