"""Saved comparisons that ship with Hopscope, read from files of exported cases."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import lru_cache
from itertools import chain
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
# Files that are listed first. Each of the others is for the readers of a paper.
FIRST_EXAMPLE_FILES = (DEMO_NAME, "documents")


def examples() -> tuple[tuple[Case, bytes], ...]:
    """Return each example with its packed comparison, introductory ones first.

    They are in the order of the files, and then in that of a file. Their ids begin with `example-`.
    """
    files = sorted(EXAMPLE_FOLDER.glob(f"*{CASES_EXTENSION}"), key=_listing_key)
    return tuple(chain.from_iterable(map(_read_file, files)))


def find_example(key: str) -> tuple[Case, bytes] | None:
    """Return the example of that id with its packed comparison, reading its file alone.

    The result is None if there is none.
    """
    for file in EXAMPLE_FOLDER.glob(f"*{CASES_EXTENSION}"):
        if key.startswith(f"example-{file.name.removesuffix(CASES_EXTENSION)}-"):
            for case, packed in _read_file(file):
                if case.id == key:
                    return case, packed
    return None


def demo(source: AnswerSource | None = None) -> tuple[Case, ...]:
    """Return the introductory comparisons, best first, or the examples on a corpus.

    The examples on a corpus are returned if `source` is one. The result may be empty.
    """
    if source is not None and source.is_corpus:
        return tuple(case for case, _ in examples() if source_in(case.link) == source)
    file = EXAMPLE_FOLDER / f"{DEMO_NAME}{CASES_EXTENSION}"
    return tuple(case for case, _ in _read_file(file)) if file.exists() else ()


def picture_file(case: Case, dark: bool = False) -> Path | None:
    """Return the image file of an example's board.

    The image is for a light or a dark page. None for a user's own case and for an example without
    an image.
    """
    file = PICTURE_FOLDER / f"{case.id}{'-dark' if dark else ''}.webp"
    return file if case.example and file.is_file() else None


def _listing_key(file: Path) -> tuple[int, str]:
    """Return the sort key of a file among the examples."""
    name = file.name.removesuffix(CASES_EXTENSION)
    if name in FIRST_EXAMPLE_FILES:
        return FIRST_EXAMPLE_FILES.index(name), file.name
    return len(FIRST_EXAMPLE_FILES), file.name


def _read_file(file: Path) -> tuple[tuple[Case, bytes], ...]:
    """Return the examples of a file, which is read again only after a change."""
    with _reading_lock:
        return _read_examples(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _read_examples(file: Path, stamp: int) -> tuple[tuple[Case, bytes], ...]:
    name = file.name.removesuffix(CASES_EXTENSION)
    return tuple(
        (replace(case, id=f"example-{name}-{number}", example=True), packed)
        for number, (case, packed) in enumerate(read_cases(file.read_bytes()), 1)
    )
