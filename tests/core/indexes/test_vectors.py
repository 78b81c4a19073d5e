"""Vectors of nodes and triples: nearest ones by hand, continued builds, and reuse after
additions.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from core.errors import RunCancelled, StoreError
from core.graph.building.build import build as build_graph
from core.graph.edits import Edit, edit_graph
from core.indexes import index_parts, vector_blocks, vectors
from core.indexes.vectors import (
    TooManyVectors,
    build_search_index,
    build_vectors,
    delete_vectors,
    faiss_kind,
    forget_vectors,
    open_vectors,
    vector_folder,
    vector_index,
)
from core.runtime.meter import metered
from core.watch import NO_WATCH, Watch
from tests.films import TRIPLES, Bag


class RecordingVectorEncoder(Bag):
    """An encoder that records its texts, and is cancelled after `most` of them."""

    def __init__(self, most=10**9):
        self.asked, self.most = [], most

    def encode(self, texts, watch=NO_WATCH):
        if len(self.asked) >= self.most:
            raise RunCancelled()
        self.asked += texts
        return super().encode(texts)


class ReportingEncoder(Bag):
    """An encoder that reports its vectors as they are made, two texts at a time."""

    received = True

    def encode(self, texts, watch=NO_WATCH, received=None):
        vectors = super().encode(texts)
        for start in range(0, len(texts), 2):
            if received:
                received(texts[start : start + 2], vectors[start : start + 2])
        return vectors


@pytest.fixture
def build_films(tmp_path):
    """A function that builds the films graph with further triples, always in one folder."""
    return lambda *more: build_graph([*TRIPLES, *more], tmp_path / "films", "films", "both")


def bytes_of(folder):
    return {
        file.name: file.read_bytes()
        for file in folder.iterdir()
        if file.name != vector_blocks.DONE_FILE
    }


def test_a_block_reports_its_progress(build_films):
    graph, told = build_films(), []
    build_vectors(
        graph,
        ReportingEncoder(),
        "nodes",
        Watch(report=lambda text, share: told.append((text, share))),
    )
    n = graph.n_nodes
    steps = [(f"Encoding nodes: {done:,} of {n:,}", done / n) for done in (*range(2, n, 2), n)]
    assert n > 4 and [one for one in told if one in steps][: len(steps)] == steps


def test_nearest_nodes_and_triples_by_hand(build_films):
    # “who is ann of one” has five words, among them ann and one. The cosine is 1 / sqrt(5) =
    # 0.447214, and equal ones are ordered by id.
    graph = build_films()
    question = Bag().encode(["who is ann of one"])[0]
    ids, cosines = vector_index(graph, Bag(), "nodes").nearest(question, 3)
    assert graph.names(ids) == ["Ann", "One", "1999"] and cosines.tolist() == [
        0.447214,
        0.447214,
        0.0,
    ]
    assert vector_index(graph, Bag(), "nodes").cosines(question, ids[::-1]).tolist() == [
        0.0,
        0.447214,
        0.447214,
    ]
    ids, cosines = vector_index(graph, Bag(), "nodes").nearest(question, 99)
    assert len(ids) == 5 and graph.names(ids[2:]) == ["1999", "Drama", "Two"]
    # One -> directed_by -> Ann has five words with the arrow twice, so its length is sqrt(1 + 4 + 1
    # + 1). Ann and one are in common.
    ids, cosines = vector_index(graph, Bag(), "triples").nearest(question, 1)
    assert graph.triple_text(ids[0]) == "One -> directed_by -> Ann" and cosines[0] == pytest.approx(
        2 / np.sqrt(5 * 7), abs=5e-4
    )


def test_saved_vectors_are_opened_and_deleted(build_films):
    graph, encoder = build_films(), RecordingVectorEncoder()
    first = build_vectors(graph, encoder, "nodes")
    assert (
        first.facts["kind"] == "SQfp16"
        and first.facts["encoded"] == 5
        and len(encoder.asked) > 5 - 1
    )
    asked = len(encoder.asked)
    again = open_vectors(vector_folder(graph, encoder, "nodes"))
    assert (
        again.facts == first.facts
        and len(build_vectors(graph, encoder, "nodes")) == 5
        and len(encoder.asked) == asked
    )
    held = vector_index(graph, encoder, "nodes")
    delete_vectors(vector_folder(graph, encoder, "nodes"))
    assert (
        open_vectors(vector_folder(graph, encoder, "nodes")) is None
        and vector_index(graph, encoder, "nodes") is not held
    )
    with pytest.raises(StoreError, match="cannot be removed"):
        delete_vectors(vector_folder(graph, encoder, "triples"))


def test_an_exact_index_replaces_its_blocks(build_films, monkeypatch):
    monkeypatch.setattr(vector_blocks, "BLOCK_TEXTS", 2)
    graph = build_films()
    index = build_vectors(graph, Bag(), "nodes")
    folder = vector_folder(graph, Bag(), "nodes")
    assert not list(folder.glob("block-*"))
    blocks = vector_blocks.VectorBlocks(graph, "nodes", folder)
    assert blocks.missing_blocks() == [] and [len(blocks.read(number)) for number in range(3)] == [
        2,
        2,
        1,
    ]
    assert np.array_equal(
        np.concatenate([blocks.read(n) for n in range(3)]), index.vectors_of(np.arange(5))
    )
    assert np.array_equal(blocks.vectors_of(np.array([1, 4])), index.vectors_of(np.array([1, 4])))


@pytest.mark.parametrize("kind", ["SQfp16", "Flat"])
def test_leftover_blocks_are_removed(build_films, monkeypatch, kind):
    monkeypatch.setattr(vector_blocks, "BLOCK_TEXTS", 2)
    monkeypatch.setattr(vectors, "EXACT_KIND", kind)
    with monkeypatch.context() as earlier:
        earlier.setattr(vector_blocks.VectorBlocks, "remove_files", lambda blocks: None)
        graph, encoder = build_films(), RecordingVectorEncoder()
        build_vectors(graph, encoder, "nodes")
    folder, asked = vector_folder(graph, encoder, "nodes"), len(encoder.asked)
    before = open_vectors(folder).vectors_of(np.arange(5))
    assert len(list(folder.glob("block-*"))) == 3 and open_vectors(folder).facts["kind"] == kind
    (folder / "block-000001.npy").unlink()  # As if killed after the removal of the first block.
    for _ in range(2):
        assert np.array_equal(
            build_vectors(graph, encoder, "nodes").vectors_of(np.arange(5)), before
        )
        assert not list(folder.glob("block-*")) and len(encoder.asked) == asked
    more = RecordingVectorEncoder()
    again = build_vectors(build_films(("New", "has_genre", "Drama")), more, "nodes")
    assert (again.facts["encoded"], again.facts["reused"]) == (1, 5) and more.asked[1:] == ["New"]


def test_a_damaged_index_is_encoded_again_but_a_damaged_record_is_not(build_films):
    graph, encoder = build_films(), RecordingVectorEncoder()
    build_vectors(graph, encoder, "nodes")
    folder, asked = vector_folder(graph, encoder, "nodes"), len(encoder.asked)
    for name, cost in ((vector_blocks.DONE_FILE, 0), (vectors.INDEX_FILE, 5)):
        before = bytes_of(folder)
        (folder / name).write_bytes(b"garbage")
        assert len(build_vectors(graph, encoder, "nodes")) == 5 and bytes_of(folder) == before
        assert len(encoder.asked) == asked + cost


def test_a_cancelled_build_continues_where_it_stopped(build_films, monkeypatch):
    monkeypatch.setattr(vector_blocks, "BLOCK_TEXTS", 2)
    graph, stopped = (
        build_films(),
        RecordingVectorEncoder(most=3 + 1),
    )  # The first text identifies the encoder.
    with pytest.raises(RunCancelled):
        build_vectors(graph, stopped, "nodes")
    folder = vector_folder(graph, stopped, "nodes")
    assert [file.name for file in sorted(folder.glob("block-*"))] == [
        "block-000000.npy",
        "block-000001.npy",
    ]
    assert open_vectors(folder) is None and vectors.vector_coverage(graph, stopped, "nodes") == (
        4,
        5,
    )
    told, encoder = [], RecordingVectorEncoder()
    found = build_vectors(
        graph, encoder, "nodes", Watch(report=lambda text, share: told.append((text, share)))
    )
    assert (
        encoder.asked[1:] == [graph.node_name(4)]
        and found.facts["encoded"] == 1
        and told[-2] == ("Encoding nodes: 5 of 5", 1.0)
    )
    assert vectors.vector_coverage(graph, encoder, "nodes") == (5, 5)
    at_once = uninterrupted_bytes(build_films, folder)
    assert bytes_of(folder) == at_once


def uninterrupted_bytes(build_films, folder):
    """Bytes of the same vectors made without interruption."""
    before = {file: file.read_bytes() for file in folder.iterdir()}
    delete_vectors(folder)
    build_vectors(build_films(), Bag(), "nodes")
    made = bytes_of(folder)
    for file, content in before.items():
        file.write_bytes(content)
    return made


def test_only_new_texts_are_encoded_when_triples_are_added(build_films, monkeypatch):
    monkeypatch.setattr(vector_blocks, "BLOCK_TEXTS", 2)
    build_vectors(build_films(), Bag(), "triples")
    graph, encoder = (
        build_films(
            ("Anew", "written_by", "Ann"),
            ("One", "written_by", "Ann"),
            ("One", "has_genre", "Comedy"),
        ),
        RecordingVectorEncoder(),
    )
    found = build_vectors(graph, encoder, "triples")
    new = {"Anew -> written_by -> Ann", "One -> written_by -> Ann", "One -> has_genre -> Comedy"}
    assert set(encoder.asked[1:]) == new and (found.facts["encoded"], found.facts["reused"]) == (
        3,
        5,
    )
    folder = vector_folder(graph, encoder, "triples")
    reused = bytes_of(folder)
    monkeypatch.setattr(vector_blocks, "MAX_EARLIER_FOLDERS", 0)
    delete_vectors(folder)
    assert (
        build_vectors(graph, Bag(), "triples").facts["reused"] == 0 and bytes_of(folder) == reused
    )


def test_too_many_vectors_are_refused_with_their_cost(build_films):
    with pytest.raises(
        TooManyVectors,
        match=r"(?s)has 5 nodes, more than the limit of 4: at [\d,]+ texts a second.*--of nodes --limit 5",
    ):
        build_vectors(build_films(), Bag(), "nodes", limit=4)
    assert len(build_vectors(build_films(), Bag(), "nodes", limit=5)) == 5


def test_only_few_vectors_are_encoded_within_a_question(build_films, monkeypatch):
    graph = build_films()
    monkeypatch.setattr(
        vectors, "VECTOR_INDEX", replace(vectors.VECTOR_INDEX, max_items_in_question=4)
    )
    with pytest.raises(
        StoreError,
        match=r"(?s)5 nodes of “films” have no vectors yet.*hopscope index vectors --graph .*films --of nodes",
    ):
        vector_index(graph, Bag(), "nodes")
    build_vectors(graph, Bag(), "nodes")
    assert len(vector_index(graph, Bag(), "nodes")) == 5


@pytest.fixture(scope="module")
def clouds(tmp_path_factory):
    """4,000 vectors in blocks around 40 centres, as float16."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((40, 32))
    made = centres[rng.integers(40, size=4000)] + 0.5 * rng.standard_normal((4000, 32))
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    folder = tmp_path_factory.mktemp("clouds")
    for number, start in enumerate(range(0, 4000, vector_blocks.BLOCK_TEXTS)):
        np.save(
            vector_blocks.block_file(folder, number),
            made[start : start + vector_blocks.BLOCK_TEXTS].astype(np.float16),
        )

    class CloudGraph:
        n_nodes = 4000

    return vector_blocks.VectorBlocks(CloudGraph(), "nodes", folder), made.astype(
        np.float16
    ).astype(np.float32)


