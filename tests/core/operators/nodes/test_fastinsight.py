"""FastInsight with hand-computed values: GRanker, STeX, and the loop of both."""

import numpy as np
import pytest

from core.errors import BadParameter
from core.graph.algorithms.simple_graph import SimpleGraph, simple_graph
from core.methods.catalogue import published_methods, read_methods, toml_row
from core.operators.loop import Loop
from core.operators.nodes.expansion import ExpandNodes, best_neighbours, structure_scores
from core.operators.nodes.page_rank import SimilarPageRank
from core.operators.nodes.reason_and_retrieve import ReasonAndRetrieve
from core.operators.nodes.smoothing import GraphRerank, smooth_states
from core.operators.text import parse_line
from core.operators.texts.question import EmbedQuery
from core.types import Ranking
from tests.core.one_state import freeze, thaw
from tests.core.operators.nodes.kit import TEXTS, Reranker, RerankerModels, corpus_graph, named, run
from tests.films import Picker
from tests.notes import NoteWith


def ranking(graph, *names):
    return Ranking(
        "node", named(graph, *names), tuple(float(-place) for place in range(len(names)))
    )


def test_links_are_undirected_without_loops():
    links = simple_graph(corpus_graph(links=[("a", "b"), ("b", "a"), ("a", "a"), ("a", "c")]))
    assert (
        links.neighbours(0).tolist() == [1, 2]
        and links.neighbours(1).tolist() == [0]
        and links.degrees(np.arange(3)).tolist() == [2, 1, 1]
    )


def test_smoothing_weights_neighbours_by_inverse_degree():
    # d was found with b and e, of degrees 2 and 1: row P has 1/2 : 1, so 1/3 and 2/3. b and e have
    # only d as a neighbour.
    graph = corpus_graph()
    nodes = np.array(named(graph, "d", "b", "e"))
    states = np.array([[0.0, 6.0], [0.0, 3.0], [3.0, 0.0]])
    mixed = smooth_states(states, np.array([1, 2, 0]), nodes, simple_graph(graph), 0.2)
    assert mixed == pytest.approx(
        np.array([[0.2, 0.8 * 3 + 0.2 * 4], [0.8 * 3, 0.2 * 3], [0.0, 0.8 * 6 + 0.2 * 3]])
    )


@pytest.mark.parametrize("lonely, wanted", [("keep", 3.0), ("shrink", 2.4)])
def test_node_without_links_follows_the_setting(lonely, wanted):
    graph = corpus_graph()
    states, nodes = np.array([[3.0], [1.0]]), np.array(named(graph, "f", "g"))
    assert smooth_states(states, np.arange(2), nodes, simple_graph(graph), 0.2, lonely)[
        0, 0
    ] == pytest.approx(wanted)


def test_head_scores_smoothed_states():
    # a (-2, 4) scores 2 - 2 = 0 and b (2, 0) scores 2. Their mixed state (0, 2) scores 2 for both,
    # but their mixed scores would be 1.
    graph, models = (
        corpus_graph(),
        RerankerModels(Reranker({TEXTS["a"]: (-2.0, 4.0), TEXTS["b"]: (2.0, 0.0)})),
    )
    found = run(
        [GraphRerank(alpha=0.5)], graph=graph, models=models, nodes=ranking(graph, "a", "b")
    ).nodes
    # Ties keep their earlier order.
    assert found.scores == (2.0, 2.0) and found.items == named(graph, "a", "b")


def test_no_smoothing_equals_the_reranker():
    graph, models = (
        corpus_graph(),
        RerankerModels(Reranker({TEXTS["b"]: (1.0, 1.0), TEXTS["f"]: (3.0, 0.0)})),
    )
    state = run(
        [GraphRerank(alpha=0.0)], graph=graph, models=models, nodes=ranking(graph, "a", "b", "f")
    )
    assert graph.names(state.nodes.items) == ["f", "b", "a"] and state.nodes.scores == (
        3.0,
        2.0,
        0.0,
    )


