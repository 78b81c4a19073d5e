"""A small network that scores triples, as in SubgraphRAG.

A score is a triple's likelihood to lead to the answer. `core.finetune.triples` trains it, and the
operator Scored triples uses it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import BadInput, StoreError, with_command
from core.io.home import ROOT, models_folder

SHIPPED_SCORER_FOLDER = ROOT / "data" / "models" / "triple-scorer"
TRIPLE_SCORER_NAME = "triple-scorer"
TRIPLE_SCORER_FILE = "model.safetensors"
# Names of the weights in the file; `TripleScorer` says their shapes.
TRIPLE_SCORER_WEIGHTS = (
    "question",
    "head",
    "relation",
    "tail",
    "head_place",
    "tail_place",
    "bias",
    "out",
    "out_bias",
)


@dataclass(frozen=True)
class TripleScorer:
    """Weights of the triple scorer, float32.

    A hidden layer reads the vectors of question, head, relation and tail, and the distance encoding
    of head and tail. The output layer returns one number. The weights `question`, `head`,
    `relation` and `tail` are [d, hidden], those of the distance encoding, `head_place` and
    `tail_place`, are [p, hidden], `bias` and `out` are [hidden], and `out_bias` is [1].
    """

    weights: dict[str, np.ndarray]

    @property
    def dimension(self) -> int:
        """Length d of the vectors that it reads."""
        return len(self.weights["question"])

    def scores(
        self,
        question: np.ndarray,
        nodes: np.ndarray,
        relations: np.ndarray,
        distances: np.ndarray,
        triples: tuple[np.ndarray, np.ndarray, np.ndarray],
    ) -> np.ndarray:
        """Return the likelihood of each triple.

        Parameters
        ----------
        question : float [d], vector of the question.
        nodes : float [n, d], vectors of the nodes.
        relations : float [r, d], vectors of the relations.
        distances : float [n, p], directional distance encoding of the nodes.
        triples : rows of head, relation and tail in these arrays, each int [triples].

        Returns
        -------
        float64 [triples], 0 to 1.

        Raises
        ------
        BadInput
            If the vectors have another length than those it was trained on.
        """
        if nodes.shape[1:] != (self.dimension,):
            raise BadInput(
                f"The triple scorer reads vectors of {self.dimension} numbers; this encoder's "
                f"have {nodes.shape[1]}. Train one for it."
            )
        features = (question, nodes, relations, distances, triples)
        hidden = hidden_layer(self.weights, features)
        logits = np.maximum(hidden, 0) @ self.weights["out"] + self.weights["out_bias"][0]
        return 1 / (1 + np.exp(-logits.astype(np.float64)))


def hidden_layer(weights: Mapping[str, Any], features: tuple[Any, ...]) -> Any:
    """Return the hidden layer before its activation, [triples, hidden].

    The features are the arguments of `TripleScorer.scores`, as arrays or as tensors.
    """
    question, nodes, relations, distances, (heads, relation_rows, tails) = features
    # Nodes and relations occur in many triples, so each is multiplied only once.
    as_head = nodes @ weights["head"] + distances @ weights["head_place"]
    as_tail = nodes @ weights["tail"] + distances @ weights["tail_place"]
    return (
        as_head[heads]
        + (relations @ weights["relation"])[relation_rows]
        + as_tail[tails]
        + (question @ weights["question"] + weights["bias"])
    )


def load_triple_scorer() -> TripleScorer:
    """Return the scorer trained on this computer, else the one shipped with Hopscope.

    Raises StoreError if its file is damaged.
    """
    user_file = models_folder() / TRIPLE_SCORER_NAME / TRIPLE_SCORER_FILE
    file = user_file if user_file.exists() else SHIPPED_SCORER_FOLDER / TRIPLE_SCORER_FILE
    if not file.exists():
        return _read_scorer(file, stamp=(0, 0))  # raises StoreError
    state = file.stat()
    return _read_scorer(file, stamp=(state.st_mtime_ns, state.st_size))


@lru_cache(maxsize=2)
def _read_scorer(file: Path, stamp: tuple[int, int]) -> TripleScorer:
    """Read the weights in a file.

    With a new `stamp` the cache is not used.
    """
    from safetensors.numpy import load_file

    try:
        weights = {name: values.astype(np.float32) for name, values in load_file(file).items()}
    except Exception as error:  # safetensors has an own exception, which is no OSError
        raise StoreError(f"The triple scorer in {file} cannot be read: {error}.") from None
    if set(weights) != set(TRIPLE_SCORER_WEIGHTS):
        raise StoreError(with_command(f"{file} is no triple scorer.", "hopscope finetune triples"))
    return TripleScorer(weights)
