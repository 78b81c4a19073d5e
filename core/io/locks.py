"""Lock files, by which processes keep out of one another's way."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import StoreError
from core.watch import NO_WATCH, Watch

WAIT = 0.05  # seconds between two tries
PATIENCE = 20.0  # seconds until one who changes a small file is taken to hang


@contextmanager
def locked(file: Path, watch: Watch = NO_WATCH) -> Iterator[None]:
    """Holds a lock file for as long as the block lasts; the system lets go of it when the process dies.

    While another holder has it, `watch` is called between two tries; what it raises ends the waiting. The file stays when it is let
    go of; a holder may delete it where it lies in nobody's way. Raises OSError where it cannot be made.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(file)
    while True:
        try:
            lock.acquire(timeout=0)
            break
        except Timeout:
            watch.check()
            time.sleep(WAIT)
    try:
        yield
    finally:
        lock.release()


@contextmanager
def changing(file: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Held while a file is read, changed and written, so that of two processes that do so neither loses what the other wrote.

    Raises StoreError where another process holds it for longer than `patience` seconds, or the folder cannot be written.
    """
    begun = time.monotonic()

    def busy() -> None:
        if time.monotonic() - begun > patience:
            raise StoreError(
                f"Another process has been writing {file.name} for {patience:g} seconds; try again when it is done."
            )

    try:
        with locked(file.with_name(f".{file.name}.lock"), Watch(busy)):
            yield
    except OSError as error:
        raise StoreError(f"{file} cannot be written: {error.strerror or error}.") from None


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