@pytest.mark.parametrize("kind, least", [("SQfp16", 1.0), ("Flat", 1.0), ("HNSW32_SQ8", 0.95)])
def test_every_kind_of_index_finds_what_brute_force_finds(clouds, tmp_path, kind, least):
    blocks, made = clouds
    index, *_ = build_search_index(blocks, NO_WATCH, kind)
    index_parts.save_index(index, tmp_path / vectors.INDEX_FILE)
    facts = f'{{"version": 1, "items": 4000, "dimension": 32, "kind": "{kind}"}}'
    (tmp_path / vector_blocks.DONE_FILE).write_text(facts)
    found, hits = open_vectors(tmp_path), 0
    for query in made[::80]:
        exact = np.argsort(-(made @ query), kind="stable")[:20]
        hits += len(np.intersect1d(found.nearest(query, 20)[0], exact)) / 20 / 50
        # An index with a byte per number gives approximate cosines.
        assert found.cosines(query, exact[:3]) == pytest.approx(made[exact[:3]] @ query, abs=0.02)
    assert hits >= least - 1e-9
    again, *_ = build_search_index(blocks, NO_WATCH, kind)
    index_parts.save_index(again, tmp_path / "again.faiss")
    assert (tmp_path / "again.faiss").read_bytes() == (tmp_path / vectors.INDEX_FILE).read_bytes()


