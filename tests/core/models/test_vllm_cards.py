"""`cards` of a vLLM row: over how many graphics cards the model is laid."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
from types import SimpleNamespace

import pytest

from core.models.chat import vllm as chat_vllm
from core.models.declared import row
from core.models.make import make


def test_cards_reach_vllm_as_its_tensor_parallel_size(monkeypatch):
    told = {}

    class LLM:
        def __init__(self, weights, **options):
            told.update(options, weights=weights)

    monkeypatch.setitem(sys.modules, "vllm", SimpleNamespace(LLM=LLM))
    monkeypatch.setattr(chat_vllm, "unavailable", lambda: None)
    chat = make(row("big", {"kind": "chat", "backend": "vllm", "weights": "some/70B", "cards": 4}, "models.toml"), None)
    chat._engine()
    assert told["tensor_parallel_size"] == 4 and told["weights"] == "some/70B"


def test_vllm_knows_every_option_that_is_given_to_it():
    if importlib.util.find_spec("vllm") is None:
        pytest.skip(chat_vllm.unavailable())
    from vllm.engine.arg_utils import EngineArgs

    known = {field.name for field in dataclasses.fields(EngineArgs)}
    assert {"max_model_len", "gpu_memory_utilization", "tensor_parallel_size", "enable_prefix_caching", "seed"} <= known
