"""Order in which an expensive model reads candidates: those predicted to score best first.

A scorer reads some candidates, and a Gaussian process predicts the scores of the others from them.
The likeliest are read next. So early previews are good, and reading can stop before the end.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
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

    first_texts: int = 64  # read before the first prediction; smaller sets are read in one part
    max_round_texts: int = 96  # read between two predictions
    min_round_texts: int = 16
    round_texts_per_result: int = 3  # for each of `Task.n_best` results
    max_fitted_scores: int = 512  # scores to which the prediction is fitted
    max_likeliest_texts: int = 400  # texts whose probability to be among the best is computed
    # If the first texts are read faster than this, their vectors were cached. The vectors of the
    # other texts most likely are cached too, so all are then read in one part.
    cached_read_seconds: float = 0.03
    group_variance: float = 0.025
    word_variance: float = 0.44
    token_variance: float = 0.45
    estimate_variance: float = 1.0  # of estimated scores
    length_variance: float = 0.03
    noise_variance: float = 0.008
    word_variance_alone: float = 1.0  # word variance if there are no token vectors


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
    """Return the controller of the number of BLAS threads."""
    # Loads the BLAS library first, since the controller finds only loaded libraries.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


@contextmanager
def single_blas_thread() -> Iterator[None]:
    """Limit linear algebra to one thread within the block.

    Sums are then the same on every machine. For such small matrices, several threads mostly wait
    for one another: while other programs run, they take fifty times as much processor time.
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


@dataclass(frozen=True, eq=False)
class TextEstimates:
    """Cheap vectors of texts, float [n, d], and estimates of their scores, float [n].

    `scores` is None without such estimates.
    """

    vectors: np.ndarray
    scores: np.ndarray | None = None


Estimate = Callable[[Sequence[str]], TextEstimates]


