"""Passage as HTML in which every character is text, with its position and marked names."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

import streamlit as st

from core.corpus.sentences import sentence_spans
from core.graph.columns import Table
from pages.parts.shared.wording import tr

MARK_STYLE = (
    "background:color-mix(in srgb, #f2b705 38%, "
    "transparent);color:inherit;border-radius:3px;padding:0 .12em"
)
FAINT_STYLE = "opacity:.78"
MAX_PASSAGE_CHARACTERS = 6000  # most characters of a passage that are shown


def draw_passage(chunks: Table, row: int, *names: str) -> None:
    """Draw a passage in a frame, with names marked.

    Its document and position come first. Sentences without a name are paler.
    """
    with st.container(border=True):
        st.html(f"{_heading(chunks, row)}<div>{mark_names(chunks.text('text', row), *names)}</div>")


def mark_names(text: str, *names: str) -> str:
    """Return the text as HTML, with the names marked.

    Sentences without a name are paler, if others have one.

    >>> from pages.parts.texts.passage import mark_names
    >>> "<mark" in mark_names("One <b> two.", "<B>"), "&lt;b&gt;" in mark_names("One <b> two.", "<B>")
    (True, True)
    """
    cut = text[:MAX_PASSAGE_CHARACTERS]
    name_spans = _disjoint_spans(
        match.span() for name in names if name.strip() for match in pattern(name).finditer(cut)
    )
    spans = list(sentence_spans(cut)) if name_spans else [(0, len(cut))]
    parts, offset = [], 0
    for start, end in [*spans, (len(cut), len(cut))]:
        parts.append(html.escape(cut[offset:start]))
        inside = [(max(a, start), min(b, end)) for a, b in name_spans if a < end and b > start]
        piece = _marked_html(cut, start, end, inside)
        parts.append(
            piece if inside or not name_spans else f'<span style="{FAINT_STYLE}">{piece}</span>'
        )
        offset = end
    cut_note = ""
    if len(text) > MAX_PASSAGE_CHARACTERS:
        cut_note = f" … <i>{html.escape(tr('{more:,} characters more', more=len(text) - MAX_PASSAGE_CHARACTERS))}</i>"
    return re.sub(r"\n\s*\n", "<br><br>", "".join(parts)) + cut_note


def _disjoint_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans without overlaps, in the order of the text.

    Earlier spans win; of those with the same start, the longest one.
    """
    retained_spans: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not retained_spans or start >= retained_spans[-1][1]:
            retained_spans.append((start, end))
    return retained_spans


def pattern(name: str) -> re.Pattern[str]:
    """Return a pattern that finds a name.

    Case, and the white space between its words, do not matter. A name that begins or ends with an
    ASCII letter or digit is found as a whole word there.
    """
    words = r"\s+".join(re.escape(word) for word in name.split())
    before = r"(?<!\w)" if name.strip()[:1].isascii() and name.strip()[:1].isalnum() else ""
    after = r"(?!\w)" if name.strip()[-1:].isascii() and name.strip()[-1:].isalnum() else ""
    return re.compile(f"{before}{words}{after}", re.IGNORECASE)


def _marked_html(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> str:
    parts, offset = [], start
    for span_start, span_end in spans:
        parts += [
            html.escape(text[offset:span_start]),
            f'<mark style="{MARK_STYLE}">{html.escape(text[span_start:span_end])}</mark>',
        ]
        offset = span_end
    return "".join(parts) + html.escape(text[offset:end])


def passage_position(chunks: Table, row: int) -> tuple[str, str]:
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


def _heading(chunks: Table, row: int) -> str:
    title, position = passage_position(chunks, row)
    suffix = f' <span style="{FAINT_STYLE}">{html.escape(position)}</span>' if position else ""
    return f'<div style="margin-bottom:.3em"><b>{html.escape(title)}</b>{suffix}</div>'
