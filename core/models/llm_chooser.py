"""A language model as a chooser: it picks from a numbered list."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import shorten
from core.models.base import Chat, Choice, Messages, Task
from core.models.chat.json_reply import json_lists, json_reply
from core.models.chat.token_estimates import LIST_ITEM_MARK
from core.models.reading_order import UNIT_PLURALS
from core.prompts import fill_template, load_prompts, make_messages, numbered_list, one_line
from core.types import Usage

SENTENCE_NUMBER = re.compile(r"(?<![\w.\-])\d{1,9}(?![\w]|\.\d)")  # a number in a sentence
DEFAULT_CHOOSING_PROMPT = "choose"  # the default prompt, which numbers the candidates
MAX_TEXT_REPLY_TOKENS = 512  # token limit of a reply that names texts
WHOLE_NUMBER_PATTERN = re.compile(r"-?\d{1,9}")


def choosing_messages(
    task: Task, texts: Sequence[str], k: int, name: str = DEFAULT_CHOOSING_PROMPT
) -> Messages:
    """Return the messages that show a list of candidates.

    The prompts are in core/prompts/choose.toml. The default one numbers the texts from 1. Those of
    the papers have one text a line, after a solved example.

    Parameters
    ----------
    task : the question, its entities, and the kind of the candidates.
    texts : the candidates; all of them are shown.
    k : largest number of picks that is asked for.
    name : name of the prompt.

    Returns
    -------
    The prompt.
    """
    row, what = load_prompts("choose")[name], UNIT_PLURALS.get(task.unit, "items")
    words = {"what": what, "What": what.capitalize(), "k": str(k)}
    values = words | {"guide": fill_template(_of_unit(row.get("guide", {}), task.unit), **words)}
    values |= {
        "question": one_line(task.query),
        "entities": ", ".join(map(one_line, task.entities)),
    }
    if row["replies"] == "numbers":
        return make_messages("choose", name, **values, list=numbered_list(texts))
    values["list"] = "\n".join(map(one_line, texts))
    example = load_prompts("choose")["examples"].get(
        task.unit, load_prompts("choose")["examples"]["path"]
    )
    shape = _of_unit(row.get("input", {}), task.unit)
    shown_values = values | {"input": fill_template(shape, **values)}
    example_values = words | example | {"input": fill_template(shape, **words | example)}
    return make_messages(
        "choose", name, **shown_values, example=fill_template(row["example"], **example_values)
    )


def _of_unit(texts: Mapping[str, str], unit: str) -> str:
    """Return the text for this kind of candidates, else the one for all other kinds."""
    return texts.get(unit, texts.get("other", ""))


def reply_schema(n: int, k: int) -> dict[str, Any]:
    """Return the JSON schema of a reply with numbers of candidates.

    Parameters
    ----------
    n : number of candidates; numbers go from 1 to it.
    k : largest number of picks.

    Returns
    -------
    A schema with one array of whole numbers.
    """
    numbers = {
        "type": "array",
        "maxItems": k,
        "items": {"type": "integer", "minimum": 1, "maximum": n},
    }
    return {
        "type": "object",
        "properties": {"choices": numbers},
        "required": ["choices"],
        "additionalProperties": False,
    }


def parse_numbers(reply: str, texts: Sequence[str]) -> tuple[list[int] | None, list[str]]:
    """Return the numbers in a reply, and notes.

    The reply is read as JSON if it contains any, else as whole lines that equal a text, else as the
    numbers in it.

    Parameters
    ----------
    reply : the text of a language model.
    texts : the candidates that it was shown.

    Returns
    -------
    Numbers from 1, unchecked and in the order of the reply, and notes. The numbers are None if
        nothing can be read.
    """
    choices = _from_json(reply)
    if choices is not None:
        return choices, []
    numbers_by_text: dict[str, int] = {}
    for number, text in enumerate(texts, 1):
        numbers_by_text.setdefault(" ".join(text.split()), number)
    lines = [" ".join(LIST_ITEM_MARK.sub("", line).split()) for line in reply.splitlines()]
    line_numbers = [numbers_by_text[line] for line in lines if line in numbers_by_text]
    if line_numbers:
        return line_numbers, [
            "The reply was no JSON; the lines in it that equal a candidate were taken."
        ]
    numbers = [int(n) for n in SENTENCE_NUMBER.findall(reply)]
    if numbers:
        return (numbers, ["The reply was no JSON; the numbers in it were taken."])
    return (None, [])


def parse_texts(reply: str, texts: Sequence[str]) -> tuple[list[int] | None, list[str]]:
    """Return the numbers of the texts in a reply, and notes.

    Lines that equal a text count, in the order of the reply; a line may hold several texts
    separated by semicolons. If there are none, the texts that occur anywhere in the reply count, in
    their own order. LEGO-GraphRAG's code reads every reply in this second way.

    Parameters
    ----------
    reply : the text of a language model.
    texts : the candidates that it was shown.

    Returns
    -------
    Numbers from 1, and notes. The numbers are None if the reply names no text.

    Examples
    --------
    >>> from core.models.llm_chooser import parse_texts
    >>> parse_texts("A -> s -> C\\n- A -> r -> B", ["A -> r -> B", "A -> s -> C"])[0]
    [2, 1]
    >>> parse_texts("I would take A -> r -> B.", ["A -> r -> B", "A -> s -> C"])
    ([1], ['No line of the reply equals a candidate; those that occur in it were taken.'])
    """
    numbers_by_text: dict[str, int] = {}
    for number, text in enumerate(texts, 1):
        numbers_by_text.setdefault(one_line(text), number)
    lines = [one_line(LIST_ITEM_MARK.sub("", line)) for line in reply.splitlines()]
    pieces = [
        piece
        for line in lines
        for piece in ([line] if line in numbers_by_text else map(one_line, line.split(";")))
    ]
    if line_numbers := [numbers_by_text[piece] for piece in pieces if piece in numbers_by_text]:
        return line_numbers, []
    plain_reply = one_line(reply)
    hits = [number for text, number in numbers_by_text.items() if text and text in plain_reply]
    if hits:
        return (
            hits,
            ["No line of the reply equals a candidate; those that occur in it were taken."],
        )
    return (None, [])


def _from_json(reply: str) -> list[int] | None:
    """Return the numbers of the first JSON object with `choices`, or of the first JSON list of
    numbers.
    """
    match = json_reply(reply, ("choices",))
    for value in [match.value["choices"]] if match else json_lists(reply):
        if isinstance(value, list) and all(
            isinstance(n, int | str) and not isinstance(n, bool) for n in value
        ):
            digits = [str(n).strip() for n in value]
            if all(WHOLE_NUMBER_PATTERN.fullmatch(n) for n in digits):
                return [int(n) for n in digits]
    return None


class LLMChooser:
    """A chooser that shows the candidates to a language model and reads its picks.

    Positions are in the model's order. An empty list is a valid pick of nothing. If the reply
    cannot be read, the first `k` candidates are taken in the given order, with a note. Numbers that
    are out of range or repeated are dropped, with a note. If the list fills more than half of the
    model's context, its longest beginning that fits is shown. The papers' code instead keeps every
    candidate whose text occurs anywhere in the reply, in candidate order.

    Parameters
    ----------
    chat : the language model.
    prompt : name of the prompt. With one of the papers' prompts the model names texts instead of
        numbers, in up to 512 tokens as in LEGO-GraphRAG's code.
    """

    def __init__(self, chat: Chat, prompt: str = DEFAULT_CHOOSING_PROMPT):
        self.chat, self.prompt = chat, prompt

    def choose(self, task: Task, texts: Sequence[str], k: int) -> Choice:
        """Pick candidates, in the model's order.

        Parameters
        ----------
        task : the question, its entities, and the seed.
        texts : the candidates.
        k : largest number of texts; any number if k <= 0.

        Returns
        -------
        Positions without scores, with the cost and notes on the reply.

        Raises
        ------
        ModelUnavailable, ModelFailed : as the language model raises.
        """
        if not len(texts):
            return Choice(())
        max_picks = len(texts) if k <= 0 else min(k, len(texts))
        shown_count, notes = self._fitting(task, texts, max_picks)
        max_picks = min(max_picks, shown_count)
        shown_texts = texts[:shown_count]
        by_number = load_prompts("choose")[self.prompt]["replies"] == "numbers"
        options: dict[str, Any] = (
            {"schema": reply_schema(shown_count, max_picks), "max_tokens": 16 + 6 * max_picks}
            if by_number
            else {"max_tokens": MAX_TEXT_REPLY_TOKENS}
        )
        reply = self.chat.reply(
            choosing_messages(task, shown_texts, max_picks, self.prompt),
            **options,
            seed=task.seed,
            watch=task.watch,
        )
        usage = Usage(calls=1, tokens_in=reply.tokens_in, tokens_out=reply.tokens_out)
        numbers, parse_notes = (parse_numbers if by_number else parse_texts)(
            reply.text, shown_texts
        )
        notes += parse_notes
        if numbers is None:
            excerpt = (
                f"“{shorten(reply.text)}”" if reply.text.strip() else reply.fault().rstrip(".")
            )
            notes.append(
                f"The model's reply could not be read ({excerpt}), so the first {max_picks} in the given "
                "order were taken."
            )
            return Choice(tuple(range(max_picks)), usage=usage, notes=tuple(notes))
        valid = [n for n in numbers if 1 <= n <= shown_count]
        picks = list(dict.fromkeys(valid))
        if len(valid) < len(numbers):
            notes.append(
                f"{len(numbers) - len(valid)} of the model's {len(numbers)} numbers are not in "
                "the list and were dropped."
            )
        if len(picks) < len(valid):
            notes.append(
                f"{len(valid) - len(picks)} of the model's {len(numbers)} numbers were repeated "
                "and were dropped."
            )
        if len(picks) > max_picks:
            notes.append(
                f"The model named {len(picks)}, of which the first {max_picks} were taken."
            )
        return Choice(tuple(n - 1 for n in picks[:max_picks]), usage=usage, notes=tuple(notes))

    def _fitting(self, task: Task, texts: Sequence[str], k: int) -> tuple[int, list[str]]:
        """Return how many of the first texts fit half of the context (at least 1), and notes.

        A note says if some do not fit.
        """
        half = self.chat.context // 2

        def fits(n: int) -> bool:
            return (
                self.chat.count_tokens(choosing_messages(task, texts[:n], min(k, n), self.prompt))
                <= half
            )

        # A text costs at least 3 tokens (number, word, line break). Longer lists than that allows
        # need not be counted.
        low, high = 1, min(len(texts), max(1, half // 3))
        if high == len(texts) and fits(high):
            return high, []
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if fits(middle) else (low, middle - 1)
        return low, [
            f"Only the first {low} of {len(texts)} candidates fit into half of the model's "
            "context and were shown."
        ]
