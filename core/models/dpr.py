"""Dense passage retrieval (DPR): separate encoders for questions and passages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.errors import ModelUnavailable
from core.models.base import Task
from core.models.encoders.pooled import PooledEncoder
from core.models.scorers import BaseScorer


class _DPREncoder(PooledEncoder):
    """One of DPR's two encoders.

    The vector is the hidden state of a text's first token. `kind` is the class of transformers that
    loads the network.
    """

    def _load(self) -> tuple[Any, Any]:
        net, tokenizer = super()._load()
        # For weights of another architecture, transformers only logs a warning and initialises
        # the encoder with random numbers.
        if self.kind not in (getattr(net.config, "architectures", None) or ()):
            raise ModelUnavailable(f"{self.name}: {self.weights} holds no {self.kind}.")
        return net, tokenizer

    def pool(self, net: Any, batch: Any) -> np.ndarray:
        import torch

        with torch.inference_mode():
            return net(**batch).pooler_output.float().cpu().numpy()


class DPRQuestionEncoder(_DPREncoder):
    """DPR's encoder of questions."""

    kind = "DPRQuestionEncoder"


class DPRPassageEncoder(_DPREncoder):
    """DPR's encoder of passages."""

    kind = "DPRContextEncoder"


class DPR(BaseScorer):
    """A scorer by the dot product of a question's vector and a text's vector.

    Parameters
    ----------
    questions : encoder of questions.
    passages : encoder of texts.

    Notes
    -----
    Karpukhin et al., EMNLP 2020.
    """

    def __init__(self, questions: DPRQuestionEncoder, passages: DPRPassageEncoder):
        self.questions = questions
        self.passages = passages

    @property
    def loaded(self) -> bool:
        return self.questions.loaded and self.passages.loaded

    def score(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        if not len(texts):
            return np.zeros(0)
        (question,) = self.questions.encode([task.query], task.watch)
        return (self.passages.encode(texts, task.watch) @ question).astype(np.float64)
