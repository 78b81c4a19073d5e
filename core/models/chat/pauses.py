"""Pauses before a request is sent again that a server could not take now: it has too many, still loads, or dropped the connection."""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from core.io.durations import span
from core.runtime.meter import HowFar, current, spent
from core.watch import NO_WATCH, Watch

BUSY = (429, 503, 529)  # statuses of a server that will take the request later
MOST = 180.0  # seconds of pauses before one request is given up
# the first pause where the server names none, each twice the one before, and how many there are
FIRST, TRIES = (1.0, 7)
DROPS = 3  # of them for connections that were dropped
LOOK = 0.1  # seconds between two looks at whether somebody cancelled


class Pauses:
    """The pauses of one request."""

    def __init__(self, who: str):
        self._who, self._left, self._next, self._done = who, MOST, FIRST, 0

    def coming(self, headers: Mapping[str, str]) -> float:
        """The seconds of the next pause, after an answer with these headers."""
        named = retry_after(headers)
        return self._next if named is None else max(named, LOOK)

    def wait(
        self,
        why: str,
        headers: Mapping[str, str],
        watch: Watch = NO_WATCH,
        tries: int = TRIES,
    ) -> bool:
        """Wait as long as the server says, or twice as long as the last time; False at once where that is too long or was done `tries`
        times. `why` says what happened; `watch` is called meanwhile and may raise.
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
    """The seconds that a server asks to wait, by a number or a date; None where it does not say.

    >>> from core.models.chat.pauses import retry_after
    >>> retry_after({"retry-after": "2"}), retry_after({"retry-after-ms": "250"}), retry_after({"retry-after": "soon"}), retry_after({})
    (2.0, 0.25, None, None)
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
