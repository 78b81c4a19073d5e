"""Shutdown of the server: running work is cancelled, and the process ends soon after."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from streamlit.runtime import Runtime

from core.engine import Engine
from pages.parts.shared.wording import tr

STOP_SECONDS = 3.0  # time in which running work can stop by itself
_engines: list[Engine] = []  # engines to stop at the end; in practice the one of this server


def register_shutdown(engine: Engine) -> None:
    """Register an engine whose work is cancelled when the process is asked to stop.

    Ctrl-C and SIGTERM ask for it. The process then exits within `STOP_SECONDS` seconds. Without a
    running server this function does nothing.

    Notes
    -----
    A normal exit of Python first waits for every thread of a pool. A language model in the middle
    of a reply may take minutes, so the process is ended before that wait.

    An exit in the middle of work loses nothing that was saved: files are written next to their
    final place and then moved, or in a transaction.
    """
    # In a test of a page, Streamlit's `AppTest` puts a mock with the spec of `Runtime` in its place.
    if Runtime.exists() and type(Runtime.instance()) is Runtime:
        _engines.append(engine)
        # Functions registered later run first: thus before those that wait for thread pools.
        threading._register_atexit(_end_process)  # type: ignore[attr-defined]


@asynccontextmanager
async def server_lifespan(app: Any) -> AsyncIterator[None]:
    """Lifespan of the server `app`, at whose end running work is cancelled and the process ends.

    The process ends here because uvicorn raises the signal again after the lifespan. A SIGTERM
    would then end it at once, and running work would not be stopped.
    """
    yield
    _end_process()


def _end_process() -> None:
    """Cancel all work, wait up to `STOP_SECONDS`, and exit."""
    for engine in _engines:
        engine.stop()
    deadline = time.monotonic() + STOP_SECONDS
    while _has_running_work() and time.monotonic() < deadline:
        time.sleep(0.05)
    if _has_running_work():
        logging.getLogger(__name__).warning(
            tr("Ended while work was running. What was saved stays; the rest must be done again.")
        )
    logging.shutdown()
    os._exit(0)  # Threads in compiled code would crash during a normal exit of the interpreter.


def _has_running_work() -> bool:
    return any(engine.is_busy for engine in _engines)
