"""Hosts of model servers: those allowed in a shared Hopscope, and the proxies to reach them."""

from __future__ import annotations

import os
import re
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from core.errors import BadParameter
from core.sharing import shared

ALLOWED_HOSTS_VARIABLE = "HOPSCOPE_ALLOWED_HOSTS"
# a number, or a name of the local network; such a server is rarely asked by https
NEAR_HOST = re.compile(r"[\d.]+|[^/]*\.local")


def check_host(url: str) -> None:
    """Raise BadParameter if the address of a server is not allowed.

    Every address is allowed unless Hopscope is shared. Then the host must be in
    HOPSCOPE_ALLOWED_HOSTS (names separated by commas) or, if that is not set, be this computer.
    Names are compared as texts, without a DNS lookup.
    """
    if not shared():
        return
    host, port = _host_and_port(url)
    if not host:
        raise BadParameter(
            "The address of a server is http:// or https://, a host, and a path, such as "
            "http://localhost:8000/v1."
        )
    names = [name.strip() for name in os.environ.get(ALLOWED_HOSTS_VARIABLE, "").split(",")]
    allowed_hosts = [name.lower() for name in names if name]
    if allowed_hosts and not {host, f"{host}:{port}"} & set(allowed_hosts):
        raise BadParameter(
            f"Model servers are allowed on {', '.join(allowed_hosts)} alone "
            f"({ALLOWED_HOSTS_VARIABLE}), not on “{host}”."
        )
    if not allowed_hosts and not is_loopback(host):
        raise BadParameter(
            f"Model servers are allowed on this computer alone, not on “{host}”, unless "
            f"{ALLOWED_HOSTS_VARIABLE} names it."
        )


def _host_and_port(url: str) -> tuple[str, int | None]:
    """Return the host and the port of a server.

    The host is empty if the address is invalid.
    """
    # Programs differ in how they read these characters, so the host could be another one for the
    # client than it is here.
    if any(letter in "\\@" or letter <= " " or letter == "\x7f" for letter in url):
        return "", None
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".")
        port = parts.port
    except ValueError:  # the port is no number
        return "", None
    if parts.scheme not in ("http", "https"):
        return "", None
    return host, port


def is_loopback(host: str) -> bool:
    """Return whether a host name means this computer.

    >>> from core.models.hosts import is_loopback
    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("::1"), is_loopback("gpu")
    (True, True, True, False)
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def complete_address(typed: str) -> str:
    """Return the address of a server, with a scheme if none was typed.

    A host with a dot that is no number is elsewhere and is asked by https, others by http.

    >>> from core.models.hosts import complete_address
    >>> complete_address(" localhost:8000/v1/"), complete_address("api.example.com/v1")
    ('http://localhost:8000/v1', 'https://api.example.com/v1')
    """
    address = typed.strip().rstrip("/")
    if not address or "://" in address:
        return address
    host = address.partition("/")[0].rpartition(":")[0] or address.partition("/")[0]
    is_elsewhere = "." in host and not NEAR_HOST.fullmatch(host)
    return f"{'https' if is_elsewhere else 'http'}://{address}"


def bypasses_proxy(url: str) -> bool:
    """Return whether a server is contacted without a proxy.

    This is so if it runs on this computer.
    """
    host = (_split_url(url).hostname or "").rstrip(".")
    return is_loopback(host) or host == "0.0.0.0" or host.endswith(".localhost")


def find_proxy(url: str) -> str:
    """Return the proxy for a server, without its password; empty if there is none."""
    from urllib.request import getproxies, proxy_bypass

    parts = _split_url(url)
    if not parts.hostname or bypasses_proxy(url) or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return ""
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all") or ""
    scheme, slashes, address = proxy.rpartition("://")
    return f"{scheme}{slashes}{address.rpartition('@')[2]}"


def _split_url(url: str) -> SplitResult:
    """Return the parts of an address; empty parts if it is invalid."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")
