"""The metrics of documents and of answers by their words, by hand on the story, and against ir_measures."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.evaluation.metrics.answer_support import support_by_encoder, support_by_model
from core.evaluation.metrics.build_cost import read_build_cost
from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.options import chosen_option, right_option
from core.evaluation.metrics.outcome import GoldRanks, Outcome, observe
from core.evaluation.metrics.topology import UncertaintyByRank
from core.sources import CorpusSource
from core.types import Prompt, Question, Ranking, State
from tests.core.operators.texts.kit import plain, story
from tests.core.operators.texts.test_methods_kg import tree
from tests.films import Bag, Parrot

ir_measures = pytest.importorskip("ir_measures")

GOLD = ("carol", "turkey")
ALIASES = (("Daei", "Ali Daei"), ("Bican", "Josef Bican", "Pepi Bican"))


def state(
    answer="The turkey.", answers=("turkey",), rows=(1, 0, 3), shown=2, options=(), gold=GOLD
):
    """A state that found chunks 1 and 0 of carol and then the one of turkey.

    The prompt shows the first two of them.
    """
    question = Question("What was big?", answers=answers, gold=gold, options=options)
    hits = Ranking("chunk", tuple(rows), tuple(1.0 - i / 10 for i in range(len(rows))))
    told = "Sources: Marley was dead.\nQuestion: What was big?"
    return State(
        question,
        chunks=hits,
        answer=answer,
        prompt=Prompt(({"role": "user", "content": told},), 0, hits={"chunk": shown}),
    )


def scores(told, *names, **more):
    outcome = Outcome.from_dict(
        observe(plain(), told, source=CorpusSource("story"), **more).to_dict()
    )
    return [metric(name)(outcome) for name in names]


def test_summaries_among_what_a_tree_gave():
    # of a tree of eight passages and a summary, the summary and three passages were found; nothing is said of other graphs
    nodes = Ranking("node", (8, 2, 6, 0))
    found = observe(tree(), State(Question("?"), nodes=nodes))
    assert metric("summaries")(Outcome.from_dict(found.to_dict())) == 0.25
    assert (
        metric("summaries")(observe(tree(), State(Question("?"), nodes=Ranking("node", ()))))
        is None
    )
    assert (
        metric("summaries")(observe(plain(), state())) is None
        and metric("summaries").better == "neither"
    )


def test_what_became_of_the_passages():
    outcome = observe(plain(), state(), source=CorpusSource("story"))
    # that of the turkey came third
    assert outcome.fates.alive == {"corpus": 0, "graph": 2, "retrieved": 2, "prompt": 1}
    assert scores(
        state(), "passage_recall", "passage_recall@1", "passage_precision", "passage_precision@2"
    ) == [1, 1 / 2, 1, 1]
    assert scores(
        state(gold=("turkey",)), "context_precision", "passage_precision", "passage_precision@2"
    ) == [0, 1 / 3, 0]
    assert scores(state(gold=("turkey",), shown=3), "context_precision") == [1 / 3]
    assert scores(state(gold=()), "context_precision", "passage_precision") == [None, None]


def test_a_line_that_seeks_entities_alone_has_no_figures_of_passages():
    entities = state(gold=("carol",)).replace(
        chunks=None, nodes=Ranking("node", (0, 3), (1.0, 0.5))
    )
    found = [
        metric(name)(observe(story(), entities, source=CorpusSource("story")))
        for name in ("passage_recall", "context_precision")
    ]
    assert found == [None, None]


def test_accuracy_and_the_strings():
    several = state("Ann and Bob", ("Bob", "Ann", "Cid"))
    assert scores(several, "accuracy", "str_hit", "str_rec", "str_em") == [
        1,
        1,
        pytest.approx(2 / 3),
        0,
    ]
    assert scores(state("bob ann cid", ("Bob", "Ann", "Cid")), "accuracy_joined", "str_em") == [
        1,
        1,
    ]
    # not in that order
    assert scores(state("Ann, Bob, Cid", ("Bob", "Ann", "Cid")), "accuracy_joined", "str_em") == [
        0,
        1,
    ]
    assert scores(state("So.", ()), "accuracy", "accuracy_joined", "str_em", "option") == [None] * 4


OPTIONS = ("a boy", "a turkey", "a house", "none of these")


@pytest.mark.parametrize(
    "said, recall, exact, hit",
    [
        ("Ali Daei and Josef Bican", 1, 1, 1),
        ("Pepi Bican, of course.", 1 / 2, 0, 1),
        ("Daei and Ali Daei", 1 / 2, 0, 1),  # two names of one answer are one
        ("Pele", 0, 0, 0),
    ],
)
def test_one_name_of_each_part_of_an_answer_is_enough(said, recall, exact, hit):
    """ALCE (Gao et al. 2023): of each part's short answers one is enough; the recall is the share of the parts."""
    asked = Question("Who scored most?", answers=("Daei", "Bican"), aliases=ALIASES)
    told = state().replace(question=asked, answer=said)
    assert scores(told, "str_rec", "str_em", "str_hit", "recall", "accuracy") == [
        recall,
        exact,
        hit,
        recall,
        hit,
    ]