def test_an_exact_index_needs_half_the_bytes_of_an_earlier_one(clouds, tmp_path):
    """Half precision loses nothing, so that both give the same vectors, cosines and order."""
    blocks, made = clouds
    found = {}
    for kind in ("SQfp16", "Flat"):
        index, *_ = build_search_index(blocks, NO_WATCH, kind)
        index_parts.save_index(index, tmp_path / f"{kind}.faiss")
        facts = {"kind": kind, "items": 4000, "dimension": 32}
        found[kind] = vectors.VectorIndex(index_parts.map_index(tmp_path / f"{kind}.faiss"), facts)
        assert found[kind].is_exact and np.array_equal(
            found[kind].vectors_of(np.arange(4000)), made
        )
    sizes = [(tmp_path / f"{kind}.faiss").stat().st_size for kind in found]
    assert sizes[0] < 1.01 * 4000 * 32 * 2 and sizes[1] > 4000 * 32 * 4
    for query in made[::400]:
        items, cosines = found["SQfp16"].nearest(query, 20)
        assert cosines == pytest.approx(found["Flat"].nearest(query, 20)[1], abs=2e-6)
        assert cosines == pytest.approx(made[items] @ query, abs=2e-6)
        assert np.array_equal(found["SQfp16"].cosines(query, items[::-1]), cosines[::-1])
        twice = found["SQfp16"].cosines(query, items[[3, 3]])
        assert twice.tolist() == [cosines[3]] * 2
    assert found["SQfp16"].cosines(made[0], np.empty(0, np.int64)).shape == (0,)


