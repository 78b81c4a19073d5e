"""Pauses before a request is sent to a server again.

The server was busy or dropped the connection.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from core.io.durations import duration_text
from core.runtime.meter import ProgressReport, count_time, current_meter
from core.watch import NO_WATCH, Watch

BUSY_STATUSES = (429, 503, 529)  # of a server that has too many requests or is still loading


@dataclass(frozen=True)
class PauseDefaults:
    """Length and number of the pauses of one request."""

    total_seconds: float = 180.0  # of all pauses together
    first_seconds: float = 1.0  # if the server names no time; each later pause is twice as long
    max_busy_pauses: int = 7
    max_drop_pauses: int = 3  # after dropped connections, which rarely pass
    check_seconds: float = 0.1  # between two checks for cancellation


PAUSE_DEFAULTS = PauseDefaults()


class RetryPauses:
    """The pauses of one request, limited in number and total time.

    `subject` begins the progress texts, such as “The server at http://…”.
    """

    def __init__(self, subject: str):
        self._subject = subject
        self._seconds_left = PAUSE_DEFAULTS.total_seconds
        self._next_pause = PAUSE_DEFAULTS.first_seconds
        self._n_pauses = 0

    def next_pause(self, headers: Mapping[str, str]) -> float:
        """Return the seconds of the next pause.

        The headers of the answer may state them.
        """
        seconds = retry_after(headers)
        return self._next_pause if seconds is None else max(seconds, PAUSE_DEFAULTS.check_seconds)

    def wait(
        self,
        reason: str,
        headers: Mapping[str, str],
        watch: Watch = NO_WATCH,
        max_pauses: int = PAUSE_DEFAULTS.max_busy_pauses,
    ) -> bool:
        """Pause as long as the server asks.

        If it states no duration, the pause is twice as long as the last one.

        Parameters
        ----------
        reason : predicate of the progress text, such as “is busy (503)”.
        headers : headers of the answer.
        watch : checked during the pause; it may raise RunCancelled.
        max_pauses : largest number of pauses of the request, this one included.

        Returns
        -------
        True after a pause. False, without one, if it would be too long or one too many.
        """
        pause = self.next_pause(headers)
        if pause > self._seconds_left or self._n_pauses >= max_pauses:
            return False
        self._seconds_left -= pause
        self._next_pause *= 2
        self._n_pauses += 1
        meter = current_meter()
        end_time = time.monotonic() + pause
        with count_time("waiting"):
            while (remaining := end_time - time.monotonic()) > 0:
                if meter is not None:
                    text = f"{self._subject} {reason}; asking again in {duration_text(remaining)}"
                    meter.report(ProgressReport(text, None, None, remaining))
                watch.check()
                time.sleep(min(PAUSE_DEFAULTS.check_seconds, remaining))
        return True


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait that a header states.

    The header has a number or a date. The result is None if there is neither.

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
        pass  # it may be a date
    try:
        return max(0.0, parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time())
    except (ValueError, TypeError, KeyError):
        return None
