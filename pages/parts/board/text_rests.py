"""Passages on which the sentences of an answer most likely rest, as data of the board."""

from __future__ import annotations

from typing import Any

from core.corpus.sentences import sentences
from core.diagnosis.support import sureness
from core.engine import Lane
from core.graph.texts import chunk_text
from core.types import Rest
from pages.parts.board.keys import Key
from pages.parts.board.text_fates import rows_of
from pages.parts.board.text_hits import LONG, passage
from pages.parts.shared.wording import tr

# `start` and `end` of a sentence, `key` of its passage or None, `place` in it, `sure` (words,
# alike, maybe or none) and `text`, an explanation.
Data = dict[str, Any]


def rests_data(lane: Lane) -> list[Data] | None:
    """Return the passage on which each sentence of the answer rests.

    None if it is not known. If no model answered, it is the passage of the excerpt. Positions are
    counted in UTF-16 code units, as a browser does.
    """
    state = lane.state
    if state.answer is None:
        return _of_excerpt(lane)
    if not lane.rests or (lane.answer or state.answer) != state.answer:
        return None
    return [_rest(lane, state.answer, rest) for rest in lane.rests]


def _rest(lane: Lane, answer: str, rest: Rest) -> Data:
    sure, row = sureness(rest), rows_of(lane.graph).get(rest.chunk)
    if row is None:
        return _one(answer, rest.start, rest.end, "none", tr("What it rests on is not known."))
    title = _title(lane, row)
    alike = tr("{percent:.0f} % alike", percent=100 * max(0.0, rest.score))
    text = {
        "words": tr("Its words stand in {title}.", title=title),
        "alike": tr("Most likely rests on {title}: {alike}.", title=title, alike=alike),
        "maybe": tr("Perhaps rests on {title}: only {alike}.", title=title, alike=alike),
        "none": tr(
            "Rests on no passage that was read: the nearest, {title}, is {alike}.",
            title=title,
            alike=alike,
        ),
    }[sure]
    data = _one(answer, rest.start, rest.end, sure, text)
    return data if sure == "none" else data | _passage(lane, row, *rest.place)


def _of_excerpt(lane: Lane) -> list[Data] | None:
    """Return the passage of the excerpt, in which its sentence occurs word for word."""
    excerpt = lane.state.excerpt
    if excerpt is None:
        return None
    text = chunk_text(lane.graph, excerpt.chunk)
    flat = lambda span: " ".join(text[span[0] : span[1]].split())
    place = next((span for span in sentences(text) if flat(span).startswith(excerpt.text)), (0, 0))
    data = _one(
        excerpt.text,
        0,
        len(excerpt.text),
        "words",
        tr("Stands word for word in {title}.", title=_title(lane, excerpt.chunk)),
    )
    return [data | _passage(lane, excerpt.chunk, *place)]


def _one(said: str, start: int, end: int, sure: str, text: str) -> Data:
    return {
        "start": _units(said[:start]),
        "end": _units(said[:end]),
        "sure": sure,
        "text": text,
        "key": None,
        "place": None,
    }


def _passage(lane: Lane, row: int, start: int, end: int) -> Data:
    text = chunk_text(lane.graph, row)[:LONG]
    id = lane.graph.columns.chunks.text("id", row)
    return {"key": Key("chunk", id), "place": [_units(text[:start]), _units(text[:end])]}


def _title(lane: Lane, row: int) -> str:
    return f"“{passage(lane.graph, row, frozenset())['title']}”"


def _units(text: str) -> int:
    """Return the length of a text in UTF-16 code units.

    Characters beyond the first plane of Unicode count as two.
    """
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
