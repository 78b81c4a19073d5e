"""Hits by vectors that count words.

A text of n distinct words and one of m that share s words have the cosine s / sqrt(n m).
"""

import pytest

from core.errors import BadParameter
from core.graph.building.text_graph import store_graph
from core.indexes.vectors import vector_index
from tests.core.operators.texts.kit import plain
from tests.core.operators.texts.test_neighbours_and_scores import step
from tests.films import Bag


def test_entity_texts_have_type_and_description(told):
    # "Marley: person: Dead for seven years." has six words; the question's three are "dead", "for",
    # "seven".
    after = told.state("EmbedQuery() >> VectorNodes(keep=2)", "dead for seven")
    assert told.names(after)[0] == "Marley" and after.nodes.scores[0] == pytest.approx(
        3 / (3 * 6) ** 0.5, abs=1e-3
    )


def test_relation_texts_have_ends_and_keywords(told):
    # "youngest family" shares two words with "son of family Tim Cratchit Tim is the youngest son.";
    # nephew of also has "family", with fewer words in all.
    after = told.state("EmbedQuery() >> VectorRelations(keep=2)", "youngest family")
    assert told.triples(after) == ["Tim -> son of -> Cratchit", "Fred -> nephew of -> Scrooge"]


def test_entity_texts_in_the_code_are_names_alone(told):
    after = told.state("EmbedQuery() >> VectorRelations(keep=1, reading='code')", "works for")
    assert told.triples(after) == ["Cratchit -> works for -> Scrooge"] and after.relations.scores[
        0
    ] == pytest.approx(1.0, abs=1e-3)


def test_relations_can_be_ordered_by_degrees(told):
    """LightRAG's code orders relations by the degrees of their ends, not by cosine.

    Fred and Scrooge have 1 + 3 edges, Tim and Cratchit 1 + 2, though the relation of Tim is nearer.
    """
    after = told.state(
        "EmbedQuery() >> VectorRelations(keep=2, order='connected')", "youngest family"
    )
    assert told.triples(after) == ["Fred -> nephew of -> Scrooge", "Tim -> son of -> Cratchit"]


def test_chunk_texts_have_titles(told):
    after = told.state("EmbedQuery() >> VectorChunks(keep=1)", "turkey")
    assert told.ids(after) == ["turkey"]


def test_hits_below_the_minimum_are_dropped(told):
    after = told.state("EmbedQuery() >> VectorChunks(keep=4, least=0.3)", "turkey boy big")
    assert told.ids(after) == ["turkey"] and len(after.trace[1].before_cut) == 4


def test_order_before_the_cut_is_recorded(told):
    after = told.state("EmbedQuery() >> VectorChunks(keep=1)", "Scrooge")
    assert len(after.chunks) == 1 and len(after.trace[1].before_cut) == 4
    assert after.trace[1].before_cut.items[0] == after.chunks.items[0]


def test_equal_hits_are_ordered_by_id(told):
    after = told.state("EmbedQuery() >> VectorChunks()", "zebra")
    assert after.chunks.items == (0, 1, 2, 3) and set(after.chunks.scores) == {0.0}


@pytest.mark.parametrize("kind", ["Nodes", "Relations", "Communities"])
def test_graph_without_such_items_gives_no_hits(told, kind):
    after = told.state(f"EmbedQuery() >> Vector{kind}()", on=plain())
    assert len(getattr(after, kind.lower())) == 0 and "has no" in after.trace[1].notes[0]


def test_vector_of_another_encoder_is_refused(told):
    state = told.state("EmbedQuery()")
    with pytest.raises(BadParameter, match="different encoders"):
        step(told, "VectorChunks", state.replace(vector=state.vector[:3]))


def test_chunks_shared_by_graphs_are_encoded_once(told, tmp_path):
    one, other = (
        store_graph(told.graph, tmp_path / "graphs" / "one"),
        store_graph(plain(), tmp_path / "graphs" / "other"),
    )
    assert vector_index(one, Bag(), "chunks").facts["encoded"] == 4
    assert vector_index(other, Bag(), "chunks").facts["reused"] == 4