def test_a_part_that_is_asked_twice_counts_twice():
    asked = Question(
        "Which years?", answers=("1998", "2001"), aliases=(("1998",), ("1998", "98"), ("2001",))
    )
    assert scores(state().replace(question=asked, answer="In 1998."), "str_rec", "recall") == [
        2 / 3,
        1 / 2,
    ]


def test_the_words_of_an_alias_are_those_of_the_answer():
    # Of the two names Ali Daei is the nearer: two of two words; of the answer's own four two.
    asked = Question(
        "Who?", answers=("Daei of Iran", "Bican"), aliases=(("Daei of Iran", "Ali Daei"),)
    )
    told = state().replace(
        question=replace(asked, answers=("Daei of Iran",)), answer="It was Ali Daei"
    )
    assert scores(told, "token_recall", "token_f1", "accuracy_joined") == [
        1,
        pytest.approx(2 / 3),
        1,
    ]
    exact = observe(
        plain(), told.replace(answer="ali daei"), source=CorpusSource("story")
    ).answer.exact
    assert exact is True


def test_the_joined_recall_is_of_the_words_of_all_names():
    # Daei of Iran, Ali Daei: five words, of which “It was Ali Daei” has Ali and one of two Daei.
    asked = Question("Who?", answers=("Daei of Iran",), aliases=(("Daei of Iran", "Ali Daei"),))
    told = state().replace(question=asked, answer="It was Ali Daei")
    assert scores(told, "token_recall", "token_recall_joined") == [1, 2 / 5]
    one_name = state("The clerk Bob", ("Bob Cratchit",))
    assert scores(one_name, "accuracy", "recall") == [0, 0]
    assert scores(one_name, "token_recall", "token_recall_joined") == [1 / 2, 1 / 2]


def test_the_prompt_holds_an_answer_by_any_of_its_names():
    asked = Question(
        "Who was dead?", answers=("the partner", "Bob"), aliases=(("the partner", "Marley"),)
    )
    told = state().replace(question=asked)
    assert scores(told, "context_recall") == [1 / 2]  # Marley was dead
    assert (
        observe(story(), told.replace(answer="It was Marley."), source=CorpusSource("story")).alive[
            "graph"
        ]
        == 1
    )


@pytest.mark.parametrize(
    "reply, place",
    [
        ("B", 1),
        (" b.", None),  # a small letter alone is no choice: “a” is a word
        ("B.", 1),
        ("(C) a house", 2),
        ("The answer is B, not C.", 1),
        ("Not A. The correct answer is: (D)", 3),
        ("It was a turkey, as big as one.", 1),
        ("A or B", None),
        ("(A) or (B)", None),
        ("a boy and a turkey", None),
        ("The answer is Z.", None),
        ("", None),
        ("I cannot tell", None),
    ],
)
def test_the_option_is_read_from_the_reply(reply, place):
    assert chosen_option(reply, OPTIONS) == place
    assert scores(state(reply, ("a turkey",), options=OPTIONS), "option") == [float(place == 1)]


def test_the_right_option_is_a_text_or_a_letter():
    assert right_option(Question("?", answers=("C",), options=OPTIONS)) == 2
    assert right_option(Question("?", answers=("E",), options=OPTIONS)) is None
    assert right_option(Question("?", answers=("a turkey",))) is None


