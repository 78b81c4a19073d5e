"""A language model that rates the items of a numbered list.

Think-on-Graph prunes relations and entities in this way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import shorten
from core.models.base import Chat, Messages, Task
from core.models.chat.json_reply import json_reply
from core.models.numbers import finite_number
from core.models.reading import PLURAL
from core.prompts import messages, numbered, plain, prompts
from core.types import Usage

PAIR = re.compile(r"(?<![\d.])(\d{1,6})\D+?(\d{1,3}(?:\.\d+)?)")  # a number and its score
TOP = 10  # the highest score, mapped to 1


@dataclass(frozen=True)
class Rated:
    """Ratings of a language model, with usage and notes.

    `scores` maps rated positions to scores above 0 and at most 1, best first. It is None if nothing
    could be read.
    """

    scores: dict[int, float] | None
    usage: Usage = Usage()
    notes: tuple[str, ...] = ()


def rate(chat: Chat, task: Task, start: str, texts: Sequence[str], k: int) -> Rated:
    """Let a language model rate texts; at most `k` get a score, and the others count as 0.

    A reply without JSON is read as pairs of numbers, item and score. Numbers that are not in the
    list, and repeated ones, are dropped with a note. If the list does not fit into the context, its
    first half is shown, and so on.

    Parameters
    ----------
    chat : the language model.
    task : the question and the kind of texts.
    start : the entity from which the texts are reached.
    texts : the items to rate.
    k : most items with a score.
    """
    shown, notes = len(texts), []
    room = chat.context - _longest(k)
    while shown > 1 and chat.count_tokens(_messages(task, start, texts[:shown], k)) > room:
        shown //= 2
    if shown < len(texts):
        notes.append(
            f"Only the first {shown} of {len(texts)} {PLURAL[task.unit]} fit into the model's "
            "context and were rated."
        )
    asked, most = _messages(task, start, texts[:shown], k), min(k, shown)
    reply = chat.reply(
        asked,
        schema=_schema(shown, most),
        max_tokens=_longest(most),
        seed=task.seed,
        watch=task.watch,
    )
    pairs = _pairs(reply.text)
    usage = Usage(1, reply.tokens_in, reply.tokens_out)
    if pairs is None:
        said = (
            f"The model's reply (“{shorten(reply.text)}”) holds no ratings of {PLURAL[task.unit]}."
        )
        return Rated(
            None,
            usage,
            (*notes, " ".join(filter(None, (said, "" if reply.text.strip() else reply.fault())))),
        )
    scores: dict[int, float] = {}
    for number, score in pairs:
        if 1 <= number <= shown and number - 1 not in scores:
            scores[number - 1] = min(max(score, 0.0), TOP) / TOP
    if len(scores) < len(pairs):
        notes.append(
            "Ratings of items that are not in the list, or were rated before, were dropped."
        )
    best = sorted(
        ((i, s) for i, s in scores.items() if s > 0), key=lambda pair: (-pair[1], pair[0])
    )[:k]
    return Rated(dict(best), usage, tuple(notes))


def _longest(k: int) -> int:
    """Return the token limit for `k` ratings."""
    return 24 + 20 * k


def _messages(task: Task, start: str, texts: Sequence[str], k: int) -> Messages:
    what, help = PLURAL[task.unit], prompts("choose")["choose"]["guide"][task.unit]
    values = dict(question=plain(task.query), start=plain(start), list=numbered(texts))
    return messages("relations", "rate", what=what, help=help, k=str(k), **values)


def _schema(n: int, k: int) -> dict[str, Any]:
    number = {"type": "integer", "minimum": 1, "maximum": n}
    score = {"type": "integer", "minimum": 0, "maximum": TOP}
    rating = {
        "type": "object",
        "properties": {"number": number, "score": score},
        "required": ["number", "score"],
        "additionalProperties": False,
    }
    ratings = {"type": "array", "maxItems": k, "items": rating}
    return {
        "type": "object",
        "properties": {"ratings": ratings},
        "required": ["ratings"],
        "additionalProperties": False,
    }


def _pairs(reply: str) -> list[tuple[int, float]] | None:
    """Return the (number, score) pairs of a reply; None if there are none."""
    parsed = json_reply(reply, ("ratings",))
    if parsed is not None:
        try:
            return [_rating(one["number"], one["score"]) for one in parsed.value["ratings"]]
        except (ValueError, KeyError, TypeError, OverflowError):
            pass  # read as numbers below
    found = PAIR.findall(reply)
    return [(int(number), float(score)) for number, score in found] or None


def _rating(number: Any, score: Any) -> tuple[int, float]:
    """Return the number of an item and its score. Raises ValueError.

    Models write both as texts too.
    """
    place, value = (
        finite_number(float(one) if isinstance(one, str) else one) for one in (number, score)
    )
    if not place.is_integer():
        raise ValueError("it is no number of an item")
    return int(place), value
