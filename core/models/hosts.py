"""The computers on which model servers may stand where several people share one Hopscope."""

from __future__ import annotations

import os
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

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
    # which programs read in different ways
    odd = any(letter in "\\@" or letter <= " " or letter == "\x7f" for letter in url)
    if odd or not host or parts.scheme not in ("http", "https"):
        raise BadParameter(
            "The address of a server is http:// or https://, a host, and a path, such as http://localhost:8000/v1."
        )
    named = [one.strip().lower() for one in os.environ.get(VARIABLE, "").split(",") if one.strip()]
    if named and not {host, f"{host}:{port}"} & set(named):
        raise BadParameter(
            f"Servers may stand on {', '.join(named)} alone ({VARIABLE}), not on “{host}”."
        )
    if not named and not is_loopback(host):
        raise BadParameter(
            f"Servers may stand on this computer alone, not on “{host}”, unless {VARIABLE} names it."
        )


def is_loopback(host: str) -> bool:
    """Whether a host is this computer by its name.

    >>> from core.models.hosts import is_loopback
    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("::1"), is_loopback("gpu")
    (True, True, True, False)
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def goes_directly(url: str) -> bool:
    """Whether a server is asked without a proxy, as it stands on this computer."""
    host = (_parts(url).hostname or "").rstrip(".")
    return is_loopback(host) or host == "0.0.0.0" or host.endswith(".localhost")


def proxy_of(url: str) -> str:
    """The proxy by which a server is asked, without its password; empty where there is none."""
    from urllib.request import getproxies, proxy_bypass

    parts = _parts(url)
    if not parts.hostname or goes_directly(url) or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return ""
    proxies = getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all") or ""
    scheme, slashes, rest = found.rpartition("://")
    return f"{scheme}{slashes}{rest.rpartition('@')[2]}"


def _parts(url: str) -> SplitResult:
    """The parts of an address; empty ones where it is none."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")
