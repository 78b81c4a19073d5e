"""The data of the board for a comparison on documents, on a corpus of three."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from core.corpus import open_corpus
from core.engine import Engine
from core.methods.catalogue import find_method
from core.sources import CorpusSource
from pages.parts.board import text_hits
from pages.parts.board.html_report import script_json
from pages.parts.board.payload import Board
from pages.parts.board.text_hits import question_words
from tests.films import Parrot, Written
from tests.notes import NoteWith
from tests.pages.compare.three_documents import KNOWN, LINE, WIDE, made

ALONE = "Answer(prompt='question-only')"


@pytest.fixture(scope="module")
def drawn(movies):
    """The payload of two lanes that keep one passage and all three, and of one that reads none."""
    engine = Engine(Written(Parrot("")))
    ask = engine.prepare_question(
        CorpusSource.of(open_corpus(made())), KNOWN, uses_reader=False, uses_model=False
    )
    job = engine.compare(ask, [find_method(spec, {}) for spec in (LINE, WIDE, ALONE)])
    assert job.wait(60)
    return Board(job.comparison).payload()


def test_hits_are_tables_by_kind_with_a_star_on_gold_passages(drawn):
    (table,) = drawn["lanes"][1]["hits"]
    assert table["kind"] == "passage"
    assert {row["id"]: row["gold"] for row in table["rows"]} == {
        "arthur": True,
        "women": True,
        "radio": False,
    }
    assert drawn["lanes"][2]["hits"] == []


def test_a_gold_passage_that_was_ranked_too_late_is_a_row_of_its_own(drawn):
    (table,) = drawn["lanes"][0]["hits"]
    assert [row["id"] for row in table["rows"]] == ["arthur"]
    (lost,) = table["lost"]
    assert lost["id"] == "women" and lost["fate"] == "rank 2; only the top 1 is kept"
    said = drawn["lanes"][0]["verdict_text"]
    assert said["text"] == NoteWith("rank 2", 1)
    assert (said["head"], said["tone"]) == ("Never read “First for Women”:", "warn")


def test_a_passage_has_a_fate_in_every_lane(drawn):
    fates = {
        lane: (told["fate"], told["text"]) for lane, told in drawn["fates"]["chunk women"].items()
    }
    assert fates == {
        "lane-0": ("dropped", "rank 2; only the top 1 is kept"),
        "lane-1": ("found", "found: rank 2"),
        "lane-2": ("never", "reads no documents"),
    }


def test_the_funnel_counts_gold_passages_and_the_words_of_the_answer(drawn):
    counts = lambda lane: {
        stage["stage"]: (stage["alive"], stage["of"]) for stage in drawn["lanes"][lane]["funnel"]
    }
    assert counts(0) == {
        "corpus": (2, 2),
        "graph": (2, 2),
        "retrieved": (1, 2),
        "prompt": (1, 2),
        "answer": (None, None),
    }
    assert counts(1)["prompt"] == (2, 2)
    assert drawn["lanes"][0]["funnel"][2]["held"] == {"alive": 1, "of": 1}


def test_all_names_of_an_answer_are_marked_and_count_as_it(movies):
    named = replace(KNOWN, answers=("the weekly",), aliases=(("the weekly", *KNOWN.answers),))
    engine = Engine(Written(Parrot("")))
    job = engine.compare(
        engine.prepare_question(
            CorpusSource.of(open_corpus(made())), named, uses_reader=False, uses_model=False
        ),
        [find_method(LINE, {})],
    )
    assert job.wait(60)
    told = Board(job.comparison).payload()
    assert told["marks"]["answers"] == ["the weekly", *KNOWN.answers]
    assert told["lanes"][0]["funnel"][2]["held"] == {"alive": 1, "of": 1}


def test_one_passage_is_one_node_for_all_lanes(drawn):
    roles = {node["id"]: node["role"] for node in drawn["layout"]["nodes"]}
    assert roles == {"chunk arthur": "gold", "chunk women": "gold", "chunk radio": "passage"}
    assert [lane["nodes"] for lane in drawn["lanes"]] == [
        ["chunk arthur"],
        ["chunk arthur", "chunk women", "chunk radio"],
        [],
    ]
    lanes = ("Own method (method 1) 1 of 2", "Own method (method 2) 2 of 2")
    assert all(lane in drawn["verdict"]["text"] for lane in lanes)


def test_texts_are_carried_as_they_are(drawn):
    text = next(row["text"] for row in drawn["lanes"][1]["hits"][0]["rows"] if row["id"] == "women")
    assert "<script>document.title = 'gone'</script>" in text and "{braces} and {0}" in text
    assert "<script>" not in script_json(drawn) and json.loads(script_json(drawn)) == drawn


def test_the_rule_of_a_table_is_not_shown(movies, monkeypatch):
    text = "| ship | port |\n|---|---|\n| Lyra | Grenaa |"
    monkeypatch.setattr(text_hits, "hit_texts", lambda graph, kind, ids: [text] * len(ids))
    engine = Engine(Written(Parrot("")))
    ask = engine.prepare_question(
        CorpusSource.of(open_corpus(made())), KNOWN, uses_reader=False, uses_model=False
    )
    job = engine.compare(ask, [find_method(LINE, {})])
    assert job.wait(60)
    (shown,) = [
        row["text"] for row in Board(job.comparison).payload()["lanes"][0]["hits"][0]["rows"]
    ]
    assert shown.split() == "| ship | port | | Lyra | Grenaa |".split()
    assert len(shown) == len(text)  # so that marks stand where they stood


def test_words_that_tell_something_are_marked():
    assert question_words(KNOWN.text) == ["magazine", "started", "first", "arthur", "women"]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (
            "Wer gründete die Fabrik, die die Lokomotive Lotte baute?",
            ["gründete", "fabrik", "lokomotive", "lotte", "baute"],
        ),
        ("من بنى ميناء المرج؟", ["بنى", "ميناء", "المرج"]),
        (
            "TNFAIP3 is a glioblastoma tumor suppressor.",
            ["tnfaip3", "glioblastoma", "tumor", "suppressor"],
        ),  # not Italian
    ],
)
def test_articles_and_question_words_of_other_languages_are_not_marked(question, words):
    assert question_words(question) == words
