"""Metrics of ranked documents and of corpus graphs: by hand, as identities, and against ir_measures."""

import math

import numpy as np
import pytest

from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.outcome import Outcome, observe
from core.evaluation.metrics.ranking import GoldRanks, gold_ranks
from core.evaluation.metrics.topology import (
    UncertaintyByRank,
    nodes_of_gold_documents,
    uncertainties_to_gold,
    uncertainty_by_rank,
    uncertainty_drops,
)
from core.graph.algorithms.simple_graph import simple_graph
from core.graph.algorithms.uncertainty import uncertainty
from core.sources import CorpusSource
from core.types import Question, Ranking, State
from tests.core.operators.nodes.kit import corpus_graph, named
from tests.core.operators.texts.kit import story

GRAPH = corpus_graph()  # a-b, a-c, b-d, c-d, d-e, f, g


def found(gold, *names):
    """The state of a question whose answer rests on `gold`, of which these nodes were found."""
    return State(Question("?", gold=tuple(gold)), nodes=Ranking("node", named(GRAPH, *names)))


def test_uncertainty_is_the_degrees_passed_but_for_the_end():
    # e is reached from d by ln 4 (d has 3 neighbours), from b over d by ln 3 more, from a over b or c by ln 3 more; f not at all.
    costs = uncertainty(simple_graph(GRAPH), named(GRAPH, "e")[0])
    wanted = [
        2 * math.log(3) + math.log(4),
        math.log(3) + math.log(4),
        math.log(3) + math.log(4),
        math.log(4),
        0.0,
        math.inf,
        math.inf,
    ]
    assert costs == pytest.approx(wanted)


def test_the_shortest_path_is_the_one_with_fewest_links():
    # From a to z: directly past a hub is one link, over three quiet nodes four; a itself has five neighbours.
    links = [
        ("a", "h"),
        ("h", "z"),
        ("a", "q"),
        ("q", "r"),
        ("r", "z"),
        *(("h", f"x{n}") for n in range(9)),
    ]
    graph = corpus_graph({name: name for pair in links for name in pair}, links)
    costs = uncertainty(simple_graph(graph), graph.nodes_named("z")[0])
    assert costs[graph.nodes_named("a")[0]] == pytest.approx(math.log(1 + 2) + math.log(1 + 11))


