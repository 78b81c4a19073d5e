import numpy as np

from core.graph.pagerank.top_nodes import pagerank_exact
from tests.benchmarks.truth import best_nodes


def test_the_same_best_as_one_by_one(movies):
    rng = np.random.default_rng(4)
    questions = [
        tuple(rng.choice(movies.n_nodes, size, replace=False).tolist()) for size in (1, 3) * 9
    ]
    for seeds, nodes in zip(questions, best_nodes(movies, questions, 300, 0.8)):
        exact = pagerank_exact(movies, seeds, 0.8, "both")
        last = np.sort(exact)[-300]
        assert (
            set(np.flatnonzero(exact > last * 1.0001))
            <= set(nodes)
            <= set(np.flatnonzero(exact >= last * 0.9999))
        )
