"""Keys of servers: read from variables that are meant for it, and handed to the one address that stands beside the key."""

from __future__ import annotations

import os
import re
from urllib.parse import urlsplit

from core.errors import ModelUnavailable

NAME = re.compile(r"HOPSCOPE_KEY_[A-Z0-9_]+")
HOW = 'export HOPSCOPE_KEY_MINE="https://api.example.com/v1 the-key"'


def key_for(variable: str, url: str, who: str) -> str:
    """The key in an environment variable for a server, which `who` names.

    Only variables named HOPSCOPE_KEY_... are read, and their value begins with the address that the key is for, so that nobody who may
    add a server can have another variable, or this key, sent elsewhere. Raises ModelUnavailable that says what is not so.

    >>> import os
    >>> from core.models.keys import key_for
    >>> os.environ["HOPSCOPE_KEY_EXAMPLE"] = "https://api.example.com/v1 abc"
    >>> key_for("HOPSCOPE_KEY_EXAMPLE", "https://api.example.com/v1/", "mine")
    'abc'
    """
    if not NAME.fullmatch(variable):
        raise ModelUnavailable(f"{who} needs a key from the variable “{variable}”; only HOPSCOPE_KEY_... are read, such as: {HOW}")
    bound, _, key = os.environ.get(variable, "").strip().partition(" ")
    if not bound:
        raise ModelUnavailable(
            f"{who} needs a key: set the environment variable {variable} to the server's address and the key, as in: {HOW}"
        )
    if not key.strip() or "://" not in bound:
        raise ModelUnavailable(f"The environment variable {variable} must hold an address, a space and the key, as in: {HOW}")
    if not _covers(bound, url):
        raise ModelUnavailable(f"The key in {variable} is for another address than that of {who}, and is not sent there.")
    return key.strip()


def _covers(bound: str, url: str) -> bool:
    """Whether an address is the one that a key is for, or lies below it."""
    try:
        ours, theirs = urlsplit(bound.rstrip("/")), urlsplit(url.rstrip("/"))
        same = (ours.scheme, ours.hostname, ours.port) == (theirs.scheme, theirs.hostname, theirs.port)
    except ValueError:  # a port that is no number
        return False
    below = theirs.path == ours.path or theirs.path.startswith(ours.path + "/")
    return same and below and ".." not in theirs.path and not theirs.username
