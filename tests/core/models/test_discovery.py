"""Automatic discovery of servers: with a list of models, with a required key, or of other kinds."""

from __future__ import annotations

import http.server
import json
import socket
import threading
from contextlib import contextmanager

import pytest

from core.errors import BadParameter, ModelFailed
from core.models.api_keys import save_key
from core.models.discovery import FoundServer, find_servers, list_models


@contextmanager
def answering_server(status: int, answer, kind: str = "application/json"):
    """A server that gives the same answer to every GET.

    Yields its port and the keys that it received.
    """
    keys: list[str] = []

    class ModelListHandler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            keys.append(self.headers.get("Authorization", ""))
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), ModelListHandler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port, keys
    finally:
        server.shutdown()
        server.server_close()


def model_list(*names: str, owner: str = "me") -> dict:
    return {
        "object": "list",
        "data": [
            {"id": name, "object": "model", "created": 1, "owned_by": owner} for name in names
        ],
    }


@contextmanager
def listing(*names: str):
    """Yield the address of a server that lists these models."""
    with answering_server(200, model_list(*names)) as (port, _):
        yield f"http://127.0.0.1:{port}/v1"


def test_servers_on_default_ports_are_found_with_their_models():
    with (
        answering_server(200, model_list("qwen3:8b", "bge-m3", owner="library")) as (ollama, _),
        answering_server(401, {"error": {"message": "no key"}}) as (locked, _),
        answering_server(200, b"<html>A wiki</html>", "text/html") as (page, _),
        answering_server(404, {"detail": "Not Found"}) as (other, _),
        answering_server(200, {"data": "no list"}) as (odd, _),
        answering_server(200, model_list()) as (empty, _),
        socket.socket() as closed,
    ):
        closed.bind(("127.0.0.1", 0))
        ports = {
            ollama: "vLLM",
            locked: "vLLM",
            page: "x",
            other: "x",
            odd: "x",
            empty: "LM Studio",
            closed.getsockname()[1]: "x",
        }
        assert find_servers(ports) == (
            FoundServer(f"http://127.0.0.1:{ollama}/v1", "Ollama", ("qwen3:8b", "bge-m3")),
            FoundServer(f"http://127.0.0.1:{locked}/v1", "vLLM", needs_key=True),
            FoundServer(f"http://127.0.0.1:{empty}/v1", "LM Studio"),
        )


def test_typed_key_lists_the_models(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    with answering_server(200, model_list("a", "b")) as (port, keys):
        url = f"http://127.0.0.1:{port}/v1"
        assert list_models(url) == ("a", "b")
        save_key(url, "typed")
        save_key("http://127.0.0.1:1/v1", "another")
        assert list_models(url) == ("a", "b") and list_models(url, key="given") == ("a", "b")
        assert keys == ["Bearer none", "Bearer typed", "Bearer given"]
    with pytest.raises(ModelFailed, match="cannot be reached"):
        list_models(url)
    with (
        answering_server(200, b"<html>A wiki</html>", "text/html") as (port, _),
        pytest.raises(ModelFailed, match="no list of models"),
    ):
        list_models(f"http://127.0.0.1:{port}/v1")


def test_shared_app_contacts_only_allowed_hosts(monkeypatch):
    monkeypatch.setattr("core.models.hosts.shared", lambda: True)
    with pytest.raises(BadParameter, match="this computer alone"):
        list_models("http://inside.example/v1")
