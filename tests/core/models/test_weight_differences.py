"""Weights saved as differences from base weights."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import StoreError
from core.models.weight_differences import (
    DIFFERENCE_FILE,
    apply_difference,
    low_rank_difference,
    read_difference,
    write_difference,
)

RNG = np.random.default_rng(0)
BEFORE = {
    "layer.weight": RNG.normal(size=(6, 8)).astype(np.float32),
    "layer.bias": np.zeros(6, np.float32),
    "words": np.ones((9, 4), np.float32),
}


def changed_weights(rank):
    """Changed weights, with a difference of this rank in the layer.

    The bias changes by 1, the words by 5, and a head is new.
    """
    delta = RNG.normal(size=(6, rank)) @ RNG.normal(size=(rank, 8))
    return {
        "layer.weight": (BEFORE["layer.weight"] + delta).astype(np.float32),
        "layer.bias": BEFORE["layer.bias"] + 1,
        "words": BEFORE["words"] + 5,
        "head.weight": np.full((1, 8), 2.0, np.float32),
    }


def test_change_of_the_saved_rank_is_exact(tmp_path):
    trained = changed_weights(2)
    write_difference(low_rank_difference(BEFORE, trained, 2, "words"), tmp_path)
    found = apply_difference(BEFORE, read_difference(tmp_path))
    for name in ("layer.weight", "layer.bias", "head.weight"):
        assert found[name] == pytest.approx(trained[name], abs=5e-3), name
    assert np.array_equal(found["words"], BEFORE["words"])


def test_higher_rank_is_closer_and_larger():
    trained = changed_weights(5)
    told = {rank: low_rank_difference(BEFORE, trained, rank) for rank in (1, 3, 5)}
    off = [
        float(
            np.abs(
                apply_difference(BEFORE, told[rank])["layer.weight"] - trained["layer.weight"]
            ).max()
        )
        for rank in (1, 3, 5)
    ]
    assert off[0] > off[1] > off[2] and off[2] < 1e-2
    sizes = [sum(value.nbytes for value in told[rank].values()) for rank in (1, 3, 5)]
    assert sizes[0] < sizes[1] < sizes[2]


@pytest.mark.parametrize("content", [None, b"no tensors"])
def test_missing_or_damaged_file_is_a_readable_error(content, tmp_path):
    if content:
        (tmp_path / DIFFERENCE_FILE).write_bytes(content)
    with pytest.raises(StoreError, match="cannot be read"):
        read_difference(tmp_path)
