"""A corpus opened from another tool's index: its graph, a graph built here, and methods on both."""

from __future__ import annotations

import json

import pytest

from core.builds import build_for, build_status, find_build, open_graph, run_build
from core.builds.cost import estimate_cost
from core.builds.shipped_data import builds_of
from core.corpus import Document, open_corpus
from core.corpus.indexes.opened_indexes import (
    OPENED_FOLDER,
    SUMMARY_FILE,
    open_index,
    opened_summary,
    preview_index,
)
from core.corpus.indexes.tools import TOOLS, tool_build
from core.environment import Environment
from core.errors import BadInput, StoreError
from core.graph.difference import compare_graphs
from core.operators.base import Context
from core.operators.texts.built_graph import BuiltGraph
from core.types import Question, State
from tests.core.builds.kit import LetterModels, Texts
from tests.core.corpus.indexes.kit import RECORDED
from tests.notes import NoteWith

REAL = RECORDED / "graphrag"


@pytest.fixture
def dulce(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    return open_index(REAL, "dulce", "Operation Dulce")[0]


def test_a_preview_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    taken = preview_index(REAL)
    assert (
        taken.words()
        == "Microsoft GraphRAG, version 3: 1 document, 2 chunks, 8 entities, 12 relations, 4 communities, 3 reports"
    )
    assert taken.sentences() == [
        NoteWith("claims (covariates)", 2),
        NoteWith("relations of an entity", 1),
    ]
    assert not (tmp_path / "home").exists()


def test_an_opened_corpus_has_the_documents_and_the_graph_of_the_index(dulce):
    assert (dulce.title, dulce.source, dulce.ids) == (
        "Operation Dulce",
        "opened from an index of Microsoft GraphRAG, version 3",
        ("dulce.txt",),
    )
    assert opened_summary(dulce, "graphrag").corpus == dulce.digest
    graph = run_build(dulce, "opened-graphrag", LetterModels())
    assert graph.columns.chunks.texts("id") == ["dulce.txt#graphrag-0", "dulce.txt#graphrag-1"]
    now = build_status(dulce, "opened-graphrag")
    assert now.is_current and now.report["counts"]["vectors of communities"] == 4
    assert NoteWith("claims (covariates)", 2) in now.report["notes"]
    assert estimate_cost(dulce, find_build("opened-graphrag"), LetterModels()).chunks == 2


def test_methods_prefer_the_opened_graph_of_their_kind(dulce):
    run_build(dulce, "tkg-noun-phrases", LetterModels())
    assert build_for(dulce, "tkg").id == "tkg-noun-phrases"  # No other graph is built.
    run_build(dulce, "opened-graphrag", LetterModels())
    assert build_for(dulce, "tkg").id == "opened-graphrag"


def test_the_opened_graph_is_compared_with_a_built_one(dulce):
    theirs, ours = (
        run_build(dulce, "opened-graphrag", LetterModels()),
        run_build(dulce, "tkg-noun-phrases", LetterModels()),
    )
    found = compare_graphs(theirs, ours)
    assert found.n_common_nodes and len(found.first.nodes) + found.n_common_nodes == theirs.n_nodes
    shared = set(theirs.columns.chunks.texts("id")) & set(ours.columns.chunks.texts("id"))
    # Chunks of other sizes have other ids, so that no comparison confuses them.
    assert not shared


@pytest.mark.parametrize("tool", sorted(set(TOOLS) - {"youtu-graphrag"}))
def test_each_tools_index_is_built_and_used_by_methods(tool, tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    corpus, _ = open_index(RECORDED / tool, "opened")
    one = find_build(tool_build(tool))
    graph = run_build(corpus, one, LetterModels())
    assert (graph.digest == open_graph(corpus, one).digest) and build_for(
        corpus, one.graph
    ).id == one.id
    assert graph.n_nodes >= 5 and set(graph.columns.chunks.texts("document")) <= set(corpus.ids)
    assert [name for name in builds_of(corpus) if name.startswith("opened-")][0] == one.id


def test_synonym_edges_are_added_to_triples_of_hipporag(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    corpus, _ = open_index(RECORDED / "hipporag", "opened")
    bare, joined = (
        run_build(corpus, "opened-hipporag", LetterModels()),
        run_build(corpus, "opened-hipporag-synonyms", LetterModels()),
    )
    added = build_status(corpus, "opened-hipporag-synonyms").report["counts"]["synonym edges"]
    assert joined.n_edges == bare.n_edges + added and joined.names(range(5)) == bare.names(range(5))


def test_the_opened_build_is_not_offered_to_other_corpora(dulce, tmp_path):
    other = Texts(tmp_path / "other", one="Ann lives in Rome.")
    assert "opened-graphrag" in builds_of(dulce) and "opened-graphrag" not in builds_of(other)
    with pytest.raises(BadInput, match="(?s)index of Microsoft GraphRAG.*hopscope corpus open"):
        run_build(other, "opened-graphrag", LetterModels())
    assert build_for(other, "tkg").extractor == "names"


def test_documents_added_later_are_noted_as_missing(dulce):
    run_build(dulce, "opened-graphrag", LetterModels())
    assert not build_status(dulce, "opened-graphrag").uncovered
    more = dulce.add(
        [Document("more", "Ann lives in Rome."), Document("other", "Bo lives in Rome.")]
    )
    now = build_status(more, "opened-graphrag")
    said = "The index of Microsoft GraphRAG is of 1 document; the corpus has 2 more, which are not in this graph."
    assert (now.is_current, now.uncovered) == (True, said) and not build_status(
        more, "tkg-noun-phrases"
    ).is_built
    graph = open_graph(more, "opened-graphrag")
    after = BuiltGraph(build="opened-graphrag")(
        State(Question("Who?")), Context(graph, Environment(LetterModels()))
    )
    assert after.trace[0].notes[1:] == (said,)
    # The same once more, after the change.
    assert run_build(more, "opened-graphrag", LetterModels()).digest == graph.digest


def test_changed_or_removed_documents_make_the_opened_graph_outdated(dulce):
    run_build(dulce, "opened-graphrag", LetterModels())
    text = dulce.document("dulce.txt").text
    more = dulce.add([Document("more", "Ann lives in Rome.")])
    other = more.change([Document("dulce.txt", f"{text} The end.")])
    with pytest.raises(StoreError, match="1 document was changed .“dulce.txt”"):
        open_graph(other, "opened-graphrag")
    with pytest.raises(
        BadInput,
        match="Bring them back as they were, open its folder under another name, or build a graph",
    ):
        run_build(other, "opened-graphrag", LetterModels())
    assert (
        not build_status(other, "opened-graphrag").uncovered
        and "1 document was changed" in build_status(other, "opened-graphrag").outdated
    )
    back = other.change([Document("dulce.txt", text, "A title of another day")])
    assert build_status(back, "opened-graphrag").is_current  # Only the text counts.
    removed = back.remove(["dulce.txt"])
    assert (
        "1 document was removed (“dulce.txt”)" in build_status(removed, "opened-graphrag").outdated
    )


def test_an_index_opened_by_an_earlier_version_stays_usable(dulce):
    run_build(dulce, "opened-graphrag", LetterModels())
    file = dulce.folder / OPENED_FOLDER / "graphrag" / SUMMARY_FILE
    known = json.loads(file.read_text())
    del known["documents"]
    file.write_text(json.dumps(known))
    assert (
        build_status(dulce, "opened-graphrag").is_current
        and not build_status(dulce, "opened-graphrag").uncovered
    )
    more = dulce.add([Document("more", "Ann lives in Rome.")])
    assert build_status(more, "opened-graphrag").outdated.startswith(
        "Since the index of Microsoft GraphRAG was opened, documents were added, changed or"
    )


def test_indexes_of_two_tools_are_two_graphs_of_one_corpus(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    corpus, _ = open_index(RECORDED / "lightrag", "harbour")
    corpus = corpus.add([Document("more", "Ann lives in Rome.")])
    beside, taken = open_index(RECORDED / "fast-graphrag", "harbour")
    assert beside.digest == corpus.digest and taken.counts["documents"] == 2
    first, second = (
        run_build(beside, "opened-lightrag", LetterModels()),
        run_build(beside, "opened-fast-graphrag", LetterModels()),
    )
    assert (
        set(second.columns.chunks.texts("document"))
        == set(first.columns.chunks.texts("document"))
        == {"harbour.txt", "ship.txt"}
    )
    assert [
        build_status(beside, f"opened-{tool}").is_current for tool in ("lightrag", "fast-graphrag")
    ] == [True, True]
    assert (
        "1 more, which is not in this graph"
        in build_status(beside, "opened-fast-graphrag").uncovered
    )
    assert compare_graphs(first, second).n_common_nodes


def test_an_index_of_other_texts_or_a_second_one_of_a_tool_changes_nothing(dulce):
    with pytest.raises(BadInput, match="2 of 2"):
        open_index(RECORDED / "lightrag", "dulce")
    with pytest.raises(BadInput, match="Microsoft GraphRAG already"):
        open_index(REAL, "dulce")
    assert (
        open_corpus("dulce").digest == dulce.digest
        and not (dulce.folder / OPENED_FOLDER / "lightrag").exists()
    )


def test_a_folder_that_is_no_index_leaves_no_corpus(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    (tmp_path / "notes").mkdir()
    with pytest.raises(BadInput, match="notes holds no index that can be read"):
        open_index(tmp_path / "notes", "notes")
    assert not (tmp_path / "home" / "corpora" / "notes").exists()


def test_chunks_that_are_longer_than_an_encoder_reads_are_noted(dulce):
    class ShortEncoderModels(LetterModels):
        max_tokens = 100

    sizes = (
        run_build(dulce, "opened-graphrag", ShortEncoderModels())
        .columns.chunks.numbers("tokens")
        .tolist()
    )
    assert len(sizes) == 2 and min(sizes) > 100  # 700 letters each.
    told = "Chunks longer than the 100 tokens that the encoder reads: 2; their vectors are of their beginnings."
    assert told in build_status(dulce, "opened-graphrag").report["notes"]
