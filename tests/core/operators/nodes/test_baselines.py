"""Methods that FastInsight was compared with, against hand-computed and recorded results."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from core.graph.algorithms.simple_graph import simple_graph
from core.graph.texts import edge_weights
from core.models.base import Choice
from core.operators.nodes import page_rank
from core.operators.nodes.adaptive_reranking import (
    AdaptiveRerank,
    neighbour_lookup,
    rerank_adaptively,
)
from core.operators.nodes.page_rank import node_shares
from core.operators.nodes.pair_paths import (
    PairPaths,
    edge_flows,
    simple_paths_between,
    weighted_paths,
)
from core.types import Ranking
from tests.core.operators.nodes.kit import TEXTS, Reranker, RerankerModels, corpus_graph, named, run
from tests.core.operators.texts.kit import story
from tests.films import Bag, Parrot

# Recorded from pyterrier-adaptive 0.2.1 with a scorer of these scores.
POOL = {"a": 3.0, "b": 2.0, "c": 1.0}
NEAR = {"a": "de", "b": "d", "c": "f", "d": "g", "g": "a", "e": "", "f": ""}
SCORES = {"a": 0.9, "b": 0.2, "c": 0.5, "d": 0.8, "e": 0.1, "f": 0.95, "g": 0.7}
RECORDED = [
    (5, 2, ["ab", "de", "c"], "adcbe"),
    (7, 2, ["ab", "de", "c", "gf"], "fadgcbe"),
    (4, 1, ["a", "d", "b", "e"], "adbe"),
]


@pytest.mark.parametrize("budget, batch, batches, output", RECORDED)
def test_gar_reads_the_recorded_batches(budget, batch, batches, output):
    ids = {letter: place for place, letter in enumerate("abcdefg")}
    letters = "abcdefg"
    found = rerank_adaptively(
        {ids[one]: score for one, score in POOL.items()},
        lambda node: [ids[one] for one in NEAR[letters[node]]],
        lambda nodes: [SCORES[letters[node]] for node in nodes],
        budget,
        batch,
    )
    assert [sorted(letters[node] for node in part) for _, part in found.batches] == [
        sorted(part) for part in batches
    ]
    assert "".join(letters[node] for node in found.rank_nodes({}).items) == output


def test_gar_breaks_ties_by_link_weight():
    # a is linked with b, d and e: heaviest to e, lightest to d. Of two links with b the heavier
    # counts.
    graph = corpus_graph(links=[("a", "b"), ("b", "a"), ("a", "d"), ("e", "a")])
    edges = graph.columns.edges.with_columns(weight=[0.5, 0.2, 0.7, 0.9])  # a-b, a-d, b-a, e-a
    graph = replace(graph, columns=graph.columns.replace(edges=edges))
    assert graph.names(neighbour_lookup(graph)(graph.nodes_named("a")[0])) == ["e", "b", "d"]
    state = run(
        [AdaptiveRerank(budget=4, batch=1)],
        graph=graph,
        models=RerankerModels(Reranker({})),
        nodes=Ranking("node", named(graph, "a"), (1.0,)),
    )
    assert [graph.names(frame.ranking.items) for frame in state.trace[0].frames] == [
        ["a"],
        ["e"],
        ["b"],
        ["d"],
    ]


def test_gar_puts_unread_nodes_last():
    graph, reranker = corpus_graph(), Reranker({TEXTS["f"]: (0.5, 0.0), TEXTS["g"]: (0.25, 0.0)})
    nodes = Ranking("node", named(graph, "g", "f", "e"), (3.0, 2.0, 1.0))
    state = run(
        [AdaptiveRerank(budget=2, batch=1)],
        graph=graph,
        models=RerankerModels(reranker),
        nodes=nodes,
    )
    assert graph.names(state.nodes.items) == ["f", "g", "e"] and state.nodes.scores == (
        0.5,
        0.25,
        -0.75,
    )
    assert [frame.title for frame in state.trace[0].frames] == [
        "Batch 1: retrieved",
        "Batch 2: retrieved",
    ]
    state = run(
        [AdaptiveRerank(budget=2, batch=1, backfill=False)],
        graph=graph,
        models=RerankerModels(reranker),
        nodes=nodes,
    )
    assert graph.names(state.nodes.items) == ["f", "g"] and state.nodes.scores == (0.5, 0.25)


def test_re2_equals_reranking_without_smoothing():
    graph, models = (
        corpus_graph(),
        RerankerModels(Reranker({TEXTS["e"]: (1.0, 0.0), TEXTS["d"]: (2.0, 0.0)})),
    )
    state = run(
        "EmbedQuery() >> VectorNodes(keep=100) >> GraphRerank(alpha=0.0)", "brandy", graph, models
    )
    assert graph.names(state.nodes.items)[:2] == ["d", "e"] and len(state.nodes) == 7


def all_simple_paths(links, source, target, longest=3):
    """Every simple path of at most `longest` edges, by exhaustive search."""
    for size in range(longest):
        for middle in itertools.permutations(
            [node for node in range(len(links.indptr) - 1) if node not in (source, target)], size
        ):
            walk = (source, *middle, target)
            if all(after in links.neighbours(node) for node, after in zip(walk, walk[1:])):
                yield walk


@pytest.mark.parametrize("seed", range(6))
def test_bidirectional_search_equals_an_exhaustive_one(seed):
    rng = np.random.default_rng(seed)
    letters = "abcdefgh"
    links = [(a, b) for a, b in itertools.combinations(letters, 2) if rng.random() < 0.35]
    known = simple_graph(corpus_graph({letter: letter for letter in letters}, links))
    for source, target in itertools.permutations(range(8), 2):
        wanted = sorted(all_simple_paths(known, source, target))
        assert sorted(simple_paths_between(known, source, target)) == wanted
        weights = edge_flows(wanted, source, target, 0.8, 0.3)
        mean = {
            walk: round(
                sum(weights.get(edge, 0) for edge in zip(walk, walk[1:])) / (len(walk) - 1), 6
            )
            for walk in wanted
        }
        assert {
            walk: weight for weight, walk in weighted_paths(known, source, target, 0.8, 0.3)
        } == mean


def test_small_flow_ends():
    # Four paths share the flow: 0.25 each is below 0.3, so nothing flows beyond the first step.
    graph = corpus_graph(
        {letter: letter for letter in "abcdef"}, [(one, end) for one in "bcde" for end in "af"]
    )
    assert {weight for weight, _ in weighted_paths(simple_graph(graph), 0, 5, 0.8, 0.3)} == {0.125}


def test_pathrag_puts_nodes_of_the_best_path_first():
    graph = corpus_graph()
    state = run(
        [PairPaths(paths=1)],
        graph=graph,
        nodes=Ranking("node", named(graph, "g", "a", "b"), (3.0, 2.0, 1.0)),
    )
    # a - b and a - c - d - b share the flow 1 of a, half each: 0.5 against (0.5 + 0.4 + 0.32) / 3.
    assert graph.names(state.nodes.items) == ["a", "b", "g"] and state.paths.scores == (0.5,)


@pytest.mark.parametrize(
    "alpha, theta, long",
    [
        (
            0.5,
            0.2,
            (0.5 + 0.25 + 0.125) / 3,
        ),  # Half of the incoming flow continues, and a quarter is enough.
        (0.5, 0.3, (0.5 + 0.25) / 3),  # A quarter is too little.
        (0.8, 0.6, 0.5 / 3),  # A half is too little as well.
        (1.0, 0.0, 0.5),  # All flow continues.
    ],
)
def test_flow_depends_on_alpha_and_theta(alpha, theta, long):
    # There are two paths from a to b: direct, and over c and d.
    graph = corpus_graph({letter: letter for letter in "abcd"}, ["ab", "ac", "cd", "db"])
    nodes = Ranking("node", named(graph, "a", "b"), (2.0, 1.0))
    state = run([PairPaths(alpha=alpha, theta=theta)], graph=graph, nodes=nodes)
    assert state.paths.scores == pytest.approx((0.5, long), abs=1e-6)
    assert {graph.names(path.nodes)[1] for path in state.paths.items} == {"b", "c"}


@pytest.mark.parametrize(
    "pairs, weights", [(2, (1.0,)), (3, (1.0, 1.0, 0.9))]
)  # Two nodes have the pair a - b; with c there are also b - c and a - b - c.
def test_number_of_paired_nodes_is_bounded(pairs, weights):
    graph = corpus_graph({letter: letter for letter in "abc"}, ["ab", "bc"])
    state = run(
        [PairPaths(pairs=pairs)],
        graph=graph,
        nodes=Ranking("node", named(graph, "a", "b", "c"), (3.0, 2.0, 1.0)),
    )
    assert state.paths.scores == weights and graph.names(state.nodes.items) == ["a", "b", "c"]


def test_walk_restarts_at_nearest_nodes_and_a_little_everywhere():
    at = lambda node, score: Ranking("node", (node,), (score,))
    assert node_shares(np.array([0.9, 0.5, 0.1]), at(0, 0.9), 0.05) == pytest.approx(
        [0.95, 0.025, 0.0]
    )
    # Without a spread all scores become ones, as in the published code.
    assert node_shares(np.array([0.4, 0.4]), at(0, 0.4), 0.05) == pytest.approx([0.45, 0.05])
    assert node_shares(np.array([-0.4, -0.5]), at(0, -0.4), 0.0) == pytest.approx([0.0, 0.0])


class PickingModels(RerankerModels):
    """A language model that picks texts with one of some words, and records its requests."""

    def __init__(self, *words):
        super().__init__()
        self.words, self.asked = words, []

    def is_chat(self, name):
        return name == "choose"

    def chooser(self, expression):
        return self

    def choose(self, task, texts, keep):
        self.asked.append((task.unit, len(texts)))
        return Choice(
            tuple(i for i, text in enumerate(texts) if any(word in text for word in self.words))[
                :keep
            ]
        )


FILTERED = (
    "EmbedQuery() >> VectorNodes(keep=5) >> RankHits(of='nodes', model='choose', keep=5) >> "
    "SimilarPageRank(at='nodes', {more})"
)
FACTS = (
    "EmbedQuery() >> VectorRelations(keep=5) >> RankHits(of='relations', model='choose', keep=5) "
    ">> SimilarPageRank(at='relations', {more})"
)
ALONE = "everywhere=0.0, damping=0.0"  # Without damping the restart probabilities remain.


def test_document_filter_sets_the_restart_nodes():
    # Nearest to the question is a, with two of its words, then b and c with one. The model keeps b
    # alone.
    models = PickingModels("pears and plums")
    found = run(FILTERED.format(more=ALONE), "apples and pears", models=models)
    assert corpus_graph().names(found.nodes.items) == ["b"] and found.nodes.scores == (1.0,)
    # The question shares 2 of 3 words with b.
    assert (
        models.asked == [("document", 5)] and found.trace[-1].notes[0] == "Restarted at: b (0.67)."
    )
    walked = run(FILTERED.format(more="everywhere=0.0"), "apples and pears", models=models).nodes
    assert corpus_graph().names(walked.items)[0] == "b" and set(
        corpus_graph().names(walked.items)
    ) == set("abcde")  # The walk reaches all linked nodes.


def test_empty_filter_falls_back_to_nearest_documents():
    found = run(FILTERED.format(more="keep=3"), "apples and pears", models=PickingModels())
    assert (
        found.nodes.items
        == run("EmbedQuery() >> VectorNodes(keep=3)", "apples and pears").nodes.items
    )
    assert "Nothing is left to start from" in found.trace[-1].notes[0]


def test_filter_without_a_model_keeps_all_with_a_note():
    models = PickingModels()
    state = run(
        FILTERED.format(more="everywhere=0.0, damping=0.0"),
        "apples and pears",
        models=models,
        answering=False,
    )
    assert len(state.nodes) and models.asked == []
    assert [
        note for step in state.trace for note in step.notes if "No language model is asked" in note
    ]


def test_fact_filter_sets_the_restart_nodes():
    # The model picks the story's relation of Tim and Cratchit, which scores s after scaling. Tim is
    # in one passage of his relations and Cratchit in two, so Cratchit has half of Tim's weight.
    found = run(
        FACTS.format(more=ALONE),
        "the youngest son of Cratchit",
        story(),
        PickingModels("youngest son"),
    ).nodes
    assert story().names(found.items) == ["Tim", "Cratchit"] and found.scores == pytest.approx(
        (2 / 3, 1 / 3), abs=1e-6
    )
    none = run(FACTS.format(more="keep=2"), "a lame son", story(), PickingModels())
    assert (
        none.nodes.items
        == run("EmbedQuery() >> VectorNodes(keep=2)", "a lame son", story()).nodes.items
    )


def test_neighbours_of_near_nodes_gain():
    graph = corpus_graph()
    found = run(
        "EmbedQuery() >> SimilarPageRank(seeds=1, everywhere=0.0)", "wine brandy from", graph
    ).nodes
    assert graph.names(found.items)[:2] == ["e", "d"] and sum(found.scores) == pytest.approx(1.0)
    best = run(
        "EmbedQuery() >> SimilarPageRank(seeds=1, everywhere=0.0, keep=2)",
        "wine brandy from",
        graph,
    ).nodes
    assert (best.items, best.scores) == (found.items[:2], found.scores[:2])


def test_hyde_searches_with_the_mean_of_question_and_passages():
    models = RerankerModels(chat=Parrot("plums in brandy"))
    state = run("Hypothesise(passages=2)", "apples", models=models)
    both = Bag().encode(["apples", "plums in brandy"])
    mean = (both[0] + 2 * both[1]) / 3
    assert (
        state.vector == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)
        and state.trace[0].usage.calls == 2
    )


def test_hyde_without_a_passage_searches_with_the_question():
    state = run("Hypothesise()", "apples", models=RerankerModels(chat=Parrot("  ")))
    assert state.vector == pytest.approx(Bag().encode(["apples"])[0], abs=1e-6)
    assert "empty reply. The language model wrote nothing" in " ".join(state.trace[0].notes)


def test_ircot_searches_with_its_thoughts():
    graph = corpus_graph()
    line = "EmbedQuery() >> ReasonAndRetrieve(steps=3, keep=1)"
    state = run(line, "figs", graph, RerankerModels(chat=Parrot("wine and cheese")))
    assert graph.names(state.nodes.items) == ["g", "f"] and state.trace[1].usage.calls == 2
    chat = Parrot("The answer is figs.")
    state = run(line, "figs", graph, RerankerModels(chat=chat))
    assert graph.names(state.nodes.items) == ["g"] and len(chat.asked) == 1
    assert TEXTS["g"] in json.dumps(chat.asked[0])


def test_hyde_and_ircot_run_without_a_model():
    chat = Parrot("wine and cheese")
    imagined = run("Hypothesise()", "apples", models=RerankerModels(chat=chat), answering=False)
    assert imagined.vector == pytest.approx(Bag().encode(["apples"])[0], abs=1e-6)
    reasoned = run(
        "EmbedQuery() >> ReasonAndRetrieve(steps=3, keep=1)",
        "figs",
        models=RerankerModels(chat=chat),
        answering=False,
    )
    assert len(reasoned.nodes) == 1 and not chat.asked
    for state in (imagined, reasoned):
        assert (
            state.trace[-1].notes[0].startswith("No language model is asked")
            and state.trace[-1].usage.calls == 0
        )


@pytest.mark.parametrize("graph", [corpus_graph, story])
def test_push_on_a_large_graph_finds_equal_nodes(graph, monkeypatch):
    line, asked, on = (
        "EmbedQuery() >> SimilarPageRank(keep=5)",
        "wine brandy from a lame son",
        graph(),
    )
    solved = run(line, asked, on).nodes
    monkeypatch.setattr(page_rank, "MAX_EDGES_SOLVED", 0)
    pushed = run(line, asked, on)
    assert pushed.nodes.items == solved.items and pushed.nodes.scores == pytest.approx(
        solved.scores, abs=0.01
    )
    weighted = edge_weights(on) is not None  # Without weights the equation is solved at any size.
    assert any("left to push" in note for note in pushed.trace[-1].notes) == weighted
