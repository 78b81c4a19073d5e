"""HippoRAG 2's passages by PageRank from facts, with hand-computed restarts.

Edges between similar names are no facts.
"""

from dataclasses import replace

import numpy as np
import pytest

from core.builds.merge.synonyms import SIMILAR_TO
from core.graph.building.text_graph import assemble
from core.graph.columns import Table
from core.graph.texts import chunks_of
from core.indexes import vectors
from core.operators.texts import facts
from core.operators.texts.facts import _make_passage_links
from core.types import Question, Ranking, State
from tests.films import Bag


def graph():
    """A graph of four entities in three chunks.

    A - B is in chunks 0 and 1, B - C in chunk 1. A and C are similar. D has no facts and is similar
    to A.
    """
    ids = ["c0", "c1", "c2"]
    chunks = Table.from_columns(
        id=ids,
        document=ids,
        title=[""] * 3,
        text=["A knows B", "A knows B likes C", "nothing here"],
        tokens=[3, 5, 2],
    )
    triples = [
        ("A", "knows", "B"),
        ("A", SIMILAR_TO, "C"),
        ("A", SIMILAR_TO, "D"),
        ("B", "likes", "C"),
    ]
    edges = {"weight": [2.0, 0.9, 0.8, 1.0], "chunks": [[0, 1], [0, 1], [0, 1], [1]]}
    nodes = {"type": [""] * 4, "description": [""] * 4, "chunks": [[0, 1], [0, 1], [1], [2]]}
    return assemble("facts", ["A", "B", "C", "D"], triples, nodes, edges, chunks)


def state(relations, question="knows"):
    return State(
        Question(question),
        relations=Ranking("triple", relations, (1.0,) * len(relations)),
        vector=Bag().encode([question])[0],
    )


def test_edge_weights_count_facts_in_both_directions():
    links = _make_passage_links(graph())
    heads = np.repeat(np.arange(7), np.diff(links.out_indptr))
    told = {
        (int(a), int(b)): float(w)
        for a, b, w in zip(heads, links.tails, links.out_weights)
        if a < b
    }
    # A B: two facts, counted twice; A C: .9 twice; B C: one fact, twice. Each entity is linked with
    # the passages of its facts, D with none.
    assert told == {
        (0, 1): 4,
        (0, 2): pytest.approx(1.8),
        (1, 2): 2,
        (0, 4): 1,
        (0, 5): 1,
        (1, 4): 1,
        (1, 5): 1,
        (2, 5): 1,
    }


def test_restarts_are_fact_means_divided_by_passages(told):
    # "knows": A knows B 1 / sqrt 3, scaled to 1; B likes C 0. A: 1 / 2 passages; B: (1 + 0) / 2
    # facts / 2 passages; C: 0.
    found = told.one("PassagesOfFacts", state((0, 3)), on=graph())
    assert dict(zip(found.nodes.items, found.nodes.scores)) == {0: 0.5, 1: 0.25, 2: 0.0}
    assert told.one("PassagesOfFacts", state((0, 3)), on=graph(), ends=1).nodes.items == (0,)
    # Without damping the restart remains: passages weigh .05 of their own score, and chunk 0 (1 /
    # sqrt 3) is scaled to 1.
    alone = told.one("PassagesOfFacts", state((0,)), on=graph(), damping=0.0, ends=1).chunks
    assert alone.items == (0, 1, 2)
    assert (
        alone.scores[0] == pytest.approx(0.05 / (0.5 + 0.05 * (1 + (3 / 5) ** 0.5)), abs=1e-5)
        and alone.scores[2] == 0.0
    )


def test_no_fact_gives_the_nearest_passages(told):
    found = told.one("PassagesOfFacts", state((), "nothing"), on=graph(), keep=1)
    assert found.chunks.items == (2,) and len(found.nodes) == 0
    assert "no fact" in found.trace[-1].notes[0]


def test_similarity_edges_are_no_hits(told):
    found = told.one("VectorRelations", state((), "similar"), on=graph(), keep=4).relations
    assert sorted(found.items) == [0, 3] and len(chunks_of(graph(), "edges")[1]) == 2


def test_push_on_a_large_graph_finds_equal_passages(told, monkeypatch):
    solved = told.one("PassagesOfFacts", state((0, 3)), on=graph())
    monkeypatch.setattr(facts, "MAX_EDGES_SOLVED", 0)
    pushed = told.one("PassagesOfFacts", state((0, 3)), on=graph())
    assert pushed.chunks.items == solved.chunks.items and pushed.nodes.items == solved.nodes.items
    assert pushed.chunks.scores == pytest.approx(solved.chunks.scores, abs=0.01)
    assert "was left to push" in pushed.trace[-1].notes[-1]


def test_scores_from_some_facts_are_approximate(told, monkeypatch):
    monkeypatch.setattr(vectors, "VECTOR_INDEX", replace(vectors.VECTOR_INDEX, max_exact_vectors=1))
    found = told.one("PassagesOfFacts", state((0, 3)), on=graph())
    assert dict(zip(found.nodes.items, found.nodes.scores)) == pytest.approx(
        {0: 0.5, 1: 0.25, 2: 0.0}, abs=0.02
    )
    assert "between the nearest and the farthest" in " ".join(found.trace[-1].notes)
