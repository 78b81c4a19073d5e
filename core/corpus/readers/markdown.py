"""Reader of Markdown: the text unchanged, with headings as places."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.corpus.document import Document
from core.corpus.readers.options import DEFAULT_OPTIONS, Note, ReadingOptions
from core.corpus.readers.text import decode_file, file_stem
from core.io.encoding import ignore_note
from core.watch import NO_WATCH, Watch

INLINE_MARKS = re.compile(r"[*_`]+|!?\[([^\[\]]*)\]\([^()]*(?:\([^()]*\)[^()]*)?\)")
MAX_HEADING_CHARACTERS = 1_000  # a longer line is a paragraph
MAX_HEADING_MARKS = 6
MAX_HEADING_INDENT = 3  # blanks before the marks
LINES_PER_CHECK = 10_000  # lines between two calls of the watch
Heading = tuple[int, str, bool]  # offset, label, and True for a heading of rank 1


def read_markdown(
    name: str,
    data: bytes,
    watch: Watch = NO_WATCH,
    note: Note = ignore_note,
    options: ReadingOptions = DEFAULT_OPTIONS,
) -> list[Document]:
    """Read a Markdown file as one document.

    Its first heading of rank 1 is the title.

    Parameters
    ----------
    name : name of the file, for the document and for messages.
    data : the bytes of the file.
    watch : receives the share read; may raise RunCancelled.
    note : receives a sentence on a guessed encoding.
    options : options of reading; the encoding, if it is named.

    Returns
    -------
    One document.

    Raises
    ------
    BadInput : as `decode_file` raises.
    """
    text = decode_file(name, data, note, options)
    headings = list(_headings(text, watch))
    title = next((label for _, label, is_title in headings if is_title), file_stem(name))
    places = tuple((offset, label) for offset, label, _ in headings)
    return [Document(name, text, title, name, places)]


def _headings(text: str, watch: Watch = NO_WATCH) -> Iterator[Heading]:
    """Yield the headings of a text, outside code blocks and front matter."""
    fence = ""  # the mark of the open code block
    # the previous line if the next one may underline it as a heading, else empty; and its offset
    before, before_start = "", 0
    for number, (start, line) in enumerate(_lines(text, _after_front_matter(text))):
        if number % LINES_PER_CHECK == 0:
            watch.step(start / len(text))
        content = _without_indent(line)
        previous, before = before, ""
        if fence:
            if _closes(content, fence):
                fence = ""
        elif mark := _fence(content):
            fence = mark
        elif previous and _is_underline(content):
            yield from _heading(before_start, previous, content[0] == "=")
        elif marks := _marks(content):
            yield from _heading(start, _strip_closing(content[marks:]), marks == 1)
        elif _may_be_underlined(line):
            before, before_start = line, start


def _without_indent(line: str) -> str:
    """Return a line without the blanks before it.

    The line is empty if it has more blanks than a heading may have.
    """
    content = line.lstrip(" ")
    return content if len(line) - len(content) <= MAX_HEADING_INDENT else ""


def _closes(content: str, fence: str) -> bool:
    """Return whether a line closes the open block of code."""
    return content.startswith(fence) and not content.strip("`~ \t")


def _is_underline(content: str) -> bool:
    """Return whether a line consists only of “=” or “-”, as below a heading."""
    if not content.strip(" \t"):
        return False
    return content[0] in "=-" and not content.rstrip(" \t").strip(content[0])


def _may_be_underlined(line: str) -> bool:
    """Return whether a line is a heading if the next one underlines it."""
    is_text = line[:1].strip() and line.strip("=- \t")
    return bool(is_text) and len(line) <= MAX_HEADING_CHARACTERS


def _lines(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text from an offset on, with their offsets.

    Of a line that is too long for a heading, only the beginning is yielded.
    """
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, text[start : min(end, start + MAX_HEADING_CHARACTERS + 1)]
        start = end + 1


def _after_front_matter(text: str) -> int:
    """Return the offset after the front matter between two lines of dashes; else 0."""
    if text.startswith("---\n"):
        for start, line in _lines(text, 4):
            if line.rstrip(" \t") == "---":
                return start + len(line)
    return 0


def _fence(line: str) -> str:
    """Return the marks that open a block of code; empty if none does."""
    mark = line[:1] if line.startswith(("```", "~~~")) else ""
    return mark and line[: len(line) - len(line.lstrip(mark))]


def _marks(line: str) -> int:
    """Return the number of heading marks at a line's beginning.

    The number is 0 if the line is no heading.
    """
    marks = len(line) - len(line.lstrip("#"))
    if marks > MAX_HEADING_MARKS or len(line) > MAX_HEADING_CHARACTERS:
        return 0
    return marks if line[marks : marks + 1] in (" ", "\t") else 0


def _strip_closing(label: str) -> str:
    """Return a heading without its closing marks, which follow a blank."""
    label = label.strip(" \t")
    rest = label.rstrip("#")
    return rest.rstrip(" \t") if rest[-1:] in ("", " ", "\t") else label


def _heading(offset: int, label: str, is_title: bool) -> Iterator[Heading]:
    """Yield a heading without Markdown marks, unless nothing remains of it."""
    label = INLINE_MARKS.sub(r"\1", label).strip()
    if label:
        yield offset, label, is_title
