"""Hidden states of rerankers, and their heads: the last layers, which map hidden states to scores.

Score smoothing over a graph mixes the hidden states of neighbours, and then applies the head.
"""

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
    """The last layers of a reranker, which turn hidden states into scores.

    They map states [n, d] to scores float64 [n]. The activation is applied between the layers. Of
    several outputs the last one is the score. Without layers, the last number of the hidden state
    is the score.

    Parameters
    ----------
    layers : weights [out, in] and bias [out] of each layer.
    activation : a key of `ACTIVATIONS`.
    has_first_weights : true if the weights of the first layer were already applied to the input.

    Examples
    --------
    >>> from core.models.heads import Head
    >>> first = np.array([[1.0, -1.0], [0.0, 2.0]]), np.zeros(2)
    >>> head = Head((first, (np.array([[1.0, 1.0]]), np.array([0.5]))), "relu")
    >>> # (2, 2) and (0, 2), then their sum and a half
    >>> head(np.array([[3.0, 1.0], [0.0, 1.0]])).tolist()
    [4.5, 2.5]
    """

    layers: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    activation: str = "tanh"
    has_first_weights: bool = False

    def __call__(self, states: np.ndarray) -> np.ndarray:
        values = np.asarray(states, np.float64)
        for number, (weights, bias) in enumerate(self.layers):
            if number:
                values = ACTIVATIONS[self.activation](values)
            if number or not self.has_first_weights:
                values = values @ weights.T
            values = values + bias
        return values[:, -1]

    def apply_first_weights(self, states: np.ndarray) -> tuple[np.ndarray, Head]:
        """Apply the first weights to hidden states.

        The results and the head for them are returned. The first weights are linear, so mixing
        states before or after them gives the same result. Applied before, each state is multiplied
        only once, however often it is mixed.

        >>> from core.models.heads import Head
        >>> head = Head(((np.array([[2.0, 1.0]]), np.array([0.5])),))
        >>> inside, rest = head.apply_first_weights(np.array([[1.0, 3.0]]))
        >>> inside.tolist(), rest(inside).tolist(), head(np.array([[1.0, 3.0]])).tolist()
        ([[5.0]], [5.5], [5.5])
        """
        if not self.layers or self.has_first_weights:
            return states, self
        first_weights, _ = self.layers[0]
        remaining_head = replace(self, has_first_weights=True)
        return np.asarray(states, np.float64) @ first_weights.T, remaining_head


class HeadedReranker(Protocol):
    """A reranker whose scores are `head(hidden(task, texts))`."""

    def hidden(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        """Return the hidden state of the question with each text.

        Parameters
        ----------
        task : the question and limits on reading.
        texts : the candidates, n.

        Returns
        -------
        float [n, d].
        """
        ...

    @property
    def head(self) -> Head:
        """The last layers."""
        ...


class ScoreStates:
    """A scorer's scores in place of hidden states.

    Their head returns them unchanged. If a model's head is linear, smoothing its scores equals
    smoothing its hidden states. Late interaction has such a head: the mean, over the tokens, of the
    best cosine.
    """

    head = Head()

    def __init__(self, scorer: Scorer):
        self._scorer = scorer

    def hidden(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        return np.asarray(self._scorer.score(task, texts), np.float64)[:, None]


def with_hidden_states(model: Any, name: str) -> tuple[HeadedReranker, str]:
    """Return a model with hidden states: the model itself, else a `ScoreStates` of it.

    Parameters
    ----------
    model : any model of the registry.
    name : its name, for the note and the error.

    Returns
    -------
    The model, and a note if its scores are used instead; else an empty text.

    Raises
    ------
    BadParameter : the model gives no scores.

    Examples
    --------
    >>> from core.models.heads import with_hidden_states
    >>> from core.models.scorers import TfIdfScorer
    >>> with_hidden_states(TfIdfScorer(), "tfidf")[1].startswith("tfidf replaces the cross-encoder.")
    True
    """
    if hasattr(model, "hidden") and hasattr(model, "head"):
        return model, ""
    if not hasattr(model, "score"):
        raise BadParameter(f"“{name}” picks from a list and gives no scores; name a re-ranker.")
    note = (
        "replaces the cross-encoder. It has no hidden states, so its scores are "
        "smoothed instead, as with a linear head."
    )
    return ScoreStates(model), f"{name} {note}"


# Models with tanh between their layers, among those whose head consists of dense and out_proj.
TANH_MODEL_FAMILIES = ("Roberta", "Camembert")


def torch_head(net: Any, name: str) -> tuple[Any, Head]:
    """Return the module that receives the hidden state, and the head.

    The head has the layers from that module on, as arrays. The first argument of the module is the
    hidden state, or the states of all tokens, the first of which is meant. Three architectures of
    transformers are known. RoBERTa, XLM-RoBERTa (bge-reranker) and CamemBERT have dense, tanh,
    out_proj. BERT has a pooler of dense and tanh, then a classifier. DistilBERT has pre_classifier,
    relu, classifier.

    Parameters
    ----------
    net : a sequence classifier of transformers.
    name : its name, for the error.

    Returns
    -------
    The module to hook, and the layers after its input.

    Raises
    ------
    BadParameter : the architecture is another one. This includes ELECTRA, BigBird, RoFormer and
        ConvBERT, which have the layers of RoBERTa, but another activation than tanh.
    """
    classifier: Any = getattr(net, "classifier", None)
    kind = type(net).__name__
    if (
        hasattr(classifier, "dense")
        and hasattr(classifier, "out_proj")
        and any(family in kind for family in TANH_MODEL_FAMILIES)
    ):
        return classifier, Head((_layer(classifier.dense), _layer(classifier.out_proj)))
    pooler: Any = getattr(net.base_model, "pooler", None)
    if "Bert" in kind and hasattr(pooler, "dense") and hasattr(classifier, "weight"):
        return pooler, Head((_layer(pooler.dense), _layer(classifier)))
    if hasattr(net, "pre_classifier") and hasattr(classifier, "weight"):
        return net.pre_classifier, Head((_layer(net.pre_classifier), _layer(classifier)), "relu")
    raise BadParameter(
        f"{name} is a {kind}, whose head has another shape than those known (a dense layer and "
        "one behind it on the first token); "
        "choose a re-ranker such as bge-reranker-v2-m3."
    )


def _layer(linear: Any) -> tuple[np.ndarray, np.ndarray]:
    return _float64_array(linear.weight), _float64_array(linear.bias)


def _float64_array(tensor: Any) -> np.ndarray:
    return tensor.detach().float().cpu().numpy().astype(np.float64)
