"""The counts of a graph before any question, by hand on the story's chunks.

Counted is what is alone, there twice, without an entity, or not there.
"""

from __future__ import annotations

import json

import pytest

from core.cli import EXIT_OK, EXIT_WRONG_INPUT, main
from core.diagnosis.quality import GraphQuality, measure_quality
from core.types import Question
from tests.core.operators.texts.kit import assemble, chunk_table, plain
from tests.core.operators.texts.test_methods_kg import tree

NAMES = ["Tim", "Cratchit", "Scrooge", "scrooge", "London"]
TRIPLES = [
    ("Tim", "son of", "Cratchit"),
    ("Cratchit", "works for", "Scrooge"),
    ("Tim", "knows", "Cratchit"),
]
# of carol#0 and carol#1; nothing of carol#2, and nothing of the turkey
COME = [[0], [0, 1], [1], [1], [1]]


@pytest.fixture
def small():
    """Five entities: three in a row, and two alone that have no relation."""
    return assemble("small", NAMES, TRIPLES, {"chunks": COME}, {}, chunk_table())


def test_counts_by_hand(small):
    asked = [
        Question("a", answers=("Tim", "Yes", "Marley"), gold=("carol", "turkey")),
        Question("b", answers=("Tim",), gold=("turkey", "none")),
    ]
    assert measure_quality(small, asked) == GraphQuality(
        entities=5,
        relations=3,
        isolated=2,  # the other scrooge and London
        components=3,
        largest=3,
        alike=1,  # Scrooge and scrooge
        chunks=4,
        bare=2,
        answers=2,  # Tim and Marley, each once; yes is no name
        unnamed=1,
        golds=3,
        lost=1,  # “none” is no document
        unmentioned=1,  # the turkey
    )


def test_graphs_without_entities_count_what_they_have():
    assert measure_quality(plain()) == GraphQuality(0, 0, 0, 0, 0, 0, 4, 0)
    of_tree = measure_quality(
        tree(), [Question("a", answers=("Tim",), gold=(tree().columns.chunks.text("document", 0),))]
    )
    assert (
        of_tree.entities,
        of_tree.answers,
        of_tree.golds,
        of_tree.lost,
        of_tree.unmentioned,
    ) == (0, 0, 1, 0, 0)
    assert measure_quality(plain()).sentences() == []


def test_an_alias_of_an_answer_counts(small):
    named = Question("a", answers=("Timothy",), aliases=(("Timothy", "Tim"),))
    assert measure_quality(small, [named]).unnamed == 0


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    (tmp_path / "a.txt").write_text(
        "Scrooge hired Cratchit in London. Marley died in London.", "utf-8"
    )
    (tmp_path / "q.jsonl").write_text(
        json.dumps({"question": "Who?", "answers": ["Fezziwig"], "gold": ["a.txt"]}), "utf-8"
    )
    assert (
        main(
            [
                "corpus",
                "add",
                str(tmp_path / "a.txt"),
                "--name",
                "mine",
                "--questions",
                str(tmp_path / "q.jsonl"),
            ]
        )
        == EXIT_OK
    )
    assert main(["corpus", "quality", "mine"]) == EXIT_WRONG_INPUT
    assert "No graph is built" in capsys.readouterr().err
    assert (
        main(["corpus", "build", "mine", "--graph", "kg", "--extractor", "noun-phrases"]) == EXIT_OK
    )
    capsys.readouterr()
    assert main(["corpus", "quality", "mine", "--set", "mine"]) == EXIT_OK
    printed = capsys.readouterr().out
    assert (
        printed.startswith("kg-noun-phrases:")
        and "1 of 1 correct answers (100 %) are in no entity's name" in printed
    )
    assert main(["corpus", "quality", "mine", "--json"]) == EXIT_OK
    (counts,) = json.loads(capsys.readouterr().out).values()
    assert counts["chunks"] == 1 and counts["bare"] == 0 and counts["entities"] >= 3
