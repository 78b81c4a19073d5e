"""Uploads as files in a temporary folder, under names that cannot leave it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from core.errors import BadInput, shorten
from pages.parts.bringing.hub_set import HubSet
from pages.parts.shared.wording import tr

ODD_LETTER = re.compile(r"[^\w.\- ]")
MAX_NAME_LETTERS = 80
MAX_FOLDER_DEPTH = 6


def save_upload(file: Any, folder: Path) -> Path:
    """Write an upload into a folder under its own name; a set from a hub stays where it is."""
    if isinstance(file, HubSet):
        return file.path
    path = folder / (_harmless(Path(file.name).name) or "upload.txt")
    _write(file, path)
    return path


def save_uploads(files: Iterable[Any], folder: Path) -> list[Path]:
    """Write each upload into a numbered folder of its own, as several may share a name."""
    paths = []
    for number, file in enumerate(files):
        place = folder / str(number)
        place.mkdir()
        paths.append(save_upload(file, place))
    return paths


def save_folder(files: Iterable[Any], folder: Path) -> Path:
    """Write the uploads of a dropped folder, each at its path within it.

    Raises
    ------
    BadInput
        A file has the name of a folder, or cannot be written.
    """
    for file in files:
        parts = PurePosixPath(file.name.replace("\\", "/")).parts
        names = [name for part in parts if part != "/" and (name := _harmless(part))]
        path = folder.joinpath(*names[-MAX_FOLDER_DEPTH:] or ["_"])
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(file, path)
        except OSError as error:
            reason = error.strerror or error
            name = shorten(file.name)
            message = tr("{name} cannot be laid down: {reason}.", name=name, reason=reason)
            raise BadInput(message) from None
    return folder


def _harmless(name: str) -> str:
    return ODD_LETTER.sub("_", name).lstrip(".")[-MAX_NAME_LETTERS:]


def _write(file: Any, path: Path) -> None:
    with open(path, "wb") as out:
        file.seek(0)
        shutil.copyfileobj(file, out)
