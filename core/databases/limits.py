"""How much is copied of a database at most, and what watches the copying."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from core.errors import BadInput
from core.io.durations import span
from core.io.files import size_text
from core.watch import NO_WATCH, Watch

TRIPLES = 1_000_000
BYTES = 1 << 30  # of replies
SECONDS = 1800.0  # of all requests together
CONNECT, WAIT = 10.0, 60.0  # seconds until a connection stands, and until the next piece of a reply


@dataclass
class Limits:
    """At most so many triples, bytes of replies and seconds of one copy, or of what is fetched for a question. `watch` hears what is
    done and the share of it, and raises where a person has stopped it."""

    triples: int = TRIPLES
    size: int = BYTES
    seconds: float = SECONDS
    watch: Watch = NO_WATCH
    less: str = (
        "copy fewer triples, or ask for less with a query"  # what to do where it is too much
    )
    _began: float = field(default_factory=time.monotonic)
    _read: int = 0

    def __post_init__(self) -> None:
        if self.triples < 1:
            raise BadInput("At least one triple has to be copied.")

    def took(self, size: int, who: str) -> None:
        """Counts bytes that `who` sent. Raises BadInput where they are too many or took too long, and what `watch` raises."""
        self.watch.check()
        self._read += size
        if self._read > self.size:
            raise BadInput(f"{who} sent more than {size_text(self.size)}; {self.less}.")
        if time.monotonic() - self._began > self.seconds:
            raise BadInput(f"{who} took more than {span(self.seconds)}; {self.less}.")
