"""LightRAG 1.5.7 compared with its rows of the catalogue on 400 passages and 40 questions.

Entities, relations and passages are equal and in equal order, except where the table of counts says
so:

- Relations of local search whose ends have one degree and whose weight is one follow the order of
  entities there, and ids here.
- Hopscope keeps vectors in half precision, so items whose cosines differ by less than .0001 may
  swap.
- Its token budgets count the JSON of a hit. Hopscope's count the row of the prompt's tables, which
  for relations also has keywords and weight.
"""

from __future__ import annotations

from functools import cache

import pytest

from core.graph.texts import hit_texts
from core.operators.texts.neighbours import endpoint_degrees
from tests.peers.compared import after, agreement, found, graph, ordered, recorded
from tests.peers.given import given

ROWS = {
    "local": "l-lightrag-program",
    "global": "g-lightrag-program",
    "hybrid": "h-lightrag-program",
    "mix": "m-lightrag-program",
}
ALL, BY_SCORE = {"order": 40}, {"order": 4, "set": 36}
COUNTS = {
    "local": {"entities": {"order": 39, "set": 1}, "relations": BY_SCORE, "chunks": ALL},
    "global": {"entities": ALL, "relations": {"order": 38, "set": 2}, "chunks": ALL},
    "hybrid": {"entities": {"order": 39, "set": 1}, "relations": BY_SCORE, "chunks": ALL},
    "mix": {"entities": {"order": 39, "set": 1}, "relations": BY_SCORE, "chunks": ALL},
}
HALF = 1e-4  # Difference of cosines in half precision.


@pytest.fixture
def recorded_results(home):
    return recorded("lightrag")


@cache
def states(mode: str, budgets: bool = False):
    values = {} if budgets else {"Truncate": {"budget": 0}}
    return [after(one, ROWS[mode], **values) for one in given()["questions"]]


@pytest.mark.parametrize("mode", ROWS)
def test_hits_agree_in_the_counted_questions(recorded_results, mode):
    ours = [found(state) for state in states(mode)]
    told = {
        kind: agreement([one[kind] for one in ours], [one[kind] for one in recorded_results[mode]])
        for kind in COUNTS[mode]
    }
    assert told == COUNTS[mode]


def test_local_relations_change_order_only_in_ties(recorded_results):
    for state, one in zip(states("local"), recorded_results["local"]):
        edges = found(state)["relations"]
        scores = dict(zip(edges, endpoint_degrees(graph(), edges).tolist()))
        assert ordered(scores, one["relations"])


@pytest.mark.parametrize("mode, kind", [("local", "entities"), ("global", "relations")])
def test_vector_hits_change_order_only_by_half_precision(recorded_results, mode, kind):
    for state, one in zip(states(mode), recorded_results[mode]):
        hits = state.nodes if kind == "entities" else state.relations
        assert ordered(dict(zip(hits.items, hits.scores)), one[kind], HALF)


def test_budgets_give_equal_passages_and_more_relations(
    recorded_results,
):
    ours, told = (
        [found(state) for state in states("mix", budgets=True)],
        recorded_results["as it is"],
    )
    assert agreement([one["chunks"] for one in ours], [one["chunks"] for one in told]) == {
        "order": 40
    }
    assert agreement([one["entities"] for one in ours], [one["entities"] for one in told]) == {
        "order": 39,
        "set": 1,
    }
    more = [len(mine["relations"]) - len(one["relations"]) for mine, one in zip(ours, told)]
    assert (more.count(0), max(more), min(more)) == (20, 28, 0)
    # A budget of 0 would have no limit.
    assert all(all(hit_texts(graph(), "triple", one["relations"])) for one in ours)


def test_gold_passages_in_the_top_ten_are_equal(recorded_results):
    """Passage recall on these word-count vectors, equal on both sides."""
    gold = [set(one["gold"]) for one in given()["questions"]]
    share = lambda hits: (
        sum(len(known & set(one["chunks"][:10])) / len(known) for known, one in zip(gold, hits))
        / len(gold)
    )
    for mode in ROWS:
        assert share([found(state) for state in states(mode)]) == share(recorded_results[mode])
