"""A home that can be written no more.

Its disk is mounted for reading alone, or filled, or its modes say so.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.benchmarks.fault_disk import disk

WAYS = ("read-only", "full")
SIZE = 24 << 20  # bytes of the disk


class Home:
    """A person's folder that can be written until `close`."""

    def __init__(self, folder: Path, remount: Callable[[str], None] | None):
        self.folder, self._remount = folder, remount

    def close(self, way: str) -> None:
        """Let nothing be written from now on, for one of `WAYS`.

        The test is skipped where that cannot be brought about.
        """
        if way == "full":
            self._fill()
        elif self._remount:
            self._remount("ro")
        else:
            self._set_modes(0o500, 0o400)

    def open(self) -> None:
        """There is room again."""
        if self._remount:
            self._remount("rw")
            (self.folder.parent / "filling").unlink(missing_ok=True)
        else:
            self._set_modes(0o700, 0o600)

    def _fill(self) -> None:
        if not self._remount:
            pytest.skip(
                f"user {os.geteuid()} may not mount a small disk here, and nobody fills the one that holds the tests"
            )
        with open(self.folder.parent / "filling", "wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError as error:
                assert error.errno == errno.ENOSPC

    def _set_modes(self, of_folders: int, of_files: int) -> None:
        for folder, _, files in os.walk(self.folder):
            os.chmod(folder, of_folders)
            for name in files:
                os.chmod(os.path.join(folder, name), of_files)


@contextmanager
def home_on_a_disk(place: Path) -> Iterator[Home]:
    """Yield a home on a disk of its own, which can be made unwritable.

    For who may mount no disk it is a home whose modes say that it cannot be written. The test is
    skipped for root without a disk, whom no modes hold up.
    """
    with disk(place, f"size={SIZE}") as remount:
        if remount is None and os.geteuid() == 0:
            pytest.skip(
                "root can write whatever the modes of a folder are, and may not mount a disk here"
            )
        (place / "home").mkdir()
        home = Home(place / "home", remount)
        yield home
        if remount is None:
            home.open()  # for what removes it
