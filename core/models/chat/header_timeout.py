"""An HTTP client that limits the total time until the headers of a reply are complete."""

from __future__ import annotations

import threading
from typing import Any

import openai

from core.models.chat.stream_piece import ReplyOverdueError

TIMER_EXTENSION = "hopscope_header_timer"  # request extension that holds the timer


class HeaderTimeoutClient(openai.DefaultHttpxClient):
    """A client whose requests fail if the headers of their replies take too long.

    The HTTP library only limits the silence between two bytes, so a server could send its headers
    byte by byte for ever. Until the headers are complete, the connection of a single request cannot
    be accessed. A timeout therefore closes all connections of the client, which must be replaced.

    Parameters
    ----------
    seconds : time until the headers must be complete.
    **how : arguments of the HTTP client.
    """

    def __init__(self, seconds: float, **how: Any):
        super().__init__(**how)
        self._seconds = seconds
        self.event_hooks["response"].insert(0, _stop_timer)

    def send(self, request: Any, **how: Any) -> Any:
        """Send a request.

        Parameters
        ----------
        request : the request.
        **how : arguments of the HTTP client.

        Returns
        -------
        The response.

        Raises
        ------
        ReplyOverdueError : the headers took too long.
        """
        overdue = threading.Event()
        timer = threading.Timer(self._seconds, self._abort, (overdue,))
        timer.daemon = True
        request.extensions[TIMER_EXTENSION] = timer
        timer.start()
        try:
            return super().send(request, **how)
        except Exception as error:
            if overdue.is_set():
                raise ReplyOverdueError(self._seconds) from error
            raise
        finally:
            timer.cancel()

    def _abort(self, overdue: threading.Event) -> None:
        overdue.set()
        self.close()


def _stop_timer(response: Any) -> None:
    response.request.extensions[TIMER_EXTENSION].cancel()
