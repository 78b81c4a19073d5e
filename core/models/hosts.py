"""The computers on which model servers may stand where several people share one Hopscope."""

from __future__ import annotations

import os
from ipaddress import ip_address
from urllib.parse import urlsplit

from core.errors import BadParameter
from core.sharing import shared

VARIABLE = "HOPSCOPE_ALLOWED_HOSTS"


def check_host(url: str) -> None:
    """Raises BadParameter where Hopscope is shared and an address names a host that HOPSCOPE_ALLOWED_HOSTS (names parted by commas) does
    not; where that is not set, any but this computer. Nothing is looked up: a host is allowed by the name it is called by."""
    if not shared():
        return
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:  # a port that is no number
        host = ""
    odd = any(
        letter in "\\@" or letter <= " " or letter == "\x7f" for letter in url
    )  # which programs read in different ways
    if odd or not host or parts.scheme not in ("http", "https"):
        raise BadParameter(
            "The address of a server is http:// or https://, a host, and a path, such as http://localhost:8000/v1."
        )
    named = [one.strip().lower() for one in os.environ.get(VARIABLE, "").split(",") if one.strip()]
    if named and not {host, f"{host}:{port}"} & set(named):
        raise BadParameter(
            f"Servers may stand on {', '.join(named)} alone ({VARIABLE}), not on “{host}”."
        )
    if not named and not _loopback(host):
        raise BadParameter(
            f"Servers may stand on this computer alone, not on “{host}”, unless {VARIABLE} names it."
        )


def _loopback(host: str) -> bool:
    """Whether a host is this computer by its name."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
