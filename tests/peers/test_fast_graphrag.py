"""fast-graphrag 0.0.5 compared with `fastgraphrag-original` on 400 passages and 40 questions.

The “is” edges are equal, and so are the entities of all questions with their scores. Relations are
equal except for ties: where 64 mentions leave no room for all of one score, it picks some at random
and Hopscope by id. Passages follow the relations. Its vector search is made exhaustive, which it is
not by default. It has an edge for each mention, Hopscope one edge whose weight is their number.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from core.builds.base import BuildContext, BuildState
from core.builds.merge.synonyms import AddIdentityEdges
from tests.films import Parrot
from tests.peers.compared import ComparisonModels, after, agreement, found, graph, ordered, recorded
from tests.peers.given import given

pytestmark = pytest.mark.usefixtures("home")
ROW = "fastgraphrag-original"
NEAR = 2e-4  # Tolerance of a score.


@cache
def recorded_results():
    return recorded("fast_graphrag")


@cache
def linked_graph():
    """The given graph with relations weighted by mentions, and Hopscope's “is” edges."""
    edges = graph().columns.edges.with_columns(
        weight=[float(len(one[5])) for one in given()["relations"]]
    )
    mentions = replace(graph(), columns=graph().columns.replace(edges=edges))
    made = BuildState(SimpleNamespace(name="given"), None, None, mentions)  # type: ignore[arg-type]
    return AddIdentityEdges().apply(made, BuildContext(ComparisonModels(Parrot("")))).graph


@cache
def states():
    return [
        after(one, ROW, {"names": one["low"]}, on=linked_graph()) for one in given()["questions"]
    ]


def ends(edges):
    """Ids of both ends of edges, the smaller first."""
    heads, _, tails = linked_graph().triples(np.array(edges, np.int64))
    return [tuple(sorted(pair)) for pair in zip(heads.tolist(), tails.tolist())]


def unique_relations(one):
    """Its retrieved relations without duplicates."""
    return list(dict.fromkeys(map(tuple, one["relations"])))


def test_identity_edges_are_equal():
    texts = linked_graph().columns.edges.texts("description")
    assert sorted(
        ends([edge for edge in range(linked_graph().n_edges) if texts[edge] == "is"])
    ) == sorted(map(tuple, recorded_results()["is"]))
    assert len(recorded_results()["is"]) == 27


def test_entities_and_scores_are_equal():
    for state, one in zip(states(), recorded_results()["asked"], strict=True):
        scores = dict(zip(state.nodes.items, state.nodes.scores))
        assert scores == pytest.approx(dict(zip(one["entities"], one["scores"])), abs=NEAR)
        assert ordered(scores, one["entities"], NEAR)


def test_relations_differ_only_in_ties_at_the_budget():
    for state, one in zip(states(), recorded_results()["asked"]):
        scores = dict(zip(one["entities"], one["scores"]))
        mine, its = (
            {pair: round(sum(scores.get(end, 0.0) for end in pair), 5) for pair in some}
            for some in (ends(state.relations.items), unique_relations(one))
        )
        assert len(one["relations"]) <= 64
        least = min(its.values())
        assert {pair for pair in mine if mine[pair] > least} == {
            pair for pair in its if its[pair] > least
        }


def test_questions_without_ties_are_counted():
    ours = [found(state) for state in states()]
    relations = agreement(
        [ends(one["relations"]) for one in ours],
        [unique_relations(one) for one in recorded_results()["asked"]],
    )
    assert relations == {"order": 2, "set": 16, "other": 22}
    assert agreement(
        [one["chunks"] for one in ours], [one["chunks"] for one in recorded_results()["asked"]]
    ) == {"order": 17, "set": 5, "other": 18}
