"""FastInsight with changed settings, recomputed from recorded hidden states."""

import numpy as np
import pytest

from core.graph.algorithms.simple_graph import simple_graph
from core.operators.nodes.replay import node_origins, replay_loop
from tests.core.operators.nodes.kit import TEXTS, Reranker, RerankerModels, corpus_graph, run

LOOP = "Loop(body=ExpandNodes(keep=1, beta={b}) >> GraphRerank(alpha={a}), budget=5)"
LINE = f"EmbedQuery() >> VectorNodes(keep=2) >> GraphRerank(alpha={{a}}) >> {LOOP}"
STATES = {text: (float(place % 3), float(place % 2)) for place, text in enumerate(TEXTS.values())}


def run_loop(alpha, beta):
    graph, reranker = corpus_graph(), Reranker(STATES)
    return graph, run(
        LINE.format(a=alpha, b=beta), "plums and apples", graph, RerankerModels(reranker)
    )


def again(graph, state, **settings):
    """Replay the loop with cosines computed from the words."""
    vectors = np.stack(
        [RerankerModels().encoder().encode([text])[0] for text in TEXTS.values()]
    ).astype(np.float64)
    similar = lambda nodes: np.round(vectors[nodes] @ state.vector.astype(np.float64), 6)
    start = state.trace[1].before_cut.items[:2]
    return replay_loop(
        state.hidden, start, simple_graph(graph), similar, batch=1, budget=5, **settings
    )


@pytest.mark.parametrize("alpha, beta", [(0.2, 1.0), (0.7, 0.0)])
def test_same_settings_find_equal_nodes(alpha, beta):
    graph, state = run_loop(alpha, beta)
    found = again(graph, state, alpha=alpha, beta=beta)
    assert (
        found.nodes.items == state.nodes.items
        and found.nodes.scores == pytest.approx(state.nodes.scores)
        and not found.unavailable_count
    )


def test_changed_settings_equal_a_new_run():
    graph, state = run_loop(0.2, 1.0)  # It reads a, b, c, d and e: the whole component.
    assert len(state.hidden.nodes) == 5
    wanted = run_loop(0.9, 0.0)[1]
    assert again(graph, state, alpha=0.9, beta=0.0).nodes.items == wanted.nodes.items


def test_unread_nodes_are_skipped_and_counted():
    graph, state = run_loop(0.2, 1.0)
    part = type(state.hidden)(
        state.hidden.model, state.hidden.nodes[:2], state.hidden.vectors[:2], state.hidden.head
    )
    found = again(graph, state.replace(hidden=part))
    assert set(found.nodes.items) == set(part.nodes) and found.unavailable_count > 0


def test_origin_of_a_node_is_reported():
    graph, state = run_loop(0.0, 1.0)
    came = node_origins(simple_graph(graph), state.trace[-1].frames)
    assert sorted(number for number, _, _ in came.values()) == [0, 0, 1, 2, 3]
    for node, (number, by, score) in came.items():
        assert (by is None) == (number == 0)
        assert by is None or (by in simple_graph(graph).neighbours(node) and score is not None)
