"""Streamed replies as server-sent events, read within time limits."""

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
# Time for a server to send more after a reply has ended, such as its token counts.
USAGE_SECONDS = 1.0


class EventStream(openai.Stream[object]):
    """Chunks of a reply as parsed JSON, with empty chunks for comments and blank lines.

    The client library's stream skips comments, and a server could send them for ever. It also
    rejects chunks with numbers of very many digits.
    """

    has_ended = False  # true after the end mark

    def __iter__(self) -> Iterator[Any]:
        data = b""
        for line in self._iter_lines():
            if line.startswith(b"data:"):
                data = b"\n".join(filter(None, (data, line[5:].strip())))
                if data.startswith(END_MARK):
                    self.has_ended = True
                    return
                try:  # parsed now, as the blank line after it may never come
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
            # By name, as the client library uses one of several HTTP libraries.
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
    """Return the value of a response that is one JSON text, as soon as it is complete.

    Raises ValueError.
    """
    data: list[bytes] = []
    for part in response.iter_bytes():
        data.append(part)
        if part.rstrip().endswith(b"}"):
            with suppress(ValueError):
                return read_json(b"".join(data))
    return read_json(b"".join(data))


def limit_silence(
    pieces: Iterator[StreamPiece], response: Any, silence: float, watch: Watch = NO_WATCH
) -> Iterator[StreamPiece]:
    """Yield the pieces of a reply as they arrive, within time limits.

    After the finish reason only usage data may follow: errors in it are ignored, and waiting for it
    takes at most a second.

    Parameters
    ----------
    pieces : the pieces of the reply.
    response : the HTTP response that they come from.
    silence : seconds within which a piece with content must arrive.
    watch : called for each piece, also for an empty one; may raise.

    Yields
    ------
    A piece.

    Raises
    ------
    ReplyOverdueError
        If no piece with content arrived for `silence` seconds.
    """
    last_arrival = time.monotonic()
    is_over = False
    closing = threading.Timer(0, lambda: None)
    try:
        while True:
            watch.check()
            try:
                piece = next(pieces, None)
            except Exception:
                if is_over:
                    yield StreamPiece(has_invalid_counts=True)
                    return
                raise
            if piece is None:
                return
            now = time.monotonic()
            if piece.has_content:
                last_arrival = now
            elif not is_over and now - last_arrival > silence:
                raise ReplyOverdueError(silence)
            if piece.finish is not None or (is_over and piece.has_content):
                is_over = True
                closing.cancel()
                closing = _shut_soon(response)
            yield piece
    finally:
        closing.cancel()


def _shut_soon(response: Any) -> threading.Timer:
    """Close the connection of a response after `USAGE_SECONDS`."""
    timer = threading.Timer(USAGE_SECONDS, _shut, (response,))
    timer.daemon = True
    timer.start()
    return timer


def _shut(response: Any) -> None:
    """Shut down the connection of a response, so that reading from it returns."""
    stream = response.extensions.get("network_stream")
    connection = stream.get_extra_info("socket") if stream is not None else None
    if connection is not None:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
