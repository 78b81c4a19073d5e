"""What a re-ranker holds of a question and a text before its last layers, and those layers: its hidden states and its head."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from core.errors import BadParameter
from core.models.base import Scorer, Task

ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0.0),
}


@dataclass(frozen=True, eq=False)
class Head:
    """The last layers of a re-ranker: `hidden` float [n, d] to scores float64 [n]. `layers` are (weights [out, in], bias [out]) with the
    activation between them; of several outputs the last counts. Without layers the score is the hidden state itself, of one number.

    >>> from core.models.heads import Head
    >>> head = Head(((np.array([[1.0, -1.0], [0.0, 2.0]]), np.zeros(2)), (np.array([[1.0, 1.0]]), np.array([0.5]))), "relu")
    >>> head(np.array([[3.0, 1.0], [0.0, 1.0]])).tolist()  # (2, 2) and (0, 2), then their sum and a half
    [4.5, 2.5]
    """

    layers: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    activation: str = "tanh"
    entered: bool = False  # whether what it is given went through the first weights already

    def __call__(self, hidden: np.ndarray) -> np.ndarray:
        found = np.asarray(hidden, np.float64)
        for number, (weights, bias) in enumerate(self.layers):
            found = ACTIVATIONS[self.activation](found) if number else found
            found = (found if self.entered and not number else found @ weights.T) + bias
        return found[:, -1]

    def enter(self, hidden: np.ndarray) -> tuple[np.ndarray, Head]:
        """Hidden states taken through the first weights, and the head for what came out. Since that is linear, states may be mixed before
        or after, with the same outcome: each is taken through once, however often it is mixed.

        >>> from core.models.heads import Head
        >>> head = Head(((np.array([[2.0, 1.0]]), np.array([0.5])),))
        >>> inside, rest = head.enter(np.array([[1.0, 3.0]]))
        >>> inside.tolist(), rest(inside).tolist(), head(np.array([[1.0, 3.0]])).tolist()
        ([[5.0]], [5.5], [5.5])
        """
        if not self.layers or self.entered:
            return hidden, self
        return np.asarray(hidden, np.float64) @ self.layers[0][0].T, replace(self, entered=True)


class Headed(Protocol):
    """A re-ranker whose hidden states can be had: `head(hidden(task, texts))` are its scores."""

    def hidden(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        """float [n, d]: what it holds of the question with each text, before its head."""
        ...

    @property
    def head(self) -> Head:
        """Its last layers."""
        ...


class ScoresAlone:
    """A scorer whose hidden states cannot be had: the score stands for them, and the head hands it on.

    To smooth scores is to smooth the hidden states of a model with a linear head. Late interaction, the mean of the best cosine of each
    token, has such a head.
    """

    head = Head()

    def __init__(self, scorer: Scorer):
        self._scorer = scorer

    def hidden(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        return np.asarray(self._scorer.score(task, texts), np.float64)[:, None]


def headed(model: Any, name: str) -> tuple[Headed, str]:
    """The model with its hidden states, and a sentence where its scores must stand for them (else empty). Raises BadParameter for a model
    that gives no scores.

    >>> from core.models.heads import headed
    >>> from core.models.scorers import TfIdf
    >>> headed(TfIdf(), "tfidf")[1]
    'tfidf stands in the place of a cross-encoder. It has no hidden states, so its scores are smoothed instead, as with a linear head.'
    """
    if hasattr(model, "hidden") and hasattr(model, "head"):
        return model, ""
    if not hasattr(model, "score"):
        raise BadParameter(f"“{name}” picks from a list and gives no scores; name a re-ranker.")
    note = "stands in the place of a cross-encoder. It has no hidden states, so its scores are smoothed instead, as with a linear head."
    return ScoresAlone(model), f"{name} {note}"


WITH_TANH = ("Roberta", "Camembert")  # of those whose head is dense and out_proj


def torch_head(net: Any, name: str) -> tuple[Any, Head]:
    """The module of a transformers model whose first input begins with the hidden state, and the head behind it as arrays.

    Known are the shapes of RoBERTa, XLM-RoBERTa (bge-reranker) and CamemBERT: dense, tanh, out_proj; of BERT: a pooler of dense and tanh,
    then a classifier; of DistilBERT: pre_classifier, relu, classifier. Raises BadParameter for another one, and for the first where
    another function than tanh lies between, as in ELECTRA, BigBird, RoFormer and ConvBERT.
    """
    classifier: Any = getattr(net, "classifier", None)
    kind = type(net).__name__
    if (
        hasattr(classifier, "dense")
        and hasattr(classifier, "out_proj")
        and any(one in kind for one in WITH_TANH)
    ):
        return classifier, Head((_layer(classifier.dense), _layer(classifier.out_proj)))
    pooler: Any = getattr(net.base_model, "pooler", None)
    if "Bert" in kind and hasattr(pooler, "dense") and hasattr(classifier, "weight"):
        return pooler, Head((_layer(pooler.dense), _layer(classifier)))
    if hasattr(net, "pre_classifier") and hasattr(classifier, "weight"):
        return net.pre_classifier, Head((_layer(net.pre_classifier), _layer(classifier)), "relu")
    raise BadParameter(
        f"{name} is a {kind}, whose head has another shape than those known (a dense layer and one behind it on the first token); "
        "choose a re-ranker such as bge-reranker-v2-m3."
    )


def _layer(linear: Any) -> tuple[np.ndarray, np.ndarray]:
    weights, bias = (
        value.detach().float().cpu().numpy().astype(np.float64)
        for value in (linear.weight, linear.bias)
    )
    return weights, bias
