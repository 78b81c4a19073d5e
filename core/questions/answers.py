"""The known answers in a row of a question set, each with one or several names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from core.questions.values import as_list

SHORT_ANSWERS_KEY, QA_PAIRS_KEY = "short_answers", "qa_pairs"
ALIAS_KEYS = ("answer_aliases", "alt_ans")  # other names of a single answer (MuSiQue, CRAG)
# Usual keys of an answer besides `answer`. The last ones belong to evaluation tools.
OTHER_ANSWER_KEYS = (
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
ANY_OF_ANSWERS_KEYS = (
    "possible_answers",
    "golden_answers",
)  # lists of names of one answer (PopQA, FlashRAG)
# Keys of the first name of an answer that is an object.
ANSWER_NAME_KEYS = ("value", "answer", "name", "text", "spans")
OTHER_NAME_KEYS = ("aliases", "alias")  # keys of the other names of such an answer
POPQA_NAME_KEYS = ("obj", "o_wiki_title", "o_aliases")  # keys of an answer's names in PopQA
NamedAnswers = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]


def known_answers(
    row: Mapping[str, Any], keys: Iterable[str], text: Callable[[Any, str], str]
) -> NamedAnswers:
    """Return the answers of a row by their first names, and their groups of names.

    The groups are empty where each answer has one name.

    `short_answers` is a list of groups, one for each part of the answer (ALCE), or one group.
    ALCE's own files have it in each of their `qa_pairs`. Else the answers are under the first of
    `keys` that has a value. A list inside that list is a group (QAMPARI). A single answer also gets
    the names under `ALIAS_KEYS`. A list under one of `ANY_OF_ANSWERS_KEYS` is one group.

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
    name_groups = [
        tuple(dict.fromkeys(said for name in group if (said := text(name, key)).strip()))
        for group in groups
    ]
    name_groups = [names for names in name_groups if names]
    answers = tuple(names[0] for names in name_groups)
    several = any(len(names) > 1 for names in name_groups) or (
        key == SHORT_ANSWERS_KEY and len(set(answers)) < len(answers)
    )
    return answers, tuple(name_groups) if several else ()


def _groups(row: Mapping[str, Any], keys: Iterable[str]) -> tuple[str, list[list[Any]]]:
    """Return the key of the answers, and their groups of names as the file has them."""
    short_answers = _short_answers(row)
    if short_answers:
        return SHORT_ANSWERS_KEY, short_answers
    key = next((key for key in keys if row.get(key) is not None), "")
    groups = _groups_in(row.get(key))
    if len(groups) == 1:
        return key, [[*groups[0], *_listed_under(row, ALIAS_KEYS)]]
    any_of_key = next((key for key in ANY_OF_ANSWERS_KEYS if row.get(key)), "")
    if any_of_key and not groups:
        return any_of_key, [_any_of_names(row, any_of_key)]
    return key, groups


def _short_answers(row: Mapping[str, Any]) -> list[list[Any]]:
    """Return the groups of names in ALCE's forms; empty if the row has none."""
    pairs = [pair for pair in as_list(row.get(QA_PAIRS_KEY)) if isinstance(pair, Mapping)]
    groups = [_to_list(pair[SHORT_ANSWERS_KEY]) for pair in pairs if pair.get(SHORT_ANSWERS_KEY)]
    if groups:
        return groups
    names = _to_list(row.get(SHORT_ANSWERS_KEY))
    if names and not all(isinstance(name, list) for name in names):
        return [names]
    return names


def _any_of_names(row: Mapping[str, Any], key: str) -> list[Any]:
    """Return the names of an answer under one of `ANY_OF_ANSWERS_KEYS`, with those of PopQA."""
    names = [*as_list(row.get(POPQA_NAME_KEYS[0])), *as_list(row[key])]
    for other_key in POPQA_NAME_KEYS[1:]:
        names += as_list(row.get(other_key))
    return names


def _listed_under(row: Mapping[str, Any], keys: Iterable[str]) -> list[Any]:
    """Return the values under several keys as one list."""
    return [name for key in keys for name in _to_list(row.get(key))]


def _groups_in(value: Any) -> list[list[Any]]:
    """Return the groups of names in an answer field: texts, lists of names, objects, or booleans.

    Objects with texts are one answer as several people gave it (SQuAD, NarrativeQA). Any other
    object is an answer of its own (TriviaQA).
    """
    items = as_list(value) if isinstance(value, Mapping) else _to_list(value)
    if items and all(
        isinstance(one, Mapping) and isinstance(one.get("text"), str) for one in items
    ):
        return [[name for one in items for name in _names_in(one)]]
    return [_names_in(one) for one in items]


def _names_in(value: Any) -> list[Any]:
    """Return the names of one answer; an object without names is kept unchanged."""
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    if not isinstance(value, Mapping):
        return _to_list(value)
    names = next((_to_list(value[key]) for key in ANSWER_NAME_KEYS if value.get(key)), [])
    return (
        [*names, *(name for key in OTHER_NAME_KEYS for name in as_list(value.get(key)))]
        if names
        else [value]
    )


def _to_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
