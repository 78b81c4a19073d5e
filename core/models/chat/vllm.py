"""A language model on a graphics card of this computer, run by vLLM inside this process."""

from __future__ import annotations

import importlib.util
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from core.errors import ModelFailed, ModelUnavailable, shorten
from core.models.base import Messages, Reply
from core.models.chat.repeats import ended, guarded
from core.models.chat.replies import Replies, estimate_tokens
from core.models.chat.turns import Turn, in_turn
from core.runtime.meter import spent

GET = "get vLLM with: pip install -r requirements-gpu.txt"


def unavailable() -> str | None:
    """Why vLLM cannot run here, as a sentence with what to do, or None where it can. HOPSCOPE_VLLM_CPU=1 allows processors."""
    if importlib.util.find_spec("vllm") is None:
        return f"vLLM is not installed; {GET}"
    if os.environ.get("HOPSCOPE_VLLM_CPU") == "1":
        return None
    import torch

    return None if torch.cuda.is_available() else f"No graphics card was found, which vLLM needs; on a computer that has one, {GET}"


class VLLMChat:
    """A Chat over `weights` (a local folder or a name on the model hub). Loads when first used; one request at a time.

    The whole reply comes in one piece: vLLM's in-process interface does not stream.
    """

    def __init__(self, weights: str, name: str, context: int = 8192, gpu_share: float = 0.85, cards: int = 1):
        self.weights, self.name, self.context, self.gpu_share, self.cards = weights, name, context, gpu_share, cards
        self._model: Any = None
        self._loading, self._running, self._replies = threading.Lock(), Turn(), Replies()

    @property
    def loaded(self) -> bool:
        return self._model is not None

    def forget(self) -> None:
        """Drop all remembered replies."""
        self._replies.forget()

    def close(self) -> None:
        """Let the model go; the next use loads anew."""
        with self._running, self._loading:
            self._model = None

    def reply(
        self,
        messages: Messages,
        *,
        schema: dict[str, Any] | None = None,
        max_tokens: int = 256,
        seed: int = 0,
        temperature: float = 0.0,
        on_text: Callable[[str], None] | None = None,
        check: Callable[[], None] | None = None,
    ) -> Reply:
        """The model's reply; see `core.models.base.Chat`."""
        key = Replies.key(messages, schema, max_tokens, seed, temperature)

        def asked() -> Reply:
            found = self._replies.find(key, on_text)
            if found is not None:
                return found
            self._engine()
            start = time.perf_counter()
            with spent("model"):
                output = self._generate(messages, schema, max_tokens, seed, temperature)
            if check:
                check()
            done = output.outputs[0]
            repeats, heard = guarded(None, schema)
            heard(done.text)
            sizes = len(output.prompt_token_ids), len(done.token_ids)
            reply = ended(repeats, done.text, *sizes, done.finish_reason, time.perf_counter() - start)
            if on_text and reply.text:
                on_text(reply.text)
            return self._replies.keep(key, reply)

        return in_turn(self._running, asked, check)

    def count_tokens(self, messages: Messages) -> int:
        """Tokens in the model's chat template once it is loaded, before that an estimate."""
        if self._model is None:
            return estimate_tokens(messages)
        return len(
            self._model.get_tokenizer().apply_chat_template([dict(m) for m in messages], add_generation_prompt=True, return_dict=False)
        )

    def _generate(self, messages: Messages, schema: dict[str, Any] | None, max_tokens: int, seed: int, temperature: float) -> Any:
        model = self._engine()
        from vllm import SamplingParams
        from vllm.sampling_params import StructuredOutputsParams

        shape = StructuredOutputsParams(json=schema, disable_additional_properties=True) if schema is not None else None
        sampling = SamplingParams(temperature=temperature, max_tokens=max_tokens, seed=seed, structured_outputs=shape)
        try:
            return model.chat([dict(m) for m in messages], sampling, use_tqdm=False)[0]
        except (RuntimeError, ValueError) as error:
            raise ModelFailed(f"{self.name} failed: {shorten(str(error), 200)}") from error

    def _engine(self) -> Any:
        """The engine, loaded when first asked for. Raises ModelUnavailable, ModelFailed."""
        with spent("preparation", f"Loading {self.name}"), self._loading:
            if self._model is None:
                why = unavailable()
                if why:
                    raise ModelUnavailable(f"{self.name} cannot run here. {why}")
                from vllm import LLM

                try:
                    self._model = LLM(
                        self.weights,
                        max_model_len=self.context,
                        gpu_memory_utilization=self.gpu_share,
                        tensor_parallel_size=self.cards,
                        enable_prefix_caching=False,
                        seed=0,
                    )
                except (OSError, RuntimeError, ValueError) as error:
                    raise ModelFailed(f"{self.name} could not be loaded from {self.weights}: {shorten(str(error), 200)}") from error
            return self._model
