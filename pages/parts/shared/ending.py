"""How the server ends when it is told to: what runs is cancelled, given a moment, and then the
process goes."""

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

MOMENT = 3.0  # seconds that what runs has to end by itself
_engines: list[Engine] = []  # of this server, once a page was opened


def end_soon(engine: Engine) -> None:
    """When this process is to end (Ctrl-C, SIGTERM), cancel what runs and leave within `MOMENT`
    seconds.

    Python waits for every thread of a pool before it runs anything else at its end, and a model in
    the middle of a reply may take minutes. What is written to disk is written beside its place or
    in a transaction, so that going in the middle loses nothing that was kept. Does nothing where no
    server runs, as in a test of a page.
    """
    if Runtime.exists() and type(Runtime.instance()) is Runtime:
        _engines.append(engine)
        threading._register_atexit(_end)  # type: ignore[attr-defined]  # before the pools' own, which wait


@asynccontextmanager
async def ending(app: Any) -> AsyncIterator[None]:
    """The life of the server `app`: once it takes no more requests, all ends. After it a SIGTERM
    would end the process at once."""
    yield
    _end()


def _end() -> None:
    for engine in _engines:
        engine.stop()
    last = time.monotonic() + MOMENT
    while (busy := any(engine.busy for engine in _engines)) and time.monotonic() < last:
        time.sleep(0.05)
    if busy:
        logging.getLogger(__name__).warning(
            tr("Ended while work was running; what was kept stays, the rest is done anew.")
        )
    logging.shutdown()
    os._exit(0)  # threads in compiled code would fail in a process that is half gone
