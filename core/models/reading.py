"""How candidates are read by a dear model: what is known of them so far, for progress and previews."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.models.base import Task
from core.runtime.meter import Advance

PLURAL = {
    "relation": "relations",
    "triple": "triples",
    "node": "entities",
    "path": "paths",
    "document": "documents",
    "sentence": "sentences",
}


def counted(number: int, unit: str) -> str:
    """So many of a kind of candidates: `960 paths`, `1 path`."""
    return f"{number:,} {PLURAL.get(unit, 'texts')}" if number != 1 else f"1 {'entity' if unit == 'node' else unit}"


class Reading:
    """The scores of candidates as they come, one for each distinct text. The progress is sent how many there are and the best of them,
    `task.preview` all that are scored so far."""

    def __init__(self, task: Task, texts: Sequence[str]):
        self._places: dict[str, list[int]] = {}
        for position, text in enumerate(texts):
            self._places.setdefault(text, []).append(position)
        self.scores = np.full(len(texts), np.nan)  # float64 [n]
        self.scored = np.zeros(len(texts), bool)
        self._preview, self._done, self._best = task.preview, 0, (-np.inf, "")
        self._advance = Advance(f"Ranking {counted(len(texts), task.unit)}", len(self._places))

    @property
    def distinct(self) -> list[str]:
        """The distinct texts in the order of their first appearance."""
        return list(self._places)

    def received(self, texts: Sequence[str], scores: np.ndarray) -> None:
        """Take the scores of some of the distinct texts; what is there twice has one score."""
        for text, score in zip(texts, scores.tolist(), strict=True):
            self.scores[self._places[text]] = score
            self.scored[self._places[text]] = True
        self._done += len(texts)
        top = int(np.argmax(scores))
        self._best = max(self._best, (float(scores[top]), texts[top]), key=lambda pair: pair[0])
        self._advance(self._done, self._best[1])
        if self._preview is not None:
            positions = np.flatnonzero(self.scored)
            self._preview(positions, self.scores[positions])
