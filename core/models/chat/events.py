"""Replies of servers as server-sent events, read within time limits.

Hopscope reads the events itself, as a faulty or hostile server could keep the client library busy
for ever.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import openai

from core.models.chat.stream_piece import ReplyOverdueError, StreamPiece
from core.models.number_checks import read_json
from core.watch import NO_WATCH, Watch

END_MARK = b"[DONE]"
EMPTY_CHUNK = {"choices": ()}
# Time that a server has for its token counts after the end of a reply.
USAGE_SECONDS = 1.0


class EventStream(openai.Stream[object]):
    """Chunks of a reply as parsed JSON.

    Comments and blank lines give empty chunks. The client library's stream skips comments, so a
    server could send them for ever without the caller being able to check its time limits. It also
    rejects chunks with numbers of very many digits.
    """

    has_ended = False  # true once the server has sent `END_MARK`

    def __iter__(self) -> Iterator[Any]:
        data = b""
        for line in self._iter_lines():
            if line.startswith(b"data:"):
                data = b"\n".join(filter(None, (data, line[5:].strip())))
                if data.startswith(END_MARK):
                    self.has_ended = True
                    return
                try:  # not left to the blank line that ends an event, which may never come
                    chunk = read_json(data.decode("utf-8"))
                except ValueError:
                    continue  # a part of an event of several lines
                data = b""
                self._raise_error(chunk)
                yield chunk
            elif data and not line:
                yield read_json(data.decode("utf-8"))  # raises ValueError, as it is invalid
                data = b""
            else:
                yield EMPTY_CHUNK
        if data:
            yield read_json(data.decode("utf-8"))

    def _raise_error(self, chunk: Any) -> None:
        """Raise APIError if a chunk reports an error."""
        error = chunk.get("error") if isinstance(chunk, dict) else None
        if error:
            detail = error.get("message") if isinstance(error, dict) else error
            message = detail if isinstance(detail, str) and detail else "an error while it replied"
            raise openai.APIError(message, self.response.request, body=error)

    def _iter_lines(self) -> Iterator[bytes]:
        """Yield the lines of the response without line ends.

        Data without a line end yields an empty comment, so that the caller can check its time
        limits. Raises the client library's connection errors.
        """
        parts: list[bytes] = []
        try:
            for data in self.response.iter_bytes():
                *lines, remainder = data.split(b"\n")
                for line in lines:
                    yield b"".join((*parts, line)).rstrip(b"\r")
                    parts.clear()
                parts.append(remainder)
                if not lines:
                    yield b":"
        except Exception as error:
            # By name, as the client library uses one of several HTTP libraries. What is no fault of
            # the connection is raised again.
            kinds = {kind.__name__ for kind in type(error).__mro__}
            if "TimeoutException" in kinds:
                raise openai.APITimeoutError(request=self.response.request) from error
            if "TransportError" in kinds:
                raise openai.APIConnectionError(request=self.response.request) from error
            raise
        last_line = b"".join(parts).rstrip(b"\r")
        if last_line:
            yield last_line


def read_whole_json(response: Any) -> Any:
    """Return the value of a response that is one JSON text.

    The value is returned as soon as the text is complete, as the server may leave the connection
    open. Raises ValueError for a text that is no JSON.
    """
    data: list[bytes] = []
    for part in response.iter_bytes():
        data.append(part)
        if part.rstrip().endswith(b"}"):
            with suppress(ValueError):
                return read_json(b"".join(data))
    return read_json(b"".join(data))


def limit_silence(
    pieces: Iterator[StreamPiece], response: Any, max_silence: float, watch: Watch = NO_WATCH
) -> Iterator[StreamPiece]:
    """Yield the pieces of a reply as they arrive, within time limits.

    After the finish reason only token counts may follow. Errors in these are ignored, and they are
    awaited for at most `USAGE_SECONDS`.

    Parameters
    ----------
    pieces : the pieces of the reply.
    response : the HTTP response that they come from.
    max_silence : seconds within which a piece with content must arrive.
    watch : checked for each piece, also for an empty one; it may raise RunCancelled.

    Yields
    ------
    Each piece.

    Raises
    ------
    ReplyOverdueError
        If no piece with content arrived for `max_silence` seconds.
    """
    last_arrival = time.monotonic()
    has_finished = False  # true after the finish reason
    closing = threading.Timer(0, lambda: None)  # closes the connection; not started yet
    try:
        while True:
            watch.check()
            try:
                piece = next(pieces, None)
            except Exception:
                # The reply is whole. Closing the connection may fail anywhere in the HTTP library,
                # and only the counts are lost, as the piece says.
                if has_finished:
                    yield StreamPiece(has_invalid_counts=True)
                    return
                raise
            if piece is None:
                return
            now = time.monotonic()
            if piece.has_content:
                last_arrival = now
            elif not has_finished and now - last_arrival > max_silence:
                raise ReplyOverdueError(max_silence)
            if piece.finish is not None or (has_finished and piece.has_content):
                has_finished = True
                closing.cancel()
                closing = _close_later(response)
            yield piece
    finally:
        closing.cancel()


def _close_later(response: Any) -> threading.Timer:
    """Start a timer that closes the connection of a response after `USAGE_SECONDS`."""
    timer = threading.Timer(USAGE_SECONDS, _close_connection, (response,))
    timer.daemon = True
    timer.start()
    return timer


def _close_connection(response: Any) -> None:
    """Shut down the connection of a response.

    Another thread then stops reading from it.
    """
    stream = response.extensions.get("network_stream")
    connection = stream.get_extra_info("socket") if stream is not None else None
    if connection is not None:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
