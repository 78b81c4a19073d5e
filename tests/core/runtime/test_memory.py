"""Memory estimates of Python values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import psutil

from core.runtime.memory import free_memory, memory_bytes, release_unused_memory


@dataclass(frozen=True)
class SlottedValue:
    what: Any
    again: Any = None


def test_nested_arrays_count_their_bytes():
    array = np.zeros(100_000, np.int64)
    for value in (array, SlottedValue(array), (array, [array]), {"a": SlottedValue(array, array)}):
        assert 800_000 <= memory_bytes(value) < 801_000


def test_long_tuple_is_estimated_from_its_first_items():
    texts = tuple(f"text {n:04}" * 100 for n in range(1000))
    assert 900_000 < memory_bytes(texts) < 1_100_000


def test_cyclic_object_has_a_size():
    own: list = []
    own.append(own)
    assert 0 < memory_bytes(own) < 1000


def test_free_memory_comes_from_the_system():
    import psutil

    assert 0 < free_memory() <= psutil.virtual_memory().total


def test_unused_memory_is_returned_to_the_system():
    """Memory of 200,000 small objects returns to the system, freed in two scattered passes."""
    before = psutil.Process().memory_info().rss
    held = [bytes(600) for _ in range(200_000)]
    taken = psutil.Process().memory_info().rss - before
    del held[::2]
    held.clear()
    release_unused_memory()
    assert psutil.Process().memory_info().rss - before < taken / 2
