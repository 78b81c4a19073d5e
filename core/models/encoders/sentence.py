"""Encoders that sentence-transformers loads, such as BGE-M3, e5, nomic and gte."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cachetools import LRUCache

from core.errors import BadParameter, ModelUnavailable, library_message, shorten
from core.models.batches import IDS_ALONE, BatchSplitter, pad_batch
from core.models.chat.cancellable_work import run_in_slot
from core.models.device import device
from core.models.threads import thread_count
from core.runtime.meter import count_time
from core.runtime.slots import Slots
from core.watch import NO_WATCH, Watch

MODULES_FILE = "modules.json"  # file in which a folder states its layers, such as pooling
MAX_SENTENCE_VECTORS = 20_000  # in memory


class SentenceEncoder:
    """A sentence-transformers encoder, in half precision on a graphics card.

    It is loaded at the first use.

    Parameters
    ----------
    weights : a local folder, or a name on the model hub.
    name : name of the model in models.toml.
    question_prompt : text that is put before each question, as in training.
    text_prompt : text that is put before each other text.
    pooling : "cls" or "mean". Required if the folder does not state the pooling; else it must agree
        with the folder.
    batch : texts per batch on a processor.
    max_tokens : tokens of each text that are read.
    """

    def __init__(
        self,
        weights: str,
        name: str,
        question_prompt: str = "",
        text_prompt: str = "",
        pooling: str = "",
        batch: int = 32,
        max_tokens: int = 512,
    ):
        self.weights = weights
        self.name = name
        self.question_prompt = question_prompt
        self.text_prompt = text_prompt
        self.pooling = pooling
        self.batch = batch
        self.max_tokens = max_tokens
        self._model: Any = None
        self._batches: BatchSplitter
        self._lock = Slots()
        self._vectors: LRUCache[str, np.ndarray] = LRUCache(MAX_SENTENCE_VECTORS)

    @property
    def loaded(self) -> bool:
        return self._model is not None

    @property
    def device(self) -> str:
        """Device and precision once it is loaded; else empty."""
        if self._model is None:
            return ""
        return f"{self._model.device}, {str(self._model.dtype).removeprefix('torch.')}"

    @property
    def identity(self) -> str:
        """A text that identifies its vectors, apart from the device's last digits."""
        folder = Path(self.weights).name
        prompts = f"{self.question_prompt!r} {self.text_prompt!r}"
        return f"{folder} {prompts} {self.pooling} {self.max_tokens}"

    def close(self) -> None:
        """Free the model; the next use loads it again."""
        with self._lock:
            self._model = None

    def forget(self) -> None:
        """Drop the cached vectors."""
        with self._lock:
            self._vectors.clear()

    def encode(self, texts: Sequence[str], watch: Watch = NO_WATCH) -> np.ndarray:
        """Return the vectors of texts, each after the prompt for texts.

        Parameters
        ----------
        texts : any number of texts, n.
        watch : checked between batches; may raise RunCancelled.

        Returns
        -------
        float32 [n, d] with unit rows, in the order of `texts`.

        Raises
        ------
        ModelUnavailable : the weights or a library are missing, or state another pooling.
        BadParameter : the pooling is neither declared nor stated by the folder.
        ModelFailed : the memory does not suffice for a single text.
        """
        return self._encode([self.text_prompt + text for text in texts], watch)

    def encode_questions(self, questions: Sequence[str], watch: Watch = NO_WATCH) -> np.ndarray:
        """Return the vectors of questions, each after the prompt for questions.

        Parameters
        ----------
        questions : any number of questions, n.
        watch : checked between batches; may raise RunCancelled.

        Returns
        -------
        float32 [n, d] with unit rows, in the order of `questions`.

        Raises
        ------
        ModelUnavailable, BadParameter, ModelFailed : as `encode` raises.
        """
        return self._encode([self.question_prompt + question for question in questions], watch)

    def _encode(self, texts: list[str], watch: Watch = NO_WATCH) -> np.ndarray:
        vectors_by_text: dict[str, np.ndarray] = {}

        def read() -> None:
            model = self._engine()
            missing = []
            for text in dict.fromkeys(texts):
                if text in self._vectors:
                    vectors_by_text[text] = self._vectors[text]
                else:
                    missing.append(text)
            if not missing:
                return
            codes = model.tokenizer(
                missing, truncation=True, max_length=self._token_limit(model), **IDS_ALONE
            )

            def read_batch(rows: list[int]) -> np.ndarray:
                watch.check()
                batch = pad_batch(model.tokenizer, codes, rows, model.device)
                return _compute_vectors(model, batch)

            lengths = [len(ids) for ids in codes["input_ids"]]
            for rows, vectors in self._batches.run(lengths, read_batch):
                for row, vector in zip(rows, vectors, strict=True):
                    vectors_by_text[missing[row]] = vector
            self._vectors.update((text, vectors_by_text[text]) for text in missing)

        run_in_slot(self._lock, read, watch)
        if not texts:
            return np.zeros((0, 0), np.float32)
        return np.stack([vectors_by_text[text] for text in texts])

    def _token_limit(self, model: Any) -> int:
        """Return the token limit of texts: that of this encoder, or a smaller one of the model."""
        return min(self.max_tokens, model.max_seq_length or self.max_tokens)

    def _engine(self) -> Any:
        """Return the model, loading it if necessary."""
        if self._model is None:
            with count_time("preparation", f"Loading {self.name}"):
                self._model = self._load()
                self._batches = BatchSplitter(str(self._model.device), self.batch)
        return self._model

    def _load(self) -> Any:
        try:
            import torch
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise ModelUnavailable(library_message(self.name, "sentence-transformers")) from None
        torch.set_num_threads(thread_count())
        device_name = device()
        precision = torch.float32 if device_name == "cpu" else torch.float16
        folder = Path(self.weights)
        try:
            if folder.is_dir() and not (folder / MODULES_FILE).exists():
                model = SentenceTransformer(modules=self._layers(precision), device=device_name)
            else:
                model = SentenceTransformer(
                    self.weights, model_kwargs={"dtype": precision}, device=device_name
                )
        except (OSError, ValueError) as error:
            raise ModelUnavailable(
                f"{self.name}: {self.weights} cannot be loaded from this computer or the model "
                "hub. Put its weights in a folder and name "
                f"that folder in models.toml. ({shorten(str(error), 120)})"
            ) from error
        poolings = (str(layer.pooling_mode) for layer in model if hasattr(layer, "pooling_mode"))
        stated_pooling = next(poolings, "")
        if self.pooling and stated_pooling and self.pooling != stated_pooling:
            raise ModelUnavailable(
                f"{self.name} is declared with pooling “{self.pooling}”, but its folder states "
                f"“{stated_pooling}”."
            )
        return model.eval()

    def _layers(self, precision: Any) -> list[Any]:
        """Return the network and a pooling layer, for a folder that states no layers.

        Raises BadParameter if no pooling is declared either.
        """
        from sentence_transformers.base.modules import Transformer
        from sentence_transformers.sentence_transformer.modules import Pooling

        if not self.pooling:
            raise BadParameter(
                f"{self.name}: {self.weights} does not state its pooling; say in models.toml: "
                "pooling = “cls” or “mean”."
            )
        network = Transformer(self.weights, model_kwargs={"dtype": precision})
        return [network, Pooling(network.get_embedding_dimension(), pooling_mode=self.pooling)]


def _compute_vectors(model: Any, batch: dict[str, Any]) -> np.ndarray:
    """Return unit vectors of tokenized texts, float32 [n, d].

    They are computed in the model's precision and normalised in float32.
    """
    import torch

    with torch.inference_mode():
        vectors = model.forward(batch)["sentence_embedding"].float()
        return torch.nn.functional.normalize(vectors, dim=1).cpu().numpy()
