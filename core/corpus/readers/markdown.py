"""Markdown: its text unchanged, its headings as places."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.corpus.document import Document
from core.corpus.readers.options import USUAL, Note, Options, ignored
from core.corpus.readers.text import stem, text_of
from core.watch import NO_WATCH, Watch

MARKS = re.compile(r"[*_`]+|!?\[([^\[\]]*)\]\([^()]*(?:\([^()]*\)[^()]*)?\)")
LONGEST = 1_000  # characters of a heading; a longer line is a paragraph
DEEPEST, INDENT = 6, 3  # the most marks of a heading, and blanks before them
LOOK_EVERY = 10_000  # lines
Heading = tuple[int, str, bool]  # where it begins, its label, and whether it is of the first rank


def markdown(
    name: str, data: bytes, watch: Watch = NO_WATCH, note: Note = ignored, options: Options = USUAL
) -> list[Document]:
    """A Markdown file as one document; its title is the first heading of the first rank. `watch` receives the share read. Raises BadInput as
    `text_of` does."""
    text = text_of(name, data, note, options)
    found = list(_headings(text, watch))
    title = next((label for _, label, first in found if first), "")
    return [
        Document(
            name, text, title or stem(name), name, tuple((at, label) for at, label, _ in found)
        )
    ]


def _headings(text: str, watch: Watch = NO_WATCH) -> Iterator[Heading]:
    """The headings of a text outside of its code and of the notes before it, each looked for on its own line."""
    # the mark of the code that we are in; the line before, where a heading may be underlined, and its place
    fence, before, at = ("", "", 0)
    for number, (start, line) in enumerate(_lines(text, _after_front_matter(text))):
        if number % LOOK_EVERY == 0:
            watch.step(start / len(text))
        bare = line.lstrip(" ") if len(line) - len(line.lstrip(" ")) <= INDENT else ""
        if fence:
            fence = "" if bare.startswith(fence) and not bare.strip("`~ \t") else fence
            before = ""
        elif mark := _fence(bare):
            fence, before = mark, ""
        elif (
            before
            and bare.strip(" \t")
            and not bare.rstrip(" \t").strip(bare[0])
            and bare[0] in "=-"
        ):
            yield from _heading(at, before, bare[0] == "=")
            before = ""
        elif marks := _marks(bare):
            yield from _heading(start, _unclosed(bare[marks:]), marks == 1)
            before = ""
        else:
            before, at = (
                (line, start)
                if line[:1].strip() and line.strip("=- \t") and len(line) <= LONGEST
                else ("", 0)
            )


def _lines(text: str, start: int) -> Iterator[tuple[int, str]]:
    """The lines of a text with the places where they begin; of one that is too long for a heading its beginning."""
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, text[start : min(end, start + LONGEST + 1)]
        start = end + 1


def _after_front_matter(text: str) -> int:
    """Where the text begins behind lines about it that are set between two lines of three dashes."""
    if text.startswith("---\n"):
        for start, line in _lines(text, 4):
            if line.rstrip(" \t") == "---":
                return start + len(line)
    return 0


def _fence(line: str) -> str:
    """The marks that open a block of code; empty where none opens."""
    mark = line[:1] if line.startswith(("```", "~~~")) else ""
    return mark and line[: len(line) - len(line.lstrip(mark))]


def _marks(line: str) -> int:
    """How many marks of a heading a line begins with; 0 where it is none."""
    marks = len(line) - len(line.lstrip("#"))
    if marks <= DEEPEST and line[marks : marks + 1] in (" ", "\t") and len(line) <= LONGEST:
        return marks
    return 0


def _unclosed(label: str) -> str:
    """A heading without the marks that close it, which come after a blank."""
    label = label.strip(" \t")
    before = label.rstrip("#")
    return before.rstrip(" \t") if before[-1:] in ("", " ", "\t") else label


def _heading(at: int, label: str, first: bool) -> Iterator[Heading]:
    label = MARKS.sub(r"\1", label).strip()
    if label:
        yield at, label, first