def test_node_is_read_once_per_question():
    graph, reranker = corpus_graph(), Reranker({})
    state = run(
        [GraphRerank()],
        graph=graph,
        models=RerankerModels(reranker),
        nodes=ranking(graph, "a", "b"),
    )
    run(
        [GraphRerank()],
        graph=graph,
        models=RerankerModels(reranker),
        nodes=ranking(graph, "b", "c", "a"),
        hidden=state.hidden,
    )
    assert reranker.asked == [TEXTS["a"], TEXTS["b"], TEXTS["c"]] and reranker.units == {"document"}


def test_chooser_without_hidden_states_is_refused():
    graph = corpus_graph()
    with pytest.raises(BadParameter, match="no scores"):
        run(
            [GraphRerank()],
            graph=graph,
            models=RerankerModels(Picker("x")),
            nodes=ranking(graph, "a"),
        )


def test_structure_score_of_a_worked_example():
    # N = [a, b, c]; n is linked with b and c and has degree 5: 1 - 1/2 and (2 - 1) / (3 - 1). A
    # cosine of .3 adds to 1.3.
    star = SimpleGraph(
        np.array([0, 0, 1, 2, 7, 8, 9, 10]), np.array([3, 3, 1, 2, 4, 5, 6, 3, 3, 3])
    )
    fresh, structure = structure_scores(np.array([0, 1, 2]), star)
    assert (fresh.tolist(), structure.tolist()) == ([3], [1.0])
    found, total = best_neighbours((0, 1, 2), star, lambda nodes: np.full(len(nodes), 0.3), 1.0)
    assert total == 1 and found.items == (3,) and found.scores == (1.3,)


def test_best_ranked_neighbour_counts():
    # The ranking of four is e, c, a, f. b has 2 links, of which a (third) is ranked: 1 - 2/3 and 0.
    # d has 3 links, of which e (first) and c are ranked: 1 and 1/2.
    graph = corpus_graph()
    fresh, structure = structure_scores(
        np.array(named(graph, "e", "c", "a", "f")), simple_graph(graph)
    )
    assert dict(zip(graph.names(fresh), structure)) == pytest.approx({"b": 1 / 3, "d": 1.5})


def test_single_node_has_no_structure_score():
    fresh, structure = structure_scores(np.array([0]), simple_graph(corpus_graph()))
    assert sorted(fresh.tolist()) == [1, 2] and structure.tolist() == [0.0, 0.0]


def random_graph(seed):
    """A random graph of up to 30 nodes, some of them isolated, and a ranking of some nodes."""
    rng = np.random.default_rng(seed)
    names = [f"{number:02}" for number in range(rng.integers(2, 30))]
    links = np.unique(rng.integers(0, len(names), (rng.integers(0, 60), 2)), axis=0)
    graph = corpus_graph(
        dict.fromkeys(names, "text"), [(names[a], names[b]) for a, b in links.tolist()]
    )
    return rng, simple_graph(graph), rng.permutation(len(names))[: rng.integers(1, len(names) + 1)]


def test_more_steps_approach_the_solved_states():
    # d was found with b and e: P has the row (0, 1/3, 2/3) for d and (1, 0, 0) for the others.
    # With alpha 1/2 two steps give d = 1/2 * 6 + 1/2 * (1/3 * 4.5 + 2/3 * 3) = 4.75, where b and e
    # are 4.5 and 3 after the first one. f has no links and stays.
    graph = corpus_graph()
    links = simple_graph(graph)
    nodes = np.array(named(graph, "d", "b", "e", "f"))
    states = np.array([[6.0], [3.0], [0.0], [2.0]])
    propagation = np.array([[0, 1 / 3, 2 / 3, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]])

    def smooth(steps: int, lonely: str = "keep") -> np.ndarray:
        return smooth_states(states, np.arange(4), nodes, links, 0.5, lonely, steps)

    assert smooth(2)[:, 0] == pytest.approx([4.75, 1.5 + 1.75, 1.75, 2.0])
    # The minimum of the paper's objective, with lambda = 1.
    wanted = np.linalg.inv(np.eye(4) + np.eye(4) - propagation) @ states
    assert smooth(0) == pytest.approx(wanted)
    assert smooth(60) == pytest.approx(wanted)
    assert smooth(0, "shrink")[3, 0] == smooth(5, "shrink")[3, 0] == pytest.approx(1.0)
    assert np.array_equal(smooth(1), smooth_states(states, np.arange(4), nodes, links, 0.5))


