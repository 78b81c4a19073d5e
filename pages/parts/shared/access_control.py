"""Access control of every request to the server, including the pages' websocket.

It checks the host name of a request, and who may upload files. It also adds HTTP headers that
restrict what a browser may do with the pages. app.py installs it as middleware.
"""

from __future__ import annotations

import os
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config
from streamlit.runtime import Runtime
from streamlit.web.server.starlette.starlette_routes import BASE_ROUTE_UPLOAD_FILE
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from core.errors import shorten
from core.sharing import shared

# Content-Security-Policy of all pages.
CONTENT_POLICY = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval' blob:",  # Streamlit needs all of them.
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "worker-src": "'self' blob:",
    "frame-src": "'self' blob: data:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}
HOSTS_VARIABLE = "HOPSCOPE_HOSTS"  # public names of this server, separated by commas
FRAMES_VARIABLE = "HOPSCOPE_FRAMES"  # origins of pages that may embed this app
SPACE_HOST_VARIABLE = "SPACE_HOST"  # variable that Hugging Face sets to the public name of a Space
MAX_ADMITTED_SESSIONS = 1000  # If there are more, the ended ones are removed.
# Ids of the sessions that may upload files, because their visitors may see the pages.
_uploaders: set[str] = set()


def security_headers() -> dict[str, str]:
    """Return the HTTP headers that restrict what a browser may do with the pages.

    A page may connect to this server only, whatever was drawn on it. No other page may embed it,
    except those whose origins HOPSCOPE_FRAMES names, separated by commas.
    """
    policy = dict(CONTENT_POLICY)
    origins = _variable_list(FRAMES_VARIABLE)
    if origins:
        policy["frame-ancestors"] = " ".join(["'self'", *origins])
    headers = {
        "Content-Security-Policy": "; ".join(f"{name} {rule}" for name, rule in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
    }
    return headers if origins else {**headers, "X-Frame-Options": "DENY"}


def named_hosts() -> list[str]:
    """Return the public names of this server: HOPSCOPE_HOSTS, and that of a Space."""
    return [
        name.lower().rstrip(".")
        for name in (*_variable_list(HOSTS_VARIABLE), *_variable_list(SPACE_HOST_VARIABLE))
    ]


def accept_named_hosts() -> None:
    """Let pages of the public names connect to Streamlit, which checks their origin."""
    if names := named_hosts():
        origins = [f"{scheme}://{name}" for name in names for scheme in ("https", "http")]
        old_origins = config.get_option("server.corsAllowedOrigins") or []
        config.set_option("server.corsAllowedOrigins", [*old_origins, *origins])


def _variable_list(variable: str) -> list[str]:
    """Return the parts of an environment variable between commas."""
    return [part.strip() for part in os.environ.get(variable, "").split(",") if part.strip()]


class AccessMiddleware:
    """Middleware that refuses requests to foreign host names and uploads without a sign-in.

    A stranger's web page can send requests to a name of its own that leads to this server (DNS
    rebinding). Uploads are checked only where several people share the server.
    """

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind = scope["type"]
        refusal, status = _refusal(scope) if kind in ("http", "websocket") else ("", 0)
        if not refusal:
            await self.app(scope, receive, _add_headers(send) if kind == "http" else send)
        elif kind == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": ""})
        else:
            await PlainTextResponse(refusal, status)(scope, receive, send)


def _add_headers(send: Send) -> Send:
    """Return a `send` that adds the security headers to each reply."""
    headers = security_headers()

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(headers)
        await send(message)

    return send_with_headers


def _refusal(scope: Scope) -> tuple[str, int]:
    """Return why a request is refused, and the HTTP status.

    They are empty and 0 if the request is accepted.
    """
    host = Headers(scope=scope).get("host", "")
    if not is_allowed_host(host):
        name = shorten(host, 100)
        sentence = (
            f"Hopscope does not answer to the name “{name}”. If it is its own, start it with "
            f"{HOSTS_VARIABLE}={name} in its environment.\n"
        )
        return sentence, 421  # Misdirected Request
    _, route, upload = scope["path"].partition(f"/{BASE_ROUTE_UPLOAD_FILE}/")
    # The path of an upload begins with the id of the session.
    if (
        route
        and scope.get("method") != "OPTIONS"
        and shared()
        and upload.partition("/")[0] not in _uploaders
    ):
        return "Sign in first. Only visitors who may see the pages can upload files.\n", 403
    return "", 0


def is_allowed_host(host: str) -> bool:
    """Return whether a Host header names this server.

    If server.allowedHosts is set, it decides. Otherwise these are accepted: any IP address (which,
    unlike a name, nobody can redirect), localhost, the configured addresses, and the names of
    `named_hosts`.
    """
    if config.get_option("server.allowedHosts"):
        return is_host_allowed(host)
    try:
        parts = urlsplit(f"//{host}")
        name = (parts.hostname or "").rstrip(".")
        if parts.netloc != host or "@" in host or parts.port == 0:
            return False
    except ValueError:
        return False
    addresses = (config.get_option("server.address"), config.get_option("browser.serverAddress"))
    return (
        _is_ip_address(name)
        or name == "localhost"
        or name in [address.lower().rstrip(".") for address in addresses if address]
        or name in named_hosts()
    )


def _is_ip_address(name: str) -> bool:
    try:
        return bool(ip_address(name))
    except ValueError:
        return False


def admit_session(session: str, admitted: bool) -> None:
    """Accept uploads of a session from now on, or refuse them."""
    if not admitted:
        _uploaders.discard(session)
        return
    if len(_uploaders) >= MAX_ADMITTED_SESSIONS and session not in _uploaders and Runtime.exists():
        _uploaders.difference_update(
            [old for old in _uploaders if not Runtime.instance().is_active_session(old)]
        )
    _uploaders.add(session)
