"""Limits of size and time on the replies of a database."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from core.errors import BadInput
from core.io.durations import duration_text
from core.io.files import size_text
from core.watch import NO_WATCH, Watch

MAX_COPY_TRIPLES = 1_000_000
MAX_COPY_BYTES = 1 << 30  # bytes of replies
MAX_COPY_SECONDS = 1800.0  # of all requests together
CONNECT_SECONDS = 10.0  # longest wait for a connection
PIECE_WAIT_SECONDS = 60.0  # longest wait for the next piece of a reply


@dataclass
class CopyLimits:
    """Limits of one copy, or of the requests for a question.

    The time begins when the object is made.

    Parameters
    ----------
    triples, size, seconds : largest number of triples, of bytes of all replies, and of seconds.
    watch : receives progress, and raises RunCancelled if a person cancelled the work.
    advice : end of the message that a limit is exceeded.
    """

    triples: int = MAX_COPY_TRIPLES
    size: int = MAX_COPY_BYTES
    seconds: float = MAX_COPY_SECONDS
    watch: Watch = NO_WATCH
    advice: str = "copy fewer triples, or ask for less with a query"
    _start_time: float = field(default_factory=time.monotonic)
    _n_bytes: int = 0

    def __post_init__(self) -> None:
        if self.triples < 1:
            raise BadInput("At least one triple has to be copied.")

    def count_bytes(self, size: int, server: str) -> None:
        """Count bytes that a server sent, and check all limits.

        Raises BadInput if a limit is exceeded, and RunCancelled.

        Parameters
        ----------
        size : number of bytes; 0 only checks the time and the cancellation.
        server : name of the server in messages.
        """
        self.watch.check()
        self._n_bytes += size
        if self._n_bytes > self.size:
            raise BadInput(f"{server} sent more than {size_text(self.size)}; {self.advice}.")
        if time.monotonic() - self._start_time > self.seconds:
            raise BadInput(f"{server} took more than {duration_text(self.seconds)}; {self.advice}.")
