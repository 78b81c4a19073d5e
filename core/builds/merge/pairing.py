"""Pairs of related rows of a table, by their vectors or by rare terms that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.builds.encoding import UnitRows
from core.graph.order import top_k
from core.models.scorers import words
from core.watch import NO_WATCH, Watch

BLOCK = 512  # rows compared with all others in one batch
# Most rows that are compared with all others. Beyond it, the nearest are searched by HNSW.
EXACT_UP_TO = 30_000
LINKS, BUILDING, SEARCHING = 16, 64, 64  # HNSW: M, efConstruction, and the smallest efSearch
SAMPLE = 128  # rows for which the recall of the exact nearest is measured
DIGITS = 6  # decimals of a cosine; further ones are numerical noise
LETTERS = 3  # fewest letters of a term


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Unit rows in an HNSW index over bytes.

    Finding the nearest of all rows takes time that grows as n log n.
    """

    vectors: np.ndarray | UnitRows  # float32 or float16 [n, d]
    index: Any

    @classmethod
    def of(cls, vectors: np.ndarray | UnitRows, watch: Watch = NO_WATCH) -> Neighbours:
        """Build the index, reporting the progress to `watch`.

        It is built by one thread, so that equal rows always give the same links.
        """
        import faiss

        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        try:
            index = faiss.index_factory(
                vectors.shape[1], f"HNSW{LINKS}_SQ8", faiss.METRIC_INNER_PRODUCT
            )
            index.hnsw.efConstruction = BUILDING  # type: ignore[attr-defined]
            index.train(vectors[:: -(-len(vectors) // 20_000)].astype(np.float32))
            for first in range(0, len(vectors), BLOCK):
                watch.check()
                watch.step(first / len(vectors))
                index.add(np.ascontiguousarray(vectors[first : first + BLOCK], np.float32))
        finally:
            faiss.omp_set_num_threads(threads)
        return cls(vectors, index)

    def nearest(self, rows: np.ndarray, keep: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield each row with its nearest others and their exact cosines (float32).

        There are up to `keep` of them, as far as the index finds them, ordered by (-cosine, row).
        `rows` is a range of row numbers.
        """
        asked = np.asarray(self.vectors[rows], np.float32)
        self.index.hnsw.efSearch = max(SEARCHING, 2 * (keep + 1))
        for row, vector, found in zip(
            rows.tolist(), asked, self.index.search(asked, min(len(self.vectors), keep + 8))[1]
        ):
            others = np.sort(found[(found >= 0) & (found != row)])
            cosines = np.round(np.asarray(self.vectors[others], np.float32) @ vector, DIGITS)
            yield row, *top_k(others, cosines, keep)

    def recall(self, keep: int) -> float:
        """Return the share of the exact `keep` nearest that is found, measured on some rows.

        Equal cosines count as found.
        """
        rows, keep = (
            np.unique(np.linspace(0, len(self.vectors) - 1, SAMPLE).astype(np.int64)),
            min(keep, len(self.vectors) - 1),
        )
        asked = np.asarray(self.vectors[rows], np.float32)
        parts = (
            np.asarray(self.vectors[first : first + EXACT_UP_TO], np.float32)
            for first in range(0, len(self.vectors), EXACT_UP_TO)
        )
        cosines = np.round(np.concatenate([asked @ part.T for part in parts], axis=1), DIGITS)
        cosines[np.arange(len(rows)), rows] = -np.inf
        bars = np.partition(cosines, -keep, axis=1)[:, -keep]
        found = sum(
            np.count_nonzero(values >= bar - 1e-5)
            for bar, (_, _, values) in zip(bars, self.nearest(rows, keep))
        )
        return found / (keep * len(rows))


def sought(recall: float, keep: int) -> str:
    """Return a sentence for the report on how the nearest were searched."""
    return (
        f"The nearest of more than {EXACT_UP_TO:,} are sought by neighbours of neighbours (HNSW), "
        f"which finds {recall:.2f} of the {keep:,} nearest, measured on {SAMPLE} of them."
    )


def nearest_rows(
    vectors: np.ndarray,
    keep: int,
    least: float,
    watch: Watch = NO_WATCH,
    note: Callable[[str], None] = lambda sentence: None,
) -> dict[tuple[int, int], float]:
    """Return the cosine of each pair (a, b), a < b, of neighbouring unit rows.

    One of the two is among the `keep` nearest of the other, and their cosine is at least `least`.
    More than `EXACT_UP_TO` rows are searched approximately by `Neighbours`, and `note` is called
    with a sentence on it.

    >>> from core.builds.merge.pairing import nearest_rows
    >>> vectors = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, -0.8]])
    >>> nearest_rows(vectors, 1, 0.0)  # the third is nearest to the first
    {(0, 1): 0.8, (0, 2): 0.6}
    """
    found: dict[tuple[int, int], float] = {}
    if len(vectors) > EXACT_UP_TO:
        linked = Neighbours.of(vectors, watch)
        note(sought(linked.recall(keep), keep))
        for first in range(0, len(vectors), BLOCK):
            watch.check()
            for row, ids, values in linked.nearest(
                np.arange(first, min(first + BLOCK, len(vectors))), keep
            ):
                found.update(
                    {
                        (min(row, one), max(row, one)): float(value)
                        for one, value in zip(ids.tolist(), values)
                        if value >= least
                    }
                )
        return dict(sorted(found.items()))
    for first in range(0, len(vectors), BLOCK):
        watch.check()
        cosines = np.round(
            vectors[first : first + BLOCK].astype(np.float64) @ vectors.T.astype(np.float64), DIGITS
        )
        for place, row in enumerate(cosines):
            row[first + place] = -np.inf
            _join(found, first + place, np.flatnonzero(row >= least), row, keep)
    return dict(sorted(found.items()))


def rare_terms(texts: Sequence[str], common: int) -> Any:
    """Return the weights of rare terms in texts, sparse float64 [texts, terms].

    The weight is ln(n / n_t) where a text has a term that n_t of the n texts have, else 0. Only
    terms in 2 to `common` texts count.
    """
    from scipy.sparse import csr_array

    bags = [sorted({word for word in words(text) if len(word) >= LETTERS}) for text in texts]
    counts: dict[str, int] = {}
    for bag in bags:
        for word in bag:
            counts[word] = counts.get(word, 0) + 1
    terms = {
        word: place
        for place, word in enumerate(
            sorted(word for word, count in counts.items() if 2 <= count <= common)
        )
    }
    cells = [
        (row, terms[word], np.log(len(texts) / counts[word]))
        for row, bag in enumerate(bags)
        for word in bag
        if word in terms
    ]
    rows, columns, weights = zip(*cells) if cells else ((), (), ())
    return csr_array(
        (np.array(weights, np.float64), (np.array(rows, int), np.array(columns, int))),
        shape=(len(texts), len(terms)),
    )


def shared_rows(
    weights: Any, keep: int, least: int, watch: Watch = NO_WATCH
) -> dict[tuple[int, int], float]:
    """Return the summed weights of the terms that pairs of rows share.

    A pair shares at least `least` terms, and one row is among the `keep` rows that share the rarest
    terms with the other. `weights` come from `rare_terms`.
    """
    found: dict[tuple[int, int], float] = {}
    binary = weights.copy()
    binary.data = (binary.data >= 0).astype(np.float64)
    for first in range(0, weights.shape[0], BLOCK):
        watch.check()
        sums, counts = (part[first : first + BLOCK] @ binary.T for part in (weights, binary))
        for row, near, scores in _rows(first, sums, counts, least):
            _join(found, row, near, scores, keep)
    return dict(sorted(found.items()))


def _rows(
    first: int, sums: Any, counts: Any, least: int
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield each row of a block, the rows that share enough with it, and all shared weights."""
    for place in range(sums.shape[0]):
        shared, many = sums[[place]].toarray()[0], counts[[place]].toarray()[0]
        many[first + place] = 0
        yield first + place, np.flatnonzero(many >= least), np.round(shared, DIGITS)


def _join(
    found: dict[tuple[int, int], float], row: int, near: np.ndarray, scores: np.ndarray, keep: int
) -> None:
    ids, values = top_k(near, scores[near], keep)
    for other, score in zip(ids.tolist(), values.tolist()):
        found[min(row, other), max(row, other)] = score
