"""Limits on copying from a database."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from core.errors import BadInput
from core.io.durations import duration_text
from core.io.files import size_text
from core.watch import NO_WATCH, Watch

MAX_COPY_TRIPLES = 1_000_000
MAX_COPY_BYTES = 1 << 30  # bytes of replies
MAX_COPY_SECONDS = 1800.0  # for all requests together
CONNECT_SECONDS = 10.0
PIECE_WAIT_SECONDS = 60.0  # until the next piece of a reply


@dataclass
class CopyLimits:
    """Limits of one copy, or of the requests for a question.

    Parameters
    ----------
    triples, size, seconds : largest number of triples, of bytes of replies, and of seconds.
    watch : receives progress, and raises RunCancelled if a person cancelled the work.
    advice : advice for the message that a limit is exceeded.
    """

    triples: int = MAX_COPY_TRIPLES
    size: int = MAX_COPY_BYTES
    seconds: float = MAX_COPY_SECONDS
    watch: Watch = NO_WATCH
    advice: str = "copy fewer triples, or ask for less with a query"
    _began: float = field(default_factory=time.monotonic)
    _read: int = 0

    def __post_init__(self) -> None:
        if self.triples < 1:
            raise BadInput("At least one triple has to be copied.")

    def count_bytes(self, size: int, who: str) -> None:
        """Count bytes that a server sent; `who` is its name.

        Raises BadInput if a limit is exceeded, and RunCancelled.
        """
        self.watch.check()
        self._read += size
        if self._read > self.size:
            raise BadInput(f"{who} sent more than {size_text(self.size)}; {self.advice}.")
        if time.monotonic() - self._began > self.seconds:
            raise BadInput(f"{who} took more than {duration_text(self.seconds)}; {self.advice}.")
