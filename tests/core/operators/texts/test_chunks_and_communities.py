"""Hand-computed rankings of chunks, communities and words.

Chunks are ranked by relations and by occurrence in both readings, communities by their members and
by level.
"""

import pytest

from core.environment import Environment
from core.graph.building.text_graph import assemble, with_tables
from core.graph.columns import Table
from core.operators import OPERATORS
from core.operators.base import Context
from core.types import Question, Ranking, State
from tests.core.operators.texts.test_neighbours_and_scores import at, step
from tests.films import Bag, Written
from tests.notes import NoteWith


def relations(*scored):
    return State(Question("q"), relations=Ranking("triple", *zip(*scored)))


def test_chunks_follow_their_first_relation(told):
    # Chunks by relation: nephew of 1; works for 1 and 2; partner of 0.
    after = step(told, "ChunksOfRelations", relations((1, 0.9), (0, 0.5), (2, 0.2)))
    assert told.ids(after) == ["carol#1", "carol#2", "carol#0"] and after.chunks.scores == (
        0.9,
        0.5,
        0.2,
    )


def test_chunks_are_cut_at_a_budget(told):
    # Chunk 1 has 86 characters, 25 tokens; chunk 2 has 63, 18 tokens.
    after = step(told, "ChunksOfRelations", relations((1, 0.9), (0, 0.5)), budget=42)
    assert told.ids(after) == ["carol#1"] and len(after.trace[0].before_cut) == 2
    assert (
        len(step(told, "ChunksOfRelations", relations((1, 0.9), (0, 0.5)), budget=43).chunks) == 2
    )


def test_occurrence_counts_relations_with_both_ends_in_the_chunk(told):
    # Chunks by pair: Cratchit & Scrooge 1, 2; Scrooge & Marley 0; Fred & Scrooge 1; Tim & Cratchit
    # 2.
    after = step(told, "ChunksByOccurrence", relations((0, 1.0), (1, 1.0), (2, 1.0), (3, 1.0)))
    assert told.ids(after) == ["carol#1", "carol#2", "carol#0"] and after.chunks.scores == (
        2.0,
        2.0,
        1.0,
    )


def test_occurrence_in_the_code_follows_entities(told):
    # Fred is first: chunk 1 contains his one neighbour Scrooge, 0 + 1/2. Then Tim: chunk 2 contains
    # Cratchit, -1 + 1/2.
    after = step(told, "ChunksByOccurrence", at(told, Fred=0.9, Tim=0.8), reading="code")
    assert told.ids(after) == ["carol#1", "carol#2"] and after.chunks.scores == (0.5, -0.5)


def test_chunks_of_hits_alternate_by_cosine(told):
    # "was his": chunk 0 contains was twice and his, 3 / sqrt(2 * 12); chunk 2 was, 1 / sqrt(2 *
    # 12); chunk 1 his, 1 / sqrt(2 * 17).
    def found(edges, before=(), **parameters):
        hits = {
            "nodes": Ranking("node", (3,), (1.0,)),
            "relations": Ranking("triple", edges, (1.0,) * len(edges)),
        }
        chunks = Ranking("chunk", before, (1.0,) * len(before)) if before else None
        return told.ids(
            step(
                told,
                "ChunksOfHits",
                State(Question("was his"), chunks=chunks, **hits),
                **parameters,
            )
        )

    assert found(()) == ["carol#0", "carol#2"]  # Half of Scrooge's three chunks are kept.
    # One chunk is Scrooge's, then comes one of the relation's other two.
    assert found((0,), each=2) == [
        "carol#0",
        "carol#2",
    ]
    assert found((0, 1), each=2) == ["carol#0", "carol#2"]  # The first relation brings both chunks.
    # Each relation brings one chunk.
    assert found((1, 0), each=2) == ["carol#0", "carol#2", "carol#1"]
    assert found((1, 0), (3,), each=2) == ["turkey", "carol#0", "carol#2", "carol#1"]
    assert found((1, 0), (3,), each=2, keep=2) == ["turkey", "carol#0"]


def test_communities_are_ranked_by_report_rating(told):
    # The circle (rated 5) contains Tim and Marley, the firm (8) Marley alone, the family (6) Tim
    # alone.
    after = step(told, "CommunitiesOfNodes", at(told, Tim=1.0, Marley=0.5))
    assert told.titles(after) == ["Firm", "Family", "Scrooge and his circle"]
    assert after.communities.scores == pytest.approx((8 + 1 / 3000, 6 + 1 / 3000, 5 + 2 / 3000))
    assert told.titles(step(told, "CommunitiesOfNodes", at(told, Tim=1.0, Marley=0.5), keep=2)) == [
        "Firm",
        "Family",
    ]
    assert told.titles(step(told, "CommunitiesOfNodes", at(told, Scrooge=1.0), level=0)) == [
        "Scrooge and his circle"
    ]


def test_slightly_higher_rating_comes_first(told):
    # B contains both entities and A one, but 7.36 still ranks above 7.35.
    graph = with_tables(
        told.graph,
        communities=Table.from_columns(
            title=["A", "B"], members=[[0], [0, 1]], report=["a", "b"], rating=[7.36, 7.35]
        ),
    )
    state = State(Question("q"), nodes=Ranking("node", (0, 1), (1.0, 1.0)))
    assert OPERATORS["CommunitiesOfNodes"]()(
        state, Context(graph, Environment(Written()))
    ).communities.items == (0, 1)


