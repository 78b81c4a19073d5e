"""Local servers are reached without a proxy; errors of other servers name the proxy."""

from __future__ import annotations

import pytest

from core.errors import ModelFailed
from core.io.error_text import readable_text
from core.models.base import Task
from core.models.chat.openai import OpenAIChat
from core.models.hosts import bypasses_proxy, find_proxy
from core.models.served_models import ServedEncoder, ServedReranker
from tests.core.models.chat_server import serving, stream
from tests.core.models.test_lying_servers import rows_of, send, vectors

ASK = [{"role": "user", "content": "Who bakes?"}]
DEAD = "http://ann:secret@127.0.0.1:9"
NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


@pytest.fixture
def proxy(monkeypatch):
    for name in NAMES:
        monkeypatch.setenv(name, DEAD)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


def test_local_server_is_reached_without_a_proxy(proxy):
    def answer(handler, body):
        if "messages" in body:
            stream(handler, 'data: {"choices": [{"delta": {"content": "Bo."}}]}\n\ndata: [DONE]\n')
        elif "input" in body:
            send(handler, vectors(body))
        else:
            send(handler, f'{{"results": [{", ".join(rows_of())}]}}')

    with serving(answer) as (url, _):
        for address in (url, url.replace("127.0.0.1", "localhost")):
            assert OpenAIChat(address, "m", "m").reply(ASK).text == "Bo."
            assert ServedEncoder(address, "m", "m").encode(["a"]).shape == (1, 2)
            assert ServedReranker(address, "m", "m").score(Task("q"), ["a", "b"]).shape == (2,)


def test_error_names_the_proxy_without_its_password(proxy):
    url = "http://models.example:8000/v1"
    for ask in (
        lambda: OpenAIChat(url, "m", "m").reply(ASK),
        lambda: ServedEncoder(url, "m", "m").encode(["a"]),
    ):
        with pytest.raises(ModelFailed) as told:
            ask()
        assert "http://127.0.0.1:9" in str(told.value) and "secret" not in str(told.value)


def test_direct_connections_follow_the_environment(proxy, monkeypatch):
    here = (
        "http://127.0.0.1:1/v1",
        "http://127.8.8.8/v1",
        "http://[::1]:1/v1",
        "http://LOCALHOST/",
    )
    assert all(map(bypasses_proxy, (*here, "http://0.0.0.0:8000/v1", "http://ollama.localhost/v1")))
    assert not any(map(bypasses_proxy, ("http://10.0.0.1/v1", "http://localhost.example/v1", "")))
    assert find_proxy("https://models.example/v1") == "http://127.0.0.1:9"
    assert find_proxy("http://127.0.0.1:1/v1") == find_proxy("http://[") == ""
    monkeypatch.setenv("no_proxy", "models.example")
    assert find_proxy("http://models.example:8000/v1") == ""


def test_unusable_proxy_is_a_readable_error(proxy, monkeypatch):
    for name in NAMES:
        monkeypatch.setenv(name, "nonsense://127.0.0.1:9")
    with pytest.raises(ModelFailed, match="nonsense"):
        OpenAIChat("http://models.example/v1", "m", "m").reply(ASK)


PAGE = (
    "<!DOCTYPE html><html><head><title>502</title><style>p {color: red}</style></head>"
    "<body><h1>Bad Gateway</h1><script>alert(1)</script><p>No&nbsp;engine\x1b[31m \x07here."
    + " and so on" * 2_000
    + "</p></body></html>"
)


@pytest.mark.parametrize("status", [400, 404, 418, 500, 502])
@pytest.mark.parametrize("as_json", [True, False])
def test_server_error_is_plain_and_short(status, as_json):
    import json

    text = json.dumps({"error": {"message": PAGE}}) if as_json else PAGE
    with serving(lambda handler, body: send(handler, text, status)) as (url, _):
        for ask in (
            lambda: OpenAIChat(url, "m", "m").reply(ASK),
            lambda: ServedEncoder(url, "m", "m").encode(["a"]),
        ):
            with pytest.raises(ModelFailed) as told:
                ask()
            said = str(told.value)
            assert not set("<>\x1b\x07") & set(said) and "color: red" not in said
            assert len(said) < 480 and (as_json or status == 404 or str(status) in said)


@pytest.mark.parametrize(
    "status, text, said",
    [
        (
            502,
            "<html><head><title>502 Bad Gateway</title></head>"
            "<body><center><h1>502 Bad Gateway</h1>"
            "</center><hr><center>nginx</center></body></html>",
            "failed: 502 Bad Gateway: nginx.",
        ),
        (500, "", "failed: 500 Internal Server Error."),
        (400, '{"error": {"message": "Too long."}}', "failed: 400 Bad Request: Too long."),
        (599, "<title>Gone for lunch</title>", "failed: 599: Gone for lunch."),
    ],
)
def test_status_is_named_once(status, text, said):
    with serving(lambda handler, body: send(handler, text, status)) as (url, _):
        with pytest.raises(ModelFailed) as told:
            OpenAIChat(url, "m", "m").reply(ASK)
    assert str(told.value).endswith(f" {said}")


def test_markup_is_removed_from_error_text():
    assert readable_text("<title>Down</title>") == "Down"
    assert readable_text("<title>Down</title><p>until noon") == "until noon"
    assert readable_text("a \x1b]0;title\x07b\x9b31mc\u202e d\ud800") == "a bc d"
    assert readable_text("expected 1 < 2") == "expected 1 < 2"
    assert len(readable_text("x" * 500)) == 200
