"""Memory estimates of Python values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import psutil

from core.runtime.memory import free_memory, memory_bytes, release_unused_memory


@dataclass(frozen=True)
class Held:
    what: Any
    again: Any = None


def test_arrays_weigh_their_bytes_wherever_they_lie():
    array = np.zeros(100_000, np.int64)
    for value in (array, Held(array), (array, [array]), {"a": Held(array, array)}):
        assert 800_000 <= memory_bytes(value) < 801_000


def test_a_long_tuple_is_weighed_by_its_first_items():
    texts = tuple(f"text {n:04}" * 100 for n in range(1000))
    assert 900_000 < memory_bytes(texts) < 1_100_000


def test_what_holds_itself_has_a_weight():
    own: list = []
    own.append(own)
    assert 0 < memory_bytes(own) < 1000


def test_free_memory_is_what_the_system_says():
    import psutil

    assert 0 < free_memory() <= psutil.virtual_memory().total


def test_memory_that_nothing_uses_is_handed_back():
    """Memory of 200,000 small objects returns to the system, freed in two scattered passes."""
    before = psutil.Process().memory_info().rss
    held = [bytes(600) for _ in range(200_000)]
    taken = psutil.Process().memory_info().rss - before
    del held[::2]
    held.clear()
    release_unused_memory()
    assert psutil.Process().memory_info().rss - before < taken / 2
