"""Saved comparisons that ship with Hopscope."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from core.cases.case import Case
from core.cases.file import CASES_EXTENSION, read_cases
from core.io.home import ROOT
from core.sources import AnswerSource, source_in

EXAMPLE_FOLDER = ROOT / "data" / "cases"
PICTURE_FOLDER = ROOT / "static" / "gallery"
# Without the lock, several first visitors would each read and check the files.
_reading_lock = threading.Lock()
DEMO_NAME = "demo"  # name and tag of the file with the introductory comparisons
FIRST_EXAMPLE_FILES = (
    DEMO_NAME,
    "documents",
)  # files listed before the others, which are for readers of a paper


def examples() -> tuple[tuple[Case, bytes], ...]:
    """Return each example with its packed comparison, introductory ones first.

    They are sorted by file and by their order in it. Their ids begin with `example-`.
    """
    files = sorted(
        EXAMPLE_FOLDER.glob(f"*{CASES_EXTENSION}"), key=lambda file: (_order(file), file.name)
    )
    return tuple(row for file in files for row in _read_unchanged(file))


def demo(source: AnswerSource | None = None) -> tuple[Case, ...]:
    """Return the introductory comparisons, best first; empty if no file has any.

    If the source is a corpus, they are the examples on that corpus. `whole` opens one by its id.
    """
    if source is not None and source.is_corpus:
        return tuple(case for case, _ in examples() if source_in(case.link) == source)
    file = EXAMPLE_FOLDER / f"{DEMO_NAME}{CASES_EXTENSION}"
    return tuple(case for case, _ in _read_unchanged(file)) if file.exists() else ()


def picture_file(case: Case, dark: bool = False) -> Path | None:
    """Return the image file of an example's board.

    There is one for a light and one for a dark page. None for a user's own case and for an example
    without an image.
    """
    file = PICTURE_FOLDER / f"{case.id}{'-dark' if dark else ''}.webp"
    return file if case.example and file.is_file() else None


def _order(file: Path) -> int:
    name = file.name.removesuffix(CASES_EXTENSION)
    return (
        FIRST_EXAMPLE_FILES.index(name) if name in FIRST_EXAMPLE_FILES else len(FIRST_EXAMPLE_FILES)
    )


def _read_unchanged(file: Path) -> tuple[tuple[Case, bytes], ...]:
    with _reading_lock:
        return _read_examples(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _read_examples(file: Path, stamp: int) -> tuple[tuple[Case, bytes], ...]:
    name = file.name.removesuffix(CASES_EXTENSION)
    return tuple(
        (replace(case, id=f"example-{name}-{number}", example=True), packed)
        for number, (case, packed) in enumerate(read_cases(file.read_bytes()), 1)
    )
