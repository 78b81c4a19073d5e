"""A server of language models runs in a process of its own.

It gives so many replies at a time, and each takes so long. A reply depends on the prompt alone.
"""

from __future__ import annotations

import argparse
import hashlib
import http.server
import json
import random
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass

from core.io.home import ROOT

FEW = 3  # items of a list, where it may have so many


@dataclass
class ModelServer:
    """The server: its address, and its process."""

    url: str
    process: subprocess.Popen

    def seen(self) -> dict[str, float]:
        """Counts and times of the requests to the server.

        It counts how many it answered and refused, how many different ones there were, and the most
        that it had at a time. It has the seconds of its clock at the first and the last.
        """
        with urllib.request.urlopen(self.url.removesuffix("/v1") + "/seen", timeout=30) as answer:
            return json.load(answer)


@contextmanager
def model_server(
    seconds: float, slots: int = 0, busy: str = "queue", port: int = 0
) -> Iterator[ModelServer]:
    """A server whose replies take `seconds` each, `slots` of them at a time (0: any number). What is more waits (`queue`) or is refused
    as too many (`refuse`, or `storm` for all but one of three)."""
    command = [
        sys.executable,
        "-m",
        "tests.model_server",
        "--seconds",
        str(seconds),
        "--slots",
        str(slots),
        "--busy",
        busy,
        "--port",
        str(port),
    ]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield ModelServer(process.stdout.readline().strip(), process)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def reply(body: dict) -> str:
    """The reply to a request, by what was asked alone.

    Under a schema it is what that allows, else words. It is of no use to any question.
    """
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    drawn = random.Random(hashlib.sha256(json.dumps(body["messages"]).encode()).digest())
    if schema is None:
        return f"Answer {drawn.getrandbits(32):08x}"
    return json.dumps(_filled(schema, drawn))


def _filled(schema: dict, drawn: random.Random):
    """A drawn value that a schema allows.

    A list has a few items, and a number is any between its ends.
    """
    kind = schema.get("type")
    if "enum" in schema:
        return drawn.choice(schema["enum"])
    if kind == "object":
        return {name: _filled(part, drawn) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        least = max(1, schema.get("minItems", 1))
        return [
            _filled(schema["items"], drawn)
            for _ in range(max(least, min(FEW, schema.get("maxItems", least))))
        ]
    if kind in ("integer", "number"):
        least = schema.get("minimum", 1)
        return drawn.randint(least, schema.get("maximum", least))
    return bool(drawn.getrandbits(1)) if kind == "boolean" else f"{drawn.getrandbits(32):08x}"


class ModelHandler(http.server.BaseHTTPRequestHandler):
    """Answers by what `main` was given."""

    protocol_version = "HTTP/1.1"
    seconds, slots, busy = 1.0, 0, "queue"
    places: threading.Semaphore | None = None
    lock, seen, asked = (
        threading.Lock(),
        {
            "answered": 0,
            "refused": 0,
            "different": 0,
            "most": 0,
            "now": 0,
            "first": 0.0,
            "last": 0.0,
        },
        set[str](),
    )

    def do_GET(self) -> None:
        self._send(200, "application/json", json.dumps(self.seen).encode())

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self._refuses():
            self._send(
                429,
                "application/json",
                json.dumps({"error": {"message": "Too many requests."}}).encode(),
            )
            return
        self._count(1)
        try:
            with self.places or nullcontext():
                time.sleep(self.seconds)
        finally:
            self._count(-1, json.dumps(body["messages"]))
        text, read = reply(body), len(json.dumps(body["messages"])) // 4
        pieces = [{"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}]
        pieces += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]
        pieces += [
            {
                "choices": [],
                "usage": {"prompt_tokens": read, "completion_tokens": 8, "total_tokens": read + 8},
            }
        ]
        common = {
            "id": "1",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": body["model"],
        }
        events = [f"data: {json.dumps({**common, **piece})}\n\n" for piece in pieces]
        self._send(200, "text/event-stream", ("".join(events) + "data: [DONE]\n\n").encode())

    def _refuses(self) -> bool:
        with self.lock:
            full = self.busy != "queue" and self.slots and self.seen["now"] >= self.slots
            full = full or (
                self.busy == "storm" and (self.seen["answered"] + self.seen["refused"]) % 3 != 0
            )
            self.seen["refused"] += bool(full)
            return bool(full)

    def _count(self, by: int, asked: str = "") -> None:
        with self.lock:
            self.seen["now"] += by
            self.seen["first"] = self.seen["first"] or time.monotonic()
            self.seen["most"] = max(self.seen["most"], self.seen["now"])
            if asked:
                self.seen["answered"] += 1
                self.seen["last"] = time.monotonic()
                self.asked.add(asked)
                self.seen["different"] = len(self.asked)

    def _send(self, status: int, kind: str, data: bytes) -> None:
        with suppress(OSError):  # who asked may be gone
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, *_) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True


def main() -> None:
    """Serve until killed; the address is printed first."""
    parser = argparse.ArgumentParser(prog="python -m tests.model_server")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--slots", type=int, default=0)
    parser.add_argument("--busy", default="queue", choices=("queue", "refuse", "storm"))
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    ModelHandler.seconds, ModelHandler.slots, ModelHandler.busy = (
        options.seconds,
        options.slots,
        options.busy,
    )
    if options.slots and options.busy == "queue":
        ModelHandler.places = threading.Semaphore(options.slots)
    with Server(("127.0.0.1", options.port), ModelHandler) as server:
        print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