def test_each_sentence_is_held_against_what_the_prompt_showed():
    told = state("The turkey was as big as a boy. Scrooge was his partner.", rows=(3,), shown=1)
    near = support_by_encoder(plain(), told, Bag())
    assert near.cosines[0] == pytest.approx(1.0) and near.cosines[1] < 0.5
    assert scores(told, "nearness", supported=near) == [pytest.approx(sum(near.cosines) / 2)]
    judge = Parrot('{"supported": false}')
    assert support_by_model(told, judge).verdicts == (False, False)
    asked = judge.asked[0][1]["content"]
    assert (
        "Marley was dead" in asked and "as big as a boy" in asked and "What was big?" not in asked
    )
    assert scores(told, "supported", supported=support_by_model(told, judge)) == [0]


def test_a_judge_that_answers_nonsense_leaves_no_figure():
    found = support_by_model(state(), Parrot("I would say so"))
    assert found.verdicts == (None,) and "could not be used: “I would say so”" in found.note
    assert scores(state(), "supported", supported=found) == [None]


def test_without_an_answer_nothing_is_supported():
    assert (
        support_by_encoder(plain(), state(None), Bag()) is None
        and support_by_model(state(None), Parrot("")) is None
    )


def test_kept_replies_cost_what_they_cost_when_they_were_made():
    none, some = (
        {"calls": 0, "tokens_in": 0, "tokens_out": 0},
        {"calls": 3, "tokens_in": 90, "tokens_out": 10},
    )
    report = {
        "counts": {"replies kept": 3},
        "usage": none,
        "usage_kept": some,
        "seconds": {"A": 1.0},
    }
    assert (
        read_build_cost(report, True).seconds,
        read_build_cost(report, True).calls,
        read_build_cost(report, True).tokens,
    ) == (None, 3, 100)
    del report["usage_kept"]  # as older builds report
    assert read_build_cost(report, True).tokens is None
    noun_phrases = {"counts": {"kept": 4}, "usage": none, "seconds": {"NounPhrases": 0.1}}
    assert (
        read_build_cost(noun_phrases, False).seconds,
        read_build_cost(noun_phrases, False).tokens,
    ) == (None, 0)


def test_a_graph_that_came_with_its_corpus_cost_what_it_took_when_it_was_made():
    none, came = (
        {"calls": 0, "tokens_in": 0, "tokens_out": 0},
        {"calls": 3, "tokens_in": 90, "tokens_out": 10, "seconds": 60.0},
    )
    told = read_build_cost(
        {"counts": {"kept": 4}, "usage": none, "seconds": {"Vectors": 1.0}, "shipped": came}, True
    )
    assert (told.seconds, told.calls, told.tokens) == (60.0, 3, 100)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 12), max_size=8, unique=True).map(sorted), st.integers(1, 12))
def test_the_cut_offs_are_those_of_trec_eval(places, k):
    qrels = [ir_measures.Qrel("q", f"d{place}", 1) for place in places] or [
        ir_measures.Qrel("q", "elsewhere", 1)
    ]
    run = [ir_measures.ScoredDoc("q", f"d{place}", 20.0 - place) for place in range(1, 13)]
    peer = {
        str(one.measure): one.value
        for one in ir_measures.iter_calc([ir_measures.P @ k, ir_measures.R @ k], qrels, run)
    }
    outcome = Outcome(1, passages=GoldRanks(12, tuple(places), tuple(places) or (None,)))
    assert metric(f"passage_precision@{k}")(outcome) == pytest.approx(peer[f"P@{k}"])
    assert metric(f"passage_recall@{k}")(outcome) == pytest.approx(peer[f"R@{k}"])


def test_a_cut_off_counts_nothing_behind_what_the_line_kept():
    """Only the gold chunk that the line kept counts, at any cut-off.

    Of 4 chunks kept the second is gold. The other gold one is the seventh of the order before the
    cut.
    """
    outcome = Outcome(1, passages=GoldRanks(4, (2, 7), (2, 7)))
    assert metric("passage_recall@10")(outcome) == metric("passage_recall@4")(outcome) == 1 / 2
    assert metric("passage_precision@10")(outcome) == 1 / 10
    assert metric("capped_recall@10")(outcome) == 1 / 2
    assert metric("ndcg@10")(outcome) == pytest.approx((1 / math.log2(3)) / (1 + 1 / math.log2(3)))
    near = Outcome(1, nearing=UncertaintyByRank(2, 4, (0, 1), (2, 7), (0.0, 0.0)))
    assert metric("topological_recall@10")(near) == metric("topological_recall@4")(near) == 1 / 2
