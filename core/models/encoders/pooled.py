"""Encoders of a folder or the model hub whose vector is the mean of their token vectors, as Contriever's is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from core.errors import ModelUnavailable, shorten
from core.models.chat.turns import Turn, in_turn
from core.models.cross import device
from core.models.threads import threads
from core.runtime.meter import spent


class PooledEncoder:
    """The mean over a text's tokens, padding aside, in float32 and of whatever length comes out: Contriever's dot product is not a cosine
    (Izacard et al. 2022). Loads when first used."""

    def __init__(self, weights: str, name: str, batch: int = 32, max_tokens: int = 512):
        self.weights, self.name, self.batch, self.max_tokens = weights, name, batch, max_tokens
        self._model: tuple[Any, Any] | None = None
        self._lock = Turn()

    @property
    def loaded(self) -> bool:
        return self._model is not None

    def encode(self, texts: Sequence[str], check: Callable[[], None] | None = None) -> np.ndarray:
        """float32 [n, d] in the order of `texts`. Raises ModelUnavailable, and what `check` raises."""
        unique, found = list(dict.fromkeys(texts)), dict[str, np.ndarray]()

        def read() -> None:
            net, tokenizer = self._engine()
            for start in range(0, len(unique), self.batch):
                if check:
                    check()
                part = unique[start : start + self.batch]
                found.update(zip(part, _means(net, tokenizer, part, self.max_tokens), strict=True))

        in_turn(self._lock, read, check)
        return np.stack([found[text] for text in texts]) if len(texts) else np.zeros((0, 0), np.float32)

    def _engine(self) -> tuple[Any, Any]:
        if self._model is None:
            with spent("preparation", f"Loading {self.name}"):
                self._model = loaded(self.weights, self.name, "AutoModel")
        return self._model


def loaded(weights: str, name: str, kind: str) -> tuple[Any, Any]:
    """A transformers model of that class and its tokenizer, on a graphics card where there is one. Raises ModelUnavailable."""
    try:
        import torch
        import transformers

        torch.set_num_threads(threads())
        tokenizer = transformers.AutoTokenizer.from_pretrained(weights)
        net = getattr(transformers, kind).from_pretrained(weights).float().eval().to(device())
        return net, tokenizer
    except ImportError:
        raise ModelUnavailable(f"{name} needs a library; get it with: pip install torch transformers") from None
    except (OSError, ValueError) as error:
        raise ModelUnavailable(
            f"{name}: {weights} cannot be loaded from this computer or the model hub. Put its weights in a folder and name that folder in "
            f"models.toml. ({shorten(str(error), 120)})"
        ) from error


def _means(net: Any, tokenizer: Any, texts: list[str], most: int) -> np.ndarray:
    import torch

    given = tokenizer(texts, truncation=True, max_length=most, padding=True, return_tensors="pt").to(net.device)
    with torch.inference_mode():
        tokens = net(**given).last_hidden_state
    mask = given["attention_mask"][..., None]
    return ((tokens * mask).sum(1) / mask.sum(1)).float().cpu().numpy()
