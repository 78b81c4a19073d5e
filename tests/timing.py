"""How long something takes on a busy machine."""

from __future__ import annotations

import time
from collections.abc import Callable


def seconds(work: Callable[[], object], tries: int = 3) -> float:
    """The processor's time that `work` takes in this thread, the least of some tries: what other threads and garbage of other tests take
    is not counted."""
    spent = []
    for _ in range(tries):
        begun = time.thread_time()
        work()
        spent.append(time.thread_time() - begun)
    return min(spent)
