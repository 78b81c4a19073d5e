"""A real HTTP server on loopback that answers as a test defines."""

from __future__ import annotations

import http.server
import json
import threading
from contextlib import contextmanager


@contextmanager
def serving(answer):
    """A small server that answers every POST with `answer(handler, body)`.

    Yields its address and the list of the bodies that it received.
    """
    bodies: list[dict] = []

    class AnswerHandler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            answer(self, bodies[-1])

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), AnswerHandler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", bodies
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def stream(handler, text: str | bytes, length: int | None = None) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    if length is not None:
        handler.send_header("Content-Length", str(length))
    handler.end_headers()
    handler.wfile.write(text.encode() if isinstance(text, str) else text)
