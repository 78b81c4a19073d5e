"""A language model as an encoder: the mean of the last hidden state.

The vector of a text does not depend on the other texts of a batch.
"""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import BadInput, BadParameter, RunCancelled, split_command
from core.models.registry import Registry
from core.watch import Watch
from tests.core.models.conftest import MODELS

TEXTS = ["Alien -> directed_by -> Ridley Scott", "Alien -> release_year -> 1979"]


@pytest.fixture(scope="module")
def llama():
    path = MODELS / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
    if not path.exists():
        pytest.skip(f"{path.name} is not in the models folder; make models fetches it")
    from core.models.encoders.llama import LlamaEncoder

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_THREADS", "1")
        encoder = LlamaEncoder(path, "llm-embeddings", context=64)
        encoder.encode([TEXTS[0]])
    yield encoder
    encoder.close()
    assert not encoder.loaded


def test_unit_vectors_do_not_depend_on_the_batch(llama):
    vectors = llama.encode([TEXTS[1], TEXTS[0], TEXTS[1]])
    assert vectors.shape == (3, 896) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert (vectors[0] == vectors[2]).all() and vectors[0] @ vectors[1] < 0.999
    llama.forget()
    assert (llama.encode([TEXTS[1]])[0] == vectors[0]).all()


def test_encoded_texts_are_cached(llama, monkeypatch):
    first = llama.encode(TEXTS)
    monkeypatch.setattr(llama, "_compute", lambda text: pytest.fail("computed again"))
    assert (llama.encode(TEXTS) == first).all()


def test_vector_is_the_token_mean(llama, monkeypatch):
    """The unit vector of the mean over tokens, which pooling "none" gives, is the text's vector."""
    import json
    import urllib.request

    import xllamacpp

    kinds, whole = xllamacpp.llama_pooling_type, llama.encode([TEXTS[1]])[0]
    monkeypatch.setenv("HOPSCOPE_THREADS", "1")
    monkeypatch.setattr(
        xllamacpp,
        "llama_pooling_type",
        type("Kinds", (), {"LLAMA_POOLING_TYPE_MEAN": kinds.LLAMA_POOLING_TYPE_NONE}),
    )
    from core.models.chat.llama import open_engine

    engine = open_engine(llama.path, "tokens", 64, 64, key="k", embedding=True)
    headers = {"Content-Type": "application/json", "Authorization": "Bearer k"}
    request = urllib.request.Request(
        engine.listening_address + "/embeddings",
        json.dumps({"content": TEXTS[1]}).encode(),
        headers,
    )
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
        request, timeout=60
    ) as answer:
        tokens = np.array(json.load(answer)[0]["embedding"])
    mean = tokens.mean(axis=0)
    assert len(tokens) > 5 and whole @ mean / np.linalg.norm(mean) == pytest.approx(1, abs=1e-5)


def test_long_text_and_cancel_are_reported(llama):
    with pytest.raises(BadInput, match="reads at most 64 tokens"):
        llama.encode(["many words " * 100])

    def cancel():
        raise RunCancelled()

    with pytest.raises(RunCancelled):
        llama.encode(["another"], Watch(cancel))


def test_encoder_needs_a_model_file(own_home, monkeypatch):
    registry = Registry()
    registry.add("lab", "chat", "openai", url="http://127.0.0.1:9/v1", model="m")
    registry.add("odd", "encoder", "llama-embeddings", chat="lab")
    assert "“lab” is not declared as a model in a GGUF file" in registry.info("odd").how_to_get
    monkeypatch.setenv("HOPSCOPE_MODELS", str(own_home / "nowhere"))
    assert "hopscope models --fetch qwen-0.5b" in registry.info("llm-embeddings").how_to_get
    with pytest.raises(BadParameter, match="unknown key"):
        registry.add("odd", "encoder", "llama-embeddings", file="x")


def test_untrained_model_explains_its_training(own_home, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_MODELS", str(own_home))
    registry = Registry()
    for name, command in (
        ("encoder-finetuned", "hopscope finetune encoder"),
        ("chat-finetuned", "hopscope finetune llm"),
    ):
        info = registry.info(name)
        assert not info.present and split_command(info.how_to_get) == (
            f"{name} is not on this computer yet.",
            command,
        )
    (own_home / "encoder-finetuned").mkdir()
    assert (
        registry.info("encoder-finetuned").present
        and registry.encoder("encoder-finetuned").folder == own_home / "encoder-finetuned"
    )
