"""SPLADE: sparse vectors over the words of a masked language model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from core.models.base import Task
from core.models.chat.turns import in_turn
from core.models.pretrained import Pretrained
from core.models.scorers import Scoring, counted
from core.runtime.meter import Advance


class Splade(Pretrained, Scoring):
    """Weights of a text over the vocabulary: log(1 + relu(logits)), the largest over its tokens (Formal et al. 2021). Scores
    are dot products."""

    kind = "AutoModelForMaskedLM"

    def __init__(self, weights: str, name: str, batch: int = 32, max_tokens: int = 256):
        super().__init__(weights, name, batch, max_tokens)

    def vectors(self, texts: Sequence[str], check: Callable[[], None] | None = None) -> Any:
        """A scipy csr_array, float32 [n, words], in the order of `texts`. Raises ModelUnavailable, and what `check` raises."""
        from scipy.sparse import csr_array, vstack

        parts: list[Any] = []
        advance = Advance(f"Reading {counted(len(texts), 'text')}", len(texts))

        def read() -> None:
            net, tokenizer = self.engine()
            for start in range(0, len(texts), self.batch):
                if check:
                    check()
                parts.append(csr_array(_weights(net, tokenizer, list(texts[start : start + self.batch]), self.max_tokens)))
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
