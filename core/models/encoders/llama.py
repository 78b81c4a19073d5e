"""A language model used as an encoder: texts to unit vectors by the mean of its last hidden state."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cachetools import LRUCache

from core.errors import BadInput, ModelFailed, shorten
from core.models.chat.llama import open_engine
from core.models.chat.turns import in_turn
from core.runtime.meter import spent
from core.runtime.places import Places
from core.watch import NO_WATCH, Watch

REMEMBERED = 20_000


class LlamaEncoder:
    """An Encoder over the GGUF file at `path` (the papers' LLMs-E; pooling is not given there, the mean is taken here).

    A copy of its own beside the one that chats, loaded when first used. Texts are read one at a time, so that a vector
    does not depend on what is encoded beside it; the vectors of the last 20,000 texts are remembered. Some tens of tokens
    a second on a processor: a few texts a second.
    """

    def __init__(self, path: Path, name: str, context: int = 1024):
        self.path, self.name, self.context = Path(path), name, context
        self._engine: Any = None
        self._running = Places()
        self._vectors: LRUCache[str, np.ndarray] = LRUCache(REMEMBERED)

    @property
    def loaded(self) -> bool:
        return self._engine is not None

    def close(self) -> None:
        """Free the memory once the text in hand is done; the next use loads anew."""
        with self._running:
            self._engine = None

    def forget(self) -> None:
        """Drop all remembered vectors."""
        with self._running:
            self._vectors.clear()

    def encode(self, texts: Sequence[str], watch: Watch = NO_WATCH) -> np.ndarray:
        """float32 [n, d], unit rows; see `core.models.base.Encoder`. Raises BadInput for a text longer than the context."""
        if not len(texts):
            return np.zeros((0, 0), np.float32)
        return np.stack([self._vector(text, watch) for text in texts])

    def _vector(self, text: str, watch: Watch = NO_WATCH) -> np.ndarray:
        def found() -> np.ndarray:
            if text not in self._vectors:
                self._vectors[text] = self._computed(text)
            return self._vectors[text]

        return in_turn(self._running, found, watch)

    def _computed(self, text: str) -> np.ndarray:
        if self._engine is None:
            with spent("preparation", f"Loading {self.name}"):
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
                    f"{self.name} reads at most {self.context} tokens at once; this is longer: “{shorten(text)}”"
                )
            raise ModelFailed(
                f"{self.name} failed: {shorten(str(fault.get('message', fault)), 200)}"
            )
        vector = np.asarray(answer["data"][0]["embedding"], np.float32)
        return vector / max(float(np.linalg.norm(vector)), 1e-12)