def test_recall_of_an_approximate_index_is_measured(clouds):
    blocks, _ = clouds
    exact, linked = (
        build_search_index(blocks, NO_WATCH, kind)[0] for kind in ("SQfp16", "HNSW32_SQ8")
    )
    assert vectors.recall_of(exact, blocks) == 1.0
    assert 0.95 < vectors.recall_of(linked, blocks) <= 1
    assert vectors.VectorIndex(exact, {"kind": "SQfp16", "items": 4000}).approximation_note == ""
    said = vectors.VectorIndex(
        linked, {"kind": "HNSW32_SQ8", "items": 4000, "recall": 0.98}
    ).approximation_note
    assert (
        said
        == "4,000 vectors are searched by neighbours of neighbours (HNSW32_SQ8); it finds 0.98 of the exact nearest."
    )
    assert (
        "not measured"
        in vectors.VectorIndex(linked, {"kind": "HNSW32_SQ8", "items": 4000}).approximation_note
    )


@pytest.mark.parametrize("kind", ["SQfp16", "Flat", "HNSW32_SQ8"])
def test_excluded_items_are_left_out_during_the_search(clouds, kind):
    blocks, made = clouds
    index = vectors.VectorIndex(
        build_search_index(blocks, NO_WATCH, kind)[0],
        {"kind": kind, "items": 4000, "dimension": 32},
    )
    first = index.nearest(made[7], 40)
    without = first[0][:35]
    left = index.nearest(made[7], 5, without)[0]
    assert not np.isin(left, without).any() and len(left) == 5
    assert kind == "HNSW32_SQ8" or left.tolist() == first[0][35:].tolist()


