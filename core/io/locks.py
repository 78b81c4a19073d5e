"""Lock files, by which processes keep out of one another's way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

WAIT = 0.05  # seconds between two tries


@contextmanager
def locked(file: Path, busy: Callable[[], None]) -> Iterator[None]:
    """Holds a lock file for as long as the block lasts; the system lets go of it when the process dies.

    While another holder has it, `busy` is called between two tries; what it raises ends the waiting. The file stays when it is let
    go of; a holder may delete it where it lies in nobody's way. Raises OSError where it cannot be made.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(file)
    while True:
        try:
            lock.acquire(timeout=0)
            break
        except Timeout:
            busy()
            time.sleep(WAIT)
    try:
        yield
    finally:
        lock.release()


def is_locked(file: Path) -> bool:
    """Whether some process holds a lock file; not where there is none, or it cannot be opened."""
    from filelock import FileLock, Timeout

    if not file.exists():
        return False
    try:
        with FileLock(file, timeout=0):
            return False
    except Timeout:
        return True
    except OSError:
        return False
