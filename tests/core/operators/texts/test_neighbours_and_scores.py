"""Links, neighbours, incident relations, ends, PageRank and both aggregators, computed by hand.

Degrees: Cratchit 2, Fred 1, Marley 1, Scrooge 3, Tim 1. Weights: works for 3, partner of 2, the
others 1.
"""

import numpy as np
import pytest

from core.builds.merge.synonyms import SIMILAR_TO
from core.environment import Environment
from core.graph.building.build import build_in_memory
from core.graph.building.text_graph import assemble
from core.graph.columns import Table
from core.operators import OPERATORS
from core.operators.base import Context
from core.operators.texts import hits, scores
from core.operators.texts.hits import (
    LazyRanking,
    best_hits,
    count_fitting_texts,
    hits_within_budget,
)
from core.runtime.memory import memory_bytes as weighed
from core.types import Question, Ranking, State
from tests.films import Bag, Written
from tests.notes import NoteWith

LINKED = "NamesInQuestion() >> LinkNames()"


def at(told, **given):
    """A state in which these entities were found."""
    nodes = {told.graph.nodes_named(name)[0]: score for name, score in given.items()}
    order = sorted(nodes, key=lambda node: (-nodes[node], node))
    hits = Ranking("node", tuple(order), tuple(nodes[node] for node in order))
    return State(Question("q"), nodes=hits, linked=hits, seeds=hits.items)


def step(told, name, state, **parameters):
    """Return the state after one operator."""
    return OPERATORS[name](**parameters)(state, Context(told.graph, Environment(Written())))


def test_exact_name_is_linked_without_a_search(told):
    after = told.state(LINKED, "Is Fred there?")
    assert (
        told.names(after) == ["Fred"]
        and after.linked.scores == (1.0,)
        and after.trace[1].usage.texts == 0
    )


def test_other_name_is_linked_to_the_nearest_entity(told):
    state = State(Question("q"), names=("lonely man",))
    after = step(told, "LinkNames", state)
    expected = float(
        Bag().encode(["lonely man"])[0]
        @ Bag().encode(["Scrooge: person: A rich and lonely man."])[0]
    )
    assert told.names(after) == ["Scrooge"] and after.linked.scores[0] == pytest.approx(
        expected, abs=1e-3
    )
    none = step(told, "LinkNames", state, least=0.9)
    assert none.seeds == () and "near to no entity: 1" in none.trace[0].notes[0]


def test_searched_name_may_mean_another_entity():
    columns = {"type": ["person", "guest of fred"], "description": ["", ""]}
    # Their texts are “fred: person” and “topper: guest of fred”.
    graph = assemble("two", ["Fred", "Topper"], [], columns, {})
    state, context = State(Question("q"), names=("Fred",)), Context(graph, Environment(Written()))
    assert graph.names(OPERATORS["LinkNames"]()(state, context).seeds) == ["Fred"]
    after = OPERATORS["LinkNames"](spelt=False, least=0.4)(state, context)
    # One word of four is shared.
    assert graph.names(after.seeds) == ["Topper"] and after.linked.scores == pytest.approx((0.5,))
    assert OPERATORS["LinkNames"](spelt=False, least=0.6)(state, context).seeds == ()


def test_pagerank_restarts_by_similarity_or_by_specificity(told):
    # In-depth analysis, section 6.1: the restart probability of a node is its similarity to the
    # question's entities. Without damping it is the PageRank: 0.9 and 0.3 give 3/4 and 1/4. By
    # HippoRAG's specificity Scrooge has three chunks and Tim one: 1/4 and 3/4.
    state = at(told, Scrooge=0.9, Tim=0.3)
    for reset, wanted in (("scores", (0.75, 0.25)), ("specificity", (0.25, 0.75))):
        after = step(told, "PageRankNodes", state, reset=reset, damping=0.0)
        found = dict(zip(told.names(after), after.nodes.scores))
        assert (found["Scrooge"], found["Tim"]) == pytest.approx(wanted)


