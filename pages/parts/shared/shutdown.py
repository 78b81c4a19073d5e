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

STOP_SECONDS = 3.0  # seconds that running work has to stop
_engines: list[Engine] = []  # the engine of this server, once a page was opened


def register_shutdown(engine: Engine) -> None:
    """Cancel running work when the process is asked to stop.

    It exits within `STOP_SECONDS` seconds. Ctrl-C and SIGTERM tell it to end. Python waits for
    every thread of a pool before it runs other exit code, and a model in the middle of a reply may
    take minutes. Files are written next to their final place or in a transaction, so an exit in the
    middle loses nothing that was saved. Without a running server, as in a test of a page, this does
    nothing.
    """
    if Runtime.exists() and type(Runtime.instance()) is Runtime:
        _engines.append(engine)
        # It runs before the exit functions of the thread pools, which wait for their threads.
        threading._register_atexit(_end_process)  # type: ignore[attr-defined]


@asynccontextmanager
async def server_lifespan(app: Any) -> AsyncIterator[None]:
    """Lifespan of the server `app`, which exits once it takes no more requests.

    After the lifespan a SIGTERM would end the process at once.
    """
    yield
    _end_process()


def _end_process() -> None:
    for engine in _engines:
        engine.stop()
    deadline = time.monotonic() + STOP_SECONDS
    while (busy := any(engine.is_busy for engine in _engines)) and time.monotonic() < deadline:
        time.sleep(0.05)
    if busy:
        logging.getLogger(__name__).warning(
            tr("Ended while work was running. What was saved stays; the rest must be done again.")
        )
    logging.shutdown()
    os._exit(0)  # Threads in compiled code would crash during a normal exit of the interpreter.
