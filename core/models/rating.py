"""A language model that rates the items of a numbered list.

Think-on-Graph prunes in this way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
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

    `scores` maps positions of items to scores above 0 and at most 1, best first. It is None if the
    reply could not be read.
    """

    scores: dict[int, float] | None
    usage: Usage = Usage()
    notes: tuple[str, ...] = ()


def rate_texts(chat: Chat, task: Task, start: str, texts: Sequence[str], k: int) -> Ratings:
    """Rate texts by a language model.

    At most `k` get a score, and the others count as 0. A reply without JSON is read as pairs of
    numbers, item and score. Numbers that are not in the list, and repeated numbers, are dropped
    with a note. A list that does not fit into the model's context is halved until it fits, with a
    note.

    Parameters
    ----------
    chat : the language model.
    task : the question and the kind of texts.
    start : the entity from which the texts are reached.
    texts : the items to rate.
    k : largest number of items with a score.

    Returns
    -------
    Scores by position, with the cost and notes. The scores are None if the reply cannot be read.
    """
    units = UNIT_PLURALS[task.unit]
    max_prompt_tokens = chat.context - _max_reply_tokens(k)
    shown_count = len(texts)
    messages = _rating_messages(task, start, texts, k)
    while shown_count > 1 and chat.count_tokens(messages) > max_prompt_tokens:
        shown_count //= 2
        messages = _rating_messages(task, start, texts[:shown_count], k)
    notes = []
    if shown_count < len(texts):
        notes.append(
            f"Only the first {shown_count} of {len(texts)} {units} fit into the model's "
            "context and were rated."
        )
    max_rated = min(k, shown_count)
    reply = chat.reply(
        messages,
        schema=_rating_schema(shown_count, max_rated),
        max_tokens=_max_reply_tokens(max_rated),
        seed=task.seed,
        watch=task.watch,
    )
    pairs = _read_pairs(reply.text)
    usage = Usage(1, reply.tokens_in, reply.tokens_out)
    if pairs is None:
        problem = f"The model's reply (“{shorten(reply.text)}”) holds no ratings of {units}."
        if not reply.text.strip() and reply.describe_fault():
            problem = f"{problem} {reply.describe_fault()}"
        return Ratings(None, usage, (*notes, problem))
    scores: dict[int, float] = {}
    for number, score in pairs:
        if 1 <= number <= shown_count and number - 1 not in scores:
            scores[number - 1] = min(max(score, 0.0), MAX_RATING) / MAX_RATING
    if len(scores) < len(pairs):
        notes.append(
            "Ratings of items that are not in the list, or were rated before, were dropped."
        )
    rated = [(position, score) for position, score in scores.items() if score > 0]
    rated.sort(key=lambda pair: (-pair[1], pair[0]))
    return Ratings(dict(rated[:k]), usage, tuple(notes))


def _max_reply_tokens(k: int) -> int:
    """Return the token limit of a reply with `k` ratings.

    A rating as JSON has some 20 tokens, and the frame around the ratings some 24.
    """
    return 24 + 20 * k


def _rating_messages(task: Task, start: str, texts: Sequence[str], k: int) -> Messages:
    return make_messages(
        "relations",
        "rate",
        what=UNIT_PLURALS[task.unit],
        help=load_prompts("choose")["choose"]["guide"][task.unit],
        k=str(k),
        question=one_line(task.query),
        start=one_line(start),
        list=numbered_list(texts),
    )


def _rating_schema(n: int, k: int) -> dict[str, Any]:
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


def _read_pairs(reply: str) -> list[tuple[int, float]] | None:
    """Return the (number, score) pairs of a reply; None if there are none."""
    parsed = json_reply(reply, ("ratings",))
    if parsed is not None:
        with suppress(ValueError, KeyError, TypeError, OverflowError):
            return [_read_pair(row["number"], row["score"]) for row in parsed.value["ratings"]]
    number_pairs = RATING_PAIR.findall(reply)
    return [(int(number), float(score)) for number, score in number_pairs] or None


def _read_pair(number: Any, score: Any) -> tuple[int, float]:
    """Return the number of an item and its score. Raises ValueError."""
    item = _read_number(number)
    if not item.is_integer():
        raise ValueError("it is no number of an item")
    return int(item), _read_number(score)


def _read_number(value: Any) -> float:
    """Return a finite number, which models may write as a text too. Raises ValueError."""
    return finite_number(float(value) if isinstance(value, str) else value)
