"""Order in which an expensive model reads candidates, the most promising first.

The scores read so far predict which of the other candidates score best.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from core.models.base import Task
from core.runtime.meter import ProgressEstimate

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


@dataclass(frozen=True)
class ReadingDefaults:
    """Sizes and prior variances of the order in which candidates are read.

    The variances were chosen by the model evidence on development questions of MetaQA and CWQ.
    """

    first_texts: int = 64  # read before the first prediction; smaller sets are read whole
    max_round_texts: int = 96  # read between two predictions
    min_round_texts: int = 16
    round_texts_per_result: int = 3  # for each result that is wanted
    max_fitted_scores: int = 512  # to which the prediction is fitted
    max_likeliest_texts: int = 400  # whose probability to be among the best is computed
    # first texts read faster were remembered, and so are most likely all
    cached_read_seconds: float = 0.03
    group_variance: float = 0.025
    word_variance: float = 0.44
    token_variance: float = 0.45
    length_variance: float = 0.03
    noise_variance: float = 0.008
    word_variance_alone: float = 1.0  # of words without token vectors


READING_DEFAULTS = ReadingDefaults()
TEXT_WORD = re.compile(r"[^\W_]+")
UNIT_PLURALS = {
    "relation": "relations",
    "triple": "triples",
    "node": "entities",
    "path": "paths",
    "document": "documents",
    "sentence": "sentences",
}

BLAS_LOCK = threading.Lock()  # held while the number of BLAS threads is changed


@cache
def _blas() -> Any:
    # Loads the BLAS library first, since the controller finds only loaded libraries.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


@contextmanager
def single_blas_thread() -> Iterator[None]:
    """Limit linear algebra to one thread within the block.

    Sums are then the same on every machine. For matrices this small, several threads wait for one
    another, and next to other work take fifty times as much processor time.
    """
    with BLAS_LOCK, _blas().limit(limits=1, user_api="blas"):
        yield


def format_count(number: int, unit: str) -> str:
    """Format a number of candidates: `960 paths`, `1 path`.

    Parameters
    ----------
    number : number of candidates.
    unit : kind of the candidates, in the singular; unknown ones are called texts.

    Returns
    -------
    A number and a noun.
    """
    if number != 1:
        return f"{number:,} {UNIT_PLURALS.get(unit, 'texts')}"
    return f"1 {'entity' if unit == 'node' else unit}"


class Expectation:
    """Prediction of the best unread texts from the scores of those that were read.

    It is a Gaussian process: score = mean + group + words + tokens + length + noise, with
    independent normal priors. Their variances relative to one another are the constants above. The
    mean and the common scale are estimated. The prediction depends only on the texts, their groups,
    the token vectors and the scores.

    Parameters
    ----------
    texts : the candidates.
    groups : int [n]; equal for candidates that are alike. None without groups.
    tokens : returns cheap vectors of texts, float [n, d], such as the means of their input vectors.
    """

    def __init__(
        self,
        texts: Sequence[str],
        groups: np.ndarray | None,
        tokens: Callable[[Sequence[str]], np.ndarray] | None = None,
    ):
        self._texts, self._groups, self._read_tokens = texts, groups, tokens

    @cached_property
    def _tokens(self) -> np.ndarray | None:
        return (
            None
            if self._read_tokens is None
            else np.sqrt(READING_DEFAULTS.token_variance)
            * _standardize(self._read_tokens(self._texts))
        )

    @cached_property
    def _rows(self) -> csr_matrix:
        return features(
            self._texts,
            self._groups,
            READING_DEFAULTS.word_variance_alone
            if self._read_tokens is None
            else READING_DEFAULTS.word_variance,
        )

    def begin(self, number: int) -> np.ndarray:
        """Return at most `number` positions to begin with, int64.

        These are the first of each group, large groups first. Without groups they are evenly
        spaced.
        """
        if self._groups is None:
            return np.unique(np.linspace(0, len(self._texts) - 1, number).astype(np.int64))
        _, first, sizes = np.unique(self._groups, return_index=True, return_counts=True)
        return first[np.lexsort((first, -sizes))][:number]

    @single_blas_thread()
    def order(
        self, read: np.ndarray, scores: np.ndarray, top: int, pool: np.ndarray | None = None
    ) -> tuple[np.ndarray, float]:
        """Order the texts that were not read by their probability to be among the best.

        Parameters
        ----------
        read : int64 [m], positions of the texts that were read.
        scores : float [m], their scores.
        top : number of best texts that are sought.
        pool : bool [n], the texts among which they are sought; None for all.

        Returns
        -------
        The positions of the other texts, int64, the most probable first and ties by position, and
            the expected number of the best among them.
        """
        from scipy.linalg import solve_triangular

        finite_scores = np.where(np.isfinite(scores), scores, 0.0)
        sample = read[: READING_DEFAULTS.max_fitted_scores]
        fitted_scores = finite_scores[: len(sample)]
        root = np.linalg.cholesky(
            self._likeness(sample, sample) + READING_DEFAULTS.noise_variance * np.eye(len(sample))
        )
        ones, whitened_scores = solve_triangular(
            root, np.stack([np.ones(len(sample)), fitted_scores], axis=1), lower=True
        ).T
        mean = (ones @ whitened_scores) / (ones @ ones)
        residuals = whitened_scores - mean * ones
        scale = np.sqrt(residuals @ residuals / len(residuals))
        expected = mean + self._weighted_sums(
            sample, solve_triangular(root, residuals, lower=True, trans="T")
        )
        expected = np.round(expected, 9)  # ties stay ties, in whatever order sums are computed
        is_sought = np.ones(len(expected), bool) if pool is None else pool.copy()
        read_scores = np.sort(finite_scores[is_sought[read]])[::-1]
        is_sought[read] = False
        not_read = np.flatnonzero(is_sought)
        not_read = not_read[np.argsort(-expected[not_read], kind="stable")]
        if len(read_scores) < top or not len(not_read):
            return not_read, float(
                min(top - len(read_scores), len(not_read)) if len(not_read) else 0
            )
        likeliest = not_read[: READING_DEFAULTS.max_likeliest_texts]
        shared = solve_triangular(root, self._likeness(sample, likeliest), lower=True)
        deviations = scale * np.sqrt(
            np.maximum(self._variances(likeliest) - (shared**2).sum(axis=0), 0.0)
            + READING_DEFAULTS.noise_variance
        )
        chances = np.round(_chances(expected[likeliest] - read_scores[top - 1], deviations), 9)
        by_chance = likeliest[np.argsort(-chances, kind="stable")]
        others = not_read[len(likeliest) :]
        return np.concatenate([by_chance, others]), float(chances.sum())

    def _likeness(self, some: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the covariances of the texts at these positions without noise, float64 [s, o]."""
        alike = (self._rows[some] @ self._rows[others].T).toarray()
        return (
            alike if self._tokens is None else alike + self._tokens[some] @ self._tokens[others].T
        )

    def _variances(self, rows: np.ndarray) -> np.ndarray:
        variances = np.asarray(self._rows[rows].multiply(self._rows[rows]).sum(axis=1)).ravel()
        return (
            variances if self._tokens is None else variances + (self._tokens[rows] ** 2).sum(axis=1)
        )

    def _weighted_sums(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the weighted sums of the covariances of all texts with some, float64 [n]."""
        every = self._rows @ (self._rows[rows].T @ weights)
        if self._tokens is None:
            return every
        return every + self._tokens @ (self._tokens[rows].T @ weights)


def _chances(means: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """Return the probabilities that normal variables are above 0; one half if both arguments are 0.

    The arguments are their means and standard deviations.
    """
    from scipy.special import ndtr

    return ndtr(means / np.maximum(deviations, 1e-12))


def _standardize(rows: np.ndarray) -> np.ndarray:
    """Return centred vectors with a mean squared length of 1, float64 [n, d]."""
    centred = rows.astype(np.float64) - rows.mean(axis=0, dtype=np.float64)
    return centred / max(np.sqrt((centred**2).sum(axis=1).mean()), 1e-12)


def features(texts: Sequence[str], groups: np.ndarray | None, words: float) -> csr_matrix:
    """Return the features of texts for the Gaussian process.

    The features are the centred number of words, the group, and each word. The squares of the
    features of each kind sum to its variance (on average, for the number of words).

    Parameters
    ----------
    texts : the candidates, n.
    groups : int [n]; equal for candidates that are alike. None without groups.
    words : variance of the features of words.

    Returns
    -------
    float64 [n, 1 + groups + words].
    """
    from scipy.sparse import coo_matrix, csr_matrix, hstack

    word_columns: dict[str, int] = {}
    bags = [sorted(set(TEXT_WORD.findall(text.casefold()))) for text in texts]
    columns = np.array(
        [word_columns.setdefault(word, len(word_columns)) for bag in bags for word in bag], np.int64
    )
    lengths = np.array([len(bag) for bag in bags], np.int64)
    values = np.repeat(np.sqrt(words / np.maximum(lengths, 1)), lengths)
    shape = (len(texts), max(1, len(word_columns)))
    by_word = coo_matrix(
        (values, (np.repeat(np.arange(len(texts)), lengths), columns)), shape
    ).tocsr()
    by_length = csr_matrix(
        np.sqrt(READING_DEFAULTS.length_variance) * _standardize(lengths[:, None])
    )
    if groups is None:
        return hstack([by_length, by_word], format="csr")
    group_index = np.unique(groups, return_inverse=True)[1].ravel()
    by_group = csr_matrix(
        (
            np.full(len(group_index), np.sqrt(READING_DEFAULTS.group_variance)),
            (np.arange(len(group_index)), group_index),
        )
    )
    return hstack([by_length, by_group, by_word], format="csr")


class CandidateScores:
    """Scores of candidates as they arrive, one for each distinct text.

    The number of scores and the best text are reported as progress. `task.preview` receives all
    scores so far.

    Parameters
    ----------
    task : the question, limits, and the preview.
    texts : the candidates.
    tokens : returns cheap vectors of texts, float [n, d]; None without such vectors.
    """

    def __init__(
        self,
        task: Task,
        texts: Sequence[str],
        tokens: Callable[[Sequence[str]], np.ndarray] | None = None,
    ):
        self._slots: dict[str, list[int]] = {}
        for position, text in enumerate(texts):
            self._slots.setdefault(text, []).append(position)
        # The distinct texts in the order of their first occurrence.
        self.distinct = list(self._slots)
        # The number of distinct texts that are read at most.
        self.most = min(task.read or len(self.distinct), len(self.distinct))
        self.scores = np.full(len(texts), np.nan)  # float64 [n]; NaN for unread texts
        self.scored = np.zeros(len(texts), bool)
        self._task, self._tokens, self._n_read, self._best_text = task, tokens, 0, (-np.inf, "")
        self._advance = ProgressEstimate(
            f"Ranking {format_count(len(texts), task.unit)}", self.most
        )

    def received(self, texts: Sequence[str], scores: np.ndarray) -> None:
        """Record the scores of some distinct texts.

        Parameters
        ----------
        texts : distinct texts; equal candidates share their score.
        scores : float [texts].
        """
        for text, score in zip(texts, scores.tolist(), strict=True):
            self.scores[self._slots[text]] = score
            self.scored[self._slots[text]] = True
        self._n_read += len(texts)
        top = int(np.argmax(scores))
        self._best_text = max(
            self._best_text, (float(scores[top]), texts[top]), key=lambda pair: pair[0]
        )
        self._advance(self._n_read, self._best_text[1])
        if self._task.preview is not None:
            positions = np.flatnonzero(self.scored)
            self._task.preview(positions, self.scores[positions])

    def through(self, read: Callable[[list[str]], object], one_part: bool = False) -> np.ndarray:
        """Read the distinct texts in parts, and return the scores.

        Texts that are expected to score best are read first. At most `task.read` are read, and none
        once the fraction `task.recall` of the best is expected to be read.

        Parameters
        ----------
        read : called with each part; it must pass the scores to `received`.
        one_part : reads all texts in one part even with a preview, for models whose scores depend
            on
            the batch.

        Returns
        -------
        float64 [n]; NaN for texts that were not read.
        """
        is_small = len(self.distinct) <= READING_DEFAULTS.first_texts // (
            1 + bool(self._task.earlier)
        )
        if (
            self._reads_all
            and (one_part or self._task.preview is None)
            or (is_small and self.most == len(self.distinct))
        ):
            read(self.distinct)
        else:
            for part in self._parts():
                read([self.distinct[i] for i in part])
        if self._task.earlier is not None:
            scores = (
                (text, float(self.scores[positions[0]])) for text, positions in self._slots.items()
            )
            self._task.earlier.update((text, score) for text, score in scores if np.isfinite(score))
        return self.scores

    @property
    def _reads_all(self) -> bool:
        return self.most == len(self.distinct) and self._task.recall >= 1

    def _parts(self) -> Iterator[np.ndarray]:
        """Yield positions of the distinct texts to read next, int64."""
        task, number = self._task, len(self.distinct)
        first_positions = np.array([positions[0] for positions in self._slots.values()], np.int64)
        old_scores = {
            text: score for text, score in (task.earlier or {}).items() if text not in self._slots
        }
        texts, old_rows = [*self.distinct, *old_scores], np.arange(number, number + len(old_scores))
        groups = task.groups
        if groups is not None:  # each earlier text is a group of its own
            groups = np.concatenate(
                [np.unique(groups[first_positions], return_inverse=True)[1].ravel(), old_rows]
            )
        expectation = Expectation(texts, groups, self._tokens)
        best = task.best or number
        size = max(
            READING_DEFAULTS.min_round_texts,
            min(READING_DEFAULTS.max_round_texts, READING_DEFAULTS.round_texts_per_result * best),
        )
        read_rows = next_rows = (
            np.zeros(0, np.int64)
            if old_scores
            else expectation.begin(min(READING_DEFAULTS.first_texts, self.most))
        )
        if not old_scores:
            began = time.perf_counter()
            yield next_rows
            if (
                self._reads_all
                and time.perf_counter() - began < READING_DEFAULTS.cached_read_seconds
            ):
                yield np.setdiff1d(np.arange(number), read_rows)
                return
        candidates = np.arange(len(texts)) < number
        while len(read_rows) < self.most:
            scores = np.concatenate(
                [self.scores[first_positions[read_rows]], np.array(list(old_scores.values()))]
            )
            order, missing = expectation.order(
                np.concatenate([read_rows, old_rows]), scores, best, candidates
            )
            if task.recall < 1 and missing <= (1 - task.recall) * best:
                return
            next_rows = order[
                : min(
                    size if len(read_rows) < READING_DEFAULTS.max_fitted_scores else len(read_rows),
                    self.most - len(read_rows),
                )
            ]
            read_rows = np.concatenate([read_rows, next_rows])
            yield next_rows
