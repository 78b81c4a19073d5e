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
    """Times and sizes by which a process frees its memory."""

    check_seconds: float = 2.0  # between two checks for work that is due
    idle_after_seconds: float = 5.0  # without a waiting user, until the process counts as idle
    idle_collect_seconds: float = 60.0  # between two collections of an idle process
    busy_collect_seconds: float = 300.0  # after which a busy process collects too
    # allocated since the last collection, about 50 MB, after which the next one is due
    min_new_blocks: int = 500_000
    min_collect_seconds: float = 10.0  # between two collections after many new blocks
    max_open_files: int = 4096  # of the process at once


HOUSEKEEPING = HousekeepingDefaults()
GC_THRESHOLDS = (20_000, 20, 1_000)  # make Python's own full collections rare


class Housekeeping:
    """Housekeeping of the process, in a thread of its own.

    Parameters
    ----------
    busy : returns whether a user waits.
    on_rest : is called in the first idle moment.
    clock : returns the time in seconds.
    held : returns the number of allocated blocks of memory.
    count_begun : returns how many pieces of users' work have begun so far. Many of them begin and
        end between two checks.
    """

    def __init__(
        self,
        busy: Callable[[], bool],
        on_rest: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        held: Callable[[], int] = sys.getallocatedblocks,
        count_begun: Callable[[], int] = lambda: 0,
    ):
        self._busy = busy
        self._on_rest = on_rest
        self._clock = clock
        self._held = held
        self._count_begun = count_begun
        self._last_count = count_begun()  # at the last check
        self._active_time = self._collect_time = clock()
        self._min_blocks = held()  # blocks after the last collection, or the fewest since
        self._rest_done, self._started = False, False
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
        """Do the work that is due."""
        now, count = self._clock(), self._count_begun()
        if self._busy() or count != self._last_count:
            self._active_time, self._last_count = now, count
        resting = now - self._active_time >= HOUSEKEEPING.idle_after_seconds
        if resting and not self._rest_done:
            self._rest_done = True
            self._on_rest()
        held = self._held()
        self._min_blocks = min(self._min_blocks, held)
        since_collection = now - self._collect_time
        has_many_blocks = held - self._min_blocks >= HOUSEKEEPING.min_new_blocks
        due_seconds = HOUSEKEEPING.busy_collect_seconds
        if resting:
            due_seconds = HOUSEKEEPING.idle_collect_seconds
        if has_many_blocks:
            due_seconds = min(due_seconds, HOUSEKEEPING.min_collect_seconds)
        if since_collection >= due_seconds:
            gc.collect()
            self._collect_time, self._min_blocks = self._clock(), self._held()


def _run(keeping: weakref.ref[Housekeeping], stopped: threading.Event) -> None:
    """Check again and again, until stopped or until the housekeeping object is gone."""
    gc.set_threshold(*GC_THRESHOLDS)
    allow_open_files()
    while not stopped.wait(HOUSEKEEPING.check_seconds):
        if not _look(keeping()):
            return


def _look(keeping: Housekeeping | None) -> bool:
    """Do the work that is due; return False once the housekeeping object is gone."""
    if keeping is None:
        return False
    try:
        keeping.do_due_work()
    except Exception:
        logging.getLogger(__name__).exception("Housekeeping failed")
    return True


def allow_open_files(target: int = HOUSEKEEPING.max_open_files) -> None:
    """Raise the limit on open files to `target`, or to the highest the system allows.

    A limit that is higher already stays.
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
