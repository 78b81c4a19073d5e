"""Full disks and read-only folders: old files stay, the user is told, and work can be resumed."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks import fault_work
from tests.benchmarks.fault_kills import Met, WorkProcess, look

SPACE = {
    "build": 250_000,
    "steps": 500_000,
    "index": 400_000,
    "evaluate": 100_000,
    "cases": 60_000,
    "instances": 1000,
    "text": 12_000,
}
MAX_FILE_BYTES = 60_000  # Bytes of a file, where no separate disk can be mounted.


@contextmanager
def disk(folder: Path, options: str) -> Iterator[Callable[[str], None] | None]:
    """Mount a separate disk at `folder`, and yield a function that remounts it.

    The function takes mount options. Yields None where mounts are not permitted.
    """
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o"]
    may = (
        os.geteuid() == 0
        and not subprocess.run(
            [*mount, options, "none", str(folder)], capture_output=True
        ).returncode
    )
    try:
        yield (
            (
                lambda other: subprocess.run(
                    [*mount, f"remount,{other}", "none", str(folder)], check=True
                )
            )
            if may
            else None
        )
    finally:
        if may:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def full(kind: str, folder: Path) -> Met:
    """Test one kind of work on a disk that becomes full before its end.

    It must report that, keep existing files, and succeed once there is space.
    """
    met = Met(f"disk full: {kind}")
    fault_work.inputs(kind, folder / "begin")
    need = _folder_bytes(folder / "begin") + SPACE[kind]
    with disk(folder / "disk", f"size={need}") as again:
        place = folder / "disk" / "home"
        shutil.copytree(folder / "begin", place)
        work = _start_limited(kind, place) if again is None else WorkProcess(kind, place, 1000)
        _check_reported(work, kind, met)
        look(kind, place, work.said("ok"), met, f"done {_undisturbed_digest(kind, folder)}")
        if again is not None:
            again("size=1g")
        _check_resumed(kind, place, met, _undisturbed_digest(kind, folder))
        look(kind, place, work.said("ok"), met, f"done {_undisturbed_digest(kind, folder)}")
    met.note = "a full disk" if again is not None else "files of a bounded size"
    return met


def read_only(kind: str, folder: Path) -> Met:
    """Test one kind of work in a read-only user folder.

    It must report that, and existing files must open.
    """
    met = Met(f"read-only home: {kind}")
    place = folder / "disk" / "home"
    fault_work.inputs(kind, folder / "begin")
    with disk(folder / "disk", "size=1g") as again:
        shutil.copytree(folder / "begin", place)
        if kind in ("cases", "instances"):  # Some files must exist already.
            first = WorkProcess(kind, place, 2)
            first.end()
        _set_writable(place, again, False)
        _check_reported(WorkProcess(kind, place), kind, met)
        look(
            kind,
            place,
            first.said("ok") if kind in ("cases", "instances") else [],
            met,
            f"done {_undisturbed_digest(kind, folder)}",
        )
        _set_writable(place, again, True)
        _check_resumed(kind, place, met, _undisturbed_digest(kind, folder))
    return met


def _check_reported(work: WorkProcess, kind: str, met: Met) -> None:
    """Check that the work ends by itself with a readable error."""
    met.times += 1
    code, complaint = work.end()
    if code not in (1, 2) or "Traceback" in complaint or "hopscope: " not in complaint:
        met.corrupt.append(f"{met.kind}: it ended with {code}: {complaint[-400:]}")
    met.note = complaint.strip().split("\n")[-1][:120]


def _check_resumed(kind: str, place: Path, met: Met, undisturbed: str) -> None:
    start = time.perf_counter()
    work = WorkProcess(kind, place, 1)
    code, complaint = work.end()
    met.back.append(time.perf_counter() - start)
    if code or f"done {undisturbed}".strip() not in work.words:
        met.corrupt.append(f"{met.kind}: afterwards it ended with {code}: {complaint[-400:]}")


def _undisturbed_digest(kind: str, folder: Path) -> str:
    """The digest of undisturbed work, computed once."""
    known = folder / "undisturbed.txt"
    if not known.exists():
        shutil.copytree(folder / "begin", folder / "undisturbed")
        work = WorkProcess(kind, folder / "undisturbed", 1)
        work.end()
        known.write_text("".join(work.said("done")))
    return known.read_text()


def _start_limited(kind: str, place: Path) -> WorkProcess:
    """Work in a process whose files are limited to `MAX_FILE_BYTES` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE_BYTES, before[1]))
    try:
        return WorkProcess(kind, place, 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def _set_writable(place: Path, again: Callable[[str], None] | None, may: bool) -> None:
    if again is not None:
        again("rw" if may else "ro")
        return
    for folder, _, _ in os.walk(place):
        os.chmod(folder, 0o700 if may else 0o500)


def _folder_bytes(folder: Path) -> int:
    """Size of a folder in bytes on a disk with pages of 4 KiB."""
    return sum(
        4096 * (1 + file.stat().st_size // 4096) for file in folder.rglob("*") if file.is_file()
    ) + (1 << 16)
