"""The HTTP interface: access key, JSON replies, bounds and OpenAPI description."""

from __future__ import annotations

import threading
import time
from functools import wraps

import pytest

from core.engine import Engine
from core.models.base import NoModels
from core.serving import calls

pytest.importorskip("fastapi", reason="fastapi is not installed")
from fastapi.testclient import TestClient

from core.serving.http_api import MAX_BODY_BYTES, make_api
from core.serving.served_calls import SERVED_CALLS

NEAR = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"
ASKED = {
    "question": "who directed Inception",
    "methods": [NEAR],
    "answers": ["Christopher Nolan"],
    "items": 2,
}


@pytest.fixture(scope="module")
def client():
    engine = Engine(NoModels())
    with TestClient(
        make_api(engine, "the key"), headers={"Authorization": "Bearer the key"}
    ) as opened:
        opened.engine = engine
        yield opened


def test_only_health_needs_no_key(client):
    assert client.get("/health", headers={"Authorization": ""}).json()["status"] == "ok"
    for given in ("", "Bearer other", "Bearer thé key", "Basic dGhlIGtleQ=="):
        assert (
            client.post(
                "/ask", json=ASKED, headers={"Authorization": given.encode("latin-1")}
            ).status_code
            == 401
        )
        assert (
            client.get("/methods", headers={"Authorization": given.encode("latin-1")}).status_code
            == 401
        )


def test_api_answers_like_the_calls(client):
    asked = calls.compare(client.engine, **ASKED)
    for path in ("/compare", "/ask"):
        found = client.post(path, json=ASKED).json()
        assert (
            found["verdict"] == asked["verdict"]
            and found["lanes"][0]["paths"] == asked["lanes"][0]["paths"]
        )
    without = client.post("/compare", json={**ASKED, "without": ["Christopher Nolan"]}).json()
    assert without["without"]["lanes"][0]["lost"] == ["Christopher Nolan"]
    lost = client.post("/why_lost", json={name: ASKED[name] for name in ("question", "answers")})
    assert lost.json()["lanes"][0]["funnel"]["graph"] == ["Christopher Nolan"]
    assert client.post("/retrieve", json={"question": ASKED["question"], "method": NEAR}).json()[
        "items"
    ]
    assert client.post(
        "/evaluate", json={"questions": "metaqa-1hop-dev", "methods": [NEAR], "sample": 2}
    ).json()["rows"]
    assert [one["id"] for one in client.get("/methods", params={"words": "lego-12"}).json()][
        :1
    ] == ["lego-12"]


def test_invalid_request_is_a_readable_error(client):
    wrong = client.post("/ask", json={**ASKED, "methods": ["lego-1x"]})
    assert wrong.status_code == 400 and "lego-1x" in wrong.json()["error"]
    assert client.post("/ask", json={"question": ""}).status_code == 400
    assert client.post("/ask", json={**ASKED, "items": 10**6}).status_code == 400
    assert (
        client.post(
            "/ask",
            content=b"{" * (MAX_BODY_BYTES + 1),
            headers={"Content-Type": "application/json"},
        ).status_code
        == 413
    )


HALF = "\\ud83d"
LONG = "a" * 2_000
UNFIT = {
    "question": ("/ask", f'{{"question": "who {HALF}"}}'),
    "entities": ("/ask", f'{{"question": "who", "entities": ["{HALF}"]}}'),
    "graph": ("/ask", f'{{"question": "who", "graph": "{HALF}"}}'),
    "methods": ("/ask", f'{{"question": "who", "methods": ["{HALF}"]}}'),
    "method": ("/retrieve", f'{{"question": "who", "method": "{HALF}"}}'),
    "a long graph": ("/ask", f'{{"question": "who", "graph": "{LONG}"}}'),
    "a long corpus": ("/retrieve", f'{{"question": "who", "corpus": "{LONG}"}}'),
    "seed": ("/ask", '{"question": "who", "seed": NaN}'),
    "a seed below zero": ("/evaluate", '{"questions": "q", "methods": ["lego-1"], "seed": -1}'),
    "questions": ("/evaluate", f'{{"questions": "{HALF}", "methods": ["lego-1"]}}'),
    "methods as a text": ("/ask", '{"question": "who", "methods": "lego-1"}'),
    "an unknown field": ("/ask", '{"question": "who", "llm": true}'),
    "an unknown field of a set": ("/evaluate", '{"questions": "q", "methods": ["a"], "model": 1}'),
    "items": ("/retrieve", '{"question": "who", "items": 1000000000}'),
    "a list": ("/ask", "[]"),
    "no JSON": ("/ask", "{"),
    "nothing": ("/ask", ""),
    "a long line": (
        "/ask",
        f'{{"question": "who", "methods": ["PersonalizedPageRank() >> Beam{"9" * 1_900}"]}}',
    ),
}


@pytest.mark.parametrize("path, body", UNFIT.values(), ids=UNFIT)
def test_unfit_request_is_refused_with_a_short_sentence(client, path, body):
    reply = client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == 400 and set(reply.json()) == {"error"}
    assert 0 < len(reply.json()["error"]) <= 300


