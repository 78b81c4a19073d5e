"""Fixtures for the rows of the catalogue where models are written down."""

from __future__ import annotations

import numpy as np
import pytest

from core.graph.algorithms.directional import distance_width
from core.models.triple_scorer import TripleScorer
from core.operators.retrieve import scored_triples
from tests.films import Bag


@pytest.fixture
def triples_by_words(monkeypatch):
    """A triple scorer for the encoder that counts words: it finds every triple as likely, whatever that says."""
    shapes = {
        "question": Bag.size,
        "head": Bag.size,
        "relation": Bag.size,
        "tail": Bag.size,
        "head_place": distance_width(),
        "tail_place": distance_width(),
    }
    weights = {name: np.zeros((rows, 1), np.float32) for name, rows in shapes.items()}
    weights |= {name: np.zeros(1, np.float32) for name in ("bias", "out", "out_bias")}
    monkeypatch.setattr(scored_triples, "load_triple_scorer", lambda: TripleScorer(weights))
