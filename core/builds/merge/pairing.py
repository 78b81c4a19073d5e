"""Which rows of a table belong together: by their vectors, or by the rare terms that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from core.graph.order import top_k
from core.models.scorers import words

BLOCK = 512  # rows compared with all others at a time
DIGITS = 6  # of a cosine; what lies behind is the noise of arithmetic
LETTERS = 3  # of a term at least
Check = Callable[[], None]


def nearest_rows(vectors: np.ndarray, keep: int, least: float, check: Check) -> dict[tuple[int, int], float]:
    """The cosine of each pair (a, b), a < b, of unit rows of which one is among the `keep` nearest of the other and `least` near or more.

    >>> from core.builds.merge.pairing import nearest_rows
    >>> nearest_rows(np.array([[1.0, 0.0], [0.8, 0.6], [0.6, -0.8]]), 1, 0.0, lambda: None)  # the third is nearest to the first
    {(0, 1): 0.8, (0, 2): 0.6}
    """
    found: dict[tuple[int, int], float] = {}
    for first in range(0, len(vectors), BLOCK):
        check()
        cosines = np.round(vectors[first : first + BLOCK].astype(np.float64) @ vectors.T.astype(np.float64), DIGITS)
        for place, row in enumerate(cosines):
            row[first + place] = -np.inf
            _join(found, first + place, np.flatnonzero(row >= least), row, keep)
    return dict(sorted(found.items()))


def rare_terms(texts: Sequence[str], common: int) -> Any:
    """float64 [texts, terms], sparse by rows: ln(n / n_t) where a text has a term t that n_t texts have, 2 to `common`, else 0."""
    from scipy.sparse import csr_array

    bags = [sorted({word for word in words(text) if len(word) >= LETTERS}) for text in texts]
    counts: dict[str, int] = {}
    for bag in bags:
        for word in bag:
            counts[word] = counts.get(word, 0) + 1
    terms = {word: place for place, word in enumerate(sorted(word for word, count in counts.items() if 2 <= count <= common))}
    cells = [(row, terms[word], np.log(len(texts) / counts[word])) for row, bag in enumerate(bags) for word in bag if word in terms]
    rows, columns, weights = zip(*cells) if cells else ((), (), ())
    return csr_array((np.array(weights, np.float64), (np.array(rows, int), np.array(columns, int))), shape=(len(texts), len(terms)))


def shared_rows(weights: Any, keep: int, least: int, check: Check) -> dict[tuple[int, int], float]:
    """For each pair of rows that share at least `least` terms, and of which one is among the `keep` that share the rarest with the other,
    the sum of the weights of these terms. `weights` as `rare_terms` gives them."""
    found: dict[tuple[int, int], float] = {}
    binary = weights.copy()
    binary.data = (binary.data >= 0).astype(np.float64)
    for first in range(0, weights.shape[0], BLOCK):
        check()
        sums, counts = (part[first : first + BLOCK] @ binary.T for part in (weights, binary))
        for row, near, scores in _rows(first, sums, counts, least):
            _join(found, row, near, scores, keep)
    return dict(sorted(found.items()))


def _rows(first: int, sums: Any, counts: Any, least: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """For each row of a block its number, the rows that share enough with it, and the weight of what every row shares."""
    for place in range(sums.shape[0]):
        shared, many = sums[[place]].toarray()[0], counts[[place]].toarray()[0]
        many[first + place] = 0
        yield first + place, np.flatnonzero(many >= least), np.round(shared, DIGITS)


def _join(found: dict[tuple[int, int], float], row: int, near: np.ndarray, scores: np.ndarray, keep: int) -> None:
    ids, values = top_k(near, scores[near], keep)
    for other, score in zip(ids.tolist(), values.tolist()):
        found[min(row, other), max(row, other)] = score
