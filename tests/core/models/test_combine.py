"""Combinators and the expressions that name them."""

from __future__ import annotations

import pytest

from core.errors import BadParameter
from core.models.base import Task
from core.models.chooser_names import short_name
from core.models.combine import (
    PrefilterChooser,
    RescoreChooser,
    RoundsChooser,
    SupplementChooser,
    ThresholdChooser,
    model_names,
    parse_chooser,
    uses_chat,
)
from core.models.llm_chooser import LLMChooser
from core.models.registry import Registry
from core.models.scorers import BM25Scorer
from tests.notes import NoteWith

# BM25 of "red" ranks 4, 3, 1, then 0 and 2.
TEXTS = ["dog", "red fox", "cat", "red red hen", "red"]


def test_bm25_order_of_the_test_texts():
    assert BM25Scorer().choose(Task("red"), TEXTS, 0).order == (4, 3, 1, 0, 2)


def test_prefilter_picks_from_the_cheap_scorers_best(recorded):
    chat = recorded('{"choices": [3, 1]}')
    choice = PrefilterChooser(BM25Scorer(), LLMChooser(chat), 3).choose(Task("red"), TEXTS, 2)
    assert choice.positions == (1, 4) and choice.order == (4, 3, 1, 0, 2)
    assert choice.usage.calls == 1 and choice.usage.texts == 5
    assert "1. red\n2. red red hen\n3. red fox" in chat.asked[0][0][1]["content"]


def test_supplement_adds_the_scorers_best(recorded):
    choice = SupplementChooser(LLMChooser(recorded('{"choices": [3]}')), BM25Scorer()).choose(
        Task("red"), TEXTS, 3
    )
    assert choice.positions == (2, 4, 3) and choice.scores is None
    assert choice.notes == (NoteWith(2, 3, "scorer", "chooser", 1),)


def test_supplement_leaves_a_full_pick_alone(recorded):
    choice = SupplementChooser(LLMChooser(recorded('{"choices": [3, 1]}')), BM25Scorer()).choose(
        Task("red"), TEXTS, 2
    )
    assert choice.positions == (2, 0) and choice.order is None


def test_combinators_nest(recorded):
    inner = PrefilterChooser(BM25Scorer(), LLMChooser(recorded('{"choices": [2]}')), 2)
    assert SupplementChooser(inner, BM25Scorer()).choose(Task("red"), TEXTS, 0).positions == (
        3,
        4,
        1,
        0,
        2,
    )
    assert SupplementChooser(inner, BM25Scorer()).choose(Task("red"), [], 3).positions == ()


def test_above_drops_lower_scores():
    scores = BM25Scorer().choose(Task("red"), TEXTS, 0).order_scores
    choice = ThresholdChooser(BM25Scorer(), scores[1]).choose(Task("red"), TEXTS, 5)
    # The bound is inclusive, as in the paper.
    assert (
        choice.positions == (4, 3)
        and choice.scores == scores[:2]
        and choice.order == (4, 3, 1, 0, 2)
    )
    assert ThresholdChooser(BM25Scorer(), scores[1]).choose(Task("red"), TEXTS, 1).positions == (4,)
    nothing = ThresholdChooser(BM25Scorer(), 100).choose(Task("red"), TEXTS, 5)
    assert (
        nothing.positions == ()
        and nothing.notes == ("None reached 100.",)
        and len(nothing.order) == 5
    )
    assert ThresholdChooser(BM25Scorer(), 100).choose(Task("red"), [], 5).notes == ()


def test_expressions_have_names_and_chat_use():
    assert model_names("supplement(prefilter(encoder, choose, 64), encoder)") == (
        "encoder",
        "choose",
    )
    assert model_names(" qwen-0.5b ") == ("qwen-0.5b",)
    chat = lambda name: name.startswith("qwen")
    assert uses_chat("prefilter(bm25, qwen-0.5b, 3)", chat) and not uses_chat(
        "prefilter(bm25, reranker, 3)", chat
    )


