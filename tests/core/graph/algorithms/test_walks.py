import numpy as np
import pytest

from core.errors import BadParameter
from core.graph.algorithms.walks import random_walks

A, B, C, D, E = range(5)


def visit_counts(graph, seeds, walks, steps, restart, direction, seed=0):
    return dict(
        zip(
            *(
                part.tolist()
                for part in random_walks(
                    graph, seeds, walks, steps, restart, direction, np.random.default_rng(seed)
                )
            )
        )
    )


def test_forced_walks_by_hand(toy):
    # D leads to D only, so three walks of two steps visit D 9 times. Against the triples E has no
    # step, so a walk ends there.
    assert visit_counts(toy, [D], 3, 2, 0.0, "out") == {D: 9}
    assert visit_counts(toy, [E], 3, 2, 0.0, "in") == {E: 3}
    assert visit_counts(toy, [E], 3, 2, 0.5, "in") == {E: 9}  # With restarts the walk begins again.
    assert visit_counts(toy, [E], 4, 1, 0.0, "out") == {E: 4, A: 4}
    assert visit_counts(toy, [E, D], 4, 0, 0.0, "out") == {D: 4, E: 4}
    assert visit_counts(toy, [B], 5, 3, 1.0, "both") == {B: 20}


def test_steps_are_uniform_over_edges(toy):
    # Out of A: B or C, half each. Both ways from D: to C once and to D twice, as the loop counts at
    # both ends.
    found = visit_counts(toy, [A], 20_000, 1, 0.0, "out")
    assert found[A] == 20_000 and found[B] == pytest.approx(10_000, abs=400)
    found = visit_counts(toy, [D], 30_000, 1, 0.0, "both")
    assert found[C] == pytest.approx(10_000, abs=400) and found[D] == pytest.approx(50_000, abs=400)


def test_restart_gives_pagerank(toy):
    # A long walk with restart 0.2 visits nodes as often as PageRank with damping 0.8 predicts.
    from core.graph.pagerank.top_nodes import pagerank_exact

    found = visit_counts(toy, [A], 40, 5_000, 0.2, "both")
    shares = np.array([found[node] for node in range(5)]) / sum(found.values())
    assert shares == pytest.approx(pagerank_exact(toy, [A]), abs=0.01)


def test_same_generator_same_walks_and_order(movies):
    first, again, other = (
        random_walks(movies, [7], 64, 4, 0.0, "both", np.random.default_rng(seed))
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again) and not np.array_equal(first[0], other[0])
    assert list(zip(-first[1], first[0])) == sorted(zip(-first[1], first[0]))


@pytest.mark.parametrize(
    "walks, steps, restart", [(0, 1, 0), (1, -1, 0), (1, 1, 1.5), (1, 1, -0.5)]
)
def test_unfit_parameters(toy, walks, steps, restart):
    with pytest.raises(BadParameter):
        visit_counts(toy, [A], walks, steps, restart, "out")
