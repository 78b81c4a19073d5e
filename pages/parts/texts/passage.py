"""Passages of documents as HTML, with all characters escaped and names marked.

A passage is a row of the table of chunks of a graph or corpus.
"""

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
    """Draw a passage in a frame, with its document, its position and marked names.

    Sentences without a name are paler, if others have one.
    """
    with st.container(border=True):
        st.html(f"{_heading(chunks, row)}<div>{mark_names(chunks.text('text', row), *names)}</div>")


def mark_names(text: str, *names: str) -> str:
    """Return the text as HTML, with the names marked.

    Sentences without a name are paler, if others have one. A text is cut after
    `MAX_PASSAGE_CHARACTERS`.

    >>> from pages.parts.texts.passage import mark_names
    >>> "<mark" in mark_names("One <b> two.", "<B>"), "&lt;b&gt;" in mark_names("One <b> two.", "<B>")
    (True, True)
    """
    shown_text = text[:MAX_PASSAGE_CHARACTERS]
    matches: list[tuple[int, int]] = []
    for name in filter(str.strip, names):
        matches += [match.span() for match in name_pattern(name).finditer(shown_text)]
    name_spans = _disjoint_spans(matches)
    spans = list(sentence_spans(shown_text)) if name_spans else [(0, len(shown_text))]
    parts = []
    offset = 0
    # The empty span at the end adds the text after the last sentence.
    for start, end in [*spans, (len(shown_text), len(shown_text))]:
        parts.append(html.escape(shown_text[offset:start]))
        clipped = [(max(a, start), min(b, end)) for a, b in name_spans if a < end and b > start]
        sentence = _marked_html(shown_text, start, end, clipped)
        if name_spans and not clipped:
            sentence = f'<span style="{FAINT_STYLE}">{sentence}</span>'
        parts.append(sentence)
        offset = end
    cut_note = ""
    if len(text) > MAX_PASSAGE_CHARACTERS:
        more = tr("{more:,} characters more", more=len(text) - MAX_PASSAGE_CHARACTERS)
        cut_note = f" … <i>{html.escape(more)}</i>"
    return re.sub(r"\n\s*\n", "<br><br>", "".join(parts)) + cut_note


def _disjoint_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans that overlap no earlier span.

    They are in the order of the text. Of several spans with the same start, the longest one is
    taken.
    """
    disjoint: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not disjoint or start >= disjoint[-1][1]:
            disjoint.append((start, end))
    return disjoint


def name_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern that finds a name.

    Case, and the white space between its words, do not matter. A name that begins or ends with an
    ASCII letter or digit is found only where a word begins or ends. Other names are found anywhere,
    as in scripts without spaces.
    """
    words = r"\s+".join(re.escape(word) for word in name.split())
    before = r"(?<!\w)" if name.strip()[:1].isascii() and name.strip()[:1].isalnum() else ""
    after = r"(?!\w)" if name.strip()[-1:].isascii() and name.strip()[-1:].isalnum() else ""
    return re.compile(f"{before}{words}{after}", re.IGNORECASE)


def _marked_html(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> str:
    """Return a part of the text as HTML with marked spans.

    The spans lie in this part.
    """
    parts, offset = [], start
    for span_start, span_end in spans:
        parts += [
            html.escape(text[offset:span_start]),
            f'<mark style="{MARK_STYLE}">{html.escape(text[span_start:span_end])}</mark>',
        ]
        offset = span_end
    return "".join(parts) + html.escape(text[offset:end])


def passage_position(chunks: Table, row: int) -> tuple[str, str]:
    """Return a passage's document title, and its position in words."""
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
