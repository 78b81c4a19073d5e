"""Pauses before a request is sent again.

They apply if the server has too many requests, is still loading, or dropped the connection.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from core.io.durations import span
from core.runtime.meter import HowFar, current, spent
from core.watch import NO_WATCH, Watch

BUSY = (429, 503, 529)  # statuses of a server that will accept the request later
MOST = 180.0  # total seconds of pauses before a request is given up
# Seconds of the first pause and number of pauses. If the server names no time, each pause is
# twice as long as the previous one.
FIRST, TRIES = (1.0, 7)
DROPS = 3  # pauses after dropped connections
LOOK = 0.1  # seconds between two checks for cancellation


class Pauses:
    """The pauses of one request."""

    def __init__(self, who: str):
        self._who, self._left, self._next, self._done = who, MOST, FIRST, 0

    def coming(self, headers: Mapping[str, str]) -> float:
        """Return the seconds of the next pause, after an answer with these headers."""
        named = retry_after(headers)
        return self._next if named is None else max(named, LOOK)

    def wait(
        self,
        why: str,
        headers: Mapping[str, str],
        watch: Watch = NO_WATCH,
        tries: int = TRIES,
    ) -> bool:
        """Wait as long as the server says, or twice as long as the last time.

        Returns False at once if the pause would be too long, or after `tries` pauses.

        Parameters
        ----------
        why : what happened, for the progress text.
        headers : headers of the answer.
        watch : called meanwhile; may raise.
        tries : limit of pauses.
        """
        pause = self.coming(headers)
        if pause > self._left or self._done >= tries:
            return False
        self._left, self._next, self._done = self._left - pause, 2 * self._next, self._done + 1
        meter, until = current(), time.monotonic() + pause
        with spent("waiting"):
            while (left := until - time.monotonic()) > 0:
                if meter is not None:
                    meter.report(
                        HowFar(f"{self._who} {why}; asking again in {span(left)}", None, None, left)
                    )
                watch.check()
                time.sleep(min(LOOK, left))
        return True


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait, given as a number or a date, or None.

    >>> from core.models.chat.pauses import retry_after
    >>> retry_after({"retry-after": "2"}), retry_after({"retry-after-ms": "250"})
    (2.0, 0.25)
    >>> retry_after({"retry-after": "soon"}), retry_after({})
    (None, None)
    """
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        return max(0.0, float(headers["retry-after"]))
    except KeyError:
        return None
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time())
    except (ValueError, TypeError, KeyError):
        return None
