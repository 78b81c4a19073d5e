"""How candidates are read by a dear model: those first that are expected to be the best, and what is known of all so far."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from core.models.base import Task
from core.runtime.meter import Advance

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

FIRST = 64  # texts that are read before the others are expected for the first time; where there are no more, all are read at once
# texts that are read before the others are expected anew: so many times those wanted, within bounds
ROUND, LEAST, TIMES = (96, 16, 3)
LEARNT = 512  # scores from which expectations are made
LIKELIEST = 400  # texts whose chance is computed
AT_HAND = 0.03  # seconds within which the first are read where they, and so most likely all, were read before
# Variances, by the evidence of development questions of MetaQA and CWQ:
GROUP, WORDS, TOKENS, LENGTH, NOISE = 0.025, 0.44, 0.45, 0.03, 0.008
WORDS_ALONE = 1.0  # of words where nothing is known of tokens
WORD = re.compile(r"[^\W_]+")
PLURAL = {
    "relation": "relations",
    "triple": "triples",
    "node": "entities",
    "path": "paths",
    "document": "documents",
    "sentence": "sentences",
}

ALONE = threading.Lock()  # held while the number of threads is another


@cache
def _blas() -> Any:
    import scipy.linalg  # noqa: F401  # what is loaded now is found
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra by one thread, the same sums whatever the machine: for matrices this small several threads wait for one another, and
    beside other work take fifty times as much of the processor."""
    with ALONE, _blas().limit(limits=1, user_api="blas"):
        yield


def counted(number: int, unit: str) -> str:
    """So many of a kind of candidates: `960 paths`, `1 path`."""
    if number != 1:
        return f"{number:,} {PLURAL.get(unit, 'texts')}"
    return f"1 {'entity' if unit == 'node' else unit}"


