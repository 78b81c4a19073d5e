"""What the process does for itself while nobody waits: garbage is collected, and the answering model is loaded.

Python's own full collections, and Streamlit's after every run of a page, stop all threads for as long as they walk everything
that is loaded. What stays is therefore frozen, and the rest is collected now and then, in a moment in which nobody waits, or where much
has come since: what a browser leaves behind that went away lies in circles, which a collection alone frees. Among it are open files, three
for each browser, of which macOS allows 256 unless it is asked for more.
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

if sys.platform != "win32":
    import resource

LOOK = 2.0  # seconds between two looks at whether anybody waits
REST = 5.0  # seconds in which nobody waited before something is done
COLLECT = 60.0  # seconds between two collections
LATEST = 300.0  # seconds after which one is done even where somebody waits
MUCH = 500_000  # blocks of memory, some 50 MB, that came since the last collection and may be garbage by now
SELDOM = 10.0  # seconds between two collections at least
OPEN_FILES = 4096  # that the process may have at once
THRESHOLDS = (20_000, 20, 1_000)  # so that Python's own full collections come rarely


class Housekeeping:
    """Looks after the process in a thread of its own. `busy()` says whether somebody waits; `once` is done in the first rest; `held()`
    counts the blocks of memory that are taken, and `begun()` what visitors had begun so far, since much of it is over between two looks."""

    def __init__(
        self,
        busy: Callable[[], bool],
        once: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        held: Callable[[], int] = sys.getallocatedblocks,
        begun: Callable[[], int] = lambda: 0,
    ):
        self._busy, self._once, self._clock, self._held, self._begun = (
            busy,
            once,
            clock,
            held,
            begun,
        )
        self._seen = begun()  # by the last look
        self._rested = self._collected = clock()
        self._left = held()  # by the last collection, or fewer where some were let go of since
        self._done_once, self._started = False, False
        self._stopped = threading.Event()

    def start(self) -> None:
        """Begin; done once however often it is asked for."""
        if not self._started:
            self._started = True
            arguments = (weakref.ref(self), self._stopped)
            threading.Thread(target=_run, args=arguments, name="housekeeping", daemon=True).start()

    def stop(self) -> None:
        """Do nothing more."""
        self._stopped.set()

    def look(self) -> None:
        """Do what is due."""
        now, begun = self._clock(), self._begun()
        if self._busy() or begun != self._seen:
            self._rested, self._seen = now, begun
        resting = now - self._rested >= REST
        if resting and not self._done_once:
            self._done_once = True
            self._once()
        held = self._held()
        self._left = min(self._left, held)
        rest, much = now - self._collected, held - self._left >= MUCH
        if rest >= (COLLECT if resting else LATEST) or (much and rest >= SELDOM):
            gc.collect()
            self._collected, self._left = self._clock(), self._held()


def _run(keeping: weakref.ref[Housekeeping], stopped: threading.Event) -> None:
    """Look again and again, until it is stopped or nobody else holds it."""
    gc.set_threshold(*THRESHOLDS)
    allow_open_files()
    while not stopped.wait(LOOK):
        if not _look(keeping()):
            return


def _look(keeping: Housekeeping | None) -> bool:
    """Do what is due, unless the housekeeping is gone; whether it is still there."""
    if keeping is None:
        return False
    try:
        keeping.look()
    except Exception:
        logging.getLogger(__name__).exception("Housekeeping failed")
    return True


def allow_open_files(wanted: int = OPEN_FILES) -> None:
    """Let the process have so many files open at once, or as many as the system lets it; more where it may already."""
    if sys.platform != "win32":  # which has no such limit
        now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        if now != resource.RLIM_INFINITY and now < wanted:
            with suppress(OSError, ValueError):  # where the system itself has a lower one
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def freeze() -> None:
    """Take everything that is loaded now out of what the collector walks."""
    gc.collect()
    gc.freeze()
