"""The known answers in a row of a question set, each with one or several names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from core.questions.values import listed

SHORT, PAIRS = "short_answers", "qa_pairs"
ALIASES = ("answer_aliases", "alt_ans")  # other names of a single answer (MuSiQue, CRAG)
# Usual keys of an answer besides `answer`. The last ones belong to evaluation tools.
ONE = (
    "gold_answer",
    "ground_truth",
    "reference_answer",
    "expected_answer",
    "reference",
    "expected_output",
    "expected_response",
    "expected",
    "ideal",
)
ANY = ("possible_answers", "golden_answers")  # lists of names of one answer (PopQA, FlashRAG)
# Keys of the first name of an answer that is an object.
NAMES = ("value", "answer", "name", "text", "spans")
ALSO = ("aliases", "alias")  # keys of the other names of such an answer
OBJECT = ("obj", "o_wiki_title", "o_aliases")  # keys of an answer's names in PopQA
Known = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]


def known_answers(
    row: Mapping[str, Any], keys: Iterable[str], text: Callable[[Any, str], str]
) -> Known:
    """Return the answers of a row by their first names, and their groups of names.

    The groups are empty where each answer has one name.

    `short_answers` is a list of groups, one for each part of the answer (ALCE), or one group.
    ALCE's own files have it in each of their `qa_pairs`. Else the answers are under the first of
    `keys` that has a value. A list inside that list is a group (QAMPARI). A single answer also gets
    the names under `ALIASES`. A list under one of `ANY` is one group.

    Parameters
    ----------
    row : a row of a question set.
    keys : the keys that may hold the answers, in order of preference.
    text : converts a value and its key to a text, or raises.

    Returns
    -------
    The first name of each answer, and all names of each answer.

    >>> from core.questions.answers import known_answers
    >>> known_answers({"short_answers": [["Daei", "Ali Daei"], ["Bican"]]}, ("answers",),
    ...     lambda value, key: value)
    (('Daei', 'Bican'), (('Daei', 'Ali Daei'), ('Bican',)))
    >>> known_answers({"answers": ["Ann", "Bob"]}, ("answers",), lambda value, key: value)
    (('Ann', 'Bob'), ())
    """
    key, groups = _groups(row, keys)
    named = [
        tuple(dict.fromkeys(said for name in group if (said := text(name, key)).strip()))
        for group in groups
    ]
    named = [names for names in named if names]
    answers = tuple(names[0] for names in named)
    several = any(len(names) > 1 for names in named) or (
        key == SHORT and len(set(answers)) < len(answers)
    )
    return answers, tuple(named) if several else ()


def _groups(row: Mapping[str, Any], keys: Iterable[str]) -> tuple[str, list[list[Any]]]:
    """Return the key of the answers, and their groups of names as the file has them."""
    pairs = [
        pair[SHORT]
        for pair in listed(row.get(PAIRS))
        if isinstance(pair, Mapping) and pair.get(SHORT)
    ]
    if pairs:
        return SHORT, [_listed(group) for group in pairs]
    short = _listed(row.get(SHORT))
    if short:
        return SHORT, short if all(isinstance(group, list) for group in short) else [short]
    key = next((key for key in keys if row.get(key) is not None), "")
    groups = _groups_in(row.get(key))
    if not groups and (any_of := next((key for key in ANY if row.get(key)), "")):
        return any_of, [
            [
                *listed(row.get(OBJECT[0])),
                *listed(row[any_of]),
                *(name for key in OBJECT[1:] for name in listed(row.get(key))),
            ]
        ]
    return key, [[*groups[0], *(name for key in ALIASES for name in _listed(row.get(key)))]] if len(
        groups
    ) == 1 else groups


def _groups_in(value: Any) -> list[list[Any]]:
    """Return the groups of names in an answer field: texts, lists of names, objects, or booleans.

    Objects with texts are one answer as several people gave it (SQuAD, NarrativeQA). Any other
    object is an answer of its own (TriviaQA).
    """
    found = listed(value) if isinstance(value, Mapping) else _listed(value)
    if found and all(
        isinstance(one, Mapping) and isinstance(one.get("text"), str) for one in found
    ):
        return [[name for one in found for name in _names_in(one)]]
    return [_names_in(one) for one in found]


def _names_in(value: Any) -> list[Any]:
    """Return the names of one answer; an object without names is kept unchanged."""
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    if not isinstance(value, Mapping):
        return _listed(value)
    names = next((_listed(value[key]) for key in NAMES if value.get(key)), [])
    return (
        [*names, *(name for key in ALSO for name in listed(value.get(key)))] if names else [value]
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
