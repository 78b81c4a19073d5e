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
from core.models.number_checks import finite_number
from core.models.reading_order import UNIT_PLURALS
from core.prompts import load_prompts, make_messages, numbered_list, one_line
from core.types import Usage

RATING_PAIR = re.compile(r"(?<![\d.])(\d{1,6})\D+?(\d{1,3}(?:\.\d+)?)")  # a number and its score
MAX_RATING = 10  # the highest score, mapped to 1


@dataclass(frozen=True)
class Ratings:
    """Ratings of a language model, with usage and notes.

    `scores` maps rated positions to scores above 0 and at most 1, best first. It is None if nothing
    could be read.
    """

    scores: dict[int, float] | None
    usage: Usage = Usage()
    notes: tuple[str, ...] = ()


def rate_texts(chat: Chat, task: Task, start: str, texts: Sequence[str], k: int) -> Ratings:
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

    Returns
    -------
    Scores by position, with the cost and notes. The scores are None if the reply cannot be read.
    """
    shown_count, notes = len(texts), []
    room = chat.context - _longest(k)
    while (
        shown_count > 1 and chat.count_tokens(_messages(task, start, texts[:shown_count], k)) > room
    ):
        shown_count //= 2
    if shown_count < len(texts):
        notes.append(
            f"Only the first {shown_count} of {len(texts)} {UNIT_PLURALS[task.unit]} fit into the model's "
            "context and were rated."
        )
    prompt_messages, max_rated = _messages(task, start, texts[:shown_count], k), min(k, shown_count)
    reply = chat.reply(
        prompt_messages,
        schema=_schema(shown_count, max_rated),
        max_tokens=_longest(max_rated),
        seed=task.seed,
        watch=task.watch,
    )
    pairs = _pairs(reply.text)
    usage = Usage(1, reply.tokens_in, reply.tokens_out)
    if pairs is None:
        problem = f"The model's reply (“{shorten(reply.text)}”) holds no ratings of {UNIT_PLURALS[task.unit]}."
        return Ratings(
            None,
            usage,
            (
                *notes,
                " ".join(filter(None, (problem, "" if reply.text.strip() else reply.fault()))),
            ),
        )
    scores: dict[int, float] = {}
    for number, score in pairs:
        if 1 <= number <= shown_count and number - 1 not in scores:
            scores[number - 1] = min(max(score, 0.0), MAX_RATING) / MAX_RATING
    if len(scores) < len(pairs):
        notes.append(
            "Ratings of items that are not in the list, or were rated before, were dropped."
        )
    best = sorted(
        ((i, s) for i, s in scores.items() if s > 0), key=lambda pair: (-pair[1], pair[0])
    )[:k]
    return Ratings(dict(best), usage, tuple(notes))


def _longest(k: int) -> int:
    """Return the token limit for `k` ratings."""
    return 24 + 20 * k


def _messages(task: Task, start: str, texts: Sequence[str], k: int) -> Messages:
    what, help = UNIT_PLURALS[task.unit], load_prompts("choose")["choose"]["guide"][task.unit]
    values = dict(question=one_line(task.query), start=one_line(start), list=numbered_list(texts))
    return make_messages("relations", "rate", what=what, help=help, k=str(k), **values)


def _schema(n: int, k: int) -> dict[str, Any]:
    number = {"type": "integer", "minimum": 1, "maximum": n}
    score = {"type": "integer", "minimum": 0, "maximum": MAX_RATING}
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
    number_pairs = RATING_PAIR.findall(reply)
    return [(int(number), float(score)) for number, score in number_pairs] or None


def _rating(number: Any, score: Any) -> tuple[int, float]:
    """Return the number of an item and its score. Raises ValueError.

    Models write both as texts too.
    """
    item, value = (
        finite_number(float(one) if isinstance(one, str) else one) for one in (number, score)
    )
    if not item.is_integer():
        raise ValueError("it is no number of an item")
    return int(item), value
