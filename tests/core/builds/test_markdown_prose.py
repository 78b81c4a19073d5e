"""Headings and tables of Markdown as sentences."""

from __future__ import annotations

import pytest

from core.builds.extract.markdown_prose import SENTENCE_BREAK, as_prose, blank_rules
from core.builds.extract.names_and_terms import read_terms


def sentences(text: str, english: bool = True) -> list[str]:
    return [part.strip() for part in as_prose(text, english).split(SENTENCE_BREAK) if part.strip()]


@pytest.mark.parametrize(
    "text, said",
    [
        ("# The *Heron* #\nIda sails.", ["The Heron.", "Ida sails."]),
        ("### Why [us](http://x)?", ["Why us?"]),
        (
            "| boat | port |\n|:--|--:|\n| Heron | Oslo |\n| Tern | |\n\nEnd.",
            ["The port of Heron is Oslo.", "Tern.", "End."],
        ),
        ("a|b\n--|--\nx|y", ["The b of x is y."]),
        ("| No | boat |\n|---|---|\n| 7 | Heron |", ["The No of Heron is 7."]),
        (
            "| boat | remark |\n|---|---|\n| Heron | It was sold. Nobody knows when. |",
            ["Heron; It was sold. Nobody knows when."],
        ),
        ("Ann | Bo | 42", ["Ann; Bo; 42."]),
        (r"| a \| b | c |", ["a | b; c."]),
    ],
)
def test_headings_and_rows_are_sentences(text, said):
    assert sentences(text) == said


def test_rows_in_other_languages_stand_side_by_side():
    assert sentences("| Schiff | Hafen |\n|---|---|\n| Heron | Oslo |", english=False) == [
        "Heron; Oslo."
    ]


@pytest.mark.parametrize(
    "text", ["Plain text, with #5 and a-b.\n- item\n", "```\n# code\na | b\n```", "if a || b: x|y"]
)
def test_other_text_stays_unchanged(text):
    assert as_prose(text) == text


FLEET = """# Ships

| ship | captain | port |
|---|:--|---|
| MS Lyra | Piet de Vries | Grenaa |
| MS Nord | Astrid Lunde | Varberg |

Astrid Lunde joined Nordhaven Ferries AB.

Grenaa | Piet de Vries
"""


def test_names_of_a_table_are_its_cells():
    (facts,) = read_terms([as_prose(FLEET)])
    names = {entity.name for entity in facts.entities}
    assert {"MS Lyra", "Piet de Vries", "Grenaa", "Astrid Lunde", "Varberg"} <= names
    assert not [name for name in names if "|" in name or "#" in name or "\n" in name]
    pairs = {frozenset((one.head, one.tail)) for one in facts.relations}
    assert frozenset(("MS Lyra", "Piet de Vries")) in pairs
    assert frozenset(("MS Lyra", "Astrid Lunde")) not in pairs


@pytest.mark.parametrize("rule", ["|---|---|", "--|--", "| :-- | --: |"])
def test_rules_of_tables_are_blanks_and_places_stay(rule):
    text = f"Ann | Bo\n{rule}\nx | y-z --- w"
    shown = blank_rules(text)
    assert len(shown) == len(text)
    assert shown.split() == ["Ann", "|", "Bo", "x", "|", "y-z", "---", "w"]


@pytest.mark.parametrize("text", ["a -- b", "---", "a | b | --- c", ""])
def test_other_lines_stay(text):
    assert blank_rules(text) == text