def test_the_kind_of_index_depends_on_size():
    assert [faiss_kind(n) for n in (5, 200_000, 200_001)] == ["SQfp16", "SQfp16", "HNSW32_SQ8"]


SLOW = """
import sys, time
from core.graph.store import Graph
from core.indexes import vector_blocks, vectors
from core.runtime.meter import metered
from tests.films import Bag

class Slow(Bag):
    def encode(self, texts, watch=None):
        time.sleep(0.1)
        return super().encode(texts)

vector_blocks.BLOCK_TEXTS = 1
vectors.build_vectors(Graph.open(sys.argv[1]), Slow(), "nodes")
"""


def test_a_kill_loses_at_most_one_block(build_films, monkeypatch):
    monkeypatch.setattr(vector_blocks, "BLOCK_TEXTS", 1)
    graph = build_films()
    folder = vector_folder(graph, Bag(), "nodes")
    process = subprocess.Popen([sys.executable, "-c", SLOW, str(graph.folder)])
    deadline = time.monotonic() + 120
    while not (folder / "block-000001.npy").exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = len(list(folder.glob("block-*.npy")))
    assert 2 <= kept < 5 and open_vectors(folder) is None
    encoder = RecordingVectorEncoder()
    assert (
        build_vectors(graph, encoder, "nodes").facts["encoded"]
        == 5 - kept
        == len(encoder.asked) - 1
    )


def test_an_edited_graph_reuses_vectors_and_encodes_only_changed_texts(
    build_films,
):
    graph, encoder = build_films(), RecordingVectorEncoder()
    vector_index(graph, encoder, "nodes"), vector_index(graph, encoder, "triples")
    rest = edit_graph(graph, [Edit("node", ("Drama",)), Edit("rename", ("Ann", "Bea"))])
    encoder.asked.clear()
    for of in ("nodes", "triples"):
        found, wanted = (
            vector_index(rest, encoder, of),
            encoder.__class__().encode(
                vector_blocks.texts_of_items(rest, of, range(vector_blocks.count_items(rest, of)))
            ),
        )
        assert np.allclose(found.vectors_of(np.arange(len(found))), wanted, atol=1e-3)
    assert sorted(encoder.asked) == sorted(
        ["Bea", *(text for text in rest.triple_texts(range(rest.n_edges)) if "Bea" in text)]
    )
    # Nothing is written to the folder of the edited graph.
    assert not (vector_folder(graph, encoder, "nodes").parent.parent / rest.digest[:16]).exists()


def test_items_without_a_vector_are_noted_at_every_search(build_films):
    class ZeroVectorEncoder(Bag):
        def encode(self, texts, watch=NO_WATCH):
            found = super().encode(texts)
            found[[text == "Ann" for text in texts]] = 0.0
            return found

    graph = build_films()
    for _ in range(2):  # The first time it is made, the second time opened.
        with metered() as meter:
            assert vector_index(graph, ZeroVectorEncoder(), "nodes").facts["zeros"] == 1
        (note,) = meter.notes
        assert f"1 of {graph.n_nodes}" in note
        forget_vectors(graph)
    assert "zeros" not in build_vectors(graph, RecordingVectorEncoder(), "triples").facts
