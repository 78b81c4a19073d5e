"""Where a training works, and how a trained model reaches the folder that serves it: whole, in place of the old one."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.errors import StoreError
from core.io.durable import move, sync
from core.io.locks import locked
from core.models.weights import TRAINING
from core.watch import Watch


@contextmanager
def workplace(target: Path) -> Iterator[Path]:
    """The folder beside `target` in which it is trained, held for this process alone. Raises StoreError where another holds it."""
    folder = target.with_name(f"{target.name}.training")

    def busy() -> None:
        raise StoreError(
            f"{target.name} is being trained by another process; try again when it is done."
        )

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder.with_name(f"{folder.name}.lock"), Watch(busy)):
            _mend(target)
            yield folder
    except OSError as error:
        raise StoreError(f"{folder} cannot be written: {error.strerror or error}.") from None


def publish(target: Path, record: dict[str, Any], fill: Callable[[Path], None]) -> None:
    """Put a folder in the place of `target`: `fill` writes its files, `record` is kept beside them with the digest of the weights.

    The old folder stays until the new one is whole and on the disk. Raises StoreError.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}-"))
        try:
            fill(temporary)
            weights = {file.name: digest(file) for file in sorted(temporary.glob("*.safetensors"))}
            (temporary / TRAINING).write_text(
                json.dumps({**record, "sha256": weights}, ensure_ascii=False, indent=1), "utf-8"
            )
            os.chmod(temporary, 0o755)
            for file in (*temporary.rglob("*"), temporary):
                sync(file)
            if target.exists():
                move(target, _old(target))
            move(temporary, target)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            _mend(target)
            raise
        shutil.rmtree(_old(target), ignore_errors=True)
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {error.strerror or error}.") from None


def trained(target: Path) -> dict[str, Any] | None:
    """What is told of the model in `target`; None where it is not there, or was not trained here."""
    try:
        record = json.loads((target / TRAINING).read_text("utf-8"))
        return record if isinstance(record, dict) else None
    except (OSError, ValueError):
        return None


def digest(file: Path) -> str:
    """The sha256 of a file's content."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def key(*parts: Any) -> str:
    """A digest of everything parts, as JSON can hold it."""
    return hashlib.sha256(
        json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()
    ).hexdigest()


def _old(target: Path) -> Path:
    return target.with_name(f".{target.name}.old")


def _mend(target: Path) -> None:
    """Put the old folder back where a process died between taking it away and placing the new one; else drop what is left."""
    old = _old(target)
    if old.exists() and not target.exists():
        move(old, target)
    shutil.rmtree(old, ignore_errors=True)
