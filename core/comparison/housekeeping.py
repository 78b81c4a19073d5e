"""Housekeeping while no user waits: garbage collection and loading the answering model.

A full garbage collection stops all threads while it walks every loaded object. Python starts such
collections by itself, and Streamlit after every run of a page. Objects that stay are therefore
frozen, and the rest is collected while no user waits, or after many new allocations. The
collections are needed: a browser that disconnects leaves reference cycles behind, which nothing
else frees. They hold three open files for each browser, and macOS allows 256 by default.
"""

from __future__ import annotations

import gc
import logging
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

if sys.platform != "win32":
    import resource


@dataclass(frozen=True)
class HousekeepingDefaults:
    """Times and sizes that decide when a process frees its memory."""

    check_seconds: float = 2.0  # between two checks for work that is due
    idle_after_seconds: float = 5.0  # without a waiting user, until the process counts as idle
    idle_collect_seconds: float = 60.0  # between two collections of an idle process
    busy_collect_seconds: float = 300.0  # after which a busy process collects too
    # newly allocated blocks, about 50 MB, after which the next collection is due
    min_new_blocks: int = 500_000
    min_collect_seconds: float = 10.0  # between two collections after many new blocks
    max_open_files: int = 4096  # of the process at once


HOUSEKEEPING = HousekeepingDefaults()
GC_THRESHOLDS = (20_000, 20, 1_000)  # make Python's own full collections rare


class Housekeeping:
    """Housekeeping of the process, in a thread of its own.

    Parameters
    ----------
    is_busy : returns whether a user waits.
    on_first_idle : is called once, when the process is idle for the first time. The engine loads
        the answering model then.
    clock : returns the time in seconds.
    count_blocks : returns the number of allocated blocks of memory.
    count_begun : returns how many pieces of users' work have begun so far. Many of them begin and
        end between two checks.
    """

    def __init__(
        self,
        is_busy: Callable[[], bool],
        on_first_idle: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        count_blocks: Callable[[], int] = sys.getallocatedblocks,
        count_begun: Callable[[], int] = lambda: 0,
    ):
        self._is_busy = is_busy
        self._on_first_idle = on_first_idle
        self._clock = clock
        self._count_blocks = count_blocks
        self._count_begun = count_begun
        self._last_count = count_begun()  # at the last check
        self._active_time = self._collect_time = clock()  # of users' work and of a collection
        self._min_blocks = count_blocks()  # blocks after the last collection, or the fewest since
        self._was_idle, self._started = False, False
        self._stopped = threading.Event()

    def start(self) -> None:
        """Start the thread; later calls do nothing."""
        if not self._started:
            self._started = True
            arguments = (weakref.ref(self), self._stopped)
            threading.Thread(target=_run, args=arguments, name="housekeeping", daemon=True).start()

    def stop(self) -> None:
        """Stop the thread."""
        self._stopped.set()

    def do_due_work(self) -> None:
        """Call `on_first_idle` in the first idle moment, and collect garbage if that is due."""
        now, count = self._clock(), self._count_begun()
        if self._is_busy() or count != self._last_count:
            self._active_time, self._last_count = now, count
        is_idle = now - self._active_time >= HOUSEKEEPING.idle_after_seconds
        if is_idle and not self._was_idle:
            self._was_idle = True
            self._on_first_idle()
        blocks = self._count_blocks()
        self._min_blocks = min(self._min_blocks, blocks)
        since_collection = now - self._collect_time
        has_many_blocks = blocks - self._min_blocks >= HOUSEKEEPING.min_new_blocks
        due_seconds = HOUSEKEEPING.busy_collect_seconds
        if is_idle:
            due_seconds = HOUSEKEEPING.idle_collect_seconds
        if has_many_blocks:
            due_seconds = min(due_seconds, HOUSEKEEPING.min_collect_seconds)
        if since_collection >= due_seconds:
            gc.collect()
            self._collect_time, self._min_blocks = self._clock(), self._count_blocks()


def _run(keeping: weakref.ref[Housekeeping], stopped: threading.Event) -> None:
    """Do the due work every few seconds, until stopped.

    The thread holds only a weak reference, so it also ends once the object is freed.
    """
    gc.set_threshold(*GC_THRESHOLDS)
    allow_open_files()
    while not stopped.wait(HOUSEKEEPING.check_seconds):
        if not _do_due_work(keeping()):
            return


def _do_due_work(keeping: Housekeeping | None) -> bool:
    """Do the work that is due; return False once the housekeeping object is gone."""
    if keeping is None:
        return False
    try:
        keeping.do_due_work()
    except Exception:  # without this thread no memory would be freed until the process ends
        logging.getLogger(__name__).exception("Housekeeping failed")
    return True


def allow_open_files(target: int = HOUSEKEEPING.max_open_files) -> None:
    """Raise the limit on open files to `target`.

    If the system allows less, it is raised to the highest that is allowed. A limit that is higher
    already stays.
    """
    if sys.platform != "win32":  # Windows has no such limit
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        target = target if hard == resource.RLIM_INFINITY else min(target, hard)
        if soft != resource.RLIM_INFINITY and soft < target:
            with suppress(OSError, ValueError):  # the system may have a lower limit
                resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))


def freeze_objects() -> None:
    """Exclude all objects that are loaded now from garbage collection."""
    gc.collect()
    gc.freeze()
