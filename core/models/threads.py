"""Number of threads that a model may use."""

from __future__ import annotations

import os

from core.errors import BadParameter


def thread_count() -> int:
    """Return the number of threads that HOPSCOPE_THREADS sets, at least 1.

    If it is not set, this is the number of physical cores that the process may use. Raises
    BadParameter for another value.
    """
    text = os.environ.get("HOPSCOPE_THREADS", "").strip()
    if text:
        if not text.isdecimal() or int(text) < 1:
            raise BadParameter(
                f"HOPSCOPE_THREADS must be a whole number of at least 1, not “{text}”."
            )
        return int(text)
    # Windows and macOS have no affinity, so all cores are the process's.
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    import psutil

    return max(1, min(cores, psutil.cpu_count(logical=False) or cores))