def test_topological_recall_by_hand():
    # d stands for itself; e is one step from d: 1 / (1 + ln 4); f is out of reach.
    outcome = observe(GRAPH, found("def", "a", "d"), source=CorpusSource("fruit"))
    missed = 1 / (1 + math.log(4))
    assert metric("topological_recall@10")(outcome) == pytest.approx((1 + missed + 0) / 3, abs=1e-6)
    assert metric("miss_tr@10")(outcome) == pytest.approx(missed / 3, abs=1e-6)
    first = (
        1 / (1 + 2 * math.log(3)) + 1 / (1 + 2 * math.log(3) + math.log(4))
    ) / 3  # from a alone: d over b, e over b and d
    assert metric("topological_recall@1")(outcome) == pytest.approx(first, abs=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_topological_recall_is_recall_and_what_was_missed(seed):
    rng = np.random.default_rng(seed)
    letters = "abcdefghijkl"
    links = [(a, b) for a in letters for b in letters if a < b and rng.random() < 0.15]
    graph = corpus_graph({letter: letter for letter in letters}, links or [("a", "b")])
    gold = tuple(letter for letter in letters if rng.random() < 0.4) or ("a",)
    nodes = tuple(int(node) for node in rng.permutation(12)[: int(rng.integers(1, 12))])
    outcome = observe(
        graph,
        State(Question("?", gold=gold), nodes=Ranking("node", nodes)),
        source=CorpusSource("fruit"),
    )
    before = 0.0
    for k in (1, 3, 5, 12):
        recall, whole = (
            metric(f"passage_recall@{k}")(outcome),
            metric(f"topological_recall@{k}")(outcome),
        )
        assert (
            whole == pytest.approx(recall + metric(f"miss_tr@{k}")(outcome))
            and recall <= whole <= 1
            and whole >= before
        )
        before = whole


def test_a_known_document_that_is_not_there_is_near_to_nothing():
    outcome = observe(GRAPH, found(("a", "gone"), "a"), source=CorpusSource("fruit"))
    assert metric("passage_recall@10")(outcome) == metric("topological_recall@10")(outcome) == 0.5
    assert metric("miss_tr@10")(outcome) == 0.0


def test_without_links_or_without_known_documents_there_is_no_such_figure():
    assert uncertainty_by_rank(GRAPH, found("", "a")) is None
    assert uncertainty_by_rank(corpus_graph(links=[]), found("a", "a")) is None
    assert metric("topological_recall")(Outcome(golds=0)) is None


def test_the_facts_are_kept_and_read_back():
    outcome = observe(GRAPH, found("de", "a", "b"), source=CorpusSource("fruit"))
    assert Outcome.from_dict(outcome.to_dict()) == outcome


STORY = story()  # Fred - Scrooge - Cratchit - Tim, Scrooge - Marley; chunks: Marley Scrooge, Cratchit Fred Scrooge, Cratchit Scrooge Tim
TIM, FRED = "carol\nTiny Tim, the son of Cratchit", "carol\nFred, the nephew of Scrooge"


def nodes_found(gold, *names):
    """The outcome where these entities were found and the answer rests on `gold`."""
    nodes = Ranking("node", tuple(STORY.nodes_named(name)[0] for name in names))
    return observe(
        STORY, State(Question("?", gold=tuple(gold)), nodes=nodes), source=CorpusSource("story")
    )


def test_gold_nodes_are_all_that_come_from_the_gold_documents_by_hand():
    # Cratchit, Scrooge and Tim come from the gold chunk. Marley (1 link) is found, then Scrooge (3 links). From Marley: Scrooge ln 2,
    # Cratchit ln 2 + ln 4, Tim ln 2 + ln 4 + ln 3; from Scrooge: itself 0, Cratchit ln 4, Tim ln 4 + ln 3.
    outcome = nodes_found([TIM], "Marley", "Scrooge")
    far = [1 / (1 + math.log(2)), 1 / (1 + math.log(8)), 1 / (1 + math.log(24))]
    near = [1.0, 1 / (1 + math.log(4)), 1 / (1 + math.log(12))]
    measured = {
        name: metric(name)(outcome)
        for name in ("topological_recall@1", "topological_recall@10", "miss_tr@10", "node_recall@1")
    }
    assert measured == {
        "topological_recall@1": pytest.approx(sum(far) / 3, abs=1e-6),
        "topological_recall@10": pytest.approx(sum(near) / 3, abs=1e-6),
        "miss_tr@10": pytest.approx(sum(near[1:]) / 3, abs=1e-6),
        "node_recall@1": 0.0,
    }
    assert metric("node_recall@10")(outcome) == metric("capped_node_recall@10")(outcome) == 1 / 3
    assert metric("capped_node_recall@2")(outcome) == 1 / 2  # of two places one is of a gold node
    assert metric("node_ndcg@2")(outcome) == pytest.approx(
        (1 / math.log2(3)) / (1 + 1 / math.log2(3))
    )
    assert Outcome.from_dict(outcome.to_dict()) == outcome


def test_a_node_of_two_gold_documents_counts_once():
    assert nodes_of_gold_documents(STORY, [TIM, FRED]) == [
        STORY.nodes_named(name)[0] for name in ("Cratchit", "Scrooge", "Tim", "Fred")
    ]
    assert metric("node_recall")(nodes_found([TIM, FRED], "Scrooge")) == 1 / 4


def test_where_no_node_comes_from_a_gold_document_there_is_no_such_figure():
    for gold in ([], ["turkey"], ["missing"]):
        outcome = nodes_found(gold, "Scrooge")
        assert (outcome.nodes, outcome.nearing, outcome.budgets) == (None, None, None)
    # nothing was sought
    assert (
        observe(STORY, State(Question("?", gold=("carol",))), source=CorpusSource("story")).nodes
        is None
    )


@pytest.mark.parametrize("seed", range(10))
def test_topological_recall_is_recall_of_gold_nodes_and_what_was_missed(seed):
    rng = np.random.default_rng(seed)
    outcome = nodes_found(
        [TIM] if seed % 2 else [TIM, FRED],
        *(STORY.node_name(int(node)) for node in rng.permutation(5)),
    )
    for k in range(1, 6):
        parts = [
            metric(f"{name}@{k}")(outcome)
            for name in ("node_recall", "miss_tr", "topological_recall")
        ]
        assert parts[0] + parts[1] == pytest.approx(parts[2], abs=1e-6)


def test_where_documents_are_nodes_gold_nodes_are_the_documents():
    outcome = observe(GRAPH, found(("d", "e", "missing"), "a", "d"), source=CorpusSource("fruit"))
    assert metric("node_recall@2")(outcome) == metric("passage_recall@2")(outcome) == 1 / 3
    assert metric("node_ndcg@2")(outcome) == metric("ndcg@2")(outcome)


def test_the_distances_to_gold_nodes_are_the_same_shared_or_not(monkeypatch):
    retrieved = list(range(STORY.n_nodes))
    shared = uncertainties_to_gold(STORY, [TIM], retrieved)
    monkeypatch.setattr("core.evaluation.metrics.topology.MAX_CACHED_UNCERTAINTIES", 0)
    assert np.array_equal(shared, uncertainties_to_gold(STORY, [TIM], retrieved))


def test_nothing_retrieved_is_near_to_nothing():
    assert uncertainty_drops(np.empty((1, 0)), 0).uncertainties_at(10) == [math.inf]


@pytest.mark.parametrize("names", ["a", "e", "be", "abf", "gg"])
def test_a_search_from_what_was_retrieved_gives_the_same_distances(monkeypatch, names):
    gold, retrieved = list("abcdefg") + ["gone"], named(GRAPH, *names)
    before = uncertainties_to_gold(GRAPH, gold, retrieved)
    monkeypatch.setattr("core.evaluation.metrics.topology.MAX_SEARCHES_FROM_GOLD", 0)
    assert uncertainties_to_gold(GRAPH, gold, retrieved) == pytest.approx(before)
    assert (before == 0).sum() == len(names)


def test_all_gold_nodes_count_however_many_there_are():
    # A hub h with 250 gold neighbours, of which 50 were found: by corollary 1 Topological Recall is
    # 50 / 250, and of the 200 others each 1 / (1 + ln 2 + ln 251): past a found leaf and the hub.
    leaves = [f"leaf{number}" for number in range(250)]
    graph = corpus_graph({name: name for name in ["h", *leaves]}, [("h", leaf) for leaf in leaves])
    first = tuple(graph.nodes_named(leaf)[0] for leaf in leaves[200:])
    state = State(Question("?", gold=tuple(leaves)), nodes=Ranking("node", first))
    outcome = observe(graph, state, source=CorpusSource("fruit"))
    missed = 200 / 250 / (1 + math.log(2) + math.log(251))
    assert metric("node_recall")(outcome) == 0.2
    assert metric("miss_tr")(outcome) == pytest.approx(missed, abs=1e-6)
    assert metric("topological_recall")(outcome) == pytest.approx(0.2 + missed, abs=1e-6)
    one_found = metric("topological_recall@1")(outcome)
    assert one_found == pytest.approx((1 + 249 * missed / 0.8) / 250, abs=1e-6)


def test_ranked_documents_agree_with_ir_measures():
    ir_measures = pytest.importorskip("ir_measures")
    rng = np.random.default_rng(5)
    for _ in range(30):
        gold = [f"d{n}" for n in rng.permutation(30)[: rng.integers(1, 15)]]
        order = [f"d{n}" for n in rng.permutation(30)[: rng.integers(1, 25)]]
        outcome = Outcome(
            golds=0,
            passages=gold_ranks(
                ([gold.index(one)] if one in gold else [] for one in order), len(gold)
            ),
        )
        qrels = [ir_measures.Qrel("q", one, 1) for one in gold]
        run = [ir_measures.ScoredDoc("q", one, float(-place)) for place, one in enumerate(order)]
        told = ir_measures.calc_aggregate([ir_measures.nDCG @ 10, ir_measures.R @ 10], qrels, run)
        assert metric("ndcg@10")(outcome) == pytest.approx(told[ir_measures.nDCG @ 10])
        assert metric("capped_recall@10")(outcome) == pytest.approx(
            told[ir_measures.R @ 10] * len(gold) / min(10, len(gold))
        )


KEPT_TWO = Outcome(  # the second known document is in fourth place, behind the cut
    golds=0,
    passages=GoldRanks(count=2, relevant=(1, 4), first=(1, 4, None)),
    nearing=UncertaintyByRank(3, count=2, of=(0, 1), places=(1, 4), costs=(0.0, 0.0)),
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("passage_recall", 1 / 3),
        ("passage_precision", 1 / 10),
        ("capped_recall", 1 / 3),
        ("ndcg", 1 / (1 + 1 / math.log2(3) + 1 / 2)),
        ("topological_recall", 1 / 3),
        ("miss_tr", 0.0),
    ],
)
def test_a_cut_off_beyond_what_was_kept_counts_what_was_kept_and_its_help_says_so(name, value):
    assert metric(f"{name}@10")(KEPT_TWO) == pytest.approx(value)
    assert "fewer than k" in metric(name).convention
