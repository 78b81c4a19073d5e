"""A corpus opened from an index of another tool: its graph beside one that is built here, and rows that run on both."""

from __future__ import annotations

import pytest

from core.builds import build, build_for, find, open_graph, status
from core.builds.cost import cost
from core.builds.shipped import builds_of
from core.corpus import Document, open_corpus
from core.corpus.indexes.opening import look, open_index, opened_of
from core.corpus.indexes.tools import TOOLS, build_of
from core.errors import BadInput
from core.graph.difference import graph_difference
from tests.core.builds.kit import Reading, Texts
from tests.core.corpus.indexes.kit import RECORDED

REAL = RECORDED / "graphrag"


@pytest.fixture
def dulce(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    return open_index(REAL, "dulce", "Operation Dulce")[0]


def test_looking_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    taken = look(REAL)
    assert taken.words() == "Microsoft GraphRAG, version 3: 1 document, 2 chunks, 8 entities, 12 relations, 4 communities, 3 reports"
    assert taken.sentences() == ["Left out, claims (covariates): 2.", "Left out, relations of an entity that the index lacks: 1."]
    assert not (tmp_path / "home").exists()


def test_an_opened_corpus_has_the_documents_and_the_graph_of_the_index(dulce):
    assert (dulce.title, dulce.source, dulce.ids) == (
        "Operation Dulce",
        "opened from an index of Microsoft GraphRAG, version 3",
        ("dulce.txt",),
    )
    assert opened_of(dulce, "graphrag").corpus == dulce.digest
    graph = build(dulce, "opened-graphrag", Reading())
    assert graph.columns.chunks.texts("id") == ["dulce.txt#graphrag-0", "dulce.txt#graphrag-1"]
    now = status(dulce, "opened-graphrag")
    assert now.current and now.report["counts"]["vectors of communities"] == 4
    assert "Left out, claims (covariates): 2." in now.report["notes"]
    assert cost(dulce, find("opened-graphrag"), Reading()).chunks == 2


def test_rows_on_its_kind_of_graph_take_the_opened_one_first(dulce):
    build(dulce, "tkg-noun-phrases", Reading())
    assert build_for(dulce, "tkg").id == "tkg-noun-phrases"  # the only one that is built
    build(dulce, "opened-graphrag", Reading())
    assert build_for(dulce, "tkg").id == "opened-graphrag"


def test_its_graph_is_held_against_one_that_is_built_of_the_same_texts(dulce):
    theirs, ours = build(dulce, "opened-graphrag", Reading()), build(dulce, "tkg-noun-phrases", Reading())
    found = graph_difference(theirs, ours)
    assert found.nodes and len(found.first.nodes) + found.nodes == theirs.n_nodes
    shared = set(theirs.columns.chunks.texts("id")) & set(ours.columns.chunks.texts("id"))
    assert not shared  # chunks of other sizes are other chunks, so that no comparison takes them for the same


@pytest.mark.parametrize("tool", sorted(set(TOOLS) - {"youtu-graphrag"}))
def test_each_tools_index_is_built_and_rows_of_its_kind_stand_on_it(tool, tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    corpus, _ = open_index(RECORDED / tool, "opened")
    one = find(build_of(tool))
    graph = build(corpus, one, Reading())
    assert (graph.digest == open_graph(corpus, one).digest) and build_for(corpus, one.graph).id == one.id
    assert graph.n_nodes >= 5 and set(graph.columns.chunks.texts("document")) <= set(corpus.ids)
    assert [name for name in builds_of(corpus) if name.startswith("opened-")][0] == one.id


def test_edges_between_alike_names_are_made_on_hipporags_triples(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    corpus, _ = open_index(RECORDED / "hipporag", "opened")
    bare, joined = build(corpus, "opened-hipporag", Reading()), build(corpus, "opened-hipporag-synonyms", Reading())
    added = status(corpus, "opened-hipporag-synonyms").report["counts"]["synonym edges"]
    assert joined.n_edges == bare.n_edges + added and joined.names(range(5)) == bare.names(range(5))


def test_other_corpora_are_not_offered_it(dulce, tmp_path):
    other = Texts(tmp_path / "other", one="Ann lives in Rome.")
    assert "opened-graphrag" in builds_of(dulce) and "opened-graphrag" not in builds_of(other)
    with pytest.raises(
        BadInput, match="was not opened from an index of Microsoft GraphRAG. Open its folder with: python -m core corpus open"
    ):
        build(other, "opened-graphrag", Reading())
    assert build_for(other, "tkg").extractor == "noun-phrases"


def test_documents_that_were_changed_since_are_not_taken_for_those_of_the_index(dulce):
    more = dulce.add([Document("more", "Ann lives in Rome.")])
    with pytest.raises(BadInput, match="have changed since the index of Microsoft GraphRAG was opened"):
        build(more, "opened-graphrag", Reading())


def test_a_name_that_is_taken_is_refused_and_nothing_is_changed(dulce):
    with pytest.raises(BadInput, match="There is already a corpus “dulce”"):
        open_index(REAL, "dulce")
    assert open_corpus("dulce").digest == dulce.digest


def test_a_folder_that_is_no_index_leaves_no_corpus(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    (tmp_path / "notes").mkdir()
    with pytest.raises(BadInput, match="notes holds no index that can be read"):
        open_index(tmp_path / "notes", "notes")
    assert not (tmp_path / "home" / "corpora" / "notes").exists()


def test_chunks_that_are_longer_than_an_encoder_reads_are_noted(dulce):
    class Short(Reading):
        max_tokens = 100

    sizes = build(dulce, "opened-graphrag", Short()).columns.chunks.numbers("tokens").tolist()
    assert len(sizes) == 2 and min(sizes) > 100  # 700 letters each
    told = "Chunks longer than the 100 tokens that the encoder reads: 2; their vectors are of their beginnings."
    assert told in status(dulce, "opened-graphrag").report["notes"]
