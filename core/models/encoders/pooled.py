"""Encoders of a folder or the model hub whose vector is the mean of their token vectors, as Contriever's is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from core.models.chat.turns import in_turn
from core.models.pretrained import Pretrained


class PooledEncoder(Pretrained):
    """The mean over a text's tokens, padding aside, in float32 and of whatever length comes out: Contriever's dot product is not a cosine
    (Izacard et al. 2022)."""

    kind = "AutoModel"

    def encode(self, texts: Sequence[str], check: Callable[[], None] | None = None) -> np.ndarray:
        """float32 [n, d] in the order of `texts`. Raises ModelUnavailable, and what `check` raises."""
        unique, found = list(dict.fromkeys(texts)), dict[str, np.ndarray]()

        def read() -> None:
            net, tokenizer = self.engine()
            for start in range(0, len(unique), self.batch):
                if check:
                    check()
                part = unique[start : start + self.batch]
                found.update(zip(part, _means(net, tokenizer, part, self.max_tokens), strict=True))

        in_turn(self._lock, read, check)
        return np.stack([found[text] for text in texts]) if len(texts) else np.zeros((0, 0), np.float32)


def _means(net: Any, tokenizer: Any, texts: list[str], most: int) -> np.ndarray:
    import torch

    given = tokenizer(texts, truncation=True, max_length=most, padding=True, return_tensors="pt").to(net.device)
    with torch.inference_mode():
        tokens = net(**given).last_hidden_state
    mask = given["attention_mask"][..., None]
    return ((tokens * mask).sum(1) / mask.sum(1)).float().cpu().numpy()
