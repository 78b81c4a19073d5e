"""An HTTP client that bounds the whole time until the headers of a reply are there."""

from __future__ import annotations

import threading
from typing import Any

import openai

from core.models.chat.piece import Overdue

TIMER = "hopscope_header_timer"  # the extension of a request that holds it


class TimelyClient(openai.DefaultHttpxClient):
    """A client whose requests end once `seconds` have passed before their headers are complete.

    The HTTP library bounds the silence between two bytes alone, so a server may send its headers
    byte by byte for ever. Nothing but the client knows the connection of a request then: all of
    its connections are closed, and it is to be replaced.
    """

    def __init__(self, seconds: float, **how: Any):
        super().__init__(**how)
        self._seconds = seconds
        self.event_hooks["response"].insert(0, _stop_timer)

    def send(self, request: Any, **how: Any) -> Any:
        """Send a request. Raises Overdue where its headers take too long."""
        overdue = threading.Event()
        timer = threading.Timer(self._seconds, self._leave, (overdue,))
        timer.daemon = True
        request.extensions[TIMER] = timer
        timer.start()
        try:
            return super().send(request, **how)
        except Exception as error:
            if overdue.is_set():
                raise Overdue(self._seconds) from error
            raise
        finally:
            timer.cancel()

    def _leave(self, overdue: threading.Event) -> None:
        overdue.set()
        self.close()


def _stop_timer(response: Any) -> None:
    response.request.extensions[TIMER].cancel()
