"""Vectors of an opened index are used if the encoder here gives the same vectors.

Otherwise they are made anew, with a note.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from core.builds import build_status, run_build
from core.corpus.indexes.opened_indexes import OPENED_FOLDER, open_index, opened_vectors
from core.environment import Environment
from core.graph.texts import chunk_title
from core.indexes.vector_blocks import texts_of_items
from core.indexes.vectors import open_vectors, vector_folder, vector_index
from core.models.base import NoModels
from core.operators.base import Context
from core.operators.texts.vectors import VectorNodes
from core.types import Question, State
from core.watch import NO_WATCH
from tests.core.builds.kit import LetterModels
from tests.core.corpus.indexes.kit import ENCODER, RECORDED
from tests.notes import NoteWith


class RecordedEncoderModels(NoModels):
    """Models with the encoder of the recorded indexes, which records the texts that it reads."""

    def __init__(self):
        self.read = []

    def encoder(self, name="encoder"):
        return self

    def encode(self, texts, watch=NO_WATCH):
        self.read += texts
        return ENCODER.encode(texts)


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    return open_index(RECORDED / "lightrag", "harbour")[0]


def notes(corpus) -> list[str]:
    return [
        note for note in build_status(corpus, "opened-lightrag").report["notes"] if "ectors" in note
    ]


def test_vectors_of_the_encoder_are_taken(corpus):
    models = RecordedEncoderModels()
    graph = run_build(corpus, "opened-lightrag", models)
    given = opened_vectors(corpus, "lightrag", "nodes")
    index = vector_index(graph, models, "nodes")
    assert np.allclose(index.vectors_of(np.arange(5)), given.matrix.astype(np.float32))
    # Only some texts are encoded, to compare their vectors.
    assert not {
        *texts_of_items(graph, "nodes", range(5)),
        *texts_of_items(graph, "relations", range(5)),
    } & set(models.read)
    assert index.source == NoteWith("entities", "LightRAG", 5, 5, "the same")
    chunks = vector_index(graph, models, "chunks").source
    relations = index.source.replace("entities", "relations")
    assert notes(corpus) == [index.source, relations, chunks]
    assert "chunks" in chunks and "LightRAG: 4." in chunks


def test_passages_come_in_the_order_of_the_index(corpus):
    models = RecordedEncoderModels()
    graph = run_build(corpus, "opened-lightrag", models)
    given = opened_vectors(corpus, "lightrag", "chunks")
    asked = ENCODER.encode(["Who owns the Marie?"])[0]
    scores = given.matrix.astype(np.float64) @ asked.astype(np.float64)
    found, cosines = vector_index(graph, models, "chunks").nearest(asked, 4)
    assert found.tolist() == np.lexsort((np.arange(4), -scores)).tolist()
    assert np.allclose(cosines, scores[found], atol=1e-3)


def test_an_encoder_does_not_read_the_name_of_a_file(corpus):
    graph = run_build(corpus, "opened-lightrag", LetterModels())
    own = graph.columns.chunks.texts("text")
    assert texts_of_items(graph, "chunks", range(4)) == own
    assert chunk_title(graph, 0).startswith("harbour.txt")
    assert {one.title for one in corpus} == {"harbour.txt", "ship.txt"}


def test_vectors_of_another_encoder_are_not_taken(corpus):
    graph = run_build(corpus, "opened-lightrag", LetterModels())
    why = "are not used: they have 384 numbers each, and those of the encoder here 16. They are computed again."
    assert notes(corpus) == [
        f"The vectors of {what} in the index of LightRAG {why}"
        for what in ("entities", "relations", "chunks")
    ]
    index = vector_index(graph, LetterModels(), "nodes")
    assert not index.source and np.allclose(
        index.vectors_of(np.arange(5)),
        LetterModels().encode(texts_of_items(graph, "nodes", range(5))),
        atol=1e-3,
    )


def test_equally_long_vectors_of_another_encoder_are_not_taken(corpus):
    class ReversedEncoderModels(RecordedEncoderModels):
        def encode(self, texts, watch=NO_WATCH):
            return ENCODER.encode(texts)[:, ::-1].copy()

    run_build(corpus, "opened-lightrag", ReversedEncoderModels())
    assert (
        len(notes(corpus)) == 3
        and "of 5 texts that were encoded again, one has a cosine of " in notes(corpus)[0]
    )


def test_items_without_a_vector_are_encoded_here(corpus):
    folder = corpus.folder / OPENED_FOLDER / "lightrag" / "vectors"
    given = opened_vectors(corpus, "lightrag", "nodes")
    left = ["", *given.texts[1:]]
    with open(folder / "nodes-texts.npy", "wb") as stream:
        np.save(stream, np.frombuffer(json.dumps(left).encode(), np.uint8))
    models = RecordedEncoderModels()
    graph = run_build(corpus, "opened-lightrag", models)
    index = vector_index(graph, models, "nodes")
    (first,) = texts_of_items(graph, "nodes", [0])
    assert first in models.read and np.allclose(
        index.vectors_of(np.arange(1)), ENCODER.encode([first]), atol=1e-3
    )
    assert ": 4, 1 are made here. 4 were made again" in index.source


def test_damaged_vectors_are_encoded_again(corpus):
    file = corpus.folder / OPENED_FOLDER / "lightrag" / "vectors" / "nodes.npy"
    content = bytearray(file.read_bytes())
    content[200] ^= 255
    file.write_bytes(bytes(content))
    assert opened_vectors(corpus, "lightrag", "nodes") is None
    graph = run_build(corpus, "opened-lightrag", RecordedEncoderModels())
    assert not open_vectors(vector_folder(graph, RecordedEncoderModels(), "nodes")).source


def test_a_method_on_the_opened_graph_names_the_source_of_its_vectors(corpus):
    graph = run_build(corpus, "opened-lightrag", RecordedEncoderModels())
    state = State(
        Question("Who built the harbour?"), vector=ENCODER.encode(["Who built the harbour?"])[0]
    )
    after = VectorNodes(keep=2)(state, Context(graph, Environment(RecordedEncoderModels())))
    assert (
        after.trace[-1]
        .notes[-1]
        .startswith("The vectors of entities are those of the index of LightRAG")
    )
