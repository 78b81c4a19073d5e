"""Number of threads that a model may use."""

from __future__ import annotations

import os

from core.errors import BadParameter


def thread_count() -> int:
    """Return HOPSCOPE_THREADS, else the number of physical cores of this process; at least 1.

    Raises BadParameter.
    """
    text = os.environ.get("HOPSCOPE_THREADS", "").strip()
    if text:
        if not text.isdecimal() or int(text) < 1:
            raise BadParameter(
                f"HOPSCOPE_THREADS must be a whole number of at least 1, not “{text}”."
            )
        return int(text)
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    import psutil

    return max(1, min(cores, psutil.cpu_count(logical=False) or cores))
