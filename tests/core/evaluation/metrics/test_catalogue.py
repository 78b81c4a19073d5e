"""The metrics by hand on the five films nodes, in the corners, and against ir_measures."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.diagnosis.answer_match import contains_answer
from core.errors import BadParameter
from core.evaluation.metrics.catalogue import METRICS, REPORTED_METRICS, metric
from core.evaluation.metrics.outcome import (
    GoldRanks,
    OperatorCost,
    Outcome,
    ScoredAnswer,
    observe,
    ranked_nodes,
    ranked_texts,
)
from core.operators import Answer, EgoNetwork, GraphReader, Rank, ShortestPaths
from core.types import Path, Question, Ranking, Subgraph

ir_measures = pytest.importorskip("ir_measures")

TEXTS = [
    "One -> directed_by -> Ann -> directed_by_reverse -> Two",
    "One -> directed_by -> Ann",
    "One -> has_genre -> Drama",
]


@pytest.fixture
def last(kit):
    """`last(*answers)`: the last state of a line that goes two hops from One.

    Its nodes are One, Ann, Drama and Two. Its triples are all but the release year. Its paths are
    the first `shown` of TEXTS, in that order.
    """

    def run(*answers, shown=2, said="Drama, 1999"):
        context = kit.context(
            kit.Parrot(said), encoder=kit.Table(dict(zip(TEXTS, (0.9, 0.5, 0.1))))
        )
        state = kit.state("One").replace(question=Question("a question", answers=answers))
        for operator in (
            EgoNetwork(hops=2),
            ShortestPaths(parallel=False),
            Rank(keep=shown),
            GraphReader(),
            Answer(),
        ):
            state = operator(state, context)
        return state

    return run


def scores(outcome, *names):
    return [metric(name)(outcome) for name in names]


def test_every_metric_by_hand(kit, last):
    state = last("Ann", "Drama", "1999")
    assert kit.texts(state) == TEXTS[:2]
    outcome = observe(kit.graph, state)
    # Ann, Drama of four nodes
    assert scores(outcome, "subgraph_recall", "subgraph_precision", "subgraph_hit") == [
        2 / 3,
        2 / 4,
        1,
    ]
    assert metric("subgraph_f1")(outcome) == pytest.approx(2 * (1 / 2) * (2 / 3) / (1 / 2 + 2 / 3))
    assert scores(outcome, "components", "subgraph_nodes", "subgraph_edges", "path_count") == [
        1,
        4,
        4,
        2,
    ]
    # both paths hold Ann
    assert scores(outcome, "path_recall", "path_precision", "path_hit@1", "path_mrr") == [
        1 / 3,
        1,
        1,
        1,
    ]
    # the reader names Two
    assert scores(outcome, "reader_hit@1", "reader_recall", "reader_precision") == [0, 0, 0]
    # 2R / (1 + R)
    assert scores(outcome, "hits@1", "recall", "f1") == [1, 2 / 3, pytest.approx(0.8)]
    # two answers on one line: precision stays 1
    assert scores(outcome, "f1_lines") == [pytest.approx(0.8)]
    assert scores(outcome, "calls", "tokens_out", "texts", "judge@1") == [1, 2, 3, None]
    assert metric("tokens")(outcome) == metric("tokens_in")(outcome) + 2
    assert metric("seconds")(outcome) == sum(step.seconds for step in state.trace)
    assert outcome.alive == {"graph": 3, "subgraph": 2, "paths": 1, "prompt": 1, "answer": 2}


def test_places_count_from_one_and_the_cut_off_binds(kit, last):
    outcome = observe(kit.graph, last("Drama", shown=3))
    assert outcome.paths == GoldRanks(3, (3,), (3,))
    assert scores(
        outcome, "path_hit@2", "path_hit@3", "path_recall@2", "path_precision@3", "path_mrr@2"
    ) == [0, 1, 0, 1 / 3, 0]
    assert metric("path_precision@32")(outcome) == 1 / 3  # of the paths that there are, not of 32
    assert metric("path_f1@3")(outcome) == pytest.approx(2 * (1 / 3) / (1 + 1 / 3))


def test_lines_are_predictions(kit, last):
    outcome = observe(kit.graph, last("Drama", "1999", said="Drama\nno idea\n\nreally"))
    assert (outcome.answer.found, outcome.answer.lines) == (1, 3)
    assert metric("f1_lines")(outcome) == pytest.approx(2 * (1 / 3) * (1 / 2) / (1 / 3 + 1 / 2))
    assert metric("f1")(outcome) == pytest.approx(2 / 3)


def test_without_a_model_the_reader_answers_one_name_a_line(kit, last):
    state = last("Two", "Drama").replace(answer=None)
    outcome = observe(kit.graph, state)
    # of the words two and drama
    assert outcome.answer == ScoredAnswer(
        "Two",
        "graph reader",
        1,
        1,
        tokens=0.5,
        joined=False,
        own_tokens=1.0,
        exact=True,
        parts=0.5,
        joined_tokens=0.5,
    )
    assert scores(outcome, "reader_hit@1", "reader_recall", "hits@1") == [1, 1 / 2, 1]


@pytest.mark.parametrize(
    "said, f1",
    [
        ("Two, and two more", 1 / 3),  # one word of its four, one of the two that are known
        ("two the Drama", 1.0),  # an article is no word
        ("no", 0.0),
        ("", 0.0),
    ],
)
def test_token_f1_counts_the_words_of_both(kit, last, said, f1):
    assert metric("token_f1")(observe(kit.graph, last("Two", "Drama", said=said))) == pytest.approx(
        f1
    )


def test_token_f1_of_a_yes_is_all_or_nothing(kit, last):
    yes = [observe(kit.graph, last("yes", said=said)) for said in ("Yes.", "Yes, he did.")]
    assert scores(yes[0], "token_f1") + scores(yes[1], "token_f1", "token_recall") == [1, 0, 0]


def test_an_answer_is_matched_one_way_only_and_punctuation_joins(kit, last):
    found = [
        observe(kit.graph, last(gold, said=said)).answer.found
        for gold, said in (("Dram", "a drama"), ("a dramas", "Drama"), ("U.S.", "us"))
    ]
    assert found == [1, 0, 1]


def test_no_known_answer_leaves_only_costs(kit, last):
    outcome = observe(kit.graph, last())
    costs = {
        "components",
        "subgraph_nodes",
        "subgraph_edges",
        "path_count",
        "seconds",
        "extract_seconds",
        "retrieve_seconds",
        "refine_seconds",
        "calls",
        "tokens_in",
        "tokens_out",
        "tokens",
        "texts",
    }
    assert {
        name for name in METRICS if metric(name)(outcome) is not None
    } == costs and outcome.alive is None


def test_an_empty_subgraph_and_no_path_score_nothing_and_are_known(kit):
    nothing = Subgraph(np.empty(0, np.int64), np.empty(0, np.int64))
    state = kit.state("One").replace(
        question=Question("q", answers=("Ann",)),
        subgraph=nothing,
        paths=Ranking("path", ()),
        reader=(),
        answer="Ann",
    )
    outcome = observe(kit.graph, state)
    assert (
        scores(
            outcome,
            "subgraph_precision",
            "subgraph_recall",
            "components",
            "path_precision@32",
            "path_f1",
            "reader_f1",
        )
        == [0] * 6
    )
    assert metric("hits@1")(outcome) == 1 and outcome.has_empty_subgraph


def test_a_line_without_a_stage_has_no_number_for_it(kit):
    outcome = observe(
        kit.graph, kit.state("One").replace(question=Question("q", answers=("Ann",)), answer="Ann")
    )
    assert scores(outcome, "subgraph_recall", "path_hit@32", "reader_hit@1", "hits@1") == [
        None,
        None,
        None,
        1,
    ]
    assert not outcome.has_empty_subgraph


def test_components_count_single_nodes(kit):
    graph, node = kit.graph, kit.node
    nodes = np.array(sorted(map(node, ("One", "Drama", "Two", "Ann"))), np.int64)
    genre = next(e for e in range(graph.n_edges) if graph.relation_name(e) == "has_genre")
    outcome = observe(graph, kit.state("One").replace(subgraph=Subgraph(nodes, np.array([genre]))))
    assert outcome.extracted.components == 3  # One-Drama, Two, Ann


@pytest.mark.parametrize(
    "gold",
    [
        "Ann",
        "ann directedbyreverse two",
        "THE",
        "?!",
        "directed_by",
        "e",
        "One -> directed_by -> Ann",
    ],
)
def test_the_fast_text_match_is_the_slow_one(kit, last, gold):
    paths = last(shown=3).paths
    slow = tuple(
        i for i, path in enumerate(paths.items, 1) if contains_answer(kit.graph.text(path), gold)
    )
    assert ranked_texts(kit.graph, paths, [[gold]]).relevant == slow


class Named:
    """A graph of one triple whose names are given."""

    def __init__(self, head, relation, tail):
        self.parts, self.relation_names = (head, tail), (relation,)
        self.node_name, self.triples = (
            lambda node: self.parts[node],
            lambda edges: (edges, edges * 0, edges),
        )
        self.text = lambda path: f"{head} -> {relation} -> {tail}"


words = st.text(alphabet="aAnNtThHeE .'_-ΣσİI🎬1 ", max_size=8)


@settings(max_examples=150, deadline=None)
@given(words, words, words, words)
def test_normalising_name_by_name_gives_the_same_text(head, relation, tail, gold):
    graph = Named(head, relation, tail)
    path = Path((0, 1), (0,), (True,))
    assert bool(
        ranked_texts(graph, Ranking("path", (path,)), [[gold]]).relevant
    ) == contains_answer(graph.text(path), gold)


@settings(max_examples=60, deadline=None)
@given(
    st.permutations(range(12)),
    st.integers(0, 12),
    st.sets(st.integers(0, 15), min_size=1, max_size=6),
    st.integers(1, 14),
)
def test_ranking_metrics_agree_with_ir_measures(order, count, golds, k):
    """The ranking metrics agree with ir_measures where each answer is one node.

    Precision is here over the items that there are, so ir_measures is asked with that cut-off.
    """
    ranking = order[:count]
    outcome = Outcome(len(golds), reader=ranked_nodes(ranking, [(gold,) for gold in sorted(golds)]))
    qrels = [ir_measures.Qrel("q", str(gold), 1) for gold in golds]
    run = [
        ir_measures.ScoredDoc("q", str(node), 100.0 - place) for place, node in enumerate(ranking)
    ]

    def peer(measure):
        return ir_measures.calc_aggregate([measure], qrels, run)[measure] if run else 0.0

    pairs = {
        f"reader_hit@{k}": ir_measures.Success @ k,
        f"reader_recall@{k}": ir_measures.R @ k,
        f"reader_precision@{k}": ir_measures.P @ max(1, min(k, count)),
        f"reader_mrr@{k}": ir_measures.RR @ k,
        "reader_mrr": ir_measures.RR,
        "reader_recall": ir_measures.R @ 1000,
    }
    for name, measure in pairs.items():
        assert metric(name)(outcome) == pytest.approx(peer(measure)), name


def test_names_are_canonical_and_unknown_ones_are_refused():
    assert all(metric(name).name == name for name in [*METRICS, *REPORTED_METRICS, "path_hit@7"])
    for wrong, told in {
        "path_hits": "path_hit",
        "path_hit@0": "at least 1",
        "seconds@3": "no cut-off",
        "x@y": "no metric",
    }.items():
        with pytest.raises(BadParameter, match=told):
            metric(wrong)


def test_every_metric_says_what_it_is():
    for name in REPORTED_METRICS:
        told = metric(name).describe()
        assert (
            told["definition"].endswith(".")
            and told["convention"].endswith(".")
            and told["unit"]
            and told["better"]
        )


def test_an_outcome_survives_json(kit, last):
    outcome = observe(kit.graph, last("Ann", "Drama"))
    many = GoldRanks(9, (1, 2, 3, 6, 8, 9), (1, 6, None))
    outcome = dataclasses.replace(
        outcome,
        reader=many,
        costs=(*outcome.costs, OperatorCost("X", "read", 0.1, notes=("a", "b"))),
    )
    told = json.loads(json.dumps(outcome.to_dict()))
    assert Outcome.from_dict(told) == outcome and told["reader"]["relevant"] == [
        [1, 3],
        [6, 1],
        [8, 2],
    ]


def test_hits_at_one_is_called_what_it_is():
    titles = {
        name: metric(name).describe()["title"]
        for name in ("reader_hit@1", "path_hit@1", "path_hit@32", "hits@1")
    }
    assert titles == {
        "reader_hit@1": "First answer right",
        "path_hit@1": "First path right",
        "path_hit@32": "Path hit ratio @32",
        "hits@1": "Text holds a correct answer (Hits@1)",
    }
