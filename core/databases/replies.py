"""HTTP replies read by a thread, so that waiting can be cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, Full, Queue
from typing import Any

from core.databases.limits import CopyLimits
from core.errors import BadInput, RunCancelled
from core.io.files import size_text


@dataclass(frozen=True)
class HttpReplyLimits:
    """Limits of size and time of a server's reply."""

    check_seconds: float = 0.1  # between two checks for cancellation
    piece_bytes: int = 1 << 16
    max_pieces_ahead: int = 8  # read before they are asked for
    header_seconds: float = 120.0  # until a reply begins, however slowly its headers arrive
    grace_seconds: float = 60.0  # after which a reply slower than min_bytes_per_second is abandoned
    min_bytes_per_second: int = 1000
    # Unpacked bytes per received byte. Rows of SPARQL results, which differ, reach 80 at most.
    max_expansion: int = 200
    expansion_from_bytes: int = 1 << 24  # unpacked bytes from which max_expansion applies


HTTP_REPLY = HttpReplyLimits()
REPLY_PACKINGS = ("", "identity", "gzip", "x-gzip", "deflate")


class HttpReply:
    """A server's reply, which is unpacked and counted while it is read.

    Reading raises the errors of the limits, of `send` and of the connection, and BadInput for a
    reply that is too slow or unpacks to far more bytes than were sent. As a context manager, it
    closes the connection.

    Parameters
    ----------
    send : sends the request and returns the response of `requests`, as a stream. A thread calls it.
    limits : limits of the bytes and the time.
    server : name of the server in messages.

    Attributes
    ----------
    response : the response, whose headers have arrived.
    """

    def __init__(self, send: Callable[[], Any], limits: CopyLimits, server: str):
        self._limits = limits
        self._server = server
        # The response, then pairs of a piece and the bytes received so far, or an error.
        self._items: Queue[Any] = Queue(HTTP_REPLY.max_pieces_ahead)
        self._abandoned = threading.Event()
        self._buffer = b""
        self._is_at_end = False
        self._n_unpacked = 0  # bytes after unpacking
        self._n_received = 0  # bytes before unpacking
        self._sent_at = time.monotonic()
        self._headers_at: float | None = None  # None until the headers have arrived
        threading.Thread(target=self._fetch, args=(send,), daemon=True).start()
        try:
            self.response = self._next_item()
        except BaseException:
            self._abandoned.set()
            raise
        self._headers_at = time.monotonic()

    def __enter__(self) -> HttpReply:
        return self

    def __exit__(self, *_: object) -> None:
        self._abandoned.set()  # the thread closes the connection

    @property
    def type(self) -> str:
        """The Content-Type header, in lower case."""
        return self.response.headers.get("Content-Type", "").lower()

    @property
    def name(self) -> str:
        """Beginning of messages on a fault in the reply. It stands in place of a file's name."""
        return f"{self._server} answers with what cannot be read"

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` of the next bytes. Empty at the end.

        At most `HTTP_REPLY.piece_bytes` are returned, also if `size` is negative.
        """
        piece_size = HTTP_REPLY.piece_bytes if size < 0 else min(size, HTTP_REPLY.piece_bytes)
        while len(self._buffer) < piece_size and not self._is_at_end:
            piece, self._n_received = self._next_item()
            self._is_at_end = not piece
            self._add_piece(piece)
        data = self._buffer[:piece_size]
        self._buffer = self._buffer[piece_size:]
        return data

    def read_text(self, size: int) -> str:
        """Return the next bytes as text. The text is empty if they cannot be read.

        Raises RunCancelled.
        """
        try:
            return self.read(size).decode("utf-8", "replace")
        except RunCancelled:
            raise
        # The text only explains a fault that the caller reports anyway, so any other one is left.
        except Exception:
            return ""

    def _add_piece(self, piece: bytes) -> None:
        self._buffer += piece
        self._n_unpacked += len(piece)
        if self._n_unpacked > max(
            HTTP_REPLY.expansion_from_bytes, HTTP_REPLY.max_expansion * self._n_received
        ):
            raise BadInput(
                f"{self._server} sends what unpacks to over {HTTP_REPLY.max_expansion} times its "
                f"size; it is not read beyond {size_text(self._n_unpacked)}."
            )
        self._limits.count_bytes(len(piece), self._server)

    def _next_item(self) -> Any:
        """Return the next item from the thread. Raises what the thread raised."""
        while True:
            self._limits.count_bytes(0, self._server)
            try:
                item = self._items.get(timeout=HTTP_REPLY.check_seconds)
            except Empty:
                self._check_speed()
                continue
            if isinstance(item, Exception):
                raise item
            self._check_speed()
            return item

    def _check_speed(self) -> None:
        """Raise BadInput if the headers, or the bytes after them, arrive too slowly."""
        now = time.monotonic()
        if self._headers_at is None:
            if now - self._sent_at > HTTP_REPLY.header_seconds:
                raise BadInput(
                    f"{self._server} did not answer within {HTTP_REPLY.header_seconds:g} s."
                )
            return
        counted_seconds = now - self._headers_at - HTTP_REPLY.grace_seconds
        min_bytes = counted_seconds * HTTP_REPLY.min_bytes_per_second
        if counted_seconds > 0 and self._n_unpacked < min_bytes:
            raise BadInput(f"{self._server} sends its answer too slowly; it was left.")

    def _fetch(self, send: Callable[[], Any]) -> None:
        """Put the response into the queue, then its pieces.

        Each piece has the bytes received so far. This runs in the thread.
        """
        try:
            with send() as response:
                self._put(response)
                raw = response.raw
                piece = b"."  # any but the empty one, which marks the end
                while piece and not self._abandoned.is_set():
                    piece = raw.read1(HTTP_REPLY.piece_bytes, decode_content=True)
                    self._put((piece, raw.tell()))
        except Exception as error:  # the waiting thread reports the error
            self._put(error)

    def _put(self, item: Any) -> None:
        """Put an item into the queue, unless the reply is abandoned."""
        while not self._abandoned.is_set():
            with suppress(Full):
                return self._items.put(item, timeout=HTTP_REPLY.check_seconds)


def check_packing(response: Any, server: str) -> None:
    """Raise BadInput if a reply is packed in a way that was not requested."""
    packing = response.headers.get("Content-Encoding", "").strip().lower()
    if packing not in REPLY_PACKINGS:
        raise BadInput(f"{server} packs its answer as “{packing[:40]}”, which was not asked for.")