@pytest.mark.parametrize(
    "expression, sentence",
    [
        ("encodr", "Did you mean “encoder”"),
        ("prefiler(encoder, choose, 3)", "Did you mean “prefilter”"),
        ("prefilter(encoder, choose)", "takes"),
        ("prefilter(encoder, choose, 0)", "at least 1"),
        ("rounds(choose, encoder)", "n of rounds must be"),
        ("above(encoder, much)", "must be a number"),
        ("above(encoder, nan)", "must be a number"),
        ("above(choose, 0.3)", "a scorer is needed"),
        ("rescore(choose, rounds(choose, 3))", "needs a scorer"),
        ("prefilter(encoder, choose, many)", "at least 1"),
        ("prefilter(encoder, choose, n=3)", "cannot be read"),
        ("prefilter(prefilter(bm25, encoder, 9), choose, 3)", "needs a scorer"),
        ("prefilter(choose, encoder, 3)", "a scorer is needed"),
        ("__import__('os').system('true')", "cannot be read"),
        ("encoder; choose", "cannot be read"),
        ("encoder choose", "cannot be read"),
        ("[encoder for x in y]", "cannot be read"),
        ("", "cannot be read"),
        ("3", "cannot be read"),
        ("(" * 500, "cannot be read"),
    ],
)
def test_bad_expressions_are_refused(expression, sentence):
    with pytest.raises(BadParameter, match=sentence):
        Registry().chooser(expression)


def test_expressions_build_choosers():
    registry = Registry()
    assert isinstance(
        registry.chooser("rescore(rounds(reranker, 64), bm25)").chooser, RoundsChooser
    )
    chooser = registry.chooser("supplement(prefilter(encoder, reranker, 64), bm25)")
    assert (
        isinstance(chooser, SupplementChooser)
        and isinstance(chooser.chooser, PrefilterChooser)
        and chooser.chooser.n == 64
    )
    assert parse_chooser("prefilter(a, b, 2)").arguments == ("a", "b", 2)


def test_rescore_only_reorders_the_picks(recorded):
    choice = RescoreChooser(LLMChooser(recorded('{"choices": [1, 4, 5]}')), BM25Scorer()).choose(
        Task("red"), TEXTS, 3
    )
    assert (
        choice.positions == (4, 3, 0)
        and choice.scores[0] > choice.scores[1] > choice.scores[2] == 0
    )
    assert choice.usage.calls == 1 and choice.usage.texts == 3
    assert (
        RescoreChooser(LLMChooser(recorded('{"choices": []}')), BM25Scorer())
        .choose(Task("red"), TEXTS, 3)
        .positions
        == ()
    )


def test_rounds_choose_per_window_and_from_all_picks(recorded):
    # The windows of two are: dog, red fox; cat, red red hen; red. The picks red fox, cat and red
    # are shown once more.
    chat = recorded(
        '{"choices": [2]}', '{"choices": [1]}', '{"choices": [1]}', '{"choices": [3, 1]}'
    )
    choice = RoundsChooser(LLMChooser(chat), 2).choose(Task("red"), TEXTS, 2)
    assert choice.positions == (4, 1) and choice.usage.calls == 4
    assert "1. red fox\n2. cat\n3. red" in chat.asked[3][0][1]["content"]
    assert choice.notes == (NoteWith(3, "5 candidates", "last round"),)


def test_rounds_skip_the_last_call_when_not_needed(recorded):
    assert RoundsChooser(LLMChooser(recorded('{"choices": [5]}')), 5).choose(
        Task("red"), TEXTS, 2
    ).positions == (4,)
    none = RoundsChooser(LLMChooser(recorded('{"choices": []}', '{"choices": []}')), 3).choose(
        Task("red"), TEXTS, 2
    )
    assert none.positions == () and none.usage.calls == 2


@pytest.mark.parametrize(
    "expression, told",
    [
        ("prefilter(encoder, choose, 3)", "language model after encoder"),
        ("supplement(choose, bm25)", "language model, filled by BM25"),
        (
            "rescore(prefilter(encoder, choose, 3), encoder)",
            "language model after encoder, reordered by encoder",
        ),
        ("rounds(choose, 64)", "language model in rounds of 64"),
        ("above(encoder, -0.25)", "encoder of at least -0.25"),
    ],
)
def test_expressions_are_described_in_words(expression, told):
    assert short_name(expression) == told
