"""Corpus graphs from given links, nearest documents and shared rare terms."""

from dataclasses import replace

import numpy as np
import pytest

from core.builds import build_for
from core.builds.base import BuildContext, BuildState
from core.builds.chunkers import SentenceChunks, WholeDocuments
from core.builds.merge import row_pairs
from core.builds.merge.corpus_graphs import GivenLinks, NearestDocuments, SharedTerms
from core.builds.merge.row_pairs import nearest_rows
from core.corpus import write_corpus
from core.corpus.document import Document
from core.corpus.links import DocumentLink
from core.errors import BadInput
from core.graph.texts import chunk_nodes
from core.watch import NO_WATCH
from tests.core.builds.kit import LetterModels
from tests.notes import NoteWith


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))


def write_linked_corpus(folder, links=(), **texts):
    return write_corpus(
        folder / "corpora" / "one", [Document(id, text) for id, text in texts.items()], links=links
    )


def build_corpus_graph(one, operator, chunker=None):
    """Graph of a corpus graph operator, and the report of its build."""
    ctx = BuildContext(LetterModels())
    return operator.apply(
        (chunker or WholeDocuments()).apply(BuildState(one), ctx), ctx
    ).graph, ctx.report


def triple_texts_of(graph):
    return graph.triple_texts(np.arange(graph.n_edges))


def test_nodes_are_documents_and_edges_their_links(tmp_path):
    one = write_linked_corpus(
        tmp_path,
        [DocumentLink("a", "b", "cites", 3.0), DocumentLink("c", "a")],
        a="First.",
        b="Second.",
        c="Third.",
        alone="Fourth.",
    )
    graph, _ = build_corpus_graph(one, GivenLinks())
    assert (
        graph.names(range(4)) == ["a", "alone", "b", "c"] and len(chunk_nodes(graph, range(4))) == 4
    )
    assert sorted(triple_texts_of(graph)) == ["a -> cites -> b", "c -> links to -> a"]
    assert sorted(graph.columns.edges.numbers("weight").tolist()) == [1.0, 3.0]


def test_links_to_missing_documents_are_left_out_with_a_note(tmp_path):
    one = write_linked_corpus(
        tmp_path,
        [DocumentLink("a", "b"), DocumentLink("a", "gone"), DocumentLink("a", "a")],
        a="First.",
        b="Second.",
    )
    graph, report = build_corpus_graph(one, GivenLinks())
    assert triple_texts_of(graph) == ["a -> links to -> b"]
    assert report.notes == [NoteWith("Left out", 1, "links", "documents")]


def test_types_choose_among_links(tmp_path):
    one = write_linked_corpus(
        tmp_path,
        [DocumentLink("a", "b", "cites"), DocumentLink("b", "c", "thanks")],
        a="First.",
        b="Second.",
        c="Third.",
    )
    assert triple_texts_of(build_corpus_graph(one, GivenLinks(types="thanks"))[0]) == [
        "b -> thanks -> c"
    ]
    with pytest.raises(BadInput, match="have no type “praises”; they have cites, thanks"):
        build_corpus_graph(one, GivenLinks(types="praises"))


def test_every_chunk_of_a_document_has_its_links(tmp_path):
    one = write_linked_corpus(
        tmp_path, [DocumentLink("a", "b")], a="One here. Two there.", b="Third."
    )
    graph, _ = build_corpus_graph(one, GivenLinks(), SentenceChunks(size=4))
    assert triple_texts_of(graph) == ["a#0 -> links to -> b", "a#1 -> links to -> b"]


def test_documents_without_links_use_another_kind_of_graph(tmp_path):
    one = write_linked_corpus(tmp_path, a="First.", b="Second.")
    with pytest.raises(BadInput, match="without links"):
        build_corpus_graph(one, GivenLinks())
    assert build_for(one, "links").id == "links-nearest"
    assert (
        build_for(
            write_linked_corpus(tmp_path, [DocumentLink("a", "b")], a="First.", b="Second."),
            "links",
        ).id
        == "links-given"
    )


def test_nearest_documents_are_joined_once(tmp_path):
    one = write_linked_corpus(tmp_path, a="aaa", b="aab", c="ooo", d="oop")
    assert triple_texts_of(build_corpus_graph(one, NearestDocuments(keep=1))[0]) == [
        "a -> near -> b",
        "c -> near -> d",
    ]


def test_each_row_has_its_own_nearest_rows():
    vectors = np.random.default_rng(1).normal(size=(700, 8))  # More than one block of rows.
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found = nearest_rows(vectors, 3, -1.0)
    cosines = vectors @ vectors.T - 2 * np.eye(700)
    wanted = {
        (min(a, b), max(a, b)) for a in range(700) for b in np.argsort(-cosines[a])[:3].tolist()
    }
    assert set(found) == wanted and all(abs(found[a, b] - cosines[a, b]) < 1e-6 for a, b in found)


def test_shared_terms_are_weighted_by_rarity(tmp_path):
    # “zebra” and “quagga” are in two of four texts each, “stripes” is in three: ln 2 + ln 2 against
    # ln 2 + ln 4/3.
    texts = {
        "a": "zebra quagga stripes",
        "b": "quagga zebra",
        "c": "stripes alone",
        "d": "stripes lion",
    }
    graph, _ = build_corpus_graph(
        write_linked_corpus(tmp_path, **texts), SharedTerms(keep=1, common=3, min_shared=2)
    )
    assert triple_texts_of(graph) == ["a -> shares terms -> b"]
    assert graph.columns.edges.numbers("weight")[0] == pytest.approx(2 * np.log(2))


def test_a_term_that_is_too_common_joins_none(tmp_path):
    graph, _ = build_corpus_graph(
        write_linked_corpus(tmp_path, a="stripes", b="stripes", c="stripes"),
        SharedTerms(common=2, min_shared=1),
    )
    assert graph.n_edges == 0 and graph.n_nodes == 3


def test_approximate_search_finds_nearly_all_nearest_of_many_rows(monkeypatch):
    drawn = np.random.default_rng(3).standard_normal((40, 16))
    vectors = np.repeat(drawn, 15, axis=0) + 0.4 * np.random.default_rng(4).standard_normal(
        (600, 16)
    )
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    exact, notes = nearest_rows(vectors, 5, 0.5), list[str]()
    monkeypatch.setattr(row_pairs, "ROW_SEARCH", replace(row_pairs.ROW_SEARCH, max_exact_rows=100))
    found = nearest_rows(vectors, 5, 0.5, NO_WATCH, notes.append)
    assert found == nearest_rows(vectors, 5, 0.5)  # The result is the same each time.
    assert len(found.keys() & exact.keys()) > 0.95 * len(exact) and len(found) < 1.1 * len(exact)
    assert all(abs(found[pair] - exact[pair]) < 2e-6 for pair in found.keys() & exact.keys())
    assert "HNSW" in notes[0] and 0.9 < row_pairs.NeighbourIndex.build(vectors).recall(5) <= 1


def test_a_row_is_no_neighbour_of_itself_and_the_nearest_come_first():
    vectors = np.eye(6, dtype=np.float32)
    vectors[1] = [0.8, 0.6, 0, 0, 0, 0]
    (row, ids, cosines), *_ = row_pairs.NeighbourIndex.build(vectors).nearest(np.array([0]), 2)
    assert row == 0 and ids[0] == 1 and 0 not in ids and cosines[0] == pytest.approx(0.8)