class Expectation:
    """Prediction of the best unread texts from the scores of those that were read.

    It is a Gaussian process: score = mean + group + words + tokens + estimated score + length +
    noise, with independent normal priors. `READING_DEFAULTS` has their relative variances; the mean
    and the common scale are estimated from the scores. The prediction depends only on the texts,
    their groups, their estimates and the scores.

    Parameters
    ----------
    texts : the candidates.
    groups : int [n]; equal for candidates that are alike. None without groups.
    estimate : returns cheap vectors of texts, such as the means of their input vectors, and perhaps
        estimates of their scores. None to predict from words alone.
    """

    def __init__(
        self, texts: Sequence[str], groups: np.ndarray | None, estimate: Estimate | None = None
    ):
        self._texts = texts
        self._groups = groups
        self._estimate = estimate

    @cached_property
    def _tokens(self) -> np.ndarray | None:
        """The scaled estimates of the texts, float64 [n, d or d + 1]; None without them."""
        if self._estimate is None:
            return None
        estimates = self._estimate(self._texts)
        tokens = np.sqrt(READING_DEFAULTS.token_variance) * _standardize(estimates.vectors)
        if estimates.scores is None:
            return tokens
        scores = _standardize(estimates.scores[:, None])
        return np.hstack([tokens, np.sqrt(READING_DEFAULTS.estimate_variance) * scores])

    @cached_property
    def _features(self) -> csr_matrix:
        word_variance = READING_DEFAULTS.word_variance
        if self._estimate is None:
            word_variance = READING_DEFAULTS.word_variance_alone
        return make_features(self._texts, self._groups, word_variance)

    def pick_first(self, number: int) -> np.ndarray:
        """Return at most `number` positions of texts to read first, int64.

        With groups these are the first text of each group, large groups first. Without groups they
        are evenly spaced.
        """
        if self._groups is None:
            return np.unique(np.linspace(0, len(self._texts) - 1, number).astype(np.int64))
        _, first, sizes = np.unique(self._groups, return_index=True, return_counts=True)
        return first[np.lexsort((first, -sizes))][:number]

    @single_blas_thread()
    def rank_rest(
        self, read: np.ndarray, scores: np.ndarray, top: int, pool: np.ndarray | None = None
    ) -> tuple[np.ndarray, float]:
        """Order the texts that were not read by their probability to be among the best.

        The process is fitted to the first scores, with the mean estimated by generalized least
        squares. The unread texts are ordered by expected score. The likeliest of them are ordered
        again, by the probability to exceed the score that is at rank `top` so far.

        Parameters
        ----------
        read : int64 [m], positions of the texts that were read.
        scores : float [m], their scores.
        top : number of best texts to find.
        pool : bool [n], the texts among which the best are to be found; None for all.

        Returns
        -------
        The positions of the unread texts of the pool, int64, the most probable first and ties by
            position; and the number of the best texts that are expected among them.
        """
        from scipy.linalg import solve_triangular

        finite_scores = np.where(np.isfinite(scores), scores, 0.0)
        sample = read[: READING_DEFAULTS.max_fitted_scores]
        fitted_scores = finite_scores[: len(sample)]
        noise = READING_DEFAULTS.noise_variance * np.eye(len(sample))
        root = np.linalg.cholesky(self._covariances(sample, sample) + noise)
        ones, whitened_scores = solve_triangular(
            root, np.stack([np.ones(len(sample)), fitted_scores], axis=1), lower=True
        ).T
        mean = (ones @ whitened_scores) / (ones @ ones)
        residuals = whitened_scores - mean * ones
        scale = np.sqrt(residuals @ residuals / len(residuals))
        weights = solve_triangular(root, residuals, lower=True, trans="T")
        expected = mean + self._weighted_covariances(sample, weights)
        expected = np.round(expected, 9)  # ties stay ties, in whatever order sums are computed
        in_pool = np.ones(len(expected), bool) if pool is None else pool.copy()
        read_scores = np.sort(finite_scores[in_pool[read]])[::-1]
        in_pool[read] = False
        not_read = np.flatnonzero(in_pool)
        not_read = not_read[np.argsort(-expected[not_read], kind="stable")]
        if not len(not_read):
            return not_read, 0.0
        if len(read_scores) < top:
            return not_read, float(min(top - len(read_scores), len(not_read)))
        likeliest = not_read[: READING_DEFAULTS.max_likeliest_texts]
        explained = solve_triangular(root, self._covariances(sample, likeliest), lower=True)
        variances = self._variances(likeliest) - (explained**2).sum(axis=0)
        deviations = scale * np.sqrt(np.maximum(variances, 0.0) + READING_DEFAULTS.noise_variance)
        lead = expected[likeliest] - read_scores[top - 1]
        probabilities = np.round(_probabilities_above_0(lead, deviations), 9)
        by_probability = likeliest[np.argsort(-probabilities, kind="stable")]
        others = not_read[len(likeliest) :]
        return np.concatenate([by_probability, others]), float(probabilities.sum())

    def _covariances(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the covariances of texts at these positions, without noise, float64 [r, c]."""
        covariances = (self._features[rows] @ self._features[columns].T).toarray()
        if self._tokens is None:
            return covariances
        return covariances + self._tokens[rows] @ self._tokens[columns].T

    def _variances(self, rows: np.ndarray) -> np.ndarray:
        """Return the variances of the texts at these positions, without noise, float64 [r]."""
        features = self._features[rows]
        variances = np.asarray(features.multiply(features).sum(axis=1)).ravel()
        if self._tokens is None:
            return variances
        return variances + (self._tokens[rows] ** 2).sum(axis=1)

    def _weighted_covariances(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return each text's covariances with those at `rows`, as a weighted sum, float64 [n]."""
        sums = self._features @ (self._features[rows].T @ weights)
        if self._tokens is None:
            return sums
        return sums + self._tokens @ (self._tokens[rows].T @ weights)


def _probabilities_above_0(means: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """Return the probabilities that normal variables are above 0.

    For a mean and a standard deviation of 0 the probability is one half.
    """
    from scipy.special import ndtr

    return ndtr(means / np.maximum(deviations, 1e-12))


def _standardize(rows: np.ndarray) -> np.ndarray:
    """Return centred vectors with a mean squared length of 1, float64 [n, d]."""
    centred = rows.astype(np.float64) - rows.mean(axis=0, dtype=np.float64)
    return centred / max(np.sqrt((centred**2).sum(axis=1).mean()), 1e-12)


def make_features(
    texts: Sequence[str], groups: np.ndarray | None, word_variance: float
) -> csr_matrix:
    """Return the features of texts for the Gaussian process.

    The features are the centred number of words, the group, and each word. The squares of the
    features of each kind sum to its variance (on average, for the number of words).

    Parameters
    ----------
    texts : the candidates, n.
    groups : int [n]; equal for candidates that are alike. None without groups.
    word_variance : variance of the features of words.

    Returns
    -------
    float64 [n, 1 + groups + words].
    """
    from scipy.sparse import coo_matrix, csr_matrix, hstack

    word_columns: dict[str, int] = {}
    bags = [sorted(set(TEXT_WORD.findall(text.casefold()))) for text in texts]
    columns = np.array(
        [word_columns.setdefault(word, len(word_columns)) for word in chain(*bags)], np.int64
    )
    lengths = np.array([len(bag) for bag in bags], np.int64)
    rows = np.arange(len(texts))
    values = np.repeat(np.sqrt(word_variance / np.maximum(lengths, 1)), lengths)
    shape = (len(texts), max(1, len(word_columns)))
    by_word = coo_matrix((values, (np.repeat(rows, lengths), columns)), shape).tocsr()
    by_length = csr_matrix(
        np.sqrt(READING_DEFAULTS.length_variance) * _standardize(lengths[:, None])
    )
    if groups is None:
        return hstack([by_length, by_word], format="csr")
    group_columns = _number_groups(groups)
    group_values = np.full(len(rows), np.sqrt(READING_DEFAULTS.group_variance))
    by_group = csr_matrix((group_values, (rows, group_columns)))
    return hstack([by_length, by_group, by_word], format="csr")


def _number_groups(groups: np.ndarray) -> np.ndarray:
    """Return groups renumbered from 0 on without gaps, int64 [n]."""
    return np.unique(groups, return_inverse=True)[1].ravel()


class CandidateScores:
    """Scores of candidates as they arrive, one for each distinct text.

    The number of texts read and the best of them are reported as progress. `task.preview` receives
    all scores so far.

    Parameters
    ----------
    task : the question, limits, and the preview.
    texts : the candidates.
    estimate : returns cheap vectors of texts, and perhaps their scores; None without such.
    """

    def __init__(self, task: Task, texts: Sequence[str], estimate: Estimate | None = None):
        self._slots: dict[str, list[int]] = {}  # positions of each distinct text
        for position, text in enumerate(texts):
            self._slots.setdefault(text, []).append(position)
        self.distinct_texts = list(self._slots)  # in the order of their first occurrence
        self.max_read = min(
            task.max_read or len(self.distinct_texts), len(self.distinct_texts)
        )  # most distinct texts that are read
        self.scores = np.full(len(texts), np.nan)  # float64 [n]; NaN for unread texts
        self.is_scored = np.zeros(len(texts), bool)
        self._task = task
        self._estimate = estimate
        self._n_read = 0
        self._best_score = -np.inf
        self._best_text = ""
        self._advance = ProgressEstimate(
            f"Ranking {format_count(len(texts), task.unit)}", self.max_read
        )

    def record(self, texts: Sequence[str], scores: np.ndarray) -> None:
        """Record the scores of some distinct texts.

        Parameters
        ----------
        texts : distinct texts; equal candidates share their score.
        scores : float [texts].
        """
        for text, score in zip(texts, scores.tolist(), strict=True):
            self.scores[self._slots[text]] = score
            self.is_scored[self._slots[text]] = True
        self._n_read += len(texts)
        top = int(np.argmax(scores))
        if scores[top] > self._best_score:
            self._best_score = float(scores[top])
            self._best_text = texts[top]
        self._advance(self._n_read, self._best_text)
        if self._task.preview is not None:
            positions = np.flatnonzero(self.is_scored)
            self._task.preview(positions, self.scores[positions])

    def read_in_order(
        self, read: Callable[[list[str]], object], one_part: bool = False
    ) -> np.ndarray:
        """Read the distinct texts in parts, and return the scores.

        Texts that are expected to score best are read first. At most `task.max_read` are read.
        Reading stops once the fraction `task.recall` of the `task.n_best` best is expected to be
        read.

        Parameters
        ----------
        read : called with the texts of each part; it must pass their scores to `record`.
        one_part : if true, all texts are read in one part even with a preview, for models whose
            scores depend on the batch.

        Returns
        -------
        float64 [n]; NaN for texts that were not read.
        """
        # With earlier scores a prediction needs fewer new ones.
        max_small = READING_DEFAULTS.first_texts // (2 if self._task.earlier_scores else 1)
        is_small = len(self.distinct_texts) <= max_small and self.max_read == len(
            self.distinct_texts
        )
        if is_small or (self._reads_all and (one_part or self._task.preview is None)):
            read(self.distinct_texts)
        else:
            for part in self._iter_parts():
                read([self.distinct_texts[i] for i in part])
        if self._task.earlier_scores is not None:
            for text, positions in self._slots.items():
                score = float(self.scores[positions[0]])
                if np.isfinite(score):
                    self._task.earlier_scores[text] = score
        return self.scores

    @property
    def _reads_all(self) -> bool:
        """True if no limit ends the reading early."""
        return self.max_read == len(self.distinct_texts) and self._task.recall >= 1

    def _iter_parts(self) -> Iterator[np.ndarray]:
        """Yield positions of the distinct texts to read next, int64."""
        task = self._task
        number = len(self.distinct_texts)
        first_positions = np.array([positions[0] for positions in self._slots.values()], np.int64)
        # Earlier scores of other texts, which only serve the prediction.
        old_scores = {
            text: score
            for text, score in (task.earlier_scores or {}).items()
            if text not in self._slots
        }
        texts = [*self.distinct_texts, *old_scores]
        old_rows = np.arange(number, len(texts))
        groups = task.groups
        if groups is not None:  # each earlier text is a group of its own
            groups = np.concatenate([_number_groups(groups[first_positions]), old_rows])
        expectation = Expectation(texts, groups, self._estimate)
        best = task.n_best or number
        round_size = min(
            READING_DEFAULTS.max_round_texts, READING_DEFAULTS.round_texts_per_result * best
        )
        round_size = max(READING_DEFAULTS.min_round_texts, round_size)
        read_rows = np.zeros(0, np.int64)
        if not old_scores:
            read_rows = expectation.pick_first(min(READING_DEFAULTS.first_texts, self.max_read))
            start = time.perf_counter()
            yield read_rows
            seconds = time.perf_counter() - start
            if self._reads_all and seconds < READING_DEFAULTS.cached_read_seconds:
                yield np.setdiff1d(np.arange(number), read_rows)
                return
        is_candidate = np.arange(len(texts)) < number  # the others have earlier scores
        while len(read_rows) < self.max_read:
            new_scores = self.scores[first_positions[read_rows]]
            order, n_best_missing = expectation.rank_rest(
                np.concatenate([read_rows, old_rows]),
                np.concatenate([new_scores, np.array(list(old_scores.values()))]),
                best,
                is_candidate,
            )
            if task.recall < 1 and n_best_missing <= (1 - task.recall) * best:
                return
            if len(read_rows) >= READING_DEFAULTS.max_fitted_scores:
                round_size = len(read_rows)  # further scores do not improve the prediction
            next_rows = order[: min(round_size, self.max_read - len(read_rows))]
            read_rows = np.concatenate([read_rows, next_rows])
            yield next_rows
