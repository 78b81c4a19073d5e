"""Encoders whose vectors are the means of token vectors, such as Contriever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.models.batches import IDS_ALONE, pad_batch
from core.models.chat.cancellable_work import run_in_slot
from core.models.transformers_model import TransformersModel
from core.watch import NO_WATCH, Watch


class PooledEncoder(TransformersModel):
    """An encoder whose vectors are the means of token vectors, loaded with transformers.

    The vectors are not normalised: Contriever was trained with dot products, not with cosines
    (Izacard et al. 2022).
    """

    kind = "AutoModel"  # class of transformers that loads the network

    def encode(self, texts: Sequence[str], watch: Watch = NO_WATCH) -> np.ndarray:
        """Return the vectors of texts.

        Parameters
        ----------
        texts : any number of texts, n.
        watch : checked between batches; it may raise RunCancelled.

        Returns
        -------
        float32 [n, d], not normalised, in the order of `texts`.

        Raises
        ------
        ModelUnavailable : the weights or a library are not installed.
        ModelFailed : the memory does not suffice for a single text.
        """
        unique = list(dict.fromkeys(texts))
        vectors_by_text: dict[str, np.ndarray] = {}

        def read() -> None:
            net, tokenizer = self.engine()
            if not unique:
                return
            codes = tokenizer(unique, truncation=True, max_length=self.max_tokens, **IDS_ALONE)

            def read_batch(rows: list[int]) -> np.ndarray:
                watch.check()
                return self.pool(net, pad_batch(tokenizer, codes, rows, net.device))

            lengths = [len(ids) for ids in codes["input_ids"]]
            for rows, vectors in self._batches.run(lengths, read_batch):
                for row, vector in zip(rows, vectors, strict=True):
                    vectors_by_text[unique[row]] = vector

        run_in_slot(self._lock, read, watch)
        if len(texts):
            return np.stack([vectors_by_text[text] for text in texts])
        return np.zeros((0, 0), np.float32)

    def pool(self, net: Any, batch: Any) -> np.ndarray:
        """Return one vector for each text of a padded batch.

        Parameters
        ----------
        net : the network.
        batch : its input tensors by name, among them the attention mask.

        Returns
        -------
        float32 [n, d].
        """
        import torch

        with torch.inference_mode():
            tokens = net(**batch).last_hidden_state.float()
        mask = batch["attention_mask"][..., None]
        return ((tokens * mask).sum(1) / mask.sum(1)).cpu().numpy()
