"""A real SPARQL endpoint on this computer, over a store in memory."""

from __future__ import annotations

import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

from pyoxigraph import QueryBoolean, QueryResultsFormat, QuerySolutions, RdfFormat, Store

Reply = tuple[int, dict[str, str], bytes]


@dataclass
class Sparql:
    """A SPARQL endpoint: its store, its settings, and the queries that it received.

    It returns at most `most` rows for a query, as public endpoints do. `key` is the required name
    and password. A reply of `instead` replaces the result of the store.
    """

    store: Store = field(default_factory=Store)
    key: str = ""
    most: int = 1 << 30
    instead: Callable[[str, int], Reply | None] = lambda query, number: None
    queries: list[str] = field(default_factory=list)
    url: str = ""

    def load(self, turtle: str, format: RdfFormat = RdfFormat.TURTLE) -> None:
        self.store.load(turtle.encode(), format=format)

    def answer(self, query: str, authorization: str) -> Reply:
        self.queries.append(query)
        other = self.instead(query, len(self.queries))
        if other is not None:
            return other
        if self.key and authorization != "Basic " + b64encode(self.key.encode()).decode():
            return 401, {}, b"who are you?"
        try:
            found = self.store.query(query)
        except (SyntaxError, ValueError) as error:
            return 400, {"Content-Type": "text/plain"}, str(error).encode()
        if isinstance(found, QuerySolutions):
            import json

            whole = json.loads(found.serialize(format=QueryResultsFormat.JSON) or b"{}")
            whole["results"]["bindings"] = whole["results"]["bindings"][: self.most]
            return (
                200,
                {"Content-Type": "application/sparql-results+json"},
                json.dumps(whole).encode(),
            )
        assert not isinstance(found, QueryBoolean)
        return (
            200,
            {"Content-Type": "application/n-triples"},
            found.serialize(format=RdfFormat.N_TRIPLES) or b"",
        )


@contextmanager
def endpoint(**how) -> Iterator[Sparql]:
    """Run the endpoint at its `url`."""
    served = Sparql(**how)

    class EndpointHandler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            code, headers, data = served.answer(
                body.get("query", [""])[0], self.headers.get("Authorization", "")
            )
            self.send_response(code)
            cut = headers.pop("cut", "")
            for name, value in {"Content-Length": str(len(data)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if cut else data)
            if cut == "slow":
                time.sleep(3)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), EndpointHandler)
    server.daemon_threads = True
    # A shutdown waits until the next look.
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    served.url = f"http://127.0.0.1:{server.server_port}/sparql"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
