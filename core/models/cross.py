"""Cross-encoders, which read a question and a candidate together and return a score.

`PairScorer` batches the pairs and caches hidden states; its subclasses load the network from a
library. The operators of FastInsight also use the hidden states and the head.
"""

from __future__ import annotations

import importlib.util
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cachetools import LRUCache

from core.errors import ModelFailed, ModelUnavailable, library_message, shorten
from core.models.base import Task
from core.models.batches import BatchSplitter, pad_batch
from core.models.chat.cancellable_work import run_in_slot
from core.models.device import computes_in_bfloat16, device
from core.models.heads import Head, torch_head
from core.models.reading_order import CandidateScores, format_count
from core.models.scorers import BaseScorer
from core.models.weight_differences import apply_difference, read_difference
from core.runtime.meter import ProgressEstimate, count_time, first_requests, record_saved_time
from core.runtime.slots import Slots

MAX_CACHED_PAIRS = 10_000  # pairs of a question and a text whose hidden states are cached


class PairScorer(BaseScorer):
    """Base class of cross-encoders, which are loaded at the first use.

    Scores are the raw outputs of the last layer, not probabilities. Each distinct candidate is read
    once, the longest first.

    Parameters
    ----------
    weights : a local folder, or a name on the model hub.
    name : name of the model in models.toml.
    batch : pairs per batch on a processor. On a graphics card its memory decides
        (core.models.batches).
    max_tokens : token limit of a pair; the rest is cut.
    """

    package = ""  # name under which the library is imported
    install = ""  # name of the library for pip

    def __init__(self, weights: str, name: str, batch: int = 64, max_tokens: int = 512):
        self.weights = weights
        self.name = name
        self.batch = batch
        self.max_tokens = max_tokens
        self._model: Any = None
        self._batches: BatchSplitter
        self._lock = Slots()
        self._cache_lock = threading.Lock()
        # Hidden state and seconds by question and text.
        self._cache = LRUCache[tuple[str, str], tuple[np.ndarray, float]](MAX_CACHED_PAIRS)

    @property
    def loaded(self) -> bool:
        return self._model is not None

    def close(self) -> None:
        """Free the model; the next use loads it again."""
        with self._lock:
            self._model = None

    def score(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        if not len(texts):
            return np.zeros(0)
        reading = CandidateScores(task, texts)

        def read(part: list[str]) -> None:
            for batch_texts, scores in self._read_batches(task, part, self._compute_scores):
                reading.record(batch_texts, scores)

        return reading.read_in_order(
            lambda part: run_in_slot(self._lock, lambda: read(part), task.watch), one_part=True
        )

    def hidden(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        """Return the vector of the first token of each pair, before the head.

        Parameters
        ----------
        task : the question and limits on reading.
        texts : the candidates, n.

        Returns
        -------
        float32 [n, d].

        Raises
        ------
        BadParameter : the model's head has an unknown architecture.
        ModelUnavailable : the library or the weights are missing.
        ModelFailed : the memory does not suffice for a single pair, or loading failed.

        Notes
        -----
        This is the matrix H of FastInsight.
        """
        unique = list(dict.fromkeys(texts))
        rows = self._find_cached_states(task.query, unique)
        missing = [text for text in unique if text not in rows]
        advance = ProgressEstimate(f"Reading {format_count(len(texts), task.unit)}", len(missing))

        def read() -> None:
            n_read = 0
            batch_start = time.perf_counter()
            for batch_texts, states in self._read_batches(task, missing, self._compute_states):
                batch_seconds = time.perf_counter() - batch_start
                self._cache_states(task.query, batch_texts, states, batch_seconds)
                rows.update(zip(batch_texts, states, strict=True))
                n_read += len(batch_texts)
                batch_start = time.perf_counter()
                advance(n_read, batch_texts[0])

        if missing:
            run_in_slot(self._lock, read, task.watch)
        if not len(texts):
            return np.zeros((0, 0), np.float32)
        return np.stack([rows[text] for text in texts])

    def forget(self) -> None:
        """Drop the cached hidden states."""
        with self._cache_lock:
            self._cache.clear()

    def _find_cached_states(self, query: str, texts: list[str]) -> dict[str, np.ndarray]:
        """Return the cached hidden states of the question with these texts, by text.

        They are cached since methods that run in comparison rank many of the same texts. The time
        saved by them is recorded.
        """
        with self._cache_lock:
            entries = {
                text: self._cache[query, text] for text in texts if (query, text) in self._cache
            }
        new_requests = set(first_requests([(self.name, query, text) for text in texts]))
        saved_seconds = 0.0
        for text, (_, seconds) in entries.items():
            if (self.name, query, text) in new_requests:
                saved_seconds += seconds
        record_saved_time(saved_seconds)
        return {text: state for text, (state, _) in entries.items()}

    def _cache_states(
        self, query: str, texts: list[str], states: np.ndarray, seconds: float
    ) -> None:
        """Cache the states of a batch, each with its share of the batch's seconds."""
        with self._cache_lock:
            for text, state in zip(texts, states):
                self._cache[query, text] = state, seconds / len(texts)

    @property
    def head(self) -> Head:
        """The layers that turn hidden states into scores. Raises the errors of `hidden`."""
        net, _ = self._unpack(self._engine())
        _, head = torch_head(net, self.name)
        return head

    def _read_batches(
        self, task: Task, texts: list[str], compute: Callable[[Any, Any], np.ndarray]
    ) -> Iterator[tuple[list[str], np.ndarray]]:
        """Yield batches of texts, longest first, with the row of `compute(net, batch)` for each."""
        net, tokenizer = self._unpack(self._engine())
        codes = self._tokenize(tokenizer, task.query, texts)

        def read(rows: list[int]) -> np.ndarray:
            task.watch.check()
            return compute(net, pad_batch(tokenizer, codes, rows, net.device))

        for rows, results in self._batches.run([len(ids) for ids in codes["input_ids"]], read):
            yield [texts[row] for row in rows], results

    def _tokenize(self, tokenizer: Any, query: str, texts: list[str]) -> dict[str, list[list[int]]]:
        """Return the token ids of the question with each text, by tensor name."""
        return dict(
            tokenizer(
                [query] * len(texts),
                texts,
                truncation=True,
                max_length=self.max_tokens,
                return_attention_mask=False,
            )
        )

    def _compute_scores(self, net: Any, batch: Any) -> np.ndarray:
        """Return the score of each pair, the last output of the network, float64 [n]."""
        import torch

        with torch.inference_mode():
            return net(**batch).logits[:, -1].double().cpu().numpy()

    def _compute_states(self, net: Any, batch: Any) -> np.ndarray:
        """Return the input of the network's head for each pair, float32 [n, d].

        A hook records it, as the libraries return only the scores.
        """
        import torch

        head_module, _ = torch_head(net, self.name)
        head_inputs: list[Any] = []
        hook = head_module.register_forward_pre_hook(
            lambda module, arguments: head_inputs.append(arguments[0].detach())
        )
        try:
            with torch.inference_mode():
                net(**batch)
        finally:
            hook.remove()
        states = head_inputs[0]
        if states.dim() == 3:  # [n, tokens, d], of which the head uses the first token
            states = states[:, 0]
        return states.float().cpu().numpy()

    @abstractmethod
    def _unpack(self, model: Any) -> tuple[Any, Any]:
        """Return the network and the tokenizer of a loaded model."""

    def _engine(self) -> Any:
        """Return the model, loading it if necessary.

        Raises ModelUnavailable if the library or the weights are missing.
        """
        if self._model is not None:
            return self._model
        with count_time("preparation", f"Loading {self.name}"):
            if importlib.util.find_spec(self.package) is None:
                raise ModelUnavailable(library_message(self.name, self.install))
            try:
                model = self._load()
            except (OSError, ValueError) as error:
                source = "this computer or the model hub"
                if Path(self.weights).exists():
                    source = "this folder"
                raise ModelUnavailable(
                    f"{self.name}: {self.weights} cannot be loaded from {source}. "
                    f"Put its weights in a folder and "
                    f"name that folder in models.toml. ({shorten(str(error), 120)})"
                ) from error
            except RuntimeError as error:
                raise ModelFailed(
                    f"{self.name} could not be loaded: {shorten(str(error), 200)}"
                ) from error
            net, _ = self._unpack(model)
            net.eval()
            self._batches = BatchSplitter(str(net.device), self.batch)
            self._model = model
        return self._model

    @abstractmethod
    def _load(self) -> Any:
        """Load and return the model of the library; see `_unpack`."""


class FlagReranker(PairScorer):
    """A bge-reranker model through FlagEmbedding, in half precision on a graphics card.

    FlagEmbedding provides the tokenizer, the network and the rule by which pairs are cut. Its own
    loop over batches is not used: it reads the first batch of each call twice to find the batch
    size, and processes every pair in Python.
    """

    package = install = "FlagEmbedding"

    def _load(self) -> Any:
        from FlagEmbedding import FlagReranker as Reranker

        device_name = device()
        model = Reranker(
            self.weights,
            use_fp16=device_name != "cpu",
            devices=device_name,
            batch_size=self.batch,
            max_length=self.max_tokens,
        )
        if device_name != "cpu":
            model.model.half()
        model.model.to(device_name)
        return model

    def _tokenize(self, tokenizer: Any, query: str, texts: list[str]) -> dict[str, list[list[int]]]:
        """Tokenize pairs as FlagEmbedding does.

        The question is cut at three quarters of the limit, then only the text is cut.
        """
        question_ids = tokenizer(query, add_special_tokens=False)["input_ids"]
        max_question_tokens = self.max_tokens * 3 // 4
        if len(question_ids) > max_question_tokens:
            query = tokenizer.decode(question_ids[:max_question_tokens], skip_special_tokens=False)
        return dict(
            tokenizer(
                [query] * len(texts),
                texts,
                truncation="only_second",
                max_length=self.max_tokens,
                return_attention_mask=False,
            )
        )

    def _unpack(self, model: Any) -> tuple[Any, Any]:
        return model.model, model.tokenizer


class CrossEncoder(PairScorer):
    """A cross-encoder of sentence-transformers, in half precision on a graphics card."""

    package = "sentence_transformers"
    install = "sentence-transformers"

    def _load(self) -> Any:
        import torch
        from sentence_transformers import CrossEncoder as Reranker

        device_name = device()
        precision = torch.float32 if device_name == "cpu" else torch.float16
        return Reranker(
            self.weights,
            max_length=self.max_tokens,
            device=device_name,
            model_kwargs={"dtype": precision},
        )

    def _unpack(self, model: Any) -> tuple[Any, Any]:
        from transformers import PreTrainedModel

        networks = (module for module in model.modules() if isinstance(module, PreTrainedModel))
        return next(networks), model.tokenizer


class DeltaCrossEncoder(CrossEncoder):
    """A cross-encoder fine-tuned from a sentence encoder, stored as a difference of weights.

    On a processor with bfloat16 instructions, everything but the head computes in bfloat16. This
    more than halves the time.

    Parameters
    ----------
    weights : the encoder's weights, to which the difference is added.
    name, batch, max_tokens : as in `PairScorer`.
    difference : folder of the difference; see `core.models.weight_differences`.
    """

    def __init__(self, weights: str, name: str, batch: int, max_tokens: int, difference: Path):
        super().__init__(weights, name, batch, max_tokens)
        self.difference = difference

    def _load(self) -> Any:
        import torch
        import transformers
        from sentence_transformers import CrossEncoder as Reranker

        # Otherwise transformers warns that the head is newly initialised.
        transformers.utils.logging.set_verbosity_error()
        device_name = device()
        model = Reranker(self.weights, num_labels=1, max_length=self.max_tokens, device=device_name)
        net, _ = self._unpack(model)
        weights = apply_difference(encoder_weights(net), read_difference(self.difference))
        net.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
        if device_name != "cpu":
            net.half()
        return model

    def _compute_states(self, net: Any, batch: Any) -> np.ndarray:
        import torch

        is_enabled = net.device.type == "cpu" and computes_in_bfloat16()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=is_enabled):
            return super()._compute_states(net, batch)

    def _compute_scores(self, net: Any, batch: Any) -> np.ndarray:
        return self.head(self._compute_states(net, batch))


def encoder_weights(net: Any) -> dict[str, np.ndarray]:
    """Return the weights of a classifier without its head, by name.

    The head is left out, as transformers initialises it with random numbers when a classifier is
    made from an encoder.
    """
    prefix = f"{net.base_model_prefix}."
    return {
        name: value.detach().cpu().numpy()
        for name, value in net.state_dict().items()
        if name.startswith(prefix)
    }
