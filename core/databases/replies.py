"""HTTP replies read by a thread, so that waiting for a silent server can end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, Full, Queue
from typing import Any

from core.databases.limits import CopyLimits
from core.errors import BadInput
from core.io.files import size_text


@dataclass(frozen=True)
class HttpReplyLimits:
    """Limits of size and time of a server's reply."""

    check_seconds: float = 0.1  # between two checks for cancellation
    piece_bytes: int = 1 << 16
    max_pieces_ahead: int = 8
    header_seconds: float = 120.0  # until a reply begins, however slowly its headers arrive
    grace_seconds: float = 60.0  # after them a reply below min_bytes_per_second is abandoned
    min_bytes_per_second: int = 1000
    # a page of rows is compressed to 1/80 at best, as each row has a part of its own
    max_expansion: int = 200
    expansion_from_bytes: int = 1 << 24  # unpacked bytes above which the expansion is limited


HTTP_REPLY = HttpReplyLimits()
REPLY_PACKINGS = ("", "identity", "gzip", "x-gzip", "deflate")


class HttpReply:
    """A server's reply, unpacked and counted by `limits`.

    Reading raises the errors of the limits, of `send` and of the connection, and BadInput for a
    reply that is too slow or unpacks to far more bytes than were sent.
    """

    def __init__(self, send: Callable[[], Any], limits: CopyLimits, who: str):
        self._limits = limits
        self._who = who
        self._pieces: Queue[Any] = Queue(HTTP_REPLY.max_pieces_ahead)
        self._abandoned = threading.Event()
        self._buffer = b""
        self._is_at_end = False
        self._n_unpacked = 0  # bytes
        self._n_received = 0  # bytes before unpacking
        self._sent_at = time.monotonic()
        self._began: float | None = None  # when the headers had arrived
        threading.Thread(target=self._fetch, args=(send,), daemon=True).start()
        try:
            self.response = self._next_item()
        except BaseException:
            self._abandoned.set()
            raise
        self._began = time.monotonic()

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
        """The beginning of a message on a fault in the reply."""
        return f"{self._who} answers with what cannot be read"

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, at most `HTTP_REPLY.piece_bytes`; empty at the end."""
        piece_size = HTTP_REPLY.piece_bytes if size < 0 else min(size, HTTP_REPLY.piece_bytes)
        while len(self._buffer) < piece_size and not self._is_at_end:
            piece, self._n_received = self._next_item()
            self._is_at_end = not piece
            self._add_piece(piece)
        data = self._buffer[:piece_size]
        self._buffer = self._buffer[piece_size:]
        return data

    def read_text(self, size: int) -> str:
        """Return the next bytes as text, or an empty text if they cannot be read."""
        with suppress(Exception):
            return self.read(size).decode("utf-8", "replace")
        return ""

    def _add_piece(self, piece: bytes) -> None:
        self._buffer += piece
        self._n_unpacked += len(piece)
        if self._n_unpacked > max(
            HTTP_REPLY.expansion_from_bytes, HTTP_REPLY.max_expansion * self._n_received
        ):
            raise BadInput(
                f"{self._who} sends what unpacks to over {HTTP_REPLY.max_expansion} times its "
                f"size; it is not read beyond {size_text(self._n_unpacked)}."
            )
        self._limits.count_bytes(len(piece), self._who)

    def _next_item(self) -> Any:
        """Return the next item from the thread. Raises what the thread raised."""
        while True:
            self._limits.count_bytes(0, self._who)
            try:
                item = self._pieces.get(timeout=HTTP_REPLY.check_seconds)
            except Empty:
                self._check_speed()
                continue
            if isinstance(item, Exception):
                raise item
            self._check_speed()
            return item

    def _check_speed(self) -> None:
        now = time.monotonic()
        if self._began is None:
            if now - self._sent_at > HTTP_REPLY.header_seconds:
                raise BadInput(
                    f"{self._who} did not answer within {HTTP_REPLY.header_seconds:g} s."
                )
            return
        late = now - self._began - HTTP_REPLY.grace_seconds
        if late > 0 and self._n_unpacked < late * HTTP_REPLY.min_bytes_per_second:
            raise BadInput(f"{self._who} sends its answer too slowly; it was left.")

    def _fetch(self, send: Callable[[], Any]) -> None:
        """Put the response into the queue, then its pieces with the bytes received so far.

        This runs in the thread.
        """
        try:
            with send() as response:
                self._put(response)
                raw = response.raw
                piece = b"."
                while piece and not self._abandoned.is_set():
                    piece = raw.read1(HTTP_REPLY.piece_bytes, decode_content=True)
                    self._put((piece, raw.tell()))
        except Exception as error:  # the waiting thread reports the error
            self._put(error)

    def _put(self, item: Any) -> None:
        while not self._abandoned.is_set():
            with suppress(Full):
                return self._pieces.put(item, timeout=HTTP_REPLY.check_seconds)


def check_packing(response: Any, who: str) -> None:
    """Raise BadInput if a reply has an encoding that was not requested, or two."""
    packing = response.headers.get("Content-Encoding", "").strip().lower()
    if packing not in REPLY_PACKINGS:
        raise BadInput(f"{who} packs its answer as “{packing[:40]}”, which was not asked for.")
