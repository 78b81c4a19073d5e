"""Passage as HTML in which every character is text, with its position and marked names."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

import streamlit as st

from core.corpus.sentences import sentences
from core.graph.columns import Table
from pages.parts.shared.wording import tr

MARK = (
    "background:color-mix(in srgb, #f2b705 38%, "
    "transparent);color:inherit;border-radius:3px;padding:0 .12em"
)
FAINT = "opacity:.78"
LONGEST = 6000  # most characters of a passage that are shown


def passage(chunks: Table, row: int, *names: str) -> None:
    """Draw a passage in a frame, with names marked.

    Its document and position come first. Sentences without a name are paler.
    """
    with st.container(border=True):
        st.html(f"{_head(chunks, row)}<div>{marked(chunks.text('text', row), *names)}</div>")


def marked(text: str, *names: str) -> str:
    """Return the text as HTML, with the names marked.

    Sentences without a name are paler, if others have one.

    >>> from pages.parts.texts.passage import marked
    >>> "<mark" in marked("One <b> two.", "<B>"), "&lt;b&gt;" in marked("One <b> two.", "<B>")
    (True, True)
    """
    cut = text[:LONGEST]
    found = _disjoint(
        match.span() for name in names if name.strip() for match in pattern(name).finditer(cut)
    )
    spans = list(sentences(cut)) if found else [(0, len(cut))]
    parts, at = [], 0
    for start, end in [*spans, (len(cut), len(cut))]:
        parts.append(html.escape(cut[at:start]))
        inside = [(max(a, start), min(b, end)) for a, b in found if a < end and b > start]
        shown = _with_marks(cut, start, end, inside)
        parts.append(shown if inside or not found else f'<span style="{FAINT}">{shown}</span>')
        at = end
    more = ""
    if len(text) > LONGEST:
        more = f" … <i>{html.escape(tr('{more:,} characters more', more=len(text) - LONGEST))}</i>"
    return re.sub(r"\n\s*\n", "<br><br>", "".join(parts)) + more


def _disjoint(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans without overlaps, in the order of the text.

    Earlier spans win; of those with the same start, the longest one.
    """
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def pattern(name: str) -> re.Pattern[str]:
    """Return a pattern that finds a name.

    Case, and the white space between its words, do not matter. A name that begins or ends with an
    ASCII letter or digit is found as a whole word there.
    """
    words = r"\s+".join(re.escape(word) for word in name.split())
    before = r"(?<!\w)" if name.strip()[:1].isascii() and name.strip()[:1].isalnum() else ""
    after = r"(?!\w)" if name.strip()[-1:].isascii() and name.strip()[-1:].isalnum() else ""
    return re.compile(f"{before}{words}{after}", re.IGNORECASE)


def _with_marks(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> str:
    parts, at = [], start
    for first, last in spans:
        parts += [
            html.escape(text[at:first]),
            f'<mark style="{MARK}">{html.escape(text[first:last])}</mark>',
        ]
        at = last
    return "".join(parts) + html.escape(text[at:end])


def where(chunks: Table, row: int) -> tuple[str, str]:
    """Return the title of a passage's document, and its position.

    The position is in words.
    """
    document, id = chunks.text("document", row), chunks.text("id", row)
    number = id.removeprefix(document).removeprefix("#")
    parts = [
        chunks.text("place", row),
        tr("chunk {number:,}", number=int(number) + 1) if number.isdecimal() else "",
    ]
    return chunks.text("title", row) or document, "  ·  ".join(filter(None, parts))


def _head(chunks: Table, row: int) -> str:
    title, place = where(chunks, row)
    rest = f' <span style="{FAINT}">{html.escape(place)}</span>' if place else ""
    return f'<div style="margin-bottom:.3em"><b>{html.escape(title)}</b>{rest}</div>'
