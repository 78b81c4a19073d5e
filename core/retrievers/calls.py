"""Calls to declared retrievers, over HTTP or in Python.

Their time and size are limited.
"""

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
from core.retrievers.declarations import Retriever
from core.watch import NO_WATCH, Watch

if TYPE_CHECKING:
    from http.client import HTTPResponse

MAX_REPLY_BYTES = 8 << 20
CANCEL_CHECK_SECONDS = 0.05  # between two checks whether the user cancelled
MAX_ERROR_PAGE_CHARACTERS = 200  # of an error page or an error that a message quotes


def call_retriever(
    retriever: Retriever, request: Mapping[str, Any], watch: Watch = NO_WATCH
) -> Any:
    """Return the reply of a retriever as parsed JSON; `reply` checks its form.

    The call runs in a thread. A retriever that does not answer is abandoned after its timeout, or
    when the user cancels. Raises RetrieverFailed with a sentence, and what `watch` raises.
    """
    outcome: list[Any] = []  # the bytes of the reply, or the exception, once the thread has ended
    open_sockets: list[socket.socket] = []

    def run() -> None:
        try:
            if retriever.url:
                outcome.append(_post(retriever, request, open_sockets))
            else:
                outcome.append(_call_function(retriever, request))
        except BaseException as error:  # re-raised in the waiting thread
            outcome.append(error)

    thread = threading.Thread(target=run, name=f"retriever-{retriever.name}", daemon=True)
    thread.start()
    deadline = time.monotonic() + retriever.timeout
    try:
        while thread.is_alive():
            watch.check()
            if time.monotonic() > deadline:
                raise _timeout_error(retriever)
            thread.join(CANCEL_CHECK_SECONDS)
    finally:
        # this ends the thread of an abandoned request
        for open_socket in open_sockets:
            with contextlib.suppress(OSError):
                open_socket.shutdown(socket.SHUT_RDWR)
    if isinstance(outcome[0], RetrieverFailed):
        raise outcome[0]
    if isinstance(outcome[0], BaseException):
        raise _failure(retriever, f"failed: {_error_words(outcome[0])}.") from outcome[0]
    return _parse_reply(retriever, outcome[0])


def _post(
    retriever: Retriever, request: Mapping[str, Any], open_sockets: list[socket.socket]
) -> bytes:
    """Post the request and return the body of the reply.

    Redirects are not followed and no proxy is used, so only the declared address is contacted. The
    open socket is added to `open_sockets`.
    """
    import http.client  # imported late, as it loads ssl

    parts = urlsplit(retriever.url)
    is_https = parts.scheme == "https"
    connection_class = http.client.HTTPSConnection if is_https else http.client.HTTPConnection
    assert parts.hostname is not None  # checked when the retriever was declared
    connection = connection_class(parts.hostname, parts.port, timeout=retriever.timeout)
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        **_headers(retriever),
    }
    try:
        connection.connect()
    except TimeoutError:
        raise _timeout_error(retriever) from None
    except OSError as error:
        raise _failure(
            retriever, f"cannot be reached ({_error_words(error)}); is it running?"
        ) from error
    open_sockets.append(connection.sock)
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", target, json.dumps(request).encode(), headers)
        reply = connection.getresponse()
        body = reply.read(MAX_REPLY_BYTES + 1)
        if reply.status != http.client.OK:
            raise _failure(retriever, f"{_status_words(reply, body)}.")
        if len(body) > MAX_REPLY_BYTES:
            raise _failure(retriever, f"replied with more than {MAX_REPLY_BYTES >> 20} MB.")
        if reply.length:  # bytes that were announced and did not arrive
            raise _failure(retriever, "ended its reply too early.")
        return body
    except TimeoutError:
        raise _timeout_error(retriever) from None
    except (http.client.HTTPException, OSError) as error:
        raise _failure(
            retriever, f"broke off or does not speak HTTP ({_error_words(error)})."
        ) from error
    finally:
        connection.close()


def _status_words(reply: HTTPResponse, body: bytes) -> str:
    """Return words on a reply with an error status.

    They are a predicate of the retriever's name.
    """
    status = reply.status
    if 300 <= status < 400:
        location = shorten(reply.getheader("Location") or "", MAX_ERROR_PAGE_CHARACTERS)
        target = location or "no address"
        return (
            f"redirects to {target} ({status}), which was not followed; if that is the right "
            "address, give it in retrievers.toml"
        )
    if status in (401, 403):
        return f"refused the request ({status}); see “headers” in docs/own-retriever.md"
    # A character has at most four bytes in UTF-8.
    beginning = body[: MAX_ERROR_PAGE_CHARACTERS * 4].decode("utf-8", "replace")
    page = shorten(beginning, MAX_ERROR_PAGE_CHARACTERS)
    return f"answered with the error {status}" + (f": {page}" if page else "")


def _headers(retriever: Retriever) -> dict[str, str]:
    """Return the declared headers with the values of their environment variables."""
    headers = {}
    for header, variable in retriever.headers:
        value = os.environ.get(variable, "")
        if not value:
            raise _failure(
                retriever, f"needs the environment variable {variable} for its header {header}."
            )
        if not value.isascii() or not value.isprintable():
            raise RetrieverFailed(
                f"The retriever “{retriever.name}”: the environment variable {variable} holds what a "
                "header cannot."
            )
        headers[header] = value
    return headers


def _call_function(retriever: Retriever, request: Mapping[str, Any]) -> bytes:
    """Call the function and return its result as JSON."""
    module, _, name = retriever.python.partition(":")
    try:
        function = retriever.function or getattr(_import_module(module, retriever.file), name)
    except BaseException as error:
        raise _failure(retriever, f"cannot be loaded: {_error_words(error)}.") from error
    # a copy, so that the function cannot change the caller's request
    result = function(json.loads(json.dumps(request)))
    try:
        text = json.dumps(result, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise _failure(
            retriever, f"returned what JSON cannot hold: {_error_words(error)}."
        ) from error
    if len(text) > MAX_REPLY_BYTES:
        raise _failure(retriever, f"returned more than {MAX_REPLY_BYTES >> 20} MB.")
    return text.encode()


def _import_module(name: str, file: Path | None) -> Any:
    """Return the module of a file, or an installed module if `file` is None."""
    if file is None:
        return importlib.import_module(name)
    return _load_module(name, file, file.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _load_module(name: str, file: Path, mtime: int) -> Any:
    """Load the module of a file. The time of its last change, in ns, is a key of the cache."""
    spec = importlib.util.spec_from_file_location(f"hopscope_own_{name.replace('.', '_')}", file)
    assert spec is not None and spec.loader is not None  # the file's name ends in .py
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _parse_reply(retriever: Retriever, body: bytes) -> Any:
    """Return the JSON value in a reply. NaN and Infinity, which Python accepts, are refused."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no JSON number")

    try:
        return json.loads(body.decode("utf-8"), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise _failure(
            retriever,
            f"replied with what is not JSON: {shorten(error, MAX_ERROR_PAGE_CHARACTERS)}.",
        ) from None


def _failure(retriever: Retriever, words: str) -> RetrieverFailed:
    """Return an error whose sentence is the retriever's name and then `words`."""
    return RetrieverFailed(f"The retriever “{retriever.name}” {words}")


def _timeout_error(retriever: Retriever) -> RetrieverFailed:
    return _failure(retriever, f"did not answer within {retriever.timeout:g} seconds.")


def _error_words(error: BaseException) -> str:
    """Describe an error in a few words; for a system error, its text alone."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = shorten(str(error), MAX_ERROR_PAGE_CHARACTERS).rstrip(".")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
