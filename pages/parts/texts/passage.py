"""A passage as HTML in which every character of the text is text: where it stands, and a name
marked in it."""

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
LONGEST = 6000  # characters of a passage that are shown


def passage(chunks: Table, row: int, *names: str) -> None:
    """A chunk in a frame: its document and place, and its text with the `names` marked and the
    other sentences paler."""
    with st.container(border=True):
        st.html(f"{_head(chunks, row)}<div>{marked(chunks.text('text', row), *names)}</div>")


def marked(text: str, *names: str) -> str:
    """The text as HTML, the `names` marked wherever they stand; sentences without any are paler
    where others have one.

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
    """The spans that overlap with none before them, of those that begin together the longest, in
    the order of the text."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def pattern(name: str) -> re.Pattern[str]:
    """Finds a name whatever its case and the blanks between its words; a name of ASCII letters as
    whole words."""
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
    """What a chunk's document is called, and where in it the chunk stands, in words."""
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
