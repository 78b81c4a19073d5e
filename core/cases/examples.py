"""The cases that ship with Hopscope."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from core.cases.case import Case
from core.cases.file import EXTENSION, read
from core.io.home import ROOT
from core.sources import Source, source_in

FOLDER = ROOT / "data" / "cases"
PICTURES = ROOT / "static" / "gallery"
_reading = threading.Lock()  # so that of the first visitors one reads
DEMO = "demo"  # the file of the comparisons to begin with, and their tag
FIRST = (DEMO, "documents")  # files, before those for readers of a paper


def examples() -> tuple[tuple[Case, bytes], ...]:
    """Each example with its packed comparison, those to begin with first, by file and place in it; ids begin with `example-`."""
    files = sorted(FOLDER.glob(f"*{EXTENSION}"), key=lambda file: (_order(file), file.name))
    return tuple(found for file in files for found in _known(file))


def demo(source: Source | None = None) -> tuple[Case, ...]:
    """The comparisons to begin with, the best first: those on a corpus where one is given; empty where no file has any.

    `whole(case.id)` opens one.
    """
    if source is not None and source.is_corpus:
        return tuple(case for case, _ in examples() if source_in(case.link) == source)
    file = FOLDER / f"{DEMO}{EXTENSION}"
    return tuple(case for case, _ in _known(file)) if file.exists() else ()


def picture(case: Case, dark: bool = False) -> Path | None:
    """The file with a picture of an example's board, for a light or a dark page; None for a person's own case, and where none ships."""
    file = PICTURES / f"{case.id}{'-dark' if dark else ''}.webp"
    return file if case.example and file.is_file() else None


def _order(file: Path) -> int:
    name = file.name.removesuffix(EXTENSION)
    return FIRST.index(name) if name in FIRST else len(FIRST)


def _known(file: Path) -> tuple[tuple[Case, bytes], ...]:
    with _reading:
        return _of(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _of(file: Path, stamp: int) -> tuple[tuple[Case, bytes], ...]:
    name = file.name.removesuffix(EXTENSION)
    return tuple(
        (replace(case, id=f"example-{name}-{number}", example=True), packed)
        for number, (case, packed) in enumerate(read(file.read_bytes()), 1)
    )
