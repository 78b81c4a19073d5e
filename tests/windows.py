"""The rules of Windows for files are held to on Linux.

They come with `pytest -p tests.windows ...`, or with the fixture `windows` for one test.

There a file that is open or mapped by memory is not removed, replaced, moved, nor is a folder that
holds one. A folder is not opened. Names have no characters such as `:`, no full stop or space at
their end, and are not those of devices. What this process holds is looked up in /proc when it asks
for such a thing, and the error is the one that Windows gives.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from core.io import durable_files
from core.io.home import ROOT

FORBIDDEN = re.compile(
    r'[<>:"|?*\\\x00-\x1f]|[ .]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)', re.IGNORECASE
)
SHARING, ACCESS, NAME = (
    32,
    5,
    123,
)  # errors of Windows: the file is in use, access is denied, there can be no such name
LOOKED_AT = ("open", "os.mkdir", "os.remove", "os.rename")
HERE, CORE, PAGES = (f"{ROOT / name}{os.sep}" for name in ("tests", "core", "pages"))
MAPPED = re.compile(r"^\S+ \S+ \S+ \S+ [1-9]\d* +(/.+)$", re.MULTILINE)
_hooked: list[bool] = []
_holding: list[bool] = []  # as many as there are blocks
_looking = threading.local()  # in a thread that looks by itself


@contextmanager
def rules() -> Iterator[None]:
    """The rules hold within the block."""
    if not _hooked:
        sys.addaudithook(_look)  # for good: Python takes none back
        _hooked.append(True)
    _holding.append(True)
    before, durable_files.WINDOWS, durable_files.MOVE_PATIENCE_SECONDS = (
        (durable_files.WINDOWS, durable_files.MOVE_PATIENCE_SECONDS),
        True,
        0.1,
    )
    try:
        yield
    finally:
        _holding.pop()
        durable_files.WINDOWS, durable_files.MOVE_PATIENCE_SECONDS = before


@pytest.fixture
def windows() -> Iterator[None]:
    with rules():
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """As a plugin: in every test."""
    with rules():
        return (yield)


def _look(event: str, arguments: tuple) -> None:
    if event not in LOOKED_AT or not _holding or getattr(_looking, "now", False) or _by_a_test():
        return
    if event == "open":
        _check_open(*arguments)
    elif event == "os.mkdir":
        _check_name(arguments[0])
    elif event in ("os.remove", "os.rename"):
        paths = (
            [(arguments[0], arguments[1])]
            if event == "os.remove"
            else [(arguments[0], arguments[2]), (arguments[1], arguments[3])]
        )
        for path, folder in paths:
            _check_free(path, folder)
        _check_name(paths[-1][0])


def _check_open(path: object, mode: object, flags: object) -> None:
    if (
        not isinstance(path, str | bytes | os.PathLike)
        or not isinstance(flags, int)
        or flags & os.O_DIRECTORY
    ):
        return
    if flags & os.O_CREAT:
        _check_name(path)
    there = _stat(path)
    if (
        there is not None
        and stat.S_ISDIR(there.st_mode)
        and not _within("shutil.py", "tempfile.py", "os.py")
    ):
        raise _refused(path, ACCESS)
    if flags & os.O_TRUNC and os.path.realpath(os.fsdecode(path)) in _mapped():
        raise _refused(path, SHARING)


def _check_name(path: object) -> None:
    name = Path(os.fsdecode(path)).name if isinstance(path, str | bytes | os.PathLike) else ""
    if FORBIDDEN.search(name):
        raise _refused(path, NAME)


def _check_free(path: object, folder: int) -> None:
    if not isinstance(path, str | bytes | os.PathLike) or _within("tempfile.py"):
        return
    beside = "" if folder == -1 else os.readlink(f"/proc/self/fd/{folder}")
    parent, name = os.path.split(os.path.join(beside, os.fsdecode(path)).rstrip("/"))
    whole = os.path.join(os.path.realpath(parent), name)  # of a link the link itself
    if any(one == whole or one.startswith(whole + "/") for one in _mapped() | _opened()):
        raise _refused(path, SHARING)


def _mapped() -> set[str]:
    with _unseen():
        return set(MAPPED.findall(Path("/proc/self/maps").read_text("utf-8", "replace")))


def _opened() -> set[str]:
    found = set()
    with _unseen():
        for one in os.listdir("/proc/self/fd"):
            with suppress(OSError):
                found.add(os.readlink(f"/proc/self/fd/{one}"))
    return {one for one in found if not os.path.isdir(one)}


@contextmanager
def _unseen() -> Iterator[None]:
    _looking.now = True
    try:
        yield
    finally:
        _looking.now = False


def _stat(path: object) -> os.stat_result | None:
    try:
        return os.stat(path)  # type: ignore[arg-type]
    except (OSError, ValueError):
        return None


def _by_a_test() -> bool:
    """Return whether a test itself asks, as one that damages a file."""
    frame = sys._getframe(2)
    while frame is not None and not frame.f_code.co_filename.startswith((HERE, CORE, PAGES)):
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None and frame.f_code.co_filename.startswith(HERE)


def _within(*files: str) -> bool:
    """Return whether a file of Python's library asks.

    It does the same in another way on Windows.
    """
    frame = sys._getframe(3)
    return os.path.basename(frame.f_code.co_filename) in files and os.path.dirname(
        frame.f_code.co_filename
    ) == os.path.dirname(os.__file__)


def _refused(path: object, number: int) -> OSError:
    kind = PermissionError if number in (SHARING, ACCESS) else OSError
    return kind(
        13 if kind is PermissionError else 22,
        f"[WinError {number}] refused on Windows",
        os.fsdecode(path),
    )  # type: ignore[arg-type]
