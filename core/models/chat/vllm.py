"""A language model on a graphics card of this computer, run by vLLM inside this process."""

from __future__ import annotations

import importlib.util
import os
import re
from typing import Any

from core.errors import ModelFailed, ModelUnavailable, shorten
from core.models.base import Messages
from core.models.chat.client import ChatRequest, Check, LocalChat
from core.models.chat.replies import estimate_tokens
from core.models.chat.writing import Writing

WORDS = re.compile(r"\S+\s*|\s+")
GET = "get vLLM with: pip install -r requirements-gpu.txt"


def unavailable() -> str | None:
    """Why vLLM cannot run here, as a sentence with what to do, or None where it can. HOPSCOPE_VLLM_CPU=1 allows processors."""
    if importlib.util.find_spec("vllm") is None:
        return f"vLLM is not installed; {GET}"
    if os.environ.get("HOPSCOPE_VLLM_CPU") == "1":
        return None
    import torch

    return None if torch.cuda.is_available() else f"No graphics card was found, which vLLM needs; on a computer that has one, {GET}"


class VLLMChat(LocalChat):
    """A Chat over `weights` (a local folder or a name on the model hub), on `cards` graphics cards, of each at most `gpu_share`."""

    streams = False  # vLLM's in-process interface gives whole replies

    def __init__(self, weights: str, name: str, context: int = 8192, gpu_share: float = 0.85, cards: int = 1):
        super().__init__(name, context)
        self.weights, self.gpu_share, self.cards = weights, gpu_share, cards

    def count_tokens(self, messages: Messages) -> int:
        """Tokens in the model's chat template once it is loaded, before that an estimate."""
        if self._engine is None:
            return estimate_tokens(messages)
        tokenizer = self._engine.get_tokenizer()
        return len(tokenizer.apply_chat_template([dict(m) for m in messages], add_generation_prompt=True, return_dict=False))

    def _write(self, request: ChatRequest, writing: Writing, check: Check | None) -> None:
        from vllm import SamplingParams
        from vllm.sampling_params import StructuredOutputsParams

        schema = request.schema
        shape = StructuredOutputsParams(json=schema, disable_additional_properties=True) if schema is not None else None
        options = dict(temperature=request.temperature, max_tokens=request.room, seed=request.seed)
        try:
            sampling = SamplingParams(**options, structured_outputs=shape)
            output = self.load().chat(list(request.messages), sampling, use_tqdm=False)[0]
        except (RuntimeError, ValueError) as error:
            raise ModelFailed(f"{self.name} failed: {shorten(str(error), 200)}") from error
        if check:
            check()
        done = output.outputs[0]
        writing.finish, writing.tokens_in, writing.tokens_out = done.finish_reason, len(output.prompt_token_ids), len(done.token_ids)
        for word in WORDS.findall(done.text):
            if writing.add(word):
                break

    def _start(self) -> Any:
        why = unavailable()
        if why:
            raise ModelUnavailable(f"{self.name} cannot run here. {why}")
        from vllm import LLM

        try:
            return LLM(
                self.weights,
                max_model_len=self.context,
                gpu_memory_utilization=self.gpu_share,
                tensor_parallel_size=self.cards,
                enable_prefix_caching=False,
                seed=0,
            )
        except (OSError, RuntimeError, ValueError) as error:
            raise ModelFailed(f"{self.name} could not be loaded from {self.weights}: {shorten(str(error), 200)}") from error
