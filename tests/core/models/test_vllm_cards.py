"""The vLLM client without vLLM: what it is given, and what is made of its whole replies."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
from types import SimpleNamespace

import pytest

from core.models.chat import vllm as chat_vllm
from core.models.declared import row


def test_cards_reach_vllm_as_its_tensor_parallel_size(monkeypatch):
    told = {}

    class LLM:
        def __init__(self, weights, **options):
            told.update(options, weights=weights)

    monkeypatch.setitem(sys.modules, "vllm", SimpleNamespace(LLM=LLM))
    monkeypatch.setattr(chat_vllm, "unavailable", lambda: None)
    big = row("big", {"kind": "chat", "backend": "vllm", "weights": "some/70B", "cards": 4}, "models.toml")
    chat = big.settings.make(big, {}, None)
    chat.load()
    assert told["tensor_parallel_size"] == 4 and told["weights"] == "some/70B"


def test_a_whole_reply_is_told_once_with_what_repeats_in_it_once(monkeypatch):
    output = SimpleNamespace(text="Drama, " * 20, token_ids=[0] * 40, finish_reason="length")
    engine = SimpleNamespace(chat=lambda messages, sampling, use_tqdm: [SimpleNamespace(outputs=[output], prompt_token_ids=[0] * 7)])
    monkeypatch.setitem(sys.modules, "vllm", SimpleNamespace(LLM=lambda *_, **__: engine, SamplingParams=lambda **options: options))
    monkeypatch.setitem(sys.modules, "vllm.sampling_params", SimpleNamespace(StructuredOutputsParams=None))
    monkeypatch.setattr(chat_vllm, "unavailable", lambda: None)
    chat, pieces = chat_vllm.VLLMChat("some/7B", "seven"), []
    reply = chat.reply([{"role": "user", "content": "genres"}], on_text=pieces.append)
    assert (reply.text, reply.finish, reply.tokens_in, reply.tokens_out, pieces) == ("Drama", "repeat", 7, 40, ["Drama"])
    assert chat.reply([{"role": "user", "content": "genres"}]).cached and chat.loaded
    chat.close()
    assert not chat.loaded


def test_vllm_knows_every_option_that_is_given_to_it():
    if importlib.util.find_spec("vllm") is None:
        pytest.skip(chat_vllm.unavailable())
    from vllm.engine.arg_utils import EngineArgs

    known = {field.name for field in dataclasses.fields(EngineArgs)}
    assert {"max_model_len", "gpu_memory_utilization", "tensor_parallel_size", "enable_prefix_caching", "seed"} <= known
