"""A declared retriever asked: an HTTP request or a call in Python, with a time limit, and never more than is allowed."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import socket
import threading
import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from core.errors import RetrieverFailed, shorten
from core.retrievers.declared import Retriever
from core.watch import NO_WATCH, Watch

if TYPE_CHECKING:
    from http.client import HTTPResponse

MAX_REPLY_BYTES = 8 << 20  # bytes of a reply
LOOK = 0.05  # seconds between two looks whether the person cancelled
SHOWN = 200  # characters of an error page that are told


def ask(known: Retriever, request: Mapping[str, Any], watch: Watch = NO_WATCH) -> Any:
    """What the retriever replies, as plain data; not yet looked at. Raises RetrieverFailed with a sentence, and what `watch` raises.

    The work is done in a thread, so that a retriever that does not answer is left after its time, or when the person cancels.
    """
    outcome: list[Any] = []
    open_socket: list[socket.socket] = []
    if known.url:
        work = lambda: _post(known, request, open_socket)
    else:
        work = lambda: _call(known, request)

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # handed over to the thread that waits
            outcome.append(error)

    thread = threading.Thread(target=run, name=f"retriever-{known.name}", daemon=True)
    thread.start()
    end = time.monotonic() + known.timeout
    try:
        while thread.is_alive():
            watch.check()
            if time.monotonic() > end:
                raise RetrieverFailed(
                    f"{_named(known)} did not answer within {known.timeout:g} seconds."
                )
            thread.join(LOOK)
    finally:
        for one in open_socket:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
    if isinstance(outcome[0], RetrieverFailed):
        raise outcome[0]
    if isinstance(outcome[0], BaseException):
        raise RetrieverFailed(f"{_named(known)} failed: {_words(outcome[0])}.") from outcome[0]
    return _data(known, outcome[0])


def _post(known: Retriever, request: Mapping[str, Any], held: list[socket.socket]) -> bytes:
    """The body of the reply. Redirects are not followed and no proxy is asked: only the declared address is."""
    import http.client  # brings ssl and more

    parts = urlsplit(known.url)
    protocol = (
        http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    )
    assert parts.hostname is not None  # an address without a host is refused where it is declared
    connection = protocol(parts.hostname, parts.port, timeout=known.timeout)
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        **_headers(known),
    }
    try:
        connection.connect()
    except TimeoutError:
        raise RetrieverFailed(
            f"{_named(known)} did not answer within {known.timeout:g} seconds."
        ) from None
    except OSError as error:
        raise RetrieverFailed(
            f"{_named(known)} cannot be reached ({_words(error)}); is it running?"
        ) from error
    held.append(connection.sock)
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", target, json.dumps(request).encode(), headers)
        reply = connection.getresponse()
        body = reply.read(MAX_REPLY_BYTES + 1)
        if reply.status != http.client.OK:
            raise RetrieverFailed(f"{_named(known)} {_refusal(reply, body)}.")
        if len(body) > MAX_REPLY_BYTES:
            raise RetrieverFailed(
                f"{_named(known)} replied with more than {MAX_REPLY_BYTES >> 20} MB."
            )
        if reply.length:  # what was promised and did not come
            raise RetrieverFailed(f"{_named(known)} ended its reply too early.")
        return body
    except TimeoutError:
        raise RetrieverFailed(
            f"{_named(known)} did not answer within {known.timeout:g} seconds."
        ) from None
    except (http.client.HTTPException, OSError) as error:
        raise RetrieverFailed(
            f"{_named(known)} broke off or does not speak HTTP ({_words(error)})."
        ) from error
    finally:
        connection.close()


def _refusal(reply: HTTPResponse, body: bytes) -> str:
    status = reply.status
    if 300 <= status < 400:
        target = shorten(reply.getheader("Location") or "", SHOWN) or "no address"
        return f"redirects to {target} ({status}), which was not followed; if that is the right address, give it in retrievers.toml"
    if status in (401, 403):
        return f"refused the request ({status}); see “headers” in docs/own-retriever.md"
    page = shorten(body[: SHOWN * 4].decode("utf-8", "replace"), SHOWN)
    return f"answered with the error {status}" + (f": {page}" if page else "")


def _headers(known: Retriever) -> dict[str, str]:
    """The person's headers with the values of their environment variables."""
    found = {}
    for header, variable in known.headers:
        value = os.environ.get(variable, "")
        if not value:
            raise RetrieverFailed(
                f"{_named(known)} needs the environment variable {variable} for its header {header}."
            )
        if not value.isascii() or not value.isprintable():
            raise RetrieverFailed(
                f"{_named(known)}: the environment variable {variable} holds what a header cannot."
            )
        found[header] = value
    return found


def _call(known: Retriever, request: Mapping[str, Any]) -> bytes:
    """What the function returns, as JSON: a function can say no more than an address can."""
    module, _, name = known.python.partition(":")
    try:
        function = known.function or getattr(_module(module, known.file), name)
    except BaseException as error:
        raise RetrieverFailed(f"{_named(known)} cannot be loaded: {_words(error)}.") from error
    found = function(json.loads(json.dumps(request)))
    try:
        text = json.dumps(found, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise RetrieverFailed(
            f"{_named(known)} returned what JSON cannot hold: {_words(error)}."
        ) from error
    if len(text) > MAX_REPLY_BYTES:
        raise RetrieverFailed(f"{_named(known)} returned more than {MAX_REPLY_BYTES >> 20} MB.")
    return text.encode()


def _module(name: str, file: Path | None) -> Any:
    if file is None:
        return importlib.import_module(name)
    return _loaded(name, file, file.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _loaded(name: str, file: Path, changed: int) -> Any:
    """The module of a file, loaded anew where the file changed."""
    spec = importlib.util.spec_from_file_location(f"hopscope_own_{name.replace('.', '_')}", file)
    assert spec is not None and spec.loader is not None  # such a file is loaded by its ending
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _data(known: Retriever, body: bytes) -> Any:
    def refused(constant: str) -> None:
        raise ValueError(f"{constant} is no JSON number")

    try:
        return json.loads(body.decode("utf-8"), parse_constant=refused)
    except (ValueError, RecursionError) as error:
        raise RetrieverFailed(
            f"{_named(known)} replied with what is not JSON: {shorten(error, SHOWN)}."
        ) from None


def _named(known: Retriever) -> str:
    return f"The retriever “{known.name}”"


def _words(error: BaseException) -> str:
    """An error in a few words; of what the system says, its text alone."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = shorten(str(error), SHOWN).rstrip(".")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
