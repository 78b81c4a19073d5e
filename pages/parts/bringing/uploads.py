"""Dropped or named files, written into a temporary folder under safe names."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from core.errors import BadInput, shorten
from core.io.home import save_fault
from core.io.temporary_folders import temporary_folder
from pages.parts.shared.wording import tr

UNSAFE_CHARACTER = re.compile(r"[^\w.\- ]")
MAX_FILE_NAME_CHARACTERS = 80
MAX_FOLDER_DEPTH = 6  # most names in a path; those before the last ones are dropped


@dataclass(frozen=True)
class ImportInput:
    """Input of an import: uploads, a folder, a path or an address.

    Attributes
    ----------
    id : changes with the files, the address or the encoding.
    name : name of the first file, the folder or the address, for the screen.
    files : the uploads; empty for a path or address.
    is_folder : whether the uploads are the files of one folder.
    path : path of a file or folder, or the address of a database; empty for uploads.
    encoding : encoding of texts that are not UTF-8; empty to detect it.
    """

    id: str
    name: str
    files: tuple[Any, ...] = ()
    is_folder: bool = False
    path: str = ""
    encoding: str = ""

    @contextmanager
    def written_files(self) -> Iterator[tuple[Path, list[Path]]]:
        """Write uploads into a temporary folder.

        Yield the folder and the paths to import. An uploaded folder is one path, and so is an input
        by path, which is not copied. The folder may be used for other files, and is removed
        afterwards.
        """
        folder = Path(tempfile.mkdtemp()) if save_fault() else temporary_folder()
        try:
            if self.path:
                yield folder, [Path(self.path)]
            elif self.is_folder:
                yield folder, [save_folder(self.files, folder / "0")]
            else:
                paths = [
                    save_upload(file, folder / str(number))
                    for number, file in enumerate(self.files)
                ]
                yield folder, paths
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def save_upload(file: Any, folder: Path) -> Path:
    """Write an upload into a new folder under a safe name, and return its path."""
    path = folder / (_safe_name(Path(file.name).name) or "upload.txt")
    folder.mkdir(exist_ok=True)
    path.write_bytes(file.getvalue())
    return path


def save_folder(files: Iterable[Any], folder: Path) -> Path:
    """Write the uploads of a dropped folder, each at its path within the folder.

    Raises
    ------
    BadInput
        If a file has the name of a folder, or cannot be written.
    """
    for file in files:
        parts = PurePosixPath(file.name.replace("\\", "/")).parts
        names = list(filter(None, (_safe_name(part) for part in parts if part != "/")))
        path = folder.joinpath(*names[-MAX_FOLDER_DEPTH:] or ["_"])
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.getvalue())
        except OSError as error:
            reason = error.strerror or error
            name = shorten(file.name)
            message = tr("{name} cannot be written: {reason}.", name=name, reason=reason)
            raise BadInput(message) from None
    return folder


def _safe_name(name: str) -> str:
    """Return a file name without unsafe characters.

    A long name is cut at the front, so that it keeps its suffix.
    """
    return UNSAFE_CHARACTER.sub("_", name).lstrip(".")[-MAX_FILE_NAME_CHARACTERS:]