def test_every_other_refusal_has_the_same_form(client):
    replies = [
        client.post("/ask", content='{"question": "who"}'),  # The content type is missing.
        client.post("/ask", json={}, headers={"Authorization": "Bearer other"}),
        client.get("/nowhere"),
        client.delete("/ask"),
    ]
    assert [reply.status_code for reply in replies] == [400, 401, 404, 405]
    assert all(set(reply.json()) == {"error"} for reply in replies)


def test_unexpected_error_is_readable_too(monkeypatch):
    @wraps(calls.list_sources)
    def broken():
        raise RuntimeError("loops")

    monkeypatch.setattr(calls, "list_sources", broken)
    made = make_api(Engine(NoModels()), "the key")
    with TestClient(made, raise_server_exceptions=False) as opened:
        reply = opened.get("/sources", headers={"Authorization": "Bearer the key"})
    assert reply.status_code == 500 and set(reply.json()) == {"error"}


def test_documentation_page_loads_nothing_external(client):
    page = client.get("/docs").text
    assert "POST /retrieve" in page and "language_model" in page
    assert "http://" not in page and "https://" not in page and "<script" not in page


def test_api_has_an_openapi_description(client):
    paths = client.get("/openapi.json").json()["paths"]
    assert set(paths) == {
        "/health",
        *(f"/{call.name}" for call in SERVED_CALLS),
        *("/methods", "/sources", "/cases", "/cases/{case}", "/jobs/{job}"),
    }
    assert all(
        "security" in call and call["description"]
        for path, calls_ in paths.items()
        if path != "/health"
        for call in calls_.values()
    )


def test_every_field_of_every_call_is_described(client):
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    bodies = {name: schema for name, schema in schemas.items() if name.endswith("Request")}
    assert len(bodies) == len(SERVED_CALLS)
    for schema in bodies.values():
        assert all(field["description"] for field in schema["properties"].values())


def ended_state(client, job: str) -> dict:
    for _ in range(1_000):
        state = client.get(f"/jobs/{job}").json()
        if state["status"] not in ("waiting", "running"):
            return state
        time.sleep(0.05)
    raise AssertionError(state)


def test_long_call_is_a_job_that_is_polled(client):
    asked = {"questions": "metaqa-1hop-dev", "methods": [NEAR], "sample": 2}
    started = client.post("/evaluate", json={**asked, "wait": False})
    assert started.status_code == 202
    state = ended_state(client, started.json()["job"])
    assert (state["status"], state["error"]) == ("done", None)
    assert state["result"]["rows"] == client.post("/evaluate", json=asked).json()["rows"]


def test_job_is_cancelled_and_known_by_its_id_alone(client):
    asked = {"questions": "metaqa-1hop-dev", "methods": [NEAR], "sample": 1_000, "seed": 3}
    started = client.post("/evaluate", json={**asked, "wait": False}).json()
    assert client.delete(f"/jobs/{started['job']}").status_code == 200
    state = ended_state(client, started["job"])
    assert (state["status"], state["result"]) == ("cancelled", None)
    for other in ("evaluation-1", "nothing"):
        assert client.get(f"/jobs/{other}").status_code == 400
        assert "“job”" in client.delete(f"/jobs/{other}").json()["error"]


def test_failed_job_has_the_sentence_of_the_call(client):
    started = client.post("/advise", json={"corpus": "nowhere", "wait": False}).json()
    state = ended_state(client, started["job"])
    assert state["status"] == "failed" and "“nowhere”" in state["error"]


def test_jobs_are_limited(client, monkeypatch):
    released = threading.Event()
    monkeypatch.setattr(calls, "build_graph", waiting(released))
    made = make_api(client.engine, "the key")
    with TestClient(made, headers={"Authorization": "Bearer the key"}) as opened:
        asked = {"corpus": "hotpotqa", "wait": False}
        count = calls.SERVING.max_open_jobs
        started = [opened.post("/build_graph", json=asked) for _ in range(count)]
        refused = opened.post("/build_graph", json=asked)
        released.set()
        for reply in started:
            assert ended_state(opened, reply.json()["job"])["status"] == "done"
        assert opened.post("/build_graph", json=asked).status_code == 202
    assert [reply.status_code for reply in started] == [202] * count
    assert refused.status_code == 503 and "“wait”" in refused.json()["error"]


def waiting(released: threading.Event):
    """A function in the place of `build_graph` that waits for the event."""
    real = calls.build_graph

    @wraps(real)
    def wait(engine, **_):
        return {"done": released.wait(60)}

    return wait


def test_nan_becomes_null(client, monkeypatch):
    odd = {"score": float("nan"), "lanes": [{"score": float("inf")}]}
    monkeypatch.setattr(calls, "compare", lambda *_, **__: odd)
    found = client.post("/ask", json=ASKED)
    assert (found.status_code, found.json()) == (200, {"score": None, "lanes": [{"score": None}]})
    assert "NaN" not in found.text and "Infinity" not in found.text
