"""A home on a disk of its own, which is then mounted for reading alone, or filled."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.benchmarks.fault_disk import disk

WAYS = ("read-only", "full")
SIZE = 24 << 20  # bytes of the disk


class Home:
    """A person's folder that can be written until `close`."""

    def __init__(self, folder: Path, remount):
        self.folder, self._remount = folder, remount

    def close(self, way: str) -> None:
        """From now on nothing can be written, for one of `WAYS`."""
        if way == "read-only":
            self._remount("ro")
            return
        with open(self.folder.parent / "filling", "wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError as error:
                assert error.errno == errno.ENOSPC

    def open(self) -> None:
        """There is room again."""
        self._remount("rw")
        (self.folder.parent / "filling").unlink(missing_ok=True)


@contextmanager
def home_on_a_disk(place: Path) -> Iterator[Home]:
    """A home on a disk of its own; where none can be mounted, the test is skipped."""
    with disk(place, f"size={SIZE}") as remount:
        if remount is None:
            pytest.skip(f"a disk of its own can be mounted by the administrator of a computer only, not by user {os.geteuid()}")
        (place / "home").mkdir()
        yield Home(place / "home", remount)
