"""How candidates are read by a dear model: those first that are expected to be the best, and what is known of all so far."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.models.base import Task
from core.runtime.meter import Advance

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

FIRST, ROUND = 64, 128  # texts that are read before the others are expected for the first time, and anew
LEARNT = 512  # scores from which expectations are made
NOISE, WORDS = 0.1, 3.0  # of scores of equal texts, and of what words tell beside the group; chosen on development questions of MetaQA
WORD = re.compile(r"[^\W_]+")
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


class Expectation:
    """Which texts to read next, by the scores of those that were read: ridge regression on a text's group and its words.

    Score = group + words + noise with normal priors, of variances 1, `WORDS` (over all words of a text) and `NOISE`. It depends on nothing
    but the texts, their groups, and the scores.
    """

    def __init__(self, texts: Sequence[str], groups: np.ndarray | None):
        self._groups = groups
        self._rows = features(texts, groups)

    def begin(self, number: int) -> np.ndarray:
        """int64 positions to begin with, at most `number`: the first of each group, large groups first; without groups spread evenly."""
        if self._groups is None:
            return np.unique(np.linspace(0, self._rows.shape[0] - 1, number).astype(np.int64))
        _, first, sizes = np.unique(self._groups, return_index=True, return_counts=True)
        return first[np.lexsort((first, -sizes))][:number]

    def order(self, read: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """int64 positions of all others, those expected to score best first, ties by position; `read` int64 [m] with their scores [m]."""
        some, found = self._rows[read[:LEARNT]], scores[:LEARNT]
        found = np.where(np.isfinite(found), found, 0.0)
        spread = found.std() or 1.0
        alike = (some @ some.T).toarray() + NOISE * np.eye(len(found))
        weights = some.T @ np.linalg.solve(alike, (found - found.mean()) / spread)
        expected = np.round(self._rows @ weights, 9)  # so that ties are ties whatever the order of a sum
        expected[read] = -np.inf
        return np.argsort(-expected, kind="stable")[: len(expected) - len(read)]


def features(texts: Sequence[str], groups: np.ndarray | None) -> csr_matrix:
    """float64 [n, groups + words]: 1 at the text's group, and at each of its words the root of `WORDS` over their number."""
    from scipy.sparse import coo_matrix, csr_matrix, hstack

    places: dict[str, int] = {}
    bags = [sorted(set(WORD.findall(text.casefold()))) for text in texts]
    columns = np.array([places.setdefault(word, len(places)) for bag in bags for word in bag], np.int64)
    lengths = np.array([len(bag) for bag in bags], np.int64)
    values = np.repeat(np.sqrt(WORDS / np.maximum(lengths, 1)), lengths)
    shape = (len(texts), max(1, len(places)))
    by_word = coo_matrix((values, (np.repeat(np.arange(len(texts)), lengths), columns)), shape).tocsr()
    if groups is None:
        return by_word
    own = np.unique(groups, return_inverse=True)[1].ravel()
    return hstack([csr_matrix((np.ones(len(own)), (np.arange(len(own)), own))), by_word], format="csr")


class Reading:
    """The scores of candidates as they come, one for each distinct text. The progress is sent how many there are and the best of them,
    `task.preview` all that are scored so far."""

    def __init__(self, task: Task, texts: Sequence[str]):
        self._places: dict[str, list[int]] = {}
        for position, text in enumerate(texts):
            self._places.setdefault(text, []).append(position)
        self.distinct = list(self._places)  # the distinct texts in the order of their first appearance
        self.most = min(task.read or len(self.distinct), len(self.distinct))  # of these that are read
        self.scores = np.full(len(texts), np.nan)  # float64 [n]; NaN of those that are not read
        self.scored = np.zeros(len(texts), bool)
        self._task, self._done, self._best = task, 0, (-np.inf, "")
        self._advance = Advance(f"Ranking {counted(len(texts), task.unit)}", self.most)

    def received(self, texts: Sequence[str], scores: np.ndarray) -> None:
        """Take the scores of some of the distinct texts; what is there twice has one score."""
        for text, score in zip(texts, scores.tolist(), strict=True):
            self.scores[self._places[text]] = score
            self.scored[self._places[text]] = True
        self._done += len(texts)
        top = int(np.argmax(scores))
        self._best = max(self._best, (float(scores[top]), texts[top]), key=lambda pair: pair[0])
        self._advance(self._done, self._best[1])
        if self._task.preview is not None:
            positions = np.flatnonzero(self.scored)
            self._task.preview(positions, self.scores[positions])

    def through(self, read: Callable[[list[str]], object], fixed: bool = False) -> np.ndarray:
        """float64 [n]: the scores once `read`, which hands them to `received`, was called with the distinct texts, part by part.

        At most `task.read` of them, those first that are expected to be the best. Where all are read and nobody looks on there is one
        part; so there is if `fixed`, for models that give other digits in other batches.
        """
        if self.most == len(self.distinct) and (fixed or self._task.preview is None or self.most <= ROUND):
            read(self.distinct)
            return self.scores
        for part in self._parts():
            read([self.distinct[i] for i in part])
        return self.scores

    def _parts(self) -> Iterator[np.ndarray]:
        first = np.array([places[0] for places in self._places.values()], np.int64)
        groups = self._task.groups
        expectation = Expectation(self.distinct, None if groups is None else groups[first])
        size = ROUND if self.most == len(first) else max(FIRST // 4, min(ROUND, self.most // 4))
        done = part = expectation.begin(min(FIRST, self.most))
        yield part
        while len(done) < self.most:
            size = size if len(done) < LEARNT else len(done)
            part = expectation.order(done, self.scores[first[done]])[: min(size, self.most - len(done))]
            done = np.concatenate([done, part])
            yield part
