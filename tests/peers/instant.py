"""A language model that replies at once from known facts, in the format of each program.

A program's prompt is recognised by its delimiters, and a passage by its first line, which is
unique. It runs in the process of the program, or behind the OpenAI protocol on this computer:
`python tests/peers/instant.py given.json` prints the address and serves until its standard input
ends. The module imports nothing of Hopscope, so that it runs in the programs' environment.
"""

from __future__ import annotations

import http.server
import json
import socket
import sys
import threading
from pathlib import Path
from typing import Any

# Delimiters of the prompts of nano-graphrag and LightRAG.
NANO, LIGHT, END = ("<|>", "<|#|>", "<|COMPLETE|>")
SUMMARY = "What is said of it in short. " * 5
REPORT = {
    "title": "A group",
    "summary": "What they have in common.",
    "rating": 5.0,
    "rating_explanation": "It is one of many.",
    "findings": [
        {"summary": f"Point {number}", "explanation": "What is said of it."} for number in range(4)
    ],
}


class Instant:
    """Replies from the facts of each passage, by its first line.

    Entities have name, type and description; relations have two ends, keywords and description.
    """

    def __init__(self, facts: dict[str, Any]):
        self.facts = facts
        self.calls = 0

    def __call__(self, messages: list[dict[str, str]], schema: dict[str, Any] | None = None) -> str:
        """Return the reply to a prompt."""
        self.calls += 1
        asked = "\n".join(message["content"] for message in messages)
        if schema is not None:
            return json.dumps(self._by_schema(asked, schema["properties"]))
        if "high_level_keywords" in asked:
            return json.dumps(
                dict(
                    zip(
                        ("high_level_keywords", "low_level_keywords"),
                        keywords(asked.split("User Query: ")[-1]),
                    )
                )
            )
        if "IMPACT SEVERITY RATING" in asked:
            return json.dumps(REPORT)
        found = self._found(asked)
        if found is None:
            return SUMMARY
        entities, relations = found
        if LIGHT in asked:
            rows = [("entity", *one) for one in entities] + [
                ("relation", *one) for one in relations
            ]
            return "\n".join([*(LIGHT.join(row) for row in rows), END])
        rows = [('"entity"', *one) for one in entities]
        rows += [
            ('"relationship"', head, tail, description, "1")
            for head, tail, _, description in relations
        ]
        return "##".join(f"({NANO.join(row)})" for row in rows) + END

    def _by_schema(self, asked: str, fields: dict[str, Any]) -> dict[str, Any]:
        """A reply in the format of Hopscope's schema."""
        if "high" in fields:
            return dict(zip(("high", "low"), keywords(asked.split("Question: ")[-1])))
        if "rating" in fields:
            return {
                **{name: REPORT[name] for name in ("title", "summary", "rating")},
                "findings": [SUMMARY.strip()[:100]] * 4,
            }
        entities, relations = self._found(asked) or ((), ())
        named = lambda names, rows: [dict(zip(names, row)) for row in rows]
        ends = ("source", "target", "keywords", "description")
        return {
            "entities": named(("name", "type", "description"), entities),
            "relations": named(ends, relations),
        }

    def _found(self, asked: str) -> Any:
        """Known facts of the passage in a prompt."""
        return next(
            (
                self.facts[key]
                for line in reversed(asked.splitlines())
                if (key := line.removeprefix("Text: ")) in self.facts
            ),
            None,
        )


def keywords(text: str) -> tuple[list[str], list[str]]:
    """High and low keywords of a question: its words in lower case, and its capitalised ones."""
    words = [word.strip("?.,\"'()") for word in text.splitlines()[0].split()[1:]]
    return [word for word in words if word.islower() and len(word) > 3], [
        word for word in words if word[:1].isupper()
    ]


class CompletionHandler(http.server.BaseHTTPRequestHandler):
    """Handler of the OpenAI protocol, streaming if requested."""

    protocol_version = "HTTP/1.1"
    replies: Instant

    def do_POST(self) -> None:
        """Answer a completion request."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = self.replies(
            body["messages"], body.get("response_format", {}).get("json_schema", {}).get("schema")
        )
        read, written = len(json.dumps(body["messages"])) // 4, len(text) // 4
        usage = {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        }
        common = {"id": "1", "created": 0, "model": body["model"]}
        if not body.get("stream"):
            choice = {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
            }
            self._send(
                "application/json",
                json.dumps(
                    {**common, "object": "chat.completion", "choices": [choice], "usage": usage}
                ),
            )
            return
        pieces: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
        ]
        pieces += [
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {"choices": [], "usage": usage},
        ]
        events = [
            f"data: {json.dumps({**common, 'object': 'chat.completion.chunk', **piece})}\n\n"
            for piece in pieces
        ]
        self._send("text/event-stream", "".join(events) + "data: [DONE]\n\n")

    def _send(self, kind: str, text: str) -> None:
        data = text.encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n\r\n"
        self.wfile.write(head.encode() + data)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


class CompletionServer(http.server.ThreadingHTTPServer):
    """A server on a free local port that sends without delay."""

    daemon_threads = True
    request_queue_size = 512

    def get_request(self) -> Any:
        """Accept a connection with TCP_NODELAY."""
        connection, address = super().get_request()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection, address


def main(given: str) -> None:
    """Serve until standard input ends."""
    CompletionHandler.replies = Instant(json.loads(Path(given).read_text("utf-8"))["facts"])
    server = CompletionServer(("127.0.0.1", 0), CompletionHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
