"""Lock files, by which processes take turns."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import StoreError
from core.watch import NO_WATCH, Watch

LOCK_RETRY_SECONDS = 0.05  # between two tries
# Seconds after which a process that changes a small file counts as hung.
LOCK_PATIENCE_SECONDS = 20.0


@contextmanager
def hold_lock_file(file: Path, watch: Watch = NO_WATCH) -> Iterator[None]:
    """Hold a lock file while the block runs. The system frees it if the process dies.

    While another process holds it, `watch` is checked between two tries; an error that it raises
    ends the waiting. The file remains after the lock is released. Raises OSError if it cannot be
    made.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(file)
    while True:
        try:
            lock.acquire(timeout=0)
            break
        except Timeout:
            watch.check()
            time.sleep(LOCK_RETRY_SECONDS)
    try:
        yield
    finally:
        lock.release()


@contextmanager
def hold_change_lock(file: Path, patience: float = LOCK_PATIENCE_SECONDS) -> Iterator[None]:
    """Hold a lock while a small file is read, changed and written.

    Two processes that do so cannot overwrite each other's changes. The lock is the file
    `.NAME.lock` in the same folder. It is not reentrant: a second hold in the same thread waits in
    vain. Raises StoreError if another holder keeps it for more than `patience` seconds, or the
    folder cannot be written. An OSError of the block is raised as StoreError.
    """
    start = time.monotonic()

    def check_patience() -> None:
        if time.monotonic() - start > patience:
            raise StoreError(
                f"Another process has been writing {file.name} for {patience:g} seconds; try "
                "again when it is done."
            )

    try:
        with hold_lock_file(file.with_name(f".{file.name}.lock"), Watch(check_patience)):
            yield
    except OSError as error:
        raise StoreError(f"{file} cannot be written: {error.strerror or error}.") from None


def is_locked(file: Path) -> bool:
    """Return whether any process holds a lock file.

    False if the file does not exist or cannot be opened. The lock is taken for a moment to find
    out.
    """
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
