"""A language model as a chooser of candidates.

It picks them from a list in its prompt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import shorten
from core.models.base import Chat, ChatReply, Choice, Messages, Task
from core.models.chat.json_reply import json_lists, json_reply
from core.models.chat.token_estimates import LIST_ITEM_MARK
from core.models.reading_order import UNIT_PLURALS
from core.prompts import fill_template, load_prompts, make_messages, numbered_list, one_line
from core.types import Usage

SENTENCE_NUMBER = re.compile(r"(?<![\w.\-])\d{1,9}(?![\w]|\.\d)")  # a number in a sentence
DEFAULT_CHOOSING_PROMPT = "choose"  # a prompt that numbers the candidates
MAX_TEXT_REPLY_TOKENS = 512  # token limit of a reply that names texts
JSON_FRAME_TOKENS = 16  # token limit of a reply with numbers, without the numbers
JSON_NUMBER_TOKENS = 6  # token limit of each number in it: its digits, a comma and a space
MIN_SHOWN_TEXT_TOKENS = 2  # tokens that a text in the prompt has at least: a word and a line break
WHOLE_NUMBER_PATTERN = re.compile(r"-?\d{1,9}")


def choosing_messages(
    task: Task, texts: Sequence[str], k: int, name: str = DEFAULT_CHOOSING_PROMPT
) -> Messages:
    """Return the prompt that shows a list of candidates.

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
    The messages of the prompt.
    """
    prompts = load_prompts("choose")
    prompt = prompts[name]
    noun = UNIT_PLURALS.get(task.unit, "items")
    unit_fields = {"what": noun, "What": noun.capitalize(), "k": str(k)}
    guide_template = _text_for_unit(prompt.get("guide", {}), task.unit)
    task_fields = {
        **unit_fields,
        "guide": fill_template(guide_template, **unit_fields),
        "question": one_line(task.query),
        "entities": ", ".join(map(one_line, task.entities)),
    }
    if prompt["replies"] == "numbers":
        return make_messages("choose", name, **task_fields, list=numbered_list(texts))
    task_fields["list"] = "\n".join(map(one_line, texts))
    input_template = _text_for_unit(prompt.get("input", {}), task.unit)
    task_fields["input"] = fill_template(input_template, **task_fields)
    examples = prompts["examples"]
    example_fields = {**unit_fields, **examples.get(task.unit, examples["path"])}
    example_fields["input"] = fill_template(input_template, **example_fields)
    example = fill_template(prompt["example"], **example_fields)
    return make_messages("choose", name, **task_fields, example=example)


def _text_for_unit(texts: Mapping[str, str], unit: str) -> str:
    """Return the text for this kind of candidates.

    Without one, it is the text for all other kinds.
    """
    return texts.get(unit, texts.get("other", ""))


def reply_schema(n_candidates: int, max_picks: int) -> dict[str, Any]:
    """Return the JSON schema of a reply with numbers of candidates.

    Parameters
    ----------
    n_candidates : number of candidates; numbers go from 1 to it.
    max_picks : largest number of picks.

    Returns
    -------
    A schema with one array of whole numbers.
    """
    numbers = {
        "type": "array",
        "maxItems": max_picks,
        "items": {"type": "integer", "minimum": 1, "maximum": n_candidates},
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
    choices = _read_json_numbers(reply)
    if choices is not None:
        return choices, []
    numbers_by_text: dict[str, int] = {}
    for number, text in enumerate(texts, 1):
        numbers_by_text.setdefault(" ".join(text.split()), number)
    lines = [" ".join(LIST_ITEM_MARK.sub("", line).split()) for line in reply.splitlines()]
    line_numbers = [numbers_by_text[line] for line in lines if line in numbers_by_text]
    if line_numbers:
        note = "The reply was not JSON; its lines that match a candidate were used."
        return line_numbers, [note]
    numbers = [int(digits) for digits in SENTENCE_NUMBER.findall(reply)]
    if numbers:
        return numbers, ["The reply was not JSON; the numbers in it were used."]
    return None, []


def parse_texts(reply: str, texts: Sequence[str]) -> tuple[list[int] | None, list[str]]:
    """Return the numbers of the texts in a reply, and notes.

    A text is named by a line that equals it; a line may hold several texts separated by semicolons.
    The numbers are then in the order of the reply. If no line equals a text, the texts that occur
    anywhere in the reply are taken, in the order of the candidates. LEGO-GraphRAG's code reads
    every reply in this second way.

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
    ([1], ['No line of the reply matches a candidate; those that occur in it were used.'])
    """
    numbers_by_text: dict[str, int] = {}
    for number, text in enumerate(texts, 1):
        numbers_by_text.setdefault(one_line(text), number)
    pieces: list[str] = []
    for marked_line in reply.splitlines():
        line = one_line(LIST_ITEM_MARK.sub("", marked_line))
        pieces += [line] if line in numbers_by_text else map(one_line, line.split(";"))
    line_numbers = [numbers_by_text[piece] for piece in pieces if piece in numbers_by_text]
    if line_numbers:
        return line_numbers, []
    plain_reply = one_line(reply)
    hits = [number for text, number in numbers_by_text.items() if text and text in plain_reply]
    if hits:
        note = "No line of the reply matches a candidate; those that occur in it were used."
        return hits, [note]
    return None, []


def _read_json_numbers(reply: str) -> list[int] | None:
    """Return the numbers in the `choices` of a JSON object.

    Without them, these are the numbers of the first list of numbers.
    """
    match = json_reply(reply, ("choices",))
    for value in [match.value["choices"]] if match else json_lists(reply):
        if isinstance(value, list) and all(
            isinstance(number, int | str) and not isinstance(number, bool) for number in value
        ):
            digits = [str(number).strip() for number in value]
            if all(map(WHOLE_NUMBER_PATTERN.fullmatch, digits)):
                return [int(number) for number in digits]
    return None


def _unreadable_note(reply: ChatReply, max_picks: int) -> str:
    """Return the note on a reply that cannot be read."""
    excerpt = f"“{shorten(reply.text)}”"
    if not reply.text.strip():
        excerpt = reply.describe_fault().rstrip(".")
    return (
        f"The model's reply could not be read ({excerpt}), so the first {max_picks} in the given "
        "order were taken."
    )


def _check_picks(
    numbers: list[int], n_candidates: int, max_picks: int
) -> tuple[list[int], list[str]]:
    """Return a reply's usable numbers, and notes on the dropped ones.

    The numbers keep the order of the reply.
    """
    notes = []
    valid = [number for number in numbers if 1 <= number <= n_candidates]
    picks = list(dict.fromkeys(valid))
    numbers_text = f"of the model's {len(numbers)} numbers"
    if len(valid) < len(numbers):
        n_invalid = len(numbers) - len(valid)
        notes.append(f"{n_invalid} {numbers_text} are not in the list and were dropped.")
    if len(picks) < len(valid):
        n_repeated = len(valid) - len(picks)
        notes.append(f"{n_repeated} {numbers_text} were repeated and were dropped.")
    if len(picks) > max_picks:
        notes.append(f"The model named {len(picks)}, of which the first {max_picks} were taken.")
    return picks[:max_picks], notes


class LLMChooser:
    """A chooser that shows the candidates to a language model and reads its picks.

    The picks are in the model's order. A reply with an empty list picks nothing. If the reply
    cannot be read, the first `k` candidates are taken in the given order, with a note. Numbers that
    are out of range or repeated are dropped, with a note. If the list fills more than half of the
    model's context, only the longest prefix that fits is shown.

    Parameters
    ----------
    chat : the language model.
    prompt : name of the prompt. With one of the papers' prompts the model names texts instead of
        numbers, in up to 512 tokens as in LEGO-GraphRAG's code.

    Notes
    -----
    The code of LEGO-GraphRAG takes every candidate whose text occurs anywhere in the reply, in the
    order of the candidates.
    """

    def __init__(self, chat: Chat, prompt: str = DEFAULT_CHOOSING_PROMPT):
        self.chat = chat
        self.prompt = prompt

    def choose(self, task: Task, texts: Sequence[str], k: int) -> Choice:
        """Pick candidates, in the model's order.

        Parameters
        ----------
        task : the question, its entities and the kind of the candidates, which determine the
            prompt. Its seed and `watch` are passed to the model.
        texts : the candidates.
        k : largest number of texts; any number if k <= 0.

        Returns
        -------
        Positions of the picks in `texts`, without scores, with the cost and notes on the reply.

        Raises
        ------
        ModelUnavailable, ModelFailed : the language model raises them.
        """
        if not len(texts):
            return Choice(())
        max_picks = len(texts) if k <= 0 else min(k, len(texts))
        shown_count, notes = self._count_fitting_texts(task, texts, max_picks)
        max_picks = min(max_picks, shown_count)
        shown_texts = texts[:shown_count]
        by_number = load_prompts("choose")[self.prompt]["replies"] == "numbers"
        schema = None
        max_tokens = MAX_TEXT_REPLY_TOKENS
        if by_number:
            schema = reply_schema(shown_count, max_picks)
            max_tokens = JSON_FRAME_TOKENS + JSON_NUMBER_TOKENS * max_picks
        reply = self.chat.reply(
            choosing_messages(task, shown_texts, max_picks, self.prompt),
            schema=schema,
            max_tokens=max_tokens,
            seed=task.seed,
            watch=task.watch,
        )
        usage = Usage(calls=1, tokens_in=reply.tokens_in, tokens_out=reply.tokens_out)
        parse = parse_numbers if by_number else parse_texts
        numbers, parse_notes = parse(reply.text, shown_texts)
        notes += parse_notes
        if numbers is None:
            picks = list(range(1, max_picks + 1))
            notes.append(_unreadable_note(reply, max_picks))
        else:
            picks, pick_notes = _check_picks(numbers, shown_count, max_picks)
            notes += pick_notes
        positions = tuple(number - 1 for number in picks)
        return Choice(positions, usage=usage, notes=tuple(notes))

    def _count_fitting_texts(
        self, task: Task, texts: Sequence[str], k: int
    ) -> tuple[int, list[str]]:
        """Return how many texts fit half of the context, and notes.

        Texts are counted from the first on; the number is at least 1. A note says if some do not
        fit.
        """
        half = self.chat.context // 2

        def fits(count: int) -> bool:
            messages = choosing_messages(task, texts[:count], min(k, count), self.prompt)
            return self.chat.count_tokens(messages) <= half

        # The largest number that fits, by bisection.
        low = 1
        high = min(len(texts), max(1, half // MIN_SHOWN_TEXT_TOKENS))  # longer lists never fit
        if high == len(texts) and fits(high):
            return high, []
        while low < high:
            middle = (low + high + 1) // 2
            if fits(middle):
                low = middle
            else:
                high = middle - 1
        return low, [
            f"Only the first {low} of {len(texts)} candidates fit into half of the model's "
            "context and were shown."
        ]
