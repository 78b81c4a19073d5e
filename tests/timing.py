"""Compare what some work costs on little and on much, on a slow and busy machine too."""

from __future__ import annotations

import time
from collections.abc import Callable

PARTS = 64  # sizes so far apart that no processor takes linear time for quadratic, or the reverse
TRIES = 5


def is_linear(work: Callable[[int], object], size: int) -> bool:
    """Return whether work on `size` costs about as much as work on each of its 64 parts.

    Linear time is as much, quadratic time 64 times as much.
    """
    part = size // PARTS
    return costs_like(lambda: work(size), lambda: [work(part) for _ in range(PARTS)])


def costs_like(work: Callable[[], object], measure: Callable[[], object]) -> bool:
    """Return whether the work takes less than eight times as long as `measure` in one of some tries.

    Each is the processor time of this thread, and both are taken right after each other.
    """
    return any(_seconds(work) < PARTS**0.5 * _seconds(measure) for _ in range(TRIES))


def _seconds(work: Callable[[], object]) -> float:
    begun = time.thread_time()
    work()
    return time.thread_time() - begun