def test_equal_ratings_are_ordered_by_entities(told):
    graph = with_tables(
        told.graph,
        communities=Table.from_columns(
            title=["A", "B"], members=[[0], [0, 1]], report=["a", "b"], rating=[7.0, 7.0]
        ),
    )
    state = State(Question("q"), nodes=Ranking("node", (0, 1), (1.0, 1.0)))
    after = OPERATORS["CommunitiesOfNodes"]()(state, Context(graph, Environment(Written())))
    assert after.communities.items == (1, 0)


def test_communities_in_the_code_are_ranked_by_entities(told):
    after = step(told, "CommunitiesOfNodes", at(told, Tim=1.0, Marley=0.5), reading="code")
    assert told.titles(after) == ["Scrooge and his circle", "Firm", "Family"]
    assert after.communities.scores == pytest.approx((2 + 5 / 9, 1 + 8 / 9, 1 + 6 / 9))


def test_communities_can_be_limited_to_a_level(told):
    state = State(Question("q"))
    assert told.titles(step(told, "CommunitiesAtLevel", state, level=0)) == [
        "Scrooge and his circle"
    ]
    assert told.titles(step(told, "CommunitiesAtLevel", state, rating=6.0)) == ["Firm", "Family"]
    assert told.titles(step(told, "CommunitiesAtLevel", state, keep=1)) == ["Firm"]


def test_bm25_ranks_all_chunks(told):
    """ "clerk" is in one chunk of four, "Scrooge" in three.

    Their idf are ln(1 + 3.5 / 1.5) and ln(1 + 1.5 / 3.5).
    """
    after = told.state("SparseChunks()", "the clerk of Scrooge")
    assert told.ids(after)[0] == "carol#1" and "turkey" not in told.ids(
        told.state("SparseChunks()", "clerk Scrooge")
    )


def test_tfidf_matches_hand_computed_scores(told):
    after = told.state("SparseChunks(by='tf-idf')", "turkey boy")
    # Chunk 3 with its title: "the turkey the turkey was as big as a boy"; idf(w) = ln(5 / (1 + n))
    # + 1.
    import math

    idf = lambda n: math.log(5 / (1 + n)) + 1
    words = {
        "the": (2, 3),
        "turkey": (2, 1),
        "was": (1, 3),
        "as": (2, 1),
        "big": (1, 1),
        "a": (1, 2),
        "boy": (1, 1),
    }
    vector = {word: count * idf(n) for word, (count, n) in words.items()}
    asked = {"turkey": idf(1), "boy": idf(1)}
    dot = sum(asked[word] * vector[word] for word in asked)
    norm = lambda values: math.sqrt(sum(value**2 for value in values))
    assert told.ids(after) == ["turkey"]
    assert after.chunks.scores[0] == pytest.approx(
        dot / norm(vector.values()) / norm(asked.values())
    )


def test_word_search_can_be_limited_to_hits(told):
    """The published code ranks all entities, not only those found before."""
    from core.operators import SparseNodes

    state = at(told, Fred=1.0, Tim=0.5).replace(question=Question("the poor cheerful clerk"))
    assert told.names(step(told, "SparseNodes", state)) == ["Cratchit", "Fred"]
    assert told.names(step(told, "SparseNodes", state, among=True)) == ["Fred"] and SparseNodes(
        among=True
    ).reads == ("nodes",)
    nothing = state.replace(nodes=Ranking("node", (), ()))
    assert told.names(step(told, "SparseNodes", nothing, among=True)) == []


@pytest.mark.parametrize("by", ["bm25", "tf-idf"])
def test_chinese_chunk_is_found_by_characters(told, by):
    texts = ["圣诞快乐，斯克鲁奇先生。", "火鸡和男孩一样大。", "Marley was dead."]
    graph = assemble("chinese", [], [], {}, {}, Table.from_columns(id=["a", "b", "c"], text=texts))
    assert told.state(f"SparseChunks(by={by!r})", "火鸡有多大？", on=graph).chunks.items[0] == 1


@pytest.mark.parametrize(
    "name, parameters",
    [
        ("CommunitiesOfNodes", {}),
        ("CommunitiesAtLevel", {"level": 1}),
        ("VectorCommunities", {"keep": 3}),
    ],
)
def test_communities_without_reports_are_reported(told, name, parameters):
    graph = with_tables(
        told.graph,
        communities=Table.from_columns(
            title=["A", "B"], members=[[0], [1]], report=["", "Of one."], level=[0, 0]
        ),
    )
    state = State(
        Question("q"), nodes=Ranking("node", (0, 1), (1.0, 1.0)), vector=Bag().encode(["one"])[0]
    )
    after = OPERATORS[name](**parameters)(
        state, Context(graph, Environment(Written(encoder=Bag())))
    )
    assert NoteWith(1, 2, "without a report") in after.trace[0].notes
    assert not any(
        "without a report" in note
        for note in step(told, name, at(told, Scrooge=1.0), **parameters).trace[0].notes
    )
