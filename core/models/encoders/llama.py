"""A language model in a GGUF file as an encoder.

A vector is the mean of the last hidden states.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cachetools import LRUCache

from core.errors import BadInput, ModelFailed, shorten
from core.models.chat.cancellable_work import run_in_slot
from core.models.chat.llama import open_engine
from core.runtime.meter import count_time
from core.runtime.slots import Slots
from core.watch import NO_WATCH, Watch

MAX_LLAMA_VECTORS = 20_000


class LlamaEncoder:
    """An encoder from a GGUF file, with unit vectors.

    The model is loaded at the first use, apart from that of `LlamaChat`. Texts are read one at a
    time, so that a vector does not depend on other texts. The latest `MAX_LLAMA_VECTORS` vectors
    are cached. A processor reads some tens of tokens per second, that is, a few texts.

    Parameters
    ----------
    path : the GGUF file.
    name : name of the model.
    context : size of the context window in tokens.

    Notes
    -----
    This is LLMs-E of the LEGO-GraphRAG papers, which do not state the pooling. Here it is the mean.
    """

    def __init__(self, path: Path, name: str, context: int = 1024):
        self.path = Path(path)
        self.name = name
        self.context = context
        self._engine: Any = None
        self._slots = Slots()
        self._vectors: LRUCache[str, np.ndarray] = LRUCache(MAX_LLAMA_VECTORS)

    @property
    def loaded(self) -> bool:
        return self._engine is not None

    def close(self) -> None:
        """Free the engine after the current text; the next use loads it again."""
        with self._slots:
            self._engine = None

    def forget(self) -> None:
        """Drop the cached vectors."""
        with self._slots:
            self._vectors.clear()

    def encode(self, texts: Sequence[str], watch: Watch = NO_WATCH) -> np.ndarray:
        """Return the vectors of texts.

        Parameters
        ----------
        texts : any number of texts, n.
        watch : checked between texts; may raise RunCancelled.

        Returns
        -------
        float32 [n, d] with unit rows.

        Raises
        ------
        BadInput : a text is longer than the context.
        ModelUnavailable : the file or the library is missing.
        ModelFailed : the model cannot be loaded, or fails.
        """
        if not len(texts):
            return np.zeros((0, 0), np.float32)
        return np.stack([self._vector(text, watch) for text in texts])

    def _vector(self, text: str, watch: Watch = NO_WATCH) -> np.ndarray:
        def find_or_compute() -> np.ndarray:
            if text not in self._vectors:
                self._vectors[text] = self._compute(text)
            return self._vectors[text]

        return run_in_slot(self._slots, find_or_compute, watch)

    def _compute(self, text: str) -> np.ndarray:
        if self._engine is None:
            with count_time("preparation", f"Loading {self.name}"):
                self._engine = open_engine(
                    self.path, self.name, self.context, self.context, embedding=True
                )
        try:
            answer = self._engine.handle_embeddings({"input": [text]})
        except RuntimeError as error:
            raise ModelFailed(f"{self.name} failed: {shorten(str(error), 200)}") from error
        if "data" not in answer:
            fault = answer.get("error", {})
            if "too large" in str(fault.get("message")):
                raise BadInput(
                    f"{self.name} reads at most {self.context} tokens at once; this is longer: "
                    f"“{shorten(text)}”"
                )
            raise ModelFailed(
                f"{self.name} failed: {shorten(str(fault.get('message', fault)), 200)}"
            )
        vector = np.asarray(answer["data"][0]["embedding"], np.float32)
        return vector / max(float(np.linalg.norm(vector)), 1e-12)
