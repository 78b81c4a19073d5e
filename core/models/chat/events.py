"""The stream of a reply as server-sent events, read within limits of time."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import openai

from core.models.chat.piece import Overdue, Piece
from core.models.numbers import read_json
from core.watch import NO_WATCH, Watch

DONE = b"[DONE]"
NOTHING = {"choices": ()}  # a chunk that says nothing
USAGE_SECONDS = 1.0  # in which a server may say more once a reply has ended, such as its tokens


class Events(openai.Stream[object]):
    """The chunks of a reply as their JSON has them; one without a choice for comments and blank lines.

    The client's own stream passes comments over, so that a server could send them for ever, and it
    refuses chunks with numbers of very many digits.
    """

    done = False  # whether the mark of the end came

    def __iter__(self) -> Iterator[Any]:
        data = b""
        for line in self._lines():
            if line.startswith(b"data:"):
                data = b"\n".join(filter(None, (data, line[5:].strip())))
                if data.startswith(DONE):
                    self.done = True
                    return
                try:  # at once, as the blank line behind it may never come
                    chunk = read_json(data.decode("utf-8"))
                except ValueError:
                    continue  # a part of an event of several lines
                data = b""
                yield self._without_error(chunk)
            elif data and not line:
                yield read_json(data.decode("utf-8"))  # raises what is wrong with it
                data = b""
            else:
                yield NOTHING
        if data:
            yield read_json(data.decode("utf-8"))

    def _without_error(self, chunk: Any) -> Any:
        """The chunk. Raises APIError for one that tells of an error."""
        error = chunk.get("error") if isinstance(chunk, dict) else None
        if error:
            said = error.get("message") if isinstance(error, dict) else error
            message = said if isinstance(said, str) and said else "an error while it replied"
            raise openai.APIError(message, self.response.request, body=error)
        return chunk

    def _lines(self) -> Iterator[bytes]:
        """The lines of the response without their ends, and an empty comment for each part of one.

        Raises the client's errors of connections.
        """
        begun: list[bytes] = []
        try:
            for data in self.response.iter_bytes():
                *lines, rest = data.split(b"\n")
                for line in lines:
                    yield b"".join((*begun, line)).rstrip(b"\r")
                    begun.clear()
                begun.append(rest)
                if not lines:
                    yield b":"
        except Exception as error:
            kinds = {kind.__name__ for kind in type(error).__mro__}
            if "TimeoutException" in kinds:
                raise openai.APITimeoutError(request=self.response.request) from error
            if "TransportError" in kinds:
                raise openai.APIConnectionError(request=self.response.request) from error
            raise
        if last := b"".join(begun).rstrip(b"\r"):
            yield last


def take_whole(response: Any) -> Any:
    """The value of a response that is one JSON text, as soon as it is whole. Raises ValueError."""
    data: list[bytes] = []
    for part in response.iter_bytes():
        data.append(part)
        if part.rstrip().endswith(b"}"):
            with suppress(ValueError):
                return read_json(b"".join(data))
    return read_json(b"".join(data))


def timely_pieces(
    pieces: Iterator[Piece], response: Any, silence: float, watch: Watch = NO_WATCH
) -> Iterator[Piece]:
    """The pieces of a reply as they come, within limits of time.

    Once the reply has ended, what follows may fail or not come: it costs a second at most.

    Parameters
    ----------
    silence : seconds in which a piece must come that says something.
    watch : called for each piece, also one that says nothing; may raise.

    Raises
    ------
    Overdue : where nothing was said for so long.
    """
    last, ended = time.monotonic(), False
    closing = threading.Timer(0, lambda: None)
    try:
        while True:
            watch.check()
            try:
                piece = next(pieces, None)
            except Exception:
                if ended:
                    yield Piece(miscounted=True)
                    return
                raise
            if piece is None:
                return
            now = time.monotonic()
            last = now if piece.says else last
            if not ended and now - last > silence:
                raise Overdue(silence)
            if piece.finish is not None or (ended and piece.says):
                ended = True
                closing.cancel()
                closing = _shut_soon(response)
            yield piece
    finally:
        closing.cancel()


def _shut_soon(response: Any) -> threading.Timer:
    """Have the connection of a response shut once what may follow a reply had its time."""
    timer = threading.Timer(USAGE_SECONDS, _shut, (response,))
    timer.daemon = True
    timer.start()
    return timer


def _shut(response: Any) -> None:
    """Shut the connection of a response, so that whoever reads from it goes on."""
    stream = response.extensions.get("network_stream")
    connection = stream.get_extra_info("socket") if stream is not None else None
    if connection is not None:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
