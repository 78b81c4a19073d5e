"""An HTTP client that limits the wait for complete response headers."""

from __future__ import annotations

import threading
from typing import Any

import openai

from core.models.chat.stream_piece import ReplyOverdueError

TIMER_EXTENSION = "hopscope_header_timer"  # request extension that holds the timer


class HeaderTimeoutClient(openai.DefaultHttpxClient):
    """A client whose requests fail if the headers of their responses take too long.

    The HTTP library limits only the silence between two bytes, so a server could send its headers
    byte by byte for ever. The connection of a request cannot be accessed until its headers are
    complete. A timeout therefore closes the whole client, which must then be replaced.

    Parameters
    ----------
    seconds : time until the headers must be complete.
    **options : arguments of the HTTP client.
    """

    def __init__(self, seconds: float, **options: Any):
        super().__init__(**options)
        self._seconds = seconds
        self.event_hooks["response"].insert(0, _stop_timer)

    def send(self, request: Any, **options: Any) -> Any:
        """Send a request, and return the response once its headers are complete.

        Parameters
        ----------
        request : the request.
        **options : arguments of the HTTP client.

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
            return super().send(request, **options)
        except Exception as error:
            if overdue.is_set():
                raise ReplyOverdueError(self._seconds) from error
            raise
        finally:
            timer.cancel()

    def _abort(self, overdue: threading.Event) -> None:
        """Close the client, which makes `send` fail."""
        overdue.set()
        self.close()


def _stop_timer(response: Any) -> None:
    response.request.extensions[TIMER_EXTENSION].cancel()
