"""Effects of single settings on the story, each compared with its default.

Relations with their weights:

    Cratchit --works for (3)--> Scrooge --partner of (2)--> Marley
    Fred --nephew of (1)--> Scrooge
    Tim --son of (1)--> Cratchit
"""

import pytest

from core.types import Path, Question, Ranking, State
from tests.core.operators.scripted import Script
from tests.core.operators.texts.test_methods_kg import passages
from tests.core.operators.texts.test_neighbours_and_scores import at
from tests.films import Written


@pytest.mark.parametrize(
    "settings, names",
    [
        ({}, ["Cratchit", "Fred", "Marley", "Scrooge"]),
        ({"direction": "out"}, ["Marley", "Scrooge"]),
        ({"direction": "in"}, ["Cratchit", "Fred", "Scrooge"]),
        ({"direction": "out", "hops": 2}, ["Marley", "Scrooge"]),
        ({"direction": "in", "hops": 2}, ["Cratchit", "Fred", "Scrooge", "Tim"]),
    ],
)
def test_neighbours_follow_direction_and_hops(told, settings, names):
    assert (
        sorted(told.names(told.one("NeighbourNodes", at(told, Scrooge=1.0), **settings))) == names
    )


def test_best_neighbours_are_kept(told):
    state = at(told, Tim=0.9, Fred=0.5)  # Tim's neighbour is Cratchit, Fred's is Scrooge.
    # The hit comes before the neighbour of equal score.
    assert told.names(told.one("NeighbourNodes", state, keep=3)) == ["Tim", "Cratchit", "Fred"]


def test_unweighted_walk_reaches_neighbours_equally(told):
    state = at(told, Scrooge=1.0)
    score = lambda after: dict(zip(told.names(after), after.nodes.scores))
    heavy, even = (
        score(told.one("PageRankNodes", state, reset="scores", weighted=weighted))
        for weighted in (True, False)
    )
    assert heavy["Marley"] == pytest.approx(2 * heavy["Fred"]) and even["Marley"] == pytest.approx(
        even["Fred"]
    )


@pytest.mark.parametrize(
    "name, rows", [("ChunksOfRelations", ["carol#1"]), ("ChunksByOccurrence", ["carol#2"])]
)
def test_number_of_chunks_is_bounded(told, name, rows):
    # works for is stated in 1 and 2, son of in 2; 2 contains both ends of both.
    state = State(Question("q"), relations=Ranking("triple", (0, 3), (0.9, 0.4)))
    assert told.ids(told.one(name, state, keep=1)) == rows


def test_prizes_decide_which_entities_are_joined(told):
    """Tim and Marley, three relations apart, are joined where their prizes pay for the path.

    Both grow alike until their prizes (2 and 1, or 10 and 9) are used up. At a cost of .5 they meet
    when each has paid .75. At 1.2 Marley stops before his first relation unless he has 9, and Tim
    alone pays for no relation.
    """
    state = at(told, Tim=0.9, Marley=0.5)
    found = lambda nodes, cost: sorted(
        told.names(told.one("SteinerSubgraph", state, nodes=nodes, cost=cost))
    )
    assert found(2, 1.2) == ["Tim"]
    assert found(2, 0.5) == found(10, 1.2) == ["Cratchit", "Marley", "Scrooge", "Tim"]


@pytest.mark.parametrize("keep, rows", [(1, (2, 3)), (2, (2, 3, 6))])
def test_number_of_following_neighbours_is_bounded(told, keep, rows):
    """The neighbours of “Cratchit works for Scrooge in Camden” are 0, 1, 3 and 6.

    Tim is in 3 alone, London in 6, and “son” is in 3 too.
    """
    state = State(Question("Tim, a son in London"), chunks=Ranking("chunk", (2,), (1.0,)))
    assert (
        told.one("MissingEvidence", state, on=passages(), answering=False, keep=keep).chunks.items
        == rows
    )


@pytest.mark.parametrize("count, shown", [(1, (True, False)), (2, (True, True))])
def test_thought_uses_a_number_of_passages(told, count, shown):
    script = Script("Nothing more.")
    state = State(Question("q"), chunks=Ranking("chunk", (3, 0), (0.9, 0.4)))
    told.one("NextThought", state, models=Written(script), passages=count)
    assert (
        tuple(text in script.asked[0] for text in ("as big as a boy", "Marley was dead")) == shown
    )


@pytest.mark.parametrize(
    "sentences, think, replies",
    [(True, True, 3), (True, False, 2), (False, True, 2), (False, False, 1)],
)
def test_evidence_sentences_and_thoughts_are_optional(told, sentences, think, replies):
    script = Script(*["He works for him."] * sentences, *["So it is he."] * think, "Scrooge")
    state = State(Question("q"), paths=Ranking("path", (Path((0,)).extended(3, 0, True),)))
    after = told.one(
        "AnswerFromEvidence", state, models=Written(script), sentences=sentences, think=think
    )
    asked = after.prompt.messages[1]["content"]
    assert after.answer == "Scrooge" and len(script.asked) == replies == after.trace[0].usage.calls
    assert ("He works for him." in asked, "Cratchit -> works for -> Scrooge" in asked) == (
        sentences,
        not sentences,
    )
    assert ("So it is he." in asked) == think


def test_first_relations_of_entities_are_kept(told):
    """Scrooge's heaviest relation is that of his clerk."""
    assert told.triples(told.one("NeighbourRelations", at(told, Scrooge=1.0), keep=1)) == [
        "Cratchit -> works for -> Scrooge"
    ]