def test_neighbours_take_the_score_of_their_hit(told):
    after = step(told, "NeighbourNodes", at(told, Tim=0.9, Fred=0.5))
    assert dict(zip(told.names(after), after.nodes.scores)) == {
        "Tim": 0.9,
        "Cratchit": 0.9,
        "Fred": 0.5,
        "Scrooge": 0.5,
    }


def test_hits_come_before_their_neighbours(told):
    found = at(told, Tim=0.9, Fred=0.5)  # Tim's neighbour is Cratchit, Fred's is Scrooge.
    after = step(told, "NeighbourNodes", found, order="hits first")
    assert told.names(after) == ["Tim", "Fred", "Cratchit", "Scrooge"]
    assert after.nodes.scores == (0.9, 0.5, 0.5, 0.5)  # No neighbour scores above the last hit.
    assert told.names(step(told, "NeighbourNodes", found, order="hits first", keep=3)) == [
        "Tim",
        "Fred",
        "Cratchit",
    ]
    alone = step(told, "NeighbourNodes", found, order="hits first", itself=False)
    assert told.names(alone) == ["Cratchit", "Scrooge"]


def test_neighbours_can_exclude_the_hits(told):
    assert told.names(step(told, "NeighbourNodes", at(told, Tim=1.0), itself=False)) == ["Cratchit"]


def test_incident_relations_by_degrees_then_weight(told):
    after = step(told, "IncidentRelations", at(told, Scrooge=1.0))
    # Degrees and weights: 3 + 2 and 3; 3 + 1 and 2; 3 + 1 and 1. The weight counts as a fraction of
    # 1 + the largest weight.
    assert told.triples(after) == [
        "Cratchit -> works for -> Scrooge",
        "Scrooge -> partner of -> Marley",
        "Fred -> nephew of -> Scrooge",
    ]
    assert after.relations.scores == pytest.approx((5.75, 4.5, 4.25))


def test_incident_relations_within_a_budget(told):
    # "Cratchit copies letters for Scrooge." has 36 characters, 11 tokens; the next text 19
    # characters, 6 tokens.
    after = step(told, "IncidentRelations", at(told, Scrooge=1.0), budget=16)
    assert len(after.relations) == 1 and after.trace[0].notes == (
        NoteWith(1, "3 relations", "room"),
    )
    assert len(step(told, "IncidentRelations", at(told, Scrooge=1.0), budget=17).relations) == 2


def test_every_end_of_every_relation_is_kept(told):
    """The published code keeps only the last entity."""
    after = step(
        told, "EndpointNodes", State(Question("q"), relations=Ranking("triple", (3, 1), (0.9, 0.4)))
    )
    assert dict(zip(told.names(after), after.nodes.scores)) == {
        "Cratchit": 0.9,
        "Tim": 0.9,
        "Fred": 0.4,
        "Scrooge": 0.4,
    }


def test_pagerank_is_the_solution_of_its_equation(told):
    after = step(told, "PageRankNodes", at(told, Tim=1.0, Scrooge=1.0), damping=0.5)
    weights = np.zeros((5, 5))
    for head, tail, weight in ((0, 3, 3.0), (1, 3, 1.0), (3, 2, 2.0), (4, 0, 1.0)):
        weights[head, tail] = weights[tail, head] = weight
    step_to = weights / weights.sum(axis=1, keepdims=True)
    reset = np.array([0, 0, 0, 1 / 3, 1.0]) / (4 / 3)  # Scrooge is in three chunks, Tim in one.
    expected = np.linalg.solve(np.eye(5) - 0.5 * step_to.T, 0.5 * reset)
    found = dict(zip(after.nodes.items, after.nodes.scores))
    assert sum(found.values()) == pytest.approx(1.0) and [
        found[node] for node in range(5)
    ] == pytest.approx(expected, abs=1e-7)


def test_sum_reset_adds_two_normalised_vectors(told):
    # The question finds Scrooge and Tim.
    state = at(told, Tim=0.5, Fred=0.5).replace(nodes=Ranking("node", (3, 4), (0.6, 0.2)))
    after = step(told, "PageRankNodes", state, reset="sum", damping=0.0)
    # Linked: Tim 1/2, Fred 1/2. Found: Scrooge 3/4, Tim 1/4. Their sum 3/4, 1/2, 3/4 is divided by
    # two.
    assert dict(zip(told.names(after), after.nodes.scores)) == pytest.approx(
        {"Scrooge": 0.375, "Tim": 0.375, "Fred": 0.25}
    )