def test_states_without_a_single_minimum_are_refused():
    with pytest.raises(BadParameter, match="alpha 1"):
        GraphRerank(alpha=1.0, steps=0)


@pytest.mark.parametrize("seed", range(12))
def test_smoothing_equals_its_matrix_product(seed):
    rng, links, nodes = random_graph(seed)
    near = np.array([[other in links.neighbours(node) for other in nodes] for node in nodes], float)
    # This is the matrix product of A and the inverse of D.
    weights = near / np.maximum(links.degrees(nodes), 1)
    sums = weights.sum(1, keepdims=True)
    states = rng.normal(size=(len(nodes), 3))
    wanted = np.where(
        sums > 0, 0.7 * states + 0.3 * weights @ states / np.where(sums > 0, sums, 1), states
    )
    rows = rng.permutation(len(nodes))
    assert smooth_states(states[np.argsort(rows)], rows, nodes, links, 0.3) == pytest.approx(wanted)


@pytest.mark.parametrize("seed", range(12))
def test_structure_equals_its_formula(seed):
    _, links, found = random_graph(seed)
    wanted = {}
    for node in set(range(len(links))) - set(found.tolist()):
        ranks = [
            rank for rank, other in enumerate(found.tolist(), 1) if other in links.neighbours(node)
        ]
        if ranks:
            most = min(len(links.neighbours(node)), len(found))
            wanted[node] = 1 - (ranks[0] - 1) / (len(found) - 1) if len(found) > 1 else 0.0
            wanted[node] += (len(ranks) - 1) / (most - 1) if most > 1 else 0.0
    fresh, structure = structure_scores(found, links)
    assert len(fresh) == len(wanted) and dict(
        zip(fresh.tolist(), structure.tolist())
    ) == pytest.approx(wanted)


def test_neighbours_come_after_the_hits():
    # The ranking is d, a. b and c are linked with both (1 + 1), e with d alone (1 + nothing, as its
    # degree is 1). "plums" is in b.
    graph = corpus_graph()
    state = run([EmbedQuery(), ExpandNodes(keep=2)], "plums", graph, nodes=ranking(graph, "d", "a"))
    assert graph.names(state.nodes.items) == ["d", "a", "b", "c"]
    order = state.trace[-1].before_cut
    assert graph.names(order.items) == ["b", "c", "e"] and order.scores[1] == pytest.approx(2.0)
    assert order.scores[0] == pytest.approx(2 + 1 / 3**0.5, abs=1e-3) and order.scores[
        2
    ] == pytest.approx(1.0)


def test_isolated_node_adds_only_similar_nodes():
    graph = corpus_graph()
    state = run([EmbedQuery(), ExpandNodes()], "cheese", graph, nodes=ranking(graph, "g"))
    assert graph.names(state.nodes.items) == ["g"] and state.trace[-1].notes == (
        "No neighbour is left.",
    )
    state = run(
        [EmbedQuery(), ExpandNodes(keep=1, backfill="vector")],
        "cheese",
        graph,
        nodes=ranking(graph, "g"),
    )
    assert graph.names(state.nodes.items) == ["g", "f"]


LINE = (
    "EmbedQuery() >> VectorNodes(keep=1) >> GraphRerank() >> Loop(body=ExpandNodes(keep=2) >> "
    "GraphRerank(), budget={})"
)


def test_loop_stops_at_the_budget():
    graph, reranker = corpus_graph(), Reranker({})
    state = run(LINE.format(4), "pears and apples", graph, RerankerModels(reranker))
    # The loop adds 2 nodes, then 1 of the remaining 2.
    assert graph.names(state.nodes.items) == ["a", "b", "c", "d"] and len(reranker.asked) == 4


