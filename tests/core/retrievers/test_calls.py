"""Real calls to a retriever on loopback: the request, the reply, and every kind of failure."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from core.errors import RetrieverFailed, RunCancelled
from core.retrievers import calls
from core.retrievers.declarations import find_retriever, own_file
from core.watch import NO_WATCH, Watch

REQUEST = {"question": "genre of One", "entities": ["One"], "graph": "films", "seed": 0, "keep": 5}
BODIES = {
    "/good?x=1": (200, b'{"answers": ["Drama"]}'),
    "/500": (500, b"<b>it broke</b> here"),
    "/404": (404, b""),
    "/401": (401, b"no"),
    "/204": (204, b""),
    "/words": (200, b"no JSON at all"),
    "/nan": (200, b'{"paths": [{"score": NaN}]}'),
    "/latin": (200, b'{"answers": ["\xe9"]}'),
    "/deep": (200, b"[" * 100_000),
}


class RetrieverHandler(BaseHTTPRequestHandler):
    """A server whose answer depends on the requested path, and that records its requests."""

    told: list = []
    over, ended = threading.Event(), threading.Event()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.told.append((self.path, dict(self.headers), json.loads(body)))
        if self.path == "/redirect":
            self._send(302, b"", ("Location", "/good?x=1"))
        elif self.path == "/short":
            self._send(200, b"{}", ("Content-Length", "100"))
        elif self.path == "/slow":
            self.over.wait(30)
            self.ended.set()
        elif self.path == "/drip":
            self._send(200, b"")
            while not self.over.wait(0.05):
                self.wfile.write(b" ")
        elif self.path == "/large":
            self._send(200, b"[" + b"1," * calls.MAX_REPLY_BYTES + b"1]")
        else:
            self._send(*BODIES[self.path])

    def _send(self, status, body, *headers):
        self.send_response(status)
        for header in headers:
            self.send_header(*header)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *told):
        pass


@pytest.fixture(scope="module")
def server():
    made = ThreadingHTTPServer(("127.0.0.1", 0), RetrieverHandler)
    made.handle_error = lambda *told: None  # Clients that disconnect are part of the tests.
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    RetrieverHandler.over.set()
    made.shutdown()
    made.server_close()


@pytest.fixture
def at(server, tmp_path, monkeypatch):
    """A function `at.ask("/path", more)` that calls the retriever declared with that path.

    `at.told` lists the requests that the server received.
    """
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    RetrieverHandler.told.clear()

    def asked(path, more="", watch=NO_WATCH):
        own_file().write_text(
            f'[mine]\nurl = "http://127.0.0.1:{server.server_address[1]}{path}"\n{more}\n', "utf-8"
        )
        return calls.call_retriever(find_retriever("mine"), REQUEST, watch)

    return SimpleNamespace(
        ask=asked, told=RetrieverHandler.told, ended=RetrieverHandler.ended, home=tmp_path
    )


def test_request_and_reply_have_their_format(at, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "Bearer abc")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # No proxy is used.
    assert at.ask("/good?x=1", 'headers = { Authorization = "MY_TOKEN" }') == {"answers": ["Drama"]}
    ((path, headers, body),) = at.told
    assert path == "/good?x=1" and body == REQUEST
    assert (headers["Authorization"], headers["Content-Type"]) == ("Bearer abc", "application/json")


@pytest.mark.parametrize(
    "path, told",
    [
        ("/500", "The retriever “mine” answered with the error 500: <b>it broke</b> here."),
        ("/404", "answered with the error 404."),
        ("/401", "refused the request \\(401\\)"),
        ("/204", "answered with the error 204"),
        ("/redirect", "redirects to /good\\?x=1 \\(302\\), which was not followed"),
        ("/words", "replied with what is not JSON: Expecting value"),
        ("/nan", "replied with what is not JSON: NaN is no JSON number"),
        ("/latin", "replied with what is not JSON: 'utf-8' codec"),
        ("/deep", "replied with what is not JSON"),
        ("/short", "ended its reply too early"),
        ("/large", "replied with more than 1 MB"),
    ],
)
def test_every_failure_is_a_readable_error(at, monkeypatch, path, told):
    monkeypatch.setattr(calls, "MAX_REPLY_BYTES", 1 << 20)
    with pytest.raises(RetrieverFailed, match=told):
        at.ask(path)
    assert [one[0] for one in at.told] == [path]  # There is no retry, and no redirect is followed.


@pytest.mark.parametrize("path", ["/slow", "/drip"])
def test_slow_retriever_is_given_up(at, path):
    with pytest.raises(RetrieverFailed, match="did not answer within 0.3 seconds"):
        at.ask(path, "timeout = 0.3")
    assert not at.ended.is_set()


def test_call_can_be_cancelled(at):
    end = time.monotonic() + 0.2

    def check():
        if time.monotonic() > end:
            raise RunCancelled()

    with pytest.raises(RunCancelled):
        at.ask("/slow", watch=Watch(check))
    assert not at.ended.is_set()


def test_missing_server_and_key_are_reported(at, monkeypatch, tmp_path):
    own_file().write_text('[gone]\nurl = "http://127.0.0.1:9/"\n', "utf-8")
    with pytest.raises(
        RetrieverFailed, match="“gone” cannot be reached .*; is it running"
    ) as raised:
        calls.call_retriever(find_retriever("gone"), REQUEST)
    assert "127.0.0.1" not in str(raised.value)  # The address is private to the user.
    header = 'headers = { "X-Key" = "NOT_SET_ANYWHERE" }'
    with pytest.raises(
        RetrieverFailed,
        match="NOT_SET_ANYWHERE .*X-Key",
    ):
        at.ask("/good?x=1", header)
    monkeypatch.setenv("NOT_SET_ANYWHERE", "a\r\nHost: b")
    with pytest.raises(RetrieverFailed, match="holds what a header cannot"):
        at.ask("/good?x=1", header)
    assert not at.told


CALLED = """
def good(request):
    return {"answers": [request["entities"][0]]}
