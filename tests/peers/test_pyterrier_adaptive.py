"""pyterrier-adaptive compared with Hopscope's GAR: equal batches and equal rankings.

Of equal scores both take the neighbour that comes first in the corpus graph. Initial hits that were
not read come last here. There they would too, but its ranking ends at the budget.
"""

from __future__ import annotations

import pytest

from core.operators.nodes.adaptive_reranking import rerank_adaptively
from tests.peers.compared import cases

CASES = cases("pyterrier_adaptive")


def test_many_cases_have_equal_scores():
    assert (
        sum(len(set(case["scores"].values())) < len(case["scores"]) for case in CASES)
        == len(CASES) / 2
    )


@pytest.mark.parametrize("case", CASES, ids=[str(number) for number in range(len(CASES))])
def test_batches_and_ranking_are_equal(case):
    names = sorted(case["near"])
    ids = {name: place for place, name in enumerate(names)}
    found = rerank_adaptively(
        {ids[name]: score for name, score in case["first"].items()},
        lambda node: [ids[name] for name in case["near"][names[node]]],
        lambda nodes: [case["scores"][names[node]] for node in nodes],
        case["budget"],
        case["batch"],
    )
    assert [[names[node] for node in part] for _, part in found.batches] == case["batches"]
    assert [names[node] for node in found.rank_nodes({}).items] == case["order"]
