"""SPLADE: sparse vectors over the vocabulary of a masked language model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from core.models.base import Task
from core.models.chat.cancellable_work import run_in_slot
from core.models.reading_order import format_count
from core.models.scorers import BaseScorer
from core.models.transformers_model import TransformersModel
from core.runtime.meter import ProgressEstimate
from core.watch import NO_WATCH, Watch

SPLADE_BATCH_TOKENS = 1024  # each token has a logit for every word of the vocabulary, some 120 kB


class Splade(TransformersModel, BaseScorer):
    """SPLADE weights of a text over the vocabulary; scores are dot products.

    A weight is log(1 + relu(logits)), the largest over the text's tokens.

    Parameters
    ----------
    weights : a local folder, or a name on the model hub.
    name : the name of the model here.
    batch : largest number of texts in a batch.
    max_tokens : tokens of each text that are read.

    Notes
    -----
    Formal et al. 2021.
    """

    kind = "AutoModelForMaskedLM"

    def __init__(self, weights: str, name: str, batch: int = 32, max_tokens: int = 256):
        super().__init__(weights, name, batch, max_tokens)

    def vectors(self, texts: Sequence[str], watch: Watch = NO_WATCH) -> Any:
        """Return the sparse vectors of texts.

        Parameters
        ----------
        texts : any number of texts, n.
        watch : checked between batches; may raise RunCancelled.

        Returns
        -------
        A csr_array of scipy, float32 [n, words], in the order of `texts`.

        Raises
        ------
        ModelUnavailable : the weights or a library are not installed.
        """
        from scipy.sparse import csr_array, vstack

        rows: list[int] = []
        parts: list[Any] = []
        advance = ProgressEstimate(f"Reading {format_count(len(texts), 'text')}", len(texts))

        def read() -> None:
            net, tokenizer = self.engine()
            if not len(texts):
                return
            codes = tokenizer(list(texts), truncation=True, max_length=self.max_tokens)["input_ids"]
            lengths = [len(code) for code in codes]
            for batch_rows in batches_by_length(lengths, self.batch, SPLADE_BATCH_TOKENS):
                watch.check()
                batch_codes = {"input_ids": [codes[row] for row in batch_rows]}
                inputs = tokenizer.pad(batch_codes, return_tensors="pt")
                parts.append(csr_array(_compute_weights(net, inputs.to(net.device))))
                rows.extend(batch_rows)
                advance(len(rows))

        run_in_slot(self._lock, read, watch)
        if parts:
            return vstack(parts, format="csr")[np.argsort(rows)]
        return csr_array((0, 0), dtype=np.float32)

    def score(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        if not len(texts):
            return np.zeros(0)
        vectors = self.vectors([task.query, *texts], task.watch)
        return np.asarray((vectors[1:] @ vectors[[0]].T).todense(), np.float64).ravel()


def batches_by_length(lengths: Sequence[int], batch: int, max_tokens: int) -> Iterator[list[int]]:
    """Yield batches of rows of similar length, the shortest first.

    Parameters
    ----------
    lengths : number of tokens of each text.
    batch : largest number of rows in a batch.
    max_tokens : largest number of tokens in a batch, with padding.

    Yields
    ------
    Rows, the shortest first. A longer text than `max_tokens` has a batch of its own.
    """
    rows: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda row: lengths[row]):
        if rows and (len(rows) == batch or (len(rows) + 1) * lengths[row] > max_tokens):
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows


def _compute_weights(net: Any, batch: Any) -> np.ndarray:
    """Return the weights of a batch of texts, float32 [n, words].

    The maximum over the tokens is taken first, which saves memory. The result is the same, because
    log(1 + relu(x)) never decreases with x.
    """
    import torch

    with torch.inference_mode():
        logits = net(**batch).logits.masked_fill_(batch["attention_mask"][..., None] == 0, 0.0)
        return logits.amax(dim=1).float().relu_().log1p_().cpu().numpy()