def test_entities_count_alike_without_a_link(told):
    state = State(Question("q"), linked=Ranking("node", (), ()))
    after = step(told, "PageRankNodes", state, damping=0.0)
    assert (
        after.nodes.scores == pytest.approx((0.2,) * 5)
        and "linked to no entity" in after.trace[0].notes[0]
    )


def test_max_reset_takes_the_larger_share(told):
    """FastGraphRAG's published code."""
    state = at(told, Tim=0.5, Fred=0.4).replace(nodes=Ranking("node", (3, 4), (0.6, 0.2)))
    after = step(told, "PageRankNodes", state, reset="max", damping=0.0)
    # Linked: Tim 1, Fred 1. Found: Scrooge 1.6 / 2 and Tim 1.2 / 2, scaled 4/7 and 3/7. The larger
    # of each is divided by 18/7.
    assert dict(zip(told.names(after), after.nodes.scores)) == pytest.approx(
        {"Fred": 7 / 18, "Tim": 7 / 18, "Scrooge": 4 / 18}
    )
    assert told.names(step(told, "PageRankNodes", state, reset="max", damping=0.0, least=0.3)) == [
        "Fred",
        "Tim",
    ]


def test_no_start_can_give_no_entities(told):
    state = State(Question("q"), linked=Ranking("node", (), ()), nodes=Ranking("node", (), ()))
    after = step(told, "PageRankNodes", state, reset="sum", without="none")
    assert after.nodes.items == () and "none is found" in after.trace[0].notes[0]


def test_relations_are_ranked_by_the_sum_of_ends(told):
    after = step(told, "RelationsFromNodes", at(told, Scrooge=0.5, Cratchit=0.3), keep=0)
    assert dict(zip(told.triples(after), after.relations.scores)) == pytest.approx(
        {
            "Cratchit -> works for -> Scrooge": 0.8,
            "Scrooge -> partner of -> Marley": 0.5,
            "Fred -> nephew of -> Scrooge": 0.5,
            "Tim -> son of -> Cratchit": 0.3,
        }
    )
    # Of equal ones the smaller id is first.
    assert told.triples(after)[1] == "Fred -> nephew of -> Scrooge"


def test_relations_are_cut_by_mentions(told):
    # works for (.8) is stated by two chunks; nephew of and partner of (.5) and son of (.3) by one
    # each.
    ends = at(told, Scrooge=0.5, Cratchit=0.3)
    kept = [
        len(step(told, "RelationsFromNodes", ends, keep=keep, mentions=True).relations)
        for keep in (1, 2, 3, 4, 5, 0)
    ]
    assert kept == [1, 1, 2, 3, 4, 4]


def test_chunks_are_ranked_by_the_sum_of_relations(told):
    # Chunks by relation: works for 1, 2; partner of 0; son of 2.
    relations = Ranking("triple", (0, 2, 3), (0.8, 0.5, 0.3))
    after = step(told, "ChunksFromRelations", State(Question("q"), relations=relations), keep=2)
    # 0.5, 0.8 and 1.1 (and 0 for the turkey) are divided by 1.1.
    assert told.ids(after) == ["carol#2", "carol#1"] and after.chunks.scores == pytest.approx(
        (1.0, 0.8 / 1.1)
    )
    assert len(after.trace[0].before_cut) == 3


def test_relations_without_chunks_give_none():
    graph = build_in_memory([("a", "r", "b")], "bare")
    state = State(Question("q"), relations=Ranking("triple", (0,), (1.0,)))
    assert (
        OPERATORS["ChunksFromRelations"]()(
            state, Context(graph, Environment(Written()))
        ).chunks.items
        == ()
    )