def fails(request):
    raise KeyError("no such thing")
def leaves(request):
    raise SystemExit(3)
def odd(request):
    return {"answers": {1, 2}}
def nan(request):
    return {"paths": [{"score": float("nan")}]}
def large(request):
    return "x" * (2 << 20)
def slow(request):
    import time
    time.sleep(2)
number = 3
"""


@pytest.mark.parametrize(
    "name, told",
    [
        ("fails", "“fails” failed: KeyError: 'no such thing'"),
        ("leaves", "“leaves” failed: SystemExit: 3"),
        ("odd", "returned what JSON cannot hold"),
        ("nan", "returned what JSON cannot hold"),
        ("large", "returned more than 1 MB"),
        ("slow", "did not answer within 0.2 seconds"),
        ("missing", "cannot be loaded: AttributeError"),
        ("number", "“number” failed: TypeError"),
    ],
)
def test_own_function_is_called(at, monkeypatch, name, told):
    monkeypatch.setattr(calls, "MAX_REPLY_BYTES", 1 << 20)
    (at.home / "mine.py").write_text(CALLED, "utf-8")
    own_file().write_text(
        f'[good]\npython = "mine:good"\n[{name}]\npython = "mine:{name}"\ntimeout = 0.2\n', "utf-8"
    )
    assert calls.call_retriever(find_retriever("good"), REQUEST) == {"answers": ["One"]}
    with pytest.raises(RetrieverFailed, match=told):
        calls.call_retriever(find_retriever(name), REQUEST)


def test_changed_module_is_reloaded(at):
    own_file().write_text(
        (
            '[mine]\npython = "mine:retrieve"\n[json]\npython = "json:dumps"\n[none]\n'
            'python = "no_such:f"\n'
        ),
        "utf-8",
    )
    file = at.home / "mine.py"
    for told in ("a", "bb"):
        file.write_text(f'def retrieve(request): return {{"answers": ["{told}"]}}')
        assert calls.call_retriever(find_retriever("mine"), REQUEST) == {"answers": [told]}
    assert calls.call_retriever(find_retriever("json"), REQUEST) == json.dumps(REQUEST)
    with pytest.raises(RetrieverFailed, match="cannot be loaded: ModuleNotFoundError"):
        calls.call_retriever(find_retriever("none"), REQUEST)
