"""Measure how the time of some work grows with its size, on a busy machine too."""

from __future__ import annotations

import time
from collections.abc import Callable

LEAST_SECONDS = 0.002  # below it a clock's noise counts more than the work


def growth(small: Callable[[], object], large: Callable[[], object], tries: int = 5) -> float:
    """Return how many times as long `large` takes as `small`.

    Each is the least processor time of this thread over some tries, taken in turn, so that other
    threads, garbage of other tests and the processor's speed do not matter.
    """
    spent: tuple[list[float], list[float]] = [], []
    for _ in range(tries):
        for work, seconds in zip((small, large), spent):
            begun = time.thread_time()
            work()
            seconds.append(time.thread_time() - begun)
    return min(spent[1]) / max(min(spent[0]), LEAST_SECONDS)
