"""The folders of a training: its working folder, and the folder from which the model is served.

A trained model replaces the earlier one in one step, so a killed process never leaves a part of it.
"""

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
from core.io.durable_files import move_into_place, sync
from core.io.locks import hold_lock_file
from core.models.weights import TRAINING_FILE
from core.watch import Watch


@contextmanager
def working_folder(target: Path) -> Iterator[Path]:
    """Yield the working folder beside `target`, locked for this process.

    Raises StoreError if another process holds the lock.
    """
    folder = target.with_name(f"{target.name}.training")

    def refuse_to_wait() -> None:
        raise StoreError(
            f"{target.name} is being trained by another process; try again when it is done."
        )

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with hold_lock_file(folder.with_name(f"{folder.name}.lock"), Watch(refuse_to_wait)):
            _recover(target)
            yield folder
    except OSError as error:
        raise StoreError(f"{folder} cannot be written: {error.strerror or error}.") from None


def publish(target: Path, record: dict[str, Any], fill: Callable[[Path], None]) -> None:
    """Write a trained model with its record, and replace the folder `target` by it.

    The old folder stays until the new one is complete and on the disk. Raises StoreError.

    Parameters
    ----------
    target : the folder from which the model is served.
    record : values that are saved with the model. The digests of its weights are added.
    fill : writes the files of the model into a folder.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}-"))
        try:
            fill(temporary)
            weights = {
                file.name: digest_of_file(file) for file in sorted(temporary.glob("*.safetensors"))
            }
            (temporary / TRAINING_FILE).write_text(
                json.dumps({**record, "sha256": weights}, ensure_ascii=False, indent=1), "utf-8"
            )
            os.chmod(temporary, 0o755)  # a temporary folder can be read by its owner alone
            for file in (*temporary.rglob("*"), temporary):
                sync(file)
            if target.exists():
                move_into_place(target, _old_folder(target))
            move_into_place(temporary, target)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            _recover(target)
            raise
        shutil.rmtree(_old_folder(target), ignore_errors=True)
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {error.strerror or error}.") from None


def trained_record(target: Path) -> dict[str, Any] | None:
    """Return the record of the model in `target`.

    The result is None if there is no model, or if it was not trained here.
    """
    try:
        record = json.loads((target / TRAINING_FILE).read_text("utf-8"))
        return record if isinstance(record, dict) else None
    except (OSError, ValueError):
        return None


def digest_of_file(file: Path) -> str:
    """Return the sha256 of a file's content."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def training_key(*parts: Any) -> str:
    """Return a digest of everything that a training depends on, as values for JSON."""
    return hashlib.sha256(
        json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()
    ).hexdigest()


def _old_folder(target: Path) -> Path:
    return target.with_name(f".{target.name}.old")


def _recover(target: Path) -> None:
    """Put the old folder back, or remove it.

    It is put back if the new one is missing. A process may have died while it replaced the folder.
    """
    old = _old_folder(target)
    if old.exists() and not target.exists():
        move_into_place(old, target)
    shutil.rmtree(old, ignore_errors=True)
