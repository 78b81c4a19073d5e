"""A small network that scores triples by their likelihood to lead to the answer (SubgraphRAG)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from core.errors import BadInput, StoreError, with_command
from core.io.home import ROOT, models_folder

SHIPPED_SCORER_FOLDER = ROOT / "data" / "models" / "triple-scorer"
TRIPLE_SCORER_NAME = "triple-scorer"
TRIPLE_SCORER_FILE = "model.safetensors"
INPUT_WEIGHT_SHAPES = {"question": 1, "head": 1, "relation": 1, "tail": 1}
TRIPLE_SCORER_WEIGHTS = (
    *INPUT_WEIGHT_SHAPES,
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
    of head and tail. The output layer returns one number. `weights["question"]`, `weights["head"]`
    and so on are [d, hidden], `head_place` and `tail_place` [p, hidden], `out` [hidden].
    """

    weights: dict[str, np.ndarray]

    @property
    def dimension(self) -> int:
        """Length of the vectors that it reads."""
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
        triples : positions of head, relation and tail, each int [triples].

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
        heads, kinds, tails = triples
        weights = self.weights
        as_head = nodes @ weights["head"] + distances @ weights["head_place"]
        as_tail = nodes @ weights["tail"] + distances @ weights["tail_place"]
        hidden = (
            as_head[heads]
            + (relations @ weights["relation"])[kinds]
            + as_tail[tails]
            + (question @ weights["question"] + weights["bias"])
        )
        logits = np.maximum(hidden, 0) @ weights["out"] + weights["out_bias"][0]
        return 1 / (1 + np.exp(-logits.astype(np.float64)))


def load_triple_scorer() -> TripleScorer:
    """Return the scorer trained on this computer, else the one that ships.

    Raises StoreError if its file is damaged.
    """
    user_file = models_folder() / TRIPLE_SCORER_NAME / TRIPLE_SCORER_FILE
    file = user_file if user_file.exists() else SHIPPED_SCORER_FOLDER / TRIPLE_SCORER_FILE
    state = file.stat() if file.exists() else None
    return _read_scorer(file, (state.st_mtime_ns, state.st_size) if state else (0, 0))


@lru_cache(maxsize=2)
def _read_scorer(file: Path, stamp: tuple[int, int]) -> TripleScorer:
    """Read a file; the `stamp` makes a changed file be read again."""
    from safetensors.numpy import load_file

    try:
        weights = {name: values.astype(np.float32) for name, values in load_file(file).items()}
    except Exception as error:  # safetensors has an own exception, which is no OSError
        raise StoreError(f"The triple scorer in {file} cannot be read: {error}.") from None
    if set(weights) != set(TRIPLE_SCORER_WEIGHTS):
        raise StoreError(
            with_command(f"{file} is no triple scorer.", "python -m core finetune triples")
        )
    return TripleScorer(weights)