def test_loop_ends_at_the_end_of_the_component():
    graph = corpus_graph()
    state = run(LINE.format(100), "apples", graph)
    assert sorted(graph.names(state.nodes.items)) == ["a", "b", "c", "d", "e"]
    assert state.trace[-1].notes[-1] == NoteWith("No node is left", 5, 100)


def test_loop_ends_for_an_unmatched_question():
    assert len(run(LINE.format(100), "zebra").nodes) == 5


def test_frames_show_new_nodes_and_scores_per_batch():
    graph = corpus_graph()
    step = run(LINE.format(100), "apples cider", graph).trace[-1]
    assert [frame.title for frame in step.frames] == [
        "Start",
        "Round 1: ExpandNodes",
        "Round 2: ExpandNodes",
    ]
    first = step.frames[1]
    assert graph.names(step.frames[0].ranking.items) == ["c"] and graph.names(
        first.ranking.items
    ) == ["a", "d"]
    assert first.ranking.scores == first.before_cut.scores[:2] and first.considered == 2


def test_loop_may_begin_with_another_operator():
    body = LINE.format(5).replace(
        "ExpandNodes(keep=2) >> GraphRerank()", "GraphRerank() >> ExpandNodes(keep=2)"
    )
    assert sorted(corpus_graph().names(run(body, "apples").nodes.items)) == [
        "a",
        "b",
        "c",
        "d",
        "e",
    ]


@pytest.mark.parametrize(
    "operator", [ExpandNodes(), SimilarPageRank(), ReasonAndRetrieve()], ids=repr
)
def test_vector_of_another_encoder_is_refused(operator):
    state = run([EmbedQuery()], "apples", corpus_graph())
    for vector in (state.vector[:4], np.tile(state.vector, 2)):
        with pytest.raises(BadParameter, match="different encoders"):
            run(
                [operator],
                "apples",
                corpus_graph(),
                nodes=ranking(corpus_graph(), "a"),
                vector=vector,
            )


def test_loop_is_parsed_again_and_endless_ones_refused():
    line = parse_line(LINE.format(50))
    assert parse_line(repr(line)) == line
    with pytest.raises(BadParameter, match="finds nodes"):
        Loop((parse_line("EmbedQuery()").operators[0],))
    with pytest.raises(BadParameter, match="Loop cannot stand in a loop"):
        Loop((Loop(),))
    with pytest.raises(
        BadParameter, match="A loop has no parameter “budgets”. Did you mean “budget”"
    ):
        parse_line("BuiltGraph() >> Loop(budgets=3)")


def test_word_search_loop_ends_for_an_unmatched_question():
    state = run(
        "EmbedQuery() >> SparseNodes(by='bm25') >> GraphRerank() >> Loop() >> DocumentsOfNodes()",
        "zebra",
    )
    assert len(state.nodes) == 0 and len(state.chunks) == 0
    assert state.trace[3].notes == (NoteWith("No node is left", 0, 100),)


def test_loop_is_saved_and_loaded(tmp_path):
    import tomli_w

    method = published_methods()["fastinsight"]
    file = tmp_path / "own.toml"
    file.write_text(tomli_w.dumps({"mine": toml_row(method)}), "utf-8")
    assert read_methods(file)["mine"].line == method.line


def test_cases_do_not_save_hidden_states():
    graph = corpus_graph()
    state = run(LINE.format(4), "apples", graph)
    assert state.hidden is not None and thaw(freeze(state, graph), graph).hidden is None


def test_method_has_the_papers_settings():
    line = published_methods()["fastinsight"].line
    loop = next(operator for operator in line if isinstance(operator, Loop))
    assert loop.budget == 100 and (loop.body[0].keep, loop.body[0].beta) == (10, 1.0)
    assert loop.body[1] == GraphRerank() and GraphRerank().alpha == 0.2
