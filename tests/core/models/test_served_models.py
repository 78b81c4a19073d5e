"""Served encoders and rerankers: llama.cpp's own server, and a simulated one for other cases."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from core.errors import ModelFailed, ModelUnavailable, RunCancelled
from core.io.home import ROOT
from core.models.base import Task, question_vectors
from core.models.chat import pauses
from core.models.registry import Registry
from core.models.served_models import ServedEncoder, ServedReranker
from core.watch import Watch
from tests.core.models.chat_server import serving


def as_json(handler, answer, status=200):
    text = json.dumps(answer).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(text)))
    handler.end_headers()
    handler.wfile.write(text)


def vector(text: str) -> list[float]:
    """A text's vector: its length, its number of letters a, and 1."""
    return [float(len(text)), float(text.count("a")), 1.0]


def embedding(handler, body):
    """Send the vectors of the texts in reverse, since servers promise no order."""
    rows = [
        {"object": "embedding", "index": place, "embedding": vector(text)}
        for place, text in enumerate(body["input"])
    ]
    as_json(handler, {"object": "list", "data": rows[::-1], "model": body["model"]})


def unit(texts: list[str]) -> np.ndarray:
    rows = np.array([vector(text) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_vectors_are_normalised_ordered_and_cached():
    texts = ["banana", "kiwi", "a", "banana", "cherry"]
    with serving(embedding) as (url, bodies):
        encoder = ServedEncoder(url, "m", "served", question="query: ", text="passage: ", batch=2)
        assert encoder.encode(texts) == pytest.approx(
            unit([f"passage: {text}" for text in texts]), abs=1e-6
        )
        assert (
            sorted(len(body["input"]) for body in bodies) == [2, 2]
            and bodies[0]["encoding_format"] == "float"
        )
        assert (encoder.encode(texts[::-1]) == encoder.encode(texts)[::-1]).all() and len(
            bodies
        ) == 2
        assert question_vectors(encoder, ["kiwi"]) == pytest.approx(unit(["query: kiwi"]), abs=1e-6)
        assert encoder.dimension == 3 and encoder.encode([]).shape == (0, 3)


def test_requests_run_in_parallel():
    # A request is answered only while three others wait with it.
    together = threading.Barrier(4, timeout=30)

    def answer(handler, body):
        together.wait()
        embedding(handler, body)

    texts = [f"text {number}" for number in range(8)]
    with serving(answer) as (url, _):
        assert ServedEncoder(url, "m", "served", batch=1, max_concurrent=4).encode(
            texts
        ) == pytest.approx(unit(texts), abs=1e-6)


def test_vectors_of_different_lengths_are_refused():
    def answer(handler, body):
        size = 3 if len(bodies) == 1 else 2
        as_json(
            handler,
            {
                "data": [
                    {"index": place, "embedding": [1.0] * size}
                    for place, _ in enumerate(body["input"])
                ]
            },
        )

    with serving(answer) as (url, bodies):
        encoder = ServedEncoder(url, "m", "served")
        encoder.encode(["a"])
        with pytest.raises(
            ModelFailed,
            match="2 numbers where served has 3",
        ):
            encoder.encode(["b"])
    with (
        serving(embedding) as (url, _),
        pytest.raises(ModelFailed, match="vectors of 3 numbers where served has 384"),
    ):
        ServedEncoder(url, "m", "served", dimension=384).encode(["a"])


@pytest.mark.parametrize(
    "answer",
    [
        {"data": []},
        {"data": [{"index": 0}]},
        {"error": "none"},
        {"data": [{"index": 0, "embedding": [None]}]},
    ],
)
def test_invalid_vectors_are_reported(answer):
    with (
        serving(lambda handler, body: as_json(handler, answer)) as (url, _),
        pytest.raises(ModelFailed, match="sent "),
    ):
        ServedEncoder(url, "m", "served").encode(["a"])


def test_busy_server_is_retried_until_cancelled(monkeypatch):
    monkeypatch.setattr(
        pauses, "PAUSE_DEFAULTS", replace(pauses.PAUSE_DEFAULTS, first_seconds=0.01)
    )

    def answer(handler, body):
        as_json(handler, {"error": {"message": "busy"}}, 429) if len(bodies) < 3 else embedding(
            handler, body
        )

    with serving(answer) as (url, bodies):
        assert ServedEncoder(url, "m", "served").encode(["a"]).shape == (1, 3) and len(bodies) == 3

    def cancel():
        if bodies:
            raise RunCancelled

    with (
        serving(lambda handler, body: time.sleep(0.3)) as (url, bodies),
        pytest.raises(RunCancelled),
    ):
        ServedEncoder(url, "m", "served").encode(["a"], Watch(cancel))


def ranking(handler, body):
    """Relevance in Cohere's format, best first: the fraction of the question's words in a text."""
    words = set(body["query"].split())
    rows = [
        {"index": n, "relevance_score": len(words & set(text.split())) / len(words)}
        for n, text in enumerate(body["documents"])
    ]
    as_json(handler, {"results": sorted(rows, key=lambda row: -row["relevance_score"])})


TEXTS = ["alien was directed by scott", "paris", "who directed alien", "paris"]


def test_relevance_in_coheres_format():
    with serving(ranking) as (url, bodies):
        model = ServedReranker(url, "m", "served", batch=2)
        assert model.score(Task("who directed alien"), TEXTS) == pytest.approx(
            [2 / 3, 0.0, 1.0, 0.0]
        )
        assert len(bodies) == 2 and model.choose(
            Task("who directed alien"), TEXTS, 2
        ).positions == (2, 0)
        assert model.choose(Task("who"), [], 2).positions == ()


def test_relevance_in_text_embeddings_inference_format():
    def answer(handler, body):
        if "texts" not in body:
            return as_json(
                handler,
                {
                    "error": "Failed to deserialize the JSON body: missing field `texts`",
                    "error_type": "validation",
                },
                422,
            )
        return as_json(
            handler,
            [{"index": n, "score": float(len(text))} for n, text in enumerate(body["texts"])],
        )

    with serving(answer) as (url, bodies):
        model = ServedReranker(url.removesuffix("/v1"), "m", "served")
        assert model.score(Task("q"), ["abc", "a"]).tolist() == [3.0, 1.0] and len(bodies) == 2
        assert (
            model.score(Task("q"), ["ab"]).tolist() == [2.0]
            and len(bodies) == 3
            and bodies[2]["raw_scores"]
        )


def test_missing_relevance_is_reported():
    with serving(
        lambda handler, body: as_json(handler, {"results": [{"index": 0, "relevance_score": 1.0}]})
    ) as (url, _):
        with pytest.raises(ModelFailed, match="sent no relevance for some texts"):
            ServedReranker(url, "m", "served").score(Task("q"), ["a", "b"])


def test_served_models_are_declared_in_models_toml(own_home, monkeypatch):
    registry = Registry()
    with serving(
        lambda handler, body: (
            embedding(handler, body) if "input" in body else ranking(handler, body)
        )
    ) as (url, _):
        registry.add(
            "far", "encoder", "openai-embeddings", url=url, model="m", question_prompt="q: "
        )
        registry.add("ranker", "reranker", "rerank", url=url, model="m")
        registry.set_role("encoder", "far")
        registry.set_role("reranker", "ranker")
        assert (
            registry.encoder().encode(["a"]).shape == (1, 3) and registry.info("far").device == url
        )
        assert registry.scorer("reranker").score(Task("a b"), ["a"]).tolist() == [0.5]
    registry.add(
        "keyed",
        "encoder",
        "openai-embeddings",
        url=url,
        model="m",
        key_variable="HOPSCOPE_KEY_NONE",
    )
    monkeypatch.delenv("HOPSCOPE_KEY_NONE", raising=False)
    with pytest.raises(ModelUnavailable, match="HOPSCOPE_KEY_NONE"):
        registry.encoder("keyed")


def test_llama_cpp_server_gives_vectors(qwen):
    """The embedded engine's server returns equal vectors for equal texts."""
    from core.models.chat.llama import open_engine

    engine = open_engine(qwen.path, "embedding", 512, 128, key="the-key", embedding=True)
    encoder = ServedEncoder(f"{engine.listening_address}/v1", "any", "llama")
    encoder._key = "the-key"
    vectors = encoder.encode(
        ["who directed Alien?", "Ridley Scott directed Alien.", "Bananas are yellow."]
    )
    assert vectors.shape == (3, 896) and np.linalg.norm(vectors, axis=1) == pytest.approx(
        np.ones(3), abs=1e-5
    )
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]


def test_fingerprint_ignores_rounding_but_not_the_model():
    from core.indexes.chains import fingerprint

    def numbers(noise, first):
        rows = lambda body: [
            {"index": n, "embedding": [first, 0.494999 + noise, 0.5]}
            for n, _ in enumerate(body["input"])
        ]
        return lambda handler, body: as_json(handler, {"data": rows(body)})

    found = []
    for answer in (numbers(0.0, 0.9), numbers(2e-5, 0.9), numbers(0.0, 0.1)):
        with serving(answer) as (url, _):
            found += [fingerprint(ServedEncoder(url, model, "served")) for model in ("m", "other")]
    assert found[0] == found[2] != found[4] and found[0] != found[1] == found[3]


LEAVING = """
import sys
from core.models.served_models import ServedEncoder
from core.watch import Watch
def cancel(asked=[]):
    asked.append(1)
    if len(asked) > 3:
        raise SystemExit(7)
ServedEncoder(sys.argv[1], "m", "served").encode(["a"], Watch(cancel))
"""


def test_process_end_does_not_wait_for_a_server():
    answered = threading.Event()
    with serving(lambda handler, body: answered.wait(30)) as (url, _):
        ended = subprocess.run([sys.executable, "-c", LEAVING, url], cwd=ROOT, timeout=25)
        assert ended.returncode == 7 and not answered.is_set()
        answered.set()
