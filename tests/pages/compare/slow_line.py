"""A line to the app on which what the server says comes late.

A person meanwhile acts on the page of before.
"""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class SlowLine:
    """A gate that passes the connections of a browser on to a server.

    The browser connects to `address`. Messages of the server on its web socket come `late` seconds
    later.
    """

    def __init__(self, server: str) -> None:
        host, port = server.removeprefix("http://").split(":")
        self.server, self.late = (host, int(port)), 0.0
        self._gate = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._gate.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._gate.close()

    def _accept(self) -> None:
        while True:
            try:
                browser, _ = self._gate.accept()
            except OSError:
                return
            threading.Thread(target=self._connect, args=(browser,), daemon=True).start()

    def _connect(self, browser: socket.socket) -> None:
        server, first = socket.create_connection(self.server), browser.recv(65_536)
        server.sendall(first)
        web_socket = b"upgrade: websocket" in first.lower()
        said: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()
        threading.Thread(target=self._say, args=(said, browser), daemon=True).start()
        threading.Thread(target=self._hear, args=(browser, server), daemon=True).start()
        data = b"-"
        while data:
            data = _received(server)
            said.put((time.monotonic() + (self.late if web_socket else 0.0), data))

    @staticmethod
    def _hear(browser: socket.socket, server: socket.socket) -> None:
        while data := _received(browser):
            server.sendall(data)
        server.close()

    @staticmethod
    def _say(said: queue.SimpleQueue[tuple[float, bytes]], browser: socket.socket) -> None:
        while True:
            due, data = said.get()
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                browser.sendall(data) if data else browser.close()
            except OSError:
                return
            if not data:
                return


def _received(source: socket.socket) -> bytes:
    try:
        return source.recv(65_536)
    except OSError:
        return b""


@contextmanager
def slow_line(server: str) -> Iterator[SlowLine]:
    """A line to the server at that address, quick until its `late` is set."""
    line = SlowLine(server)
    try:
        yield line
    finally:
        line.close()
