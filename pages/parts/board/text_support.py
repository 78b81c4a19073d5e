"""Passages that most likely support the sentences of an answer, as data of the board."""

from __future__ import annotations

from typing import Any

from core.corpus.sentences import sentence_spans
from core.diagnosis.support import support_level
from core.engine import MethodLane
from core.graph.texts import chunk_text
from core.types import SupportingSentence
from pages.parts.board.keys import Key
from pages.parts.board.text_fates import chunk_rows_by_id
from pages.parts.board.text_hits import MAX_SENT_CHARACTERS, passage_data
from pages.parts.shared.wording import tr

# Data of a sentence of the answer: its `start` and `end` in the answer; the `key` of the passage
# that supports it, or None; the `place` of the supporting sentence in the passage (start and end);
# `sure` (words, alike, maybe or none) and `text`, an explanation.
Data = dict[str, Any]


def support_data(lane: MethodLane) -> list[Data] | None:
    """Return the passage that supports each sentence of the answer.

    It is None as long as that is not known. If no model answered, it is the passage of the excerpt
    that stands for the answer. Positions are counted in UTF-16 code units, as a browser does.
    """
    state = lane.state
    if state.answer is None:
        return _excerpt_support(lane)
    # The support is that of the state's answer, which is not shown while another one is written.
    if not lane.rests or (lane.answer or state.answer) != state.answer:
        return None
    return [_support_row(lane, state.answer, support) for support in lane.rests]


def _support_row(lane: MethodLane, answer: str, support: SupportingSentence) -> Data:
    """Return the data of one sentence of the answer.

    `support` tells on which sentence of a passage it rests.
    """
    sure = support_level(support)
    row = chunk_rows_by_id(lane.graph).get(support.chunk)
    if row is None:
        return _sentence_data(
            answer, support.start, support.end, "none", tr("Its source is not known.")
        )
    title = _quoted_title(lane, row)
    alike = tr("{percent:.0f} % similar", percent=100 * max(0.0, support.score))
    text = {
        "words": tr("Its words are in {title}.", title=title),
        "alike": tr("Most likely from {title}: {alike}.", title=title, alike=alike),
        "maybe": tr("Perhaps from {title}: only {alike}.", title=title, alike=alike),
        "none": tr(
            "From no passage that was read: the nearest, {title}, is {alike}.",
            title=title,
            alike=alike,
        ),
    }[sure]
    data = _sentence_data(answer, support.start, support.end, sure, text)
    return data if sure == "none" else data | _passage_data(lane, row, *support.place)


def _excerpt_support(lane: MethodLane) -> list[Data] | None:
    """Return the excerpt's sentence and its place in its passage."""
    excerpt = lane.state.excerpt
    if excerpt is None:
        return None
    text = chunk_text(lane.graph, excerpt.chunk)
    sentence_span = (0, 0)
    for start, end in sentence_spans(text):
        if " ".join(text[start:end].split()).startswith(excerpt.text):
            sentence_span = (start, end)
            break
    data = _sentence_data(
        excerpt.text,
        0,
        len(excerpt.text),
        "words",
        tr("Found word for word in {title}.", title=_quoted_title(lane, excerpt.chunk)),
    )
    return [data | _passage_data(lane, excerpt.chunk, *sentence_span)]


def _sentence_data(answer: str, start: int, end: int, sure: str, text: str) -> Data:
    return {
        "start": _count_utf16_units(answer[:start]),
        "end": _count_utf16_units(answer[:end]),
        "sure": sure,
        "text": text,
        "key": None,
        "place": None,
    }


def _passage_data(lane: MethodLane, row: int, start: int, end: int) -> Data:
    text = chunk_text(lane.graph, row)[:MAX_SENT_CHARACTERS]
    id = lane.graph.columns.chunks.text("id", row)
    return {
        "key": Key("chunk", id),
        "place": [_count_utf16_units(text[:start]), _count_utf16_units(text[:end])],
    }


def _quoted_title(lane: MethodLane, row: int) -> str:
    return f"“{passage_data(lane.graph, row, frozenset())['title']}”"


def _count_utf16_units(text: str) -> int:
    """Return the length of a text in UTF-16 code units.

    Characters beyond the first plane of Unicode count as two.
    """
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
