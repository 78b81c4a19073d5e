"""Vectors that are searched while they are made, by hand.

The tests show the part that is ready, its notes, and the continuation after a stop.
"""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

from core.engine import Engine
from core.errors import HopscopeError, StoreError
from core.graph.building.text_graph import assemble, store_graph
from core.graph.columns import Table
from core.indexes import partial_index, vector_blocks, vectors
from core.indexes.partial_index import (
    PartialIndexDefaults,
    PartialVectors,
    available_vectors,
    build_searchable_vectors,
    direct_cosines,
    partial_vectors,
)
from core.indexes.vector_blocks import VectorBlocks, block_file
from core.indexes.vectors import open_vectors, vector_folder, vector_index
from core.runtime.jobs import Job
from core.watch import NO_WATCH
from tests.films import Bag, Written

WORDS = ("love", "one", "war", "ann", "two", "drama", "three", "cat", "four", "bob")


def ignore_progress(*_):
    """Ignore the progress, and never cancel."""


class PausingEncoder(Bag):
    """An encoder that returns its vectors one by one.

    After `most` of them it waits for the event `go_on`.
    """

    received = True

    def __init__(self, most=10**9):
        self.most, self.given, self.go_on, self.reached = (
            most,
            0,
            threading.Event(),
            threading.Event(),
        )

    def encode(self, texts, watch=NO_WATCH, received=None):
        found = []
        for text in texts:
            if self.given >= self.most and received:
                self.reached.set()
                while not self.go_on.wait(0.01):
                    watch.check()
            found.append(super().encode([text]))
            if received:
                self.given += 1
                received([text], found[-1])
        return np.concatenate(found) if found else np.zeros((0, 4), np.float32)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of four texts, and no waiting."""
    monkeypatch.setattr(vector_blocks, "BLOCK_TEXTS", 4)
    monkeypatch.setattr(partial_index, "BLOCK_TEXTS", 4)
    short_waits = PartialIndexDefaults(
        min_wait_seconds=0.0, max_wait_seconds=0.0, min_searched_vectors=1, progress_seconds=0.02
    )
    monkeypatch.setattr(partial_index, "PARTIAL_INDEX", short_waits)


@pytest.fixture
def graph(tmp_path):
    ids = [f"d{number}" for number in range(10)]
    chunks = Table.from_columns(id=ids, document=ids, title=[""] * 10, text=list(WORDS))
    return store_graph(assemble("ten", [], [], {}, {}, chunks), tmp_path / "ten")


def start_job(graph, encoder):
    """Start a job that makes the vectors in a thread."""
    job = Job("vectors", lambda job: build_searchable_vectors(graph, encoder, "chunks", job))
    threading.Thread(target=job.run, daemon=True).start()
    return job


def test_encoded_texts_are_searched_before_the_end(graph):
    encoder = PausingEncoder(most=6)  # The first block of four texts, and two texts of the second.
    job = start_job(graph, encoder)
    assert encoder.reached.wait(120)
    found = partial_vectors(graph, encoder, "chunks")
    assert (
        found.items.tolist() == [0, 1, 2, 3, 4, 5]
        and found.encoded_share_text == "60 % of the passages so far"
    )
    asked = Bag().encode(["two"])[0]
    ids, cosines = found.nearest(asked, 3)
    by_hand = np.round(
        Bag().encode(list(WORDS[:6])).astype(np.float16).astype(np.float32) @ asked, 6
    )
    assert ids[0] == 4 and cosines == pytest.approx(np.sort(by_hand)[::-1][:3], abs=1e-6)
    encoder.go_on.set()
    assert job.wait(120) and job.status == "done"
    assert (
        len(partial_vectors(graph, encoder, "chunks")) == 10
        and len(vector_index(graph, encoder, "chunks")) == 10
    )


def test_a_part_gives_the_cosines_of_the_whole(graph):
    encoder = PausingEncoder()
    whole = vectors.build_vectors(graph, encoder, "chunks", NO_WATCH)
    found, asked = partial_vectors(graph, encoder, "chunks"), Bag().encode(["war drama"])[0]
    assert [one.tolist() for one in found.nearest(asked, 10)] == [
        one.tolist() for one in whole.nearest(asked, 10)
    ]


def test_a_damaged_block_is_left_out_with_its_items(graph):
    """There are two blocks of four items, and the first one is damaged.

    So item 4 is found by its own vector.
    """
    encoder = PausingEncoder(most=9)
    job = start_job(graph, encoder)
    assert encoder.reached.wait(120)
    file = block_file(vector_folder(graph, encoder, "chunks"), 0)
    file.write_bytes(file.read_bytes()[:-9] + bytes(9))
    found = partial_vectors(graph, encoder, "chunks")
    assert found.items.tolist() == [4, 5, 6, 7, 8] and sum(map(len, found.parts)) == 5
    by_hand = Bag().encode(list(WORDS[4:9])).astype(np.float16).astype(np.float32) @ (
        asked := Bag().encode(["two"])[0]
    )
    ids, cosines = found.nearest(asked, 6)
    assert dict(zip(ids.tolist(), cosines.tolist())) == pytest.approx(
        dict(zip(range(4, 9), by_hand.tolist())), abs=1e-6
    )
    job.cancel()
    encoder.go_on.set()
    assert job.wait(120)


def test_very_small_and_nearly_complete_parts_are_described():
    words = lambda n, total: PartialVectors("nodes", total, np.arange(n), ()).encoded_share_text
    assert (
        words(5, 1000) == "less than 1 % of the entities so far"
        and words(999, 1000) == "99 % of the entities so far"
    )


def test_callers_get_a_part_or_wait_for_all(graph, monkeypatch):
    encoder = PausingEncoder(most=6)
    job = start_job(graph, encoder)
    assert encoder.reached.wait(120)
    part = available_vectors(graph, encoder, "chunks", lambda: job)
    assert isinstance(part, PartialVectors) and len(part) == 6
    monkeypatch.setattr(
        partial_index, "PARTIAL_INDEX", replace(partial_index.PARTIAL_INDEX, max_wait_seconds=1e9)
    )  # The rest is ready soon.
    encoder.go_on.set()
    assert len(available_vectors(graph, encoder, "chunks", lambda: job)) == 10


def test_failed_vectors_are_reported(graph):
    class UnavailableEncoder(Bag):
        def encode(self, texts, watch=NO_WATCH):
            raise HopscopeError("There is no such encoder here.")

    encoder = UnavailableEncoder()
    with pytest.raises(HopscopeError, match="no such encoder"):
        available_vectors(graph, encoder, "chunks", lambda: start_job(graph, encoder))


def test_cancelled_vectors_are_reported_and_continued(graph):
    encoder = PausingEncoder(most=6)
    job = start_job(graph, encoder)
    assert encoder.reached.wait(120)
    job.stop()
    assert job.wait(120)
    with pytest.raises(StoreError, match="cancelled"):
        available_vectors(graph, encoder, "chunks", lambda: job)
    again = PausingEncoder()
    found = build_searchable_vectors(graph, again, "chunks")
    # Neither the saved block nor the two texts of the next block are encoded again.
    assert len(found) == 10 and again.given == 4
    assert np.array_equal(
        found.vectors_of(np.arange(10)),
        Bag().encode(list(WORDS)).astype(np.float16).astype(np.float32),
    )
    assert not (
        vector_folder(graph, again, "chunks") / partial_index.UNFINISHED_BLOCK_FILE
    ).exists()


def test_a_damaged_partial_block_is_encoded_again(graph):
    encoder = PausingEncoder(most=6)
    job = start_job(graph, encoder)
    assert encoder.reached.wait(120)
    job.stop()
    assert job.wait(120)
    file = vector_folder(graph, encoder, "chunks") / partial_index.UNFINISHED_BLOCK_FILE
    file.write_bytes(file.read_bytes()[:100])
    again = PausingEncoder()
    assert len(build_searchable_vectors(graph, again, "chunks")) == 10 and again.given == 6


def test_partial_vectors_of_another_content_are_reused(graph, tmp_path):
    encoder = PausingEncoder(most=6)
    job = start_job(graph, encoder)
    assert encoder.reached.wait(120)
    job.stop()
    assert job.wait(120) and open_vectors(vector_folder(graph, encoder, "chunks")) is None
    rows = np.array([9, 3, 2, 1, 0, 5, 4])
    other = store_graph(
        assemble("ten", [], [], {}, {}, graph.columns.chunks.take(rows)), tmp_path / "ten"
    )
    again = PausingEncoder()
    found = build_searchable_vectors(other, again, "chunks")
    # New are bob, drama and two. The other vectors come from the saved block of the other content.
    assert again.given == 3 and found.facts["reused"] == 4
    expected = Bag().encode([WORDS[row] for row in rows]).astype(np.float16)
    blocks = VectorBlocks(other, "chunks", vector_folder(other, again, "chunks"))
    assert np.array_equal(np.concatenate([blocks.read(0), blocks.read(1)]), expected)


def test_cosines_of_a_few_items_are_available_early(graph):
    asked, items = Bag().encode(["cat"])[0], np.array([7, 2])
    found = direct_cosines(graph, Bag(), "chunks", asked, items)
    whole = vectors.build_vectors(graph, Bag(), "chunks", NO_WATCH)
    assert found.tolist() == whole.cosines(asked, items).tolist()
    # Now all vectors are there.
    assert direct_cosines(graph, Bag(), "chunks", asked, items) is None


class SingleEncoderModels(Written):
    """Models with a given encoder."""

    def __init__(self, encoder):
        super().__init__()
        self.one = encoder

    def encoder(self, name="encoder"):
        return self.one


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    from core.corpus import Document, new_folder, write_corpus

    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return write_corpus(
        new_folder("ten"), [Document(f"d{number}", word) for number, word in enumerate(WORDS)]
    )


def compare_lines(engine, corpus, *lines, waits_for_vectors=False):
    from dataclasses import replace

    from core.methods.catalogue import find_method
    from core.sources import CorpusSource
    from core.types import Question

    ask = replace(
        engine.prepare_question(CorpusSource.of(corpus), Question("two")),
        waits_for_vectors=waits_for_vectors,
    )
    return engine.compare(ask, [find_method(line) for line in lines])


WORDS_LINE = "BuiltGraph() >> SparseChunks(keep=1) >> AnswerFromTables()"
VECTORS_LINE = "BuiltGraph() >> EmbedQuery() >> VectorChunks(keep=1) >> AnswerFromTables()"


def test_a_search_by_words_makes_no_vectors(corpus):
    encoder = PausingEncoder()
    engine = Engine(SingleEncoderModels(encoder))
    job = compare_lines(engine, corpus, WORDS_LINE)
    assert job.wait(120) and job.comparison.lanes[0].state.chunks.items == (4,)
    assert encoder.given == 0 and not list(corpus.folder.glob("graphs/*/indexes/*/vectors-*"))


def test_searches_by_words_do_not_wait_and_partial_results_are_not_final(corpus):
    encoder = PausingEncoder(most=6)
    engine = Engine(SingleEncoderModels(encoder))
    assert compare_lines(engine, corpus, VECTORS_LINE).wait(120) and encoder.reached.wait(120)
    job = compare_lines(engine, corpus, VECTORS_LINE, WORDS_LINE)
    assert job.wait(120)
    part, words = job.comparison.lanes
    assert (
        part.state.partly == "60 % of the passages so far"
        and part.state.chunks.items == (4,)
        and not words.state.partly
    )
    assert "6 of 10 chunks" in " ".join(note for step in part.state.trace for note in step.notes)
    again = compare_lines(engine, corpus, VECTORS_LINE, WORDS_LINE)
    # The question runs again, with the vectors that are there.
    assert again is not job and again.wait(120) and again.comparison.lanes[0].state.partly
    encoder.go_on.set()
    (making,) = engine.background_jobs.with_key_prefix("index-")
    assert making.wait(120)
    last = compare_lines(engine, corpus, VECTORS_LINE, WORDS_LINE)
    assert last.wait(120) and not last.comparison.lanes[0].state.partly
    # A complete result is reused.
    assert compare_lines(engine, corpus, VECTORS_LINE, WORDS_LINE) is last
    engine.stop()


def test_partial_lanes_are_not_reused(corpus):
    encoder = PausingEncoder(most=6)
    engine = Engine(SingleEncoderModels(encoder))
    job = compare_lines(engine, corpus, VECTORS_LINE, WORDS_LINE)
    assert job.wait(120)
    later = engine.compare(
        job.comparison.ask,
        [lane.method for lane in reversed(job.comparison.lanes)],
        earlier=job.comparison,
    )
    assert later.wait(120) and [lane.is_taken_over for lane in later.comparison.lanes] == [
        True,
        False,
    ]
    engine.stop()


def test_a_request_for_all_vectors_waits(corpus):
    encoder = PausingEncoder(most=6)
    engine = Engine(SingleEncoderModels(encoder))
    job = compare_lines(engine, corpus, VECTORS_LINE, waits_for_vectors=True)
    assert encoder.reached.wait(120) and not job.has_ended
    encoder.go_on.set()
    assert (
        job.wait(120)
        and not job.comparison.lanes[0].state.partly
        and len(job.comparison.lanes[0].state.chunks) == 1
    )
    engine.stop()
