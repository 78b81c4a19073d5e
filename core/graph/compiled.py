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

HERE = Path(__file__).parent
PREFIX = "loops-"


def keep_loops_by_source(folder: Path = HERE) -> None:
    """Have numba keep what it compiles in a folder named after the sources, and remove those of earlier sources; where nothing can be
    written, or a person has said where (NUMBA_CACHE_DIR), as it would."""
    if "NUMBA_CACHE_DIR" in os.environ or not os.access(folder, os.W_OK):
        return
    place = folder / "__pycache__" / f"{PREFIX}{_digest(folder)}"
    if not place.exists():
        for earlier in place.parent.glob(f"{PREFIX}*"):
            shutil.rmtree(earlier, ignore_errors=True)
        place.mkdir(parents=True, exist_ok=True)
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = str(place)
    os.environ["NUMBA_CACHE_DIR"] = str(place)


def _digest(folder: Path) -> str:
    """Of the names and contents of the files that hold compiled loops."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        content = file.read_bytes()
        if b"njit" in content:
            digest.update(f"{file.relative_to(folder)}\n".encode() + content)
    return digest.hexdigest()[:16]
