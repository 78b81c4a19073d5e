"""The known answers in a row of a question set, each of which may go by several names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from core.questions.values import listed

SHORT, PAIRS = "short_answers", "qa_pairs"
ALIASES = ("answer_aliases", "alt_ans")  # other names of a single answer: MuSiQue's, CRAG's
# usual keys of an answer, beside `answer`; the last are those of tools that evaluate
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
ANY = ("possible_answers", "golden_answers")  # lists of names of one answer: PopQA's, FlashRAG's
# keys of the name in an answer that is an object
NAMES = ("value", "answer", "name", "text", "spans")
ALSO = ("aliases", "alias")  # and of its other names
OBJECT = ("obj", "o_wiki_title", "o_aliases")  # names of the same in PopQA
Known = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]


def known_answers(
    row: Mapping[str, Any], keys: Iterable[str], text: Callable[[Any, str], str]
) -> Known:
    """The answers of a row by their first names, and the groups of names, which are empty where each answer has one name.

    `short_answers` is a list of groups, a group for each part of the answer (ALCE), or one group; ALCE's own files have it in each of
    their `qa_pairs`. Else the answers are under the first of `keys` that is there, where a list in the list is a group (QAMPARI); to a
    single one come those under `ALIASES`. A list under one of `ANY` is one group. `text` makes a text of what is under a key, or raises.

    >>> from core.questions.answers import known_answers
    >>> known_answers({"short_answers": [["Daei", "Ali Daei"], ["Bican"]]}, ("answers",), lambda value, key: value)
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
    """The key under which the answers are, and the groups there, their names as they are in the file."""
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
    """The groups of names in what a row has as its answers: texts, lists of names, objects, or yes and no.

    Texts in objects are one answer as several people gave it (SQuAD, NarrativeQA); other objects are an answer each (TriviaQA).
    """
    found = listed(value) if isinstance(value, Mapping) else _listed(value)
    if found and all(
        isinstance(one, Mapping) and isinstance(one.get("text"), str) for one in found
    ):
        return [[name for one in found for name in _names_in(one)]]
    return [_names_in(one) for one in found]


def _names_in(value: Any) -> list[Any]:
    """The names of one answer; an object without any is left as it is."""
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
