"""Correct answers in a row of a question set, with their names."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from core.questions.values import as_list

SHORT_ANSWERS_KEY = "short_answers"
QA_PAIRS_KEY = "qa_pairs"
ALIAS_KEYS = ("answer_aliases", "alt_ans")  # other names of a single answer (MuSiQue, CRAG)
# Usual keys of the answers other than `answer`. The last ones belong to evaluation tools.
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
# Keys of a list of which any item is a correct answer (PopQA, FlashRAG).
ANY_OF_ANSWERS_KEYS = ("possible_answers", "golden_answers")
# Keys of the first name of an answer that is an object.
ANSWER_NAME_KEYS = ("value", "answer", "name", "text", "spans")
OTHER_NAME_KEYS = ("aliases", "alias")  # keys of the other names of such an answer
POPQA_NAME_KEYS = ("obj", "o_wiki_title", "o_aliases")  # keys of an answer's names in PopQA
NameGroups = tuple[tuple[str, ...], ...]  # for each answer, all its names


def known_answers(
    row: Mapping[str, Any], keys: Iterable[str], text: Callable[[Any, str], str]
) -> tuple[tuple[str, ...], NameGroups]:
    """Return the answers of a row and their groups of names.

    The answers are given by their first names. A group has all names of one answer. The groups are
    found in the first of these places:

    - `short_answers`, a list of groups for the parts of the answer (ALCE), or one group. ALCE's own
      files have it in each of their `qa_pairs`.
    - the first of `keys` that has a value. A list inside its list is a group (QAMPARI). A single
      answer also has the names under `ALIAS_KEYS`.
    - the first of `ANY_OF_ANSWERS_KEYS` that has a value, which is one group.

    Parameters
    ----------
    row : a row of a question set.
    keys : the keys that may hold the answers, in order of preference.
    text : converts a value and its key to a text, or raises an error that names the key.

    Returns
    -------
    The first name of each answer, and the groups. There are no groups if each answer has one name.

    >>> from core.questions.answers import known_answers
    >>> known_answers({"short_answers": [["Daei", "Ali Daei"], ["Bican"]]}, ("answers",),
    ...     lambda value, key: value)
    (('Daei', 'Bican'), (('Daei', 'Ali Daei'), ('Bican',)))
    >>> known_answers({"answers": ["Ann", "Bob"]}, ("answers",), lambda value, key: value)
    (('Ann', 'Bob'), ())
    """
    key, groups = _find_groups(row, keys)
    name_groups = []
    for group in groups:
        texts = [text(name, key) for name in group]
        names = tuple(dict.fromkeys(name for name in texts if name.strip()))
        if names:
            name_groups.append(names)
    answers = tuple(names[0] for names in name_groups)
    # Two parts of a short answer may have the same first name. The groups keep them apart.
    needs_groups = any(len(names) > 1 for names in name_groups) or (
        key == SHORT_ANSWERS_KEY and len(set(answers)) < len(answers)
    )
    return answers, tuple(name_groups) if needs_groups else ()


def _find_groups(row: Mapping[str, Any], keys: Iterable[str]) -> tuple[str, list[list[Any]]]:
    """Return the key of the answers, and the groups of names."""
    short_answers = _short_answers(row)
    if short_answers:
        return SHORT_ANSWERS_KEY, short_answers
    key = next((key for key in keys if row.get(key) is not None), "")
    groups = _groups_in(row.get(key))
    if len(groups) == 1:
        aliases = [name for alias_key in ALIAS_KEYS for name in _to_list(row.get(alias_key))]
        return key, [[*groups[0], *aliases]]
    any_of_key = next((key for key in ANY_OF_ANSWERS_KEYS if row.get(key)), "")
    if any_of_key and not groups:
        return any_of_key, [_any_of_names(row, any_of_key)]
    return key, groups


def _short_answers(row: Mapping[str, Any]) -> list[list[Any]]:
    """Return the groups of names in ALCE's forms. Empty if the row has none."""
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


def _groups_in(value: Any) -> list[list[Any]]:
    """Return the groups of names in an answer field: texts, lists of names, objects, or booleans.

    Objects that all have a `text` are one answer in the words of several people (SQuAD,
    NarrativeQA). Otherwise each object is an answer of its own (TriviaQA).
    """
    items = as_list(value) if isinstance(value, Mapping) else _to_list(value)
    groups = [_names_in(item) for item in items]
    if items and all(
        isinstance(item, Mapping) and isinstance(item.get("text"), str) for item in items
    ):
        return [list(itertools.chain.from_iterable(groups))]
    return groups


def _names_in(value: Any) -> list[Any]:
    """Return the names of one answer.

    An object without names is returned unchanged, so that the caller's conversion refuses it.
    """
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    if not isinstance(value, Mapping):
        return _to_list(value)
    names = next((_to_list(value[key]) for key in ANSWER_NAME_KEYS if value.get(key)), [])
    if not names:
        return [value]
    return [*names, *(name for key in OTHER_NAME_KEYS for name in as_list(value.get(key)))]


def _to_list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [] if value is None else [value]