def test_equal_chunks_keep_their_order(told):
    """The published code lists the last first."""
    relations = Ranking("triple", (0,), (0.8,))
    assert told.ids(
        step(told, "ChunksFromRelations", State(Question("q"), relations=relations))
    ) == ["carol#1", "carol#2"]


def test_large_rankings_are_ordered_lazily(told, monkeypatch):
    monkeypatch.setattr(hits, "MAX_HITS_NAMED", 2)  # The bound is below the number of relations.
    ends = at(told, Scrooge=0.5, Cratchit=0.3)
    chunks = lambda found: step(told, "ChunksFromRelations", found)
    small = step(told, "RelationsFromNodes", ends, keep=0)
    monkeypatch.setattr(scores, "MAX_EDGES_SOLVED", 0)
    monkeypatch.setattr(scores, "MAX_EDGES_UNCOMPILED", 0)
    large = step(told, "RelationsFromNodes", ends, keep=0)
    after = chunks(large)
    # It is not ordered to compute its weight either.
    assert "_ordered" not in vars(large.relations) and weighed(large.relations) < 1000
    assert after.chunks.items == chunks(small).chunks.items
    assert after.chunks.scores == pytest.approx(chunks(small).chunks.scores, abs=1e-12)
    assert (
        large.trace[0].notes == small.trace[0].notes
        and large.trace[0].sizes == small.trace[0].sizes
    )
    assert (
        large.relations.items == small.relations.items
        and large.relations.scores == small.relations.scores
    )
    assert (
        large.relations.positions == small.relations.positions and large.relations.score(1) == 0.5
    )


@pytest.mark.parametrize("budget", [0, 1, 5, 12, 20, 300])
def test_lazy_ranking_is_cut_at_the_same_item(budget):
    """There are ties, and many items without text, so that more items than tokens fit."""
    rng = np.random.default_rng(budget)
    ids, values = rng.permutation(300), rng.integers(0, 9, 300) / 8
    texts = ["" if id % 3 else "x" * (id % 40) for id in range(300)]
    late, early = LazyRanking("triple", ids, values), best_hits("triple", ids, values)
    found = hits_within_budget(late, lambda items: [texts[item] for item in items], budget)
    assert (
        found.items
        == early.items[: count_fitting_texts([texts[item] for item in early.items], budget)]
    )
    assert found.scores == early.scores[: len(found)] and [
        late.head(k).items for k in (0, 7, 400)
    ] == [early.head(k).items for k in (0, 7, 400)]


def test_similarity_edges_of_large_graphs_give_no_passage(monkeypatch):
    triples = [
        ("ann", "knows", "bob"),
        ("ann", SIMILAR_TO, "anne"),
        ("bob", "knows", "anne"),
        ("dan", "knows", "eve"),
    ]
    nodes = ["ann", "anne", "bob", "dan", "eve"]
    chunks = Table.from_columns(id=["c0", "c1"], document=["d", "d"], text=["one", "two"])
    graph = assemble("alike", nodes, triples, {}, {"chunks": [[0], [], [0, 1], [1]]}, chunks)
    context = Context(graph, Environment(Written()))
    state = State(Question("q"), nodes=Ranking("node", (0, 2), (0.5, 0.25)))
    found = []
    for most in (10, 0):
        monkeypatch.setattr(scores, "MAX_EDGES_SOLVED", most)
        monkeypatch.setattr(scores, "MAX_EDGES_UNCOMPILED", most)
        for alike in (False, True):
            after = OPERATORS["RelationsFromNodes"](keep=0, alike=alike)(state, context)
            chunk = OPERATORS["ChunksFromRelations"]()(after, context).chunks
            found.append(
                (
                    graph.triple_texts(after.relations.items),
                    after.relations.scores,
                    chunk.items,
                    chunk.scores,
                )
            )
    assert found[0] == found[2] and found[1] == found[3]
    assert (
        found[0][:2] == (["ann -> knows -> bob", "bob -> knows -> anne"], (0.75, 0.25))
        and len(found[1][0]) == 3
    )
    assert found[0][2:] == ((0, 1), (1.0, 0.0))  # .75 is the best, and .25 the second and last.