class Expectation:
    """Which texts to read next, and how many of the best are not read yet, by the scores of those that were read: a Gaussian process.

    Score = mean + group + words + tokens + length + noise with independent normal priors, whose variances relative to one another are the
    constants above; the mean and the scale of all are estimated. `tokens` gives cheap vectors of the texts, float [n, d], such as the means
    of their input vectors. It depends on nothing but these, the texts, their groups, and the scores.
    """

    def __init__(
        self,
        texts: Sequence[str],
        groups: np.ndarray | None,
        tokens: Callable[[Sequence[str]], np.ndarray] | None = None,
    ):
        self._texts, self._groups, self._given = texts, groups, tokens

    @cached_property
    def _tokens(self) -> np.ndarray | None:
        return None if self._given is None else np.sqrt(TOKENS) * _scaled(self._given(self._texts))

    @cached_property
    def _rows(self) -> csr_matrix:
        return features(self._texts, self._groups, WORDS_ALONE if self._given is None else WORDS)

    def begin(self, number: int) -> np.ndarray:
        """int64 positions to begin with, at most `number`: the first of each group, large groups first; without groups spread evenly."""
        if self._groups is None:
            return np.unique(np.linspace(0, len(self._texts) - 1, number).astype(np.int64))
        _, first, sizes = np.unique(self._groups, return_index=True, return_counts=True)
        return first[np.lexsort((first, -sizes))][:number]

    @one_thread()
    def order(
        self, read: np.ndarray, scores: np.ndarray, best: int, among: np.ndarray | None = None
    ) -> tuple[np.ndarray, float]:
        """int64 positions of all others, those likeliest to be among the `best` first, ties by position; and how many of the best are
        expected among them.

        `read` int64 [m] with their scores [m]; those `among` which the best are sought are all unless bool [n] is given.
        """
        from scipy.linalg import solve_triangular

        found = np.where(np.isfinite(scores), scores, 0.0)
        some, learnt = read[:LEARNT], found[:LEARNT]
        root = np.linalg.cholesky(self._likeness(some, some) + NOISE * np.eye(len(some)))
        ones, known = solve_triangular(
            root, np.stack([np.ones(len(some)), learnt], axis=1), lower=True
        ).T
        mean = (ones @ known) / (ones @ ones)
        rest = known - mean * ones
        scale = np.sqrt(rest @ rest / len(rest))
        expected = mean + self._weighed(some, solve_triangular(root, rest, lower=True, trans="T"))
        expected = np.round(expected, 9)  # so that ties are ties whatever the order of a sum
        sought = np.ones(len(expected), bool) if among is None else among.copy()
        reached = np.sort(found[sought[read]])[::-1]
        sought[read] = False
        others = np.flatnonzero(sought)
        others = others[np.argsort(-expected[others], kind="stable")]
        if len(reached) < best or not len(others):
            return others, float(min(best - len(reached), len(others)) if len(others) else 0)
        likeliest = others[:LIKELIEST]
        shared = solve_triangular(root, self._likeness(some, likeliest), lower=True)
        spread = scale * np.sqrt(
            np.maximum(self._variances(likeliest) - (shared**2).sum(axis=0), 0.0) + NOISE
        )
        chances = np.round(_chances(expected[likeliest] - reached[best - 1], spread), 9)
        return np.concatenate(
            [likeliest[np.argsort(-chances, kind="stable")], others[LIKELIEST:]]
        ), float(chances.sum())

    def _likeness(self, some: np.ndarray, others: np.ndarray) -> np.ndarray:
        """float64 [s, o]: the covariances of texts at these positions, without noise."""
        alike = (self._rows[some] @ self._rows[others].T).toarray()
        return (
            alike if self._tokens is None else alike + self._tokens[some] @ self._tokens[others].T
        )

    def _variances(self, some: np.ndarray) -> np.ndarray:
        own = np.asarray(self._rows[some].multiply(self._rows[some]).sum(axis=1)).ravel()
        return own if self._tokens is None else own + (self._tokens[some] ** 2).sum(axis=1)

    def _weighed(self, some: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """float64 [n]: the covariances of all texts with some, in a sum with these weights."""
        every = self._rows @ (self._rows[some].T @ weights)
        if self._tokens is None:
            return every
        return every + self._tokens @ (self._tokens[some].T @ weights)


def _chances(above: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """The chances that normal numbers with these means and standard deviations are above 0; half where both are 0."""
    from scipy.special import ndtr

    return ndtr(above / np.maximum(spread, 1e-12))


def _scaled(rows: np.ndarray) -> np.ndarray:
    """float64 [n, d]: vectors about their mean, with squared lengths of 1 on average."""
    about = rows.astype(np.float64) - rows.mean(axis=0, dtype=np.float64)
    return about / max(np.sqrt((about**2).sum(axis=1).mean()), 1e-12)


def features(texts: Sequence[str], groups: np.ndarray | None, words: float) -> csr_matrix:
    """float64 [n, 1 + groups + words]: the number of a text's words about the mean, its group, and each of its words; the squares of each
    kind have their variance in sum (on average, for the first)."""
    from scipy.sparse import coo_matrix, csr_matrix, hstack

    places: dict[str, int] = {}
    bags = [sorted(set(WORD.findall(text.casefold()))) for text in texts]
    columns = np.array(
        [places.setdefault(word, len(places)) for bag in bags for word in bag], np.int64
    )
    lengths = np.array([len(bag) for bag in bags], np.int64)
    values = np.repeat(np.sqrt(words / np.maximum(lengths, 1)), lengths)
    shape = (len(texts), max(1, len(places)))
    by_word = coo_matrix(
        (values, (np.repeat(np.arange(len(texts)), lengths), columns)), shape
    ).tocsr()
    by_length = csr_matrix(np.sqrt(LENGTH) * _scaled(lengths[:, None]))
    if groups is None:
        return hstack([by_length, by_word], format="csr")
    own = np.unique(groups, return_inverse=True)[1].ravel()
    by_group = csr_matrix((np.full(len(own), np.sqrt(GROUP)), (np.arange(len(own)), own)))
    return hstack([by_length, by_group, by_word], format="csr")


class Reading:
    """The scores of candidates as they come, one for each distinct text. The progress is sent how many there are and the best of them,
    `task.preview` all that are scored so far.

    `tokens` gives cheap vectors of texts, float [n, d], where there are any.
    """

    def __init__(
        self,
        task: Task,
        texts: Sequence[str],
        tokens: Callable[[Sequence[str]], np.ndarray] | None = None,
    ):
        self._places: dict[str, list[int]] = {}
        for position, text in enumerate(texts):
            self._places.setdefault(text, []).append(position)
        # the distinct texts in the order of their first appearance
        self.distinct = list(self._places)
        # of these that are read
        self.most = min(task.read or len(self.distinct), len(self.distinct))
        self.scores = np.full(len(texts), np.nan)  # float64 [n]; NaN of those that are not read
        self.scored = np.zeros(len(texts), bool)
        self._task, self._tokens, self._done, self._best = task, tokens, 0, (-np.inf, "")
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

        Those first that are expected to be the best; at most `task.read`, and no more once as many of the best are expected among those
        read as `task.recall` says. Where all are read and nobody looks on there is one part; so there is if `fixed`, for models that give
        other digits in other batches.
        """
        few = len(self.distinct) <= FIRST // (1 + bool(self._task.earlier))
        if (
            self._reads_all
            and (fixed or self._task.preview is None)
            or (few and self.most == len(self.distinct))
        ):
            read(self.distinct)
        else:
            for part in self._parts():
                read([self.distinct[i] for i in part])
        if self._task.earlier is not None:
            scores = (
                (text, float(self.scores[places[0]])) for text, places in self._places.items()
            )
            self._task.earlier.update((text, score) for text, score in scores if np.isfinite(score))
        return self.scores

    @property
    def _reads_all(self) -> bool:
        return self.most == len(self.distinct) and self._task.recall >= 1

    def _parts(self) -> Iterator[np.ndarray]:
        """int64 positions of the distinct texts to read next."""
        task, number = self._task, len(self.distinct)
        first = np.array([places[0] for places in self._places.values()], np.int64)
        earlier = {
            text: score for text, score in (task.earlier or {}).items() if text not in self._places
        }
        texts, before = [*self.distinct, *earlier], np.arange(number, number + len(earlier))
        groups = task.groups
        if groups is not None:  # of what was read earlier each is a group by itself
            groups = np.concatenate(
                [np.unique(groups[first], return_inverse=True)[1].ravel(), before]
            )
        expectation = Expectation(texts, groups, self._tokens)
        best = task.best or number
        size = max(LEAST, min(ROUND, TIMES * best))
        done = part = np.zeros(0, np.int64) if earlier else expectation.begin(min(FIRST, self.most))
        if not earlier:
            began = time.perf_counter()
            yield part
            if self._reads_all and time.perf_counter() - began < AT_HAND:
                yield np.setdiff1d(np.arange(number), done)
                return
        among = np.arange(len(texts)) < number
        while len(done) < self.most:
            scores = np.concatenate([self.scores[first[done]], np.array(list(earlier.values()))])
            order, missing = expectation.order(np.concatenate([done, before]), scores, best, among)
            if task.recall < 1 and missing <= (1 - task.recall) * best:
                return
            part = order[: min(size if len(done) < LEARNT else len(done), self.most - len(done))]
            done = np.concatenate([done, part])
            yield part
