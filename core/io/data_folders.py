"""Folders of data: those that ship, and those that the person added.

`data/licences.toml` lists all of them with their licences. A wheel lacks those that may not be
passed on for any use; `hopscope data --add` puts such a folder into `data` of the person's folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from core.errors import with_command
from core.io.home import ROOT, home_folder
from core.io.toml_file import read_toml

SHIPPED_DATA = ROOT / "data"
LICENCES_FILE = SHIPPED_DATA / "licences.toml"


@dataclass(frozen=True)
class DataFolder:
    """A row of the table of licences.

    Parameters
    ----------
    name : the folder, below `data`.
    licence : SPDX expression, or “unknown”.
    in_wheel : true if a wheel has the folder.
    url : publisher's archive, of https; empty if none with a known digest is public.
    sha256 : digest of the archive.
    inside : folder in the archive that holds the data.
    description : content of the folder's corpus.toml, which a publisher's archive lacks.
    sets : names of its question sets that differ from the folder's.
    """

    name: str
    licence: str
    in_wheel: bool
    url: str = ""
    sha256: str = ""
    inside: str = ""
    description: str = ""
    sets: tuple[str, ...] = ()

    @property
    def path(self) -> Path | None:
        """The folder that holds it, shipped or added; None if it is absent."""
        folder = data_folder(self.name)
        return folder if folder.is_dir() else None


@cache
def listed_data() -> dict[str, DataFolder]:
    """Return the rows of the table of licences by name."""
    return {name: DataFolder(name, **row) for name, row in read_toml(LICENCES_FILE).items()}


def added_data_folder() -> Path:
    """Return the folder of data that the person added, which need not exist."""
    return home_folder() / "data"


def data_roots() -> tuple[Path, Path]:
    """Return the folders that hold folders of data: the shipped one, then the person's."""
    return SHIPPED_DATA, added_data_folder()


def data_folder(name: str) -> Path:
    """Return a folder of data: the shipped one if it exists, else the one to be added."""
    shipped = SHIPPED_DATA / name
    return shipped if shipped.is_dir() else added_data_folder() / name


def absent_data_advice(name: str) -> str:
    """Return how to add the absent folder of a graph, a corpus or a question set.

    Empty for other names.

    >>> from core.io.data_folders import absent_data_advice
    >>> absent_data_advice("metaqa"), absent_data_advice("no such set")
    ('', '')
    """
    for row in listed_data().values():
        if name in (row.name, *row.sets) and row.path is None:
            return with_command(
                f" {row.name} is not in this installation (licence: {row.licence}).",
                f"hopscope data --add {row.name}",
            )
    return ""
