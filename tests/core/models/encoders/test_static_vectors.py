"""Static vectors: a linear map of reduced rank, its cosines, and which file fits an encoder."""

from __future__ import annotations

import numpy as np
import pytest

from core.models.base import Task
from core.models.encoders.static_vectors import SHIPPED_STATIC_VECTORS, StaticVectors
from core.models.scorers import EncoderScorer
from tests.benchmarks.static_vectors import fit_static_vectors, save_static_vectors

EYE = np.eye(2, dtype=np.float32)


def test_cosines_of_mapped_vectors_by_hand():
    """The map adds (0, 1). (3, 3) becomes (3, 4) and (0, -1) becomes (0, 0); the query is (0, 1)."""
    zero, up = np.zeros(2, np.float32), np.array([0, 1], np.float32)
    static = StaticVectors(EYE, EYE, token_mean=zero, mean=up)
    cosines = static.cosines(np.array([[3.0, 3.0], [1.0, -1.0], [0.0, -1.0]]), up)
    assert cosines.tolist() == pytest.approx([4 / 5, 0.0, 0.0])


def test_fit_finds_a_linear_map_of_low_rank():
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((200, 4)).astype(np.float32)
    outputs = inputs @ np.outer([1.0, 2.0, 0.0, -1.0], [0.0, 3.0, 4.0]) + [1.0, 0.0, 0.0]
    static = fit_static_vectors(inputs, outputs.astype(np.float32), rank=1, ridge=0.0)
    assert static.projection.shape == (4, 1) and static.basis.shape == (1, 3)
    estimated = (inputs - static.token_mean) @ static.projection @ static.basis + static.mean
    assert np.allclose(estimated, outputs, atol=1e-4)
    query = np.array([0.0, 0.6, 0.8], np.float32)
    cosines = static.cosines(inputs @ static.projection, query)
    exact = outputs @ query / np.linalg.norm(outputs, axis=1)
    assert np.allclose(cosines, exact, atol=1e-3)


def test_saved_map_is_opened_for_its_encoder_alone(tmp_path):
    file = tmp_path / "map.safetensors"
    assert StaticVectors.open(file, "weights 1") is None
    save_static_vectors(StaticVectors(EYE, EYE, EYE[0], EYE[1]), file, "weights 1")
    assert StaticVectors.open(file, "weights 2") is None
    opened = StaticVectors.open(file, "weights 1")
    assert all((getattr(opened, name) == value).all() for name, value in vars(opened).items())
    assert opened.mean.tolist() == [0, 1]


def path_texts() -> list[str]:
    """Paths of films, of which those with a language are what the question asks for."""
    relations = ("has_genre", "release_year", "starred_actors", "written_by", "in_language")
    values = ("Drama", "1994", "Ann Lee", "Bo Moss", "French")
    return [
        f"Ann Lee -> starred_actors_reverse -> Film {number} -> {relation} -> {value} {number % 7}"
        for number in range(120)
        for relation, value in zip(relations, values)
    ]


def test_shipped_map_fits_the_shipped_encoder_and_saves_reading(encoder, monkeypatch):
    texts = path_texts()
    query = "what are the languages of the films that Ann Lee acted in"

    def read(recall: float) -> np.ndarray:
        return EncoderScorer(encoder).score(Task(query, n_best=32, recall=recall), texts)

    exact = read(1.0)
    best = set(np.argsort(-exact, kind="stable")[:32].tolist())
    shortened = read(0.95)
    n_read = int(np.isfinite(shortened).sum())
    assert SHIPPED_STATIC_VECTORS.exists() and encoder._static_vectors is not None
    assert len(best & set(np.flatnonzero(np.isfinite(shortened)))) >= 30
    monkeypatch.setattr(encoder, "_static_vectors", None)
    assert n_read <= np.isfinite(read(0.95)).sum()
