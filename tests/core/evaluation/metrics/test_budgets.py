"""Figures by budget, by hand and as what a run anew with that budget gives."""

import numpy as np
import pytest

from core.evaluation.metrics.budgets import READING_BUDGETS, orders_by_budget
from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.outcome import Outcome, observe
from core.sources import CorpusSource
from core.types import Question
from tests.core.operators.nodes.kit import Reranker, RerankerModels, corpus_graph, run
from tests.core.operators.texts.kit import story

SEARCH = "EmbedQuery() >> VectorNodes(keep={n}) >> "
LOOP = "EmbedQuery() >> VectorNodes(keep=10) >> GraphRerank() >> Loop(body=ExpandNodes() >> GraphRerank(), budget={n})"
GAR = "EmbedQuery() >> VectorNodes(keep=100) >> AdaptiveRerank(budget={n})"
RE2 = SEARCH + "GraphRerank(alpha=0.0)"
WORDS = "ash birch cedar elm fir gum hazel ivy".split()


def drawn(seed, size=140):
    """A graph of texts of drawn words, which falls into separate parts.

    With it come the hidden states of a re-ranker for each text.
    """
    rng = np.random.default_rng(seed)
    texts = {f"d{place:03}": " ".join(rng.choice(WORDS, 5)) + f" {place}" for place in range(size)}
    names = sorted(texts)
    links = sorted(
        {
            (names[a], names[b])
            for a, b in rng.integers(0, size, (2 * size, 2))
            if a != b and a % 2 == b % 2
        }
    )
    states = {text: tuple(np.round(rng.normal(size=2), 1)) for text in texts.values()}
    return corpus_graph(texts, links), RerankerModels(Reranker(states))


@pytest.mark.parametrize("line", [LOOP, GAR, RE2])
@pytest.mark.parametrize("seed", range(4))
def test_the_trace_of_one_run_gives_what_runs_with_smaller_budgets_give(line, seed):
    graph, models = drawn(seed)
    whole = run(line.format(n=100), "ash elm ivy", graph, models)
    known = dict(orders_by_budget(whole.trace, whole.nodes))
    assert set(READING_BUDGETS) <= set(known)
    for budget in READING_BUDGETS:
        anew = run(line.format(n=budget), "ash elm ivy", graph, models).nodes
        assert known[budget][:10] == anew.items[:10]


def test_where_nothing_more_is_found_a_larger_budget_finds_the_same():
    # From a come b and c, then d, then e; there are never more than these five.
    line = "EmbedQuery() >> VectorNodes(keep=1) >> GraphRerank() >> Loop(body=ExpandNodes(keep=2) >> GraphRerank(), budget=40)"
    state = run(line, "apples")
    known = dict(orders_by_budget(state.trace, state.nodes))
    assert (
        sorted(known) == [1, 3, 4, 5, 10, 20, 30, 40]
        and known[10] == known[40] == state.nodes.items
    )


def test_other_lines_have_no_figure_by_budget():
    for line in (
        "EmbedQuery() >> VectorNodes() >> NeighbourNodes()",
        SEARCH.format(n=20) + "GraphRerank()",
        LOOP.format(n=20) + " >> GraphRerank()",
    ):
        state = run(line, "apples")
        assert dict(orders_by_budget(state.trace, state.nodes)) == {}


def test_recall_at_a_budget_is_that_of_the_documents_handed_on():
    # Only the words of d are asked for. Of d and f, to which no link leads, d is found.
    state = run("SparseNodes(keep=1)", "plums brandy").replace(
        question=Question("?", gold=("d", "f"))
    )
    graph = corpus_graph()
    outcome = observe(graph, state, source=CorpusSource("fruit"))
    assert [metric(f"budget_recall@{budget}")(outcome) for budget in (10, 100)] == [0.5, 0.5]
    # nothing else has these words
    assert metric("budget_topological_recall@50")(outcome) == metric("topological_recall@10")(
        outcome
    )
    assert (
        metric("budget_recall@15")(outcome) is None
        and Outcome.from_dict(outcome.to_dict()) == outcome
    )


@pytest.mark.parametrize("line", [LOOP, GAR, RE2])
def test_at_its_own_budget_it_is_the_figure_of_the_line(line):
    graph, models = drawn(7)
    gold = tuple(graph.names(np.arange(0, graph.n_nodes, 9)))
    state = run(
        line.format(n=100) + " >> DocumentsOfNodes(keep=100)", "fir hazel", graph, models
    ).replace(question=Question("?", gold=gold))
    outcome = observe(graph, state, source=CorpusSource("fruit"))
    assert metric("budget_recall@100")(outcome) == metric("capped_recall@10")(outcome)
    assert metric("budget_topological_recall@100")(outcome) == pytest.approx(
        metric("topological_recall@100")(outcome), abs=1e-5
    )


def test_topological_recall_at_a_budget_is_that_of_all_that_was_retrieved():
    """Twenty documents in a chain, found in its order; the known one is at place 15. From place 10 there are five nodes with two links
    on the way to it; with a budget of 20 it is retrieved itself. Of the ten handed on neither holds it."""
    texts = {f"d{i:02}": "ash" + " elm" * i for i in range(20)}
    graph = corpus_graph(texts, list(zip(sorted(texts), sorted(texts)[1:])))
    state = run("SparseNodes(keep=20)", "ash", graph).replace(question=Question("?", gold=("d14",)))
    assert list(state.nodes.items) == list(range(20))
    outcome = observe(graph, state, source=CorpusSource("fruit"))
    near = [metric(f"budget_topological_recall@{budget}")(outcome) for budget in (10, 20)]
    assert near == [pytest.approx(1 / (1 + 5 * np.log(3)), abs=1e-5), 1.0] and near[
        0
    ] == pytest.approx(0.154, abs=1e-3)
    assert [metric(f"budget_recall@{budget}")(outcome) for budget in (10, 20)] == [0.0, 0.0]


def test_in_a_graph_of_entities_gold_nodes_are_counted():
    # Fred alone has the words. Cratchit, Fred and Scrooge come from the gold chunk; Scrooge is a link away from him, Cratchit two.
    question = Question("?", gold=("carol\nFred, the nephew of Scrooge",))
    state = run("SparseNodes(keep=1)", "cheerful", story()).replace(question=question)
    outcome = observe(story(), state, source=CorpusSource("story"))
    assert [metric(f"budget_recall@{budget}")(outcome) for budget in (10, 100)] == [1 / 3, 1 / 3]
    near = (1 + 1 / (1 + np.log(2)) + 1 / (1 + np.log(2) + np.log(4))) / 3
    assert metric("budget_topological_recall@10")(outcome) == pytest.approx(near, abs=1e-5)
