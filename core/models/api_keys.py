"""API keys of model servers, each bound to one address.

Keys come from environment variables, or from a file of keys that were typed on the page Models.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from core.errors import BadInput, ModelUnavailable
from core.io.durable_files import write_whole
from core.io.home import home_folder
from core.io.locks import hold_change_lock
from core.io.toml_file import read_toml

KEY_VARIABLE_PATTERN = re.compile(r"HOPSCOPE_KEY_[A-Z0-9_]+")
KEY_VARIABLE_EXAMPLE = 'export HOPSCOPE_KEY_MINE="https://api.example.com/v1 the-key"'


def read_key_variable(variable: str, url: str, who: str) -> str:
    """Return the API key for a server from an environment variable.

    Only variables named HOPSCOPE_KEY_... are read, and their value begins with the address that the
    key is for. Somebody who may add servers to models.toml therefore cannot make Hopscope send
    other secrets, or send a key to another address.

    Parameters
    ----------
    variable : name of the environment variable.
    url : address of the server.
    who : name of the server, with which messages begin.

    Returns
    -------
    The key without the address.

    Raises
    ------
    ModelUnavailable : the variable is not set, not allowed, or for another address.

    Examples
    --------
    >>> import os
    >>> from core.models.api_keys import read_key_variable
    >>> os.environ["HOPSCOPE_KEY_EXAMPLE"] = "https://api.example.com/v1 abc"
    >>> read_key_variable("HOPSCOPE_KEY_EXAMPLE", "https://api.example.com/v1/", "mine")
    'abc'
    """
    if not KEY_VARIABLE_PATTERN.fullmatch(variable):
        raise ModelUnavailable(
            f"{who} needs a key from the variable “{variable}”; only HOPSCOPE_KEY_... are read, "
            f"such as: {KEY_VARIABLE_EXAMPLE}"
        )
    address, _, key = os.environ.get(variable, "").strip().partition(" ")
    if not address:
        raise ModelUnavailable(
            f"{who} needs a key: set the environment variable {variable} to the server's address "
            f"and the key, as in: {KEY_VARIABLE_EXAMPLE}"
        )
    if not key.strip() or "://" not in address:
        raise ModelUnavailable(
            f"The environment variable {variable} must hold an address, a space and the key, as "
            f"in: {KEY_VARIABLE_EXAMPLE}"
        )
    if not _is_bound_to(address, url):
        raise ModelUnavailable(
            f"The key in {variable} is for another address than that of {who}, and is not sent "
            "there."
        )
    return key.strip()


def keys_file() -> Path:
    """Return the path of the file with typed keys.

    Only its owner may read it. The file need not exist.
    """
    return home_folder() / "keys.toml"


def save_key(url: str, key: str) -> None:
    """Save a key for a model server, or remove the saved one.

    Parameters
    ----------
    url : address of the server; slashes at its end are removed.
    key : the key; empty to remove the saved one.

    Raises
    ------
    BadInput : the key cannot be sent in a header.
    """
    import tomli_w

    url = url.rstrip("/")
    key = key.strip()
    check_key(key)
    keys_file().parent.mkdir(parents=True, exist_ok=True)
    with hold_change_lock(keys_file()):
        keys = _saved_keys()
        keys.pop(url, None)
        if key:
            keys[url] = key
        text = (
            f"# Keys of model servers by address, typed on the page Models. "
            f"Keep this file to yourself.\n\n{tomli_w.dumps(keys)}"
        )
        write_whole(keys_file(), lambda temporary: _write_private(temporary, text))


def check_key(key: str) -> None:
    """Raise BadInput for a text that cannot be a key."""
    if not key.isprintable() or not key.isascii() or " " in key:
        raise BadInput(
            "A key is one word of printable characters; this one holds others. Was more than the "
            "key copied?"
        )


def _write_private(file: Path, text: str) -> None:
    """Write a file that only its owner can read.

    This holds even while it is being written.
    """
    file.unlink(missing_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)


def saved_key(url: str) -> str:
    """Return the typed key for the server at `url`; empty if there is none.

    Raises ModelUnavailable if the file cannot be read.
    """
    keys = (key for address, key in _saved_keys().items() if _is_bound_to(address, url))
    return next(keys, "")


def _saved_keys() -> dict[str, str]:
    try:
        table = read_toml(keys_file())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ModelUnavailable(
            f"The file of keys, {keys_file()}, cannot be read: {error}."
        ) from error
    return {url: key for url, key in table.items() if isinstance(key, str) and "://" in url}


def _is_bound_to(address: str, url: str) -> bool:
    """Return whether a URL has a key's bound address or a path below it."""
    try:
        bound = urlsplit(address.rstrip("/"))
        target = urlsplit(url.rstrip("/"))
        bound_host = (bound.scheme, bound.hostname, bound.port)
        target_host = (target.scheme, target.hostname, target.port)
    except ValueError:  # an invalid address, such as one whose port is no number
        return False
    is_below = target.path == bound.path or target.path.startswith(bound.path + "/")
    is_same_host = bound_host == target_host
    return is_same_host and is_below and ".." not in target.path and not target.username
