"""SPLADE: sparse vectors over the words of a masked language model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from core.models.base import Task
from core.models.chat.turns import Turn, in_turn
from core.models.encoders.pooled import loaded
from core.models.scorers import Scoring, counted
from core.runtime.meter import Advance, spent


class Splade(Scoring):
    """Weights of a text over the vocabulary: log(1 + relu(logits)), the largest over its tokens (Formal et al. 2021). Scores
    are dot products. `weights` is a local folder or a name on the model hub; loads when first used."""

    def __init__(self, weights: str, name: str, batch: int = 32, max_tokens: int = 256):
        self.weights, self.name, self.batch, self.max_tokens = weights, name, batch, max_tokens
        self._model: tuple[Any, Any] | None = None
        self._lock = Turn()

    @property
    def loaded(self) -> bool:
        return self._model is not None

    def vectors(self, texts: Sequence[str], check: Callable[[], None] | None = None) -> Any:
        """A scipy csr_array, float32 [n, words], in the order of `texts`. Raises ModelUnavailable, and what `check` raises."""
        from scipy.sparse import csr_array, vstack

        parts: list[Any] = []
        advance = Advance(f"Reading {counted(len(texts), 'text')}", len(texts))

        def read() -> None:
            if self._model is None:
                with spent("preparation", f"Loading {self.name}"):
                    self._model = loaded(self.weights, self.name, "AutoModelForMaskedLM")
            for start in range(0, len(texts), self.batch):
                if check:
                    check()
                parts.append(csr_array(_weights(*self._model, list(texts[start : start + self.batch]), self.max_tokens)))
                advance(min(len(texts), start + self.batch))

        in_turn(self._lock, read, check)
        return vstack(parts, format="csr") if parts else csr_array((0, 0), dtype=np.float32)

    def score(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        if not len(texts):
            return np.zeros(0)
        both = self.vectors([task.query, *texts], task.check)
        return np.asarray((both[1:] @ both[[0]].T).todense(), np.float64).ravel()


def _weights(net: Any, tokenizer: Any, texts: list[str], most: int) -> np.ndarray:
    """float32 [n, words]."""
    import torch

    given = tokenizer(texts, truncation=True, max_length=most, padding=True, return_tensors="pt").to(net.device)
    with torch.inference_mode():
        logits = net(**given).logits
        weights = torch.log1p(torch.relu(logits)) * given["attention_mask"][..., None]
    return weights.amax(dim=1).float().cpu().numpy()
