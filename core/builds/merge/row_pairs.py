"""Search for pairs of similar rows.

Rows are similar by their vectors or by rare terms that their texts share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from core.builds.text_vectors import UnitRows
from core.graph.order import top_k
from core.languages.terms import search_terms
from core.watch import NO_WATCH, Watch


@dataclass(frozen=True)
class RowSearchDefaults:
    """Sizes of the search for pairs of similar rows."""

    block_rows: int = 512  # compared with all others in one batch
    max_exact_rows: int = 30_000  # beyond it the nearest are searched by HNSW
    hnsw_links: int = 16  # M of HNSW
    hnsw_build_ef: int = 64  # efConstruction
    min_hnsw_search_ef: int = 64  # efSearch
    training_rows: int = 20_000  # from which the range of values of a byte is learnt
    recall_sample_rows: int = 128  # for which the recall of the exact nearest is measured
    cosine_decimals: int = 6  # further digits are numerical noise
    min_term_letters: int = 3


ROW_SEARCH = RowSearchDefaults()


@dataclass(frozen=True, eq=False)
class NeighbourIndex:
    """Unit vectors in an HNSW index of faiss, with one byte per dimension.

    Finding the nearest of all n rows takes time that grows as n log n.
    """

    vectors: np.ndarray | UnitRows  # float32 or float16 [n, d]
    index: Any

    @classmethod
    def build(cls, vectors: np.ndarray | UnitRows, watch: Watch = NO_WATCH) -> NeighbourIndex:
        """Build the index of unit vectors.

        It is built by one thread, so that equal rows always give the same links.

        Parameters
        ----------
        vectors : float [n, d], with rows of length 1.
        watch : receives the progress and may raise RunCancelled.

        Returns
        -------
        The index, in memory.
        """
        import faiss

        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        try:
            kind = f"HNSW{ROW_SEARCH.hnsw_links}_SQ8"
            index = faiss.index_factory(vectors.shape[1], kind, faiss.METRIC_INNER_PRODUCT)
            index.hnsw.efConstruction = ROW_SEARCH.hnsw_build_ef  # type: ignore[attr-defined]
            sample = vectors[:: -(-len(vectors) // ROW_SEARCH.training_rows)]
            index.train(sample.astype(np.float32))
            for first in range(0, len(vectors), ROW_SEARCH.block_rows):
                watch.check()
                watch.step(first / len(vectors))
                block = vectors[first : first + ROW_SEARCH.block_rows]
                index.add(np.ascontiguousarray(block, np.float32))
        finally:
            faiss.omp_set_num_threads(threads)
        return cls(vectors, index)

    def nearest(self, rows: np.ndarray, keep: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield each row with its nearest others.

        Parameters
        ----------
        rows : row numbers, int64.
        keep : largest number of others; there may be fewer if the index does not find as many.

        Yields
        ------
        A row, its nearest others, and their exact cosines float32, ordered by (-cosine, row).
        """
        queries = np.asarray(self.vectors[rows], np.float32)
        self.index.hnsw.efSearch = max(ROW_SEARCH.min_hnsw_search_ef, 2 * (keep + 1))
        # A few more than `keep`: the row itself is found, and bytes order near rows inexactly.
        _, neighbours_of_rows = self.index.search(queries, min(len(self.vectors), keep + 8))
        for row, vector, neighbours in zip(rows.tolist(), queries, neighbours_of_rows):
            # -1 marks a neighbour that was not found.
            others = np.sort(neighbours[(neighbours >= 0) & (neighbours != row)])
            cosines = np.asarray(self.vectors[others], np.float32) @ vector
            yield row, *top_k(others, np.round(cosines, ROW_SEARCH.cosine_decimals), keep)

    def recall(self, keep: int) -> float:
        """Return the share of the exact `keep` nearest rows found.

        It is from 0 to 1. It is measured on `ROW_SEARCH.recall_sample_rows` rows. A found row
        counts if its cosine is at least that of the last of the exact nearest.
        """
        n = len(self.vectors)
        keep = min(keep, n - 1)
        rows = np.unique(np.linspace(0, n - 1, ROW_SEARCH.recall_sample_rows).astype(np.int64))
        queries = np.asarray(self.vectors[rows], np.float32)
        parts = []
        for first in range(0, n, ROW_SEARCH.max_exact_rows):
            block = np.asarray(self.vectors[first : first + ROW_SEARCH.max_exact_rows], np.float32)
            parts.append(queries @ block.T)
        cosines = np.round(np.concatenate(parts, axis=1), ROW_SEARCH.cosine_decimals)
        cosines[np.arange(len(rows)), rows] = -np.inf  # not with itself
        lowest_cosines = np.partition(cosines, -keep, axis=1)[:, -keep]
        n_found = sum(
            np.count_nonzero(values >= lowest - 1e-5)
            for lowest, (_, _, values) in zip(lowest_cosines, self.nearest(rows, keep))
        )
        return n_found / (keep * len(rows))


def recall_sentence(recall: float, keep: int) -> str:
    """Return a sentence for the report on the approximate search for the nearest.

    Parameters
    ----------
    recall : measured share of the nearest that is found, 0 to 1.
    keep : number of nearest rows that were searched.

    Returns
    -------
    A sentence.
    """
    return (
        f"The nearest of more than {ROW_SEARCH.max_exact_rows:,} are sought by neighbours of "
        "neighbours (HNSW), "
        f"which finds {recall:.2f} of the {keep:,} nearest, measured on "
        f"{ROW_SEARCH.recall_sample_rows} of them."
    )


def nearest_rows(
    vectors: np.ndarray,
    keep: int,
    min_cosine: float,
    watch: Watch = NO_WATCH,
    note: Callable[[str], None] = lambda sentence: None,
) -> dict[tuple[int, int], float]:
    """Return the cosine of each pair of nearest rows.

    One row of a pair is among the nearest of the other.

    Parameters
    ----------
    vectors : float [n, d], with unit rows. More than `ROW_SEARCH.max_exact_rows` are searched
        approximately by `NeighbourIndex`.
    keep : number of nearest rows of each row.
    min_cosine : lowest cosine of a pair.
    watch : receives the progress and may raise RunCancelled.
    note : called with a sentence on an approximate search.

    Returns
    -------
    Cosines by (a, b), a < b.

    Examples
    --------
    >>> from core.builds.merge.row_pairs import nearest_rows
    >>> vectors = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, -0.8]])
    >>> nearest_rows(vectors, 1, 0.0)  # the third is nearest to the first
    {(0, 1): 0.8, (0, 2): 0.6}
    """
    pairs: dict[tuple[int, int], float] = {}
    if len(vectors) > ROW_SEARCH.max_exact_rows:
        neighbours = NeighbourIndex.build(vectors, watch)
        note(recall_sentence(neighbours.recall(keep), keep))
        for first in range(0, len(vectors), ROW_SEARCH.block_rows):
            watch.check()
            rows = np.arange(first, min(first + ROW_SEARCH.block_rows, len(vectors)))
            for row, others, values in neighbours.nearest(rows, keep):
                for other, value in zip(others.tolist(), values):
                    if value >= min_cosine:
                        pairs[min(row, other), max(row, other)] = float(value)
        return dict(sorted(pairs.items()))
    for first in range(0, len(vectors), ROW_SEARCH.block_rows):
        watch.check()
        block = vectors[first : first + ROW_SEARCH.block_rows].astype(np.float64)
        cosines = np.round(block @ vectors.T.astype(np.float64), ROW_SEARCH.cosine_decimals)
        for row, row_cosines in enumerate(cosines, first):
            row_cosines[row] = -np.inf  # not with itself
            near_rows = np.flatnonzero(row_cosines >= min_cosine)
            _add_best_pairs(pairs, row, near_rows, row_cosines, keep)
    return dict(sorted(pairs.items()))


def rare_terms(texts: Sequence[str], common: int) -> Any:
    """Return the weights of rare terms in texts.

    The weight is ln(n / n_t) if a text has a term that n_t of the n texts have, else 0.

    Parameters
    ----------
    texts : the texts.
    common : largest number of texts with a term. Terms of a single text are left out.

    Returns
    -------
    Sparse float64 [texts, terms].
    """
    from scipy.sparse import csr_array

    bags = [
        sorted({word for word in search_terms(text) if len(word) >= ROW_SEARCH.min_term_letters})
        for text in texts
    ]
    counts = Counter(chain.from_iterable(bags))
    terms = sorted(word for word, count in counts.items() if 2 <= count <= common)
    column_of_term = {word: column for column, word in enumerate(terms)}
    rows: list[int] = []
    columns: list[int] = []
    weights: list[float] = []
    for row, bag in enumerate(bags):
        for word in filter(column_of_term.__contains__, bag):
            rows.append(row)
            columns.append(column_of_term[word])
            weights.append(np.log(len(texts) / counts[word]))
    return csr_array(
        (np.array(weights, np.float64), (np.array(rows, int), np.array(columns, int))),
        shape=(len(texts), len(terms)),
    )


def shared_rows(
    weights: Any, keep: int, min_terms: int, watch: Watch = NO_WATCH
) -> dict[tuple[int, int], float]:
    """Return the summed weights of the rare terms that pairs of rows share.

    A pair is returned if one row is among the `keep` rows with the greatest sums for the other.

    Parameters
    ----------
    weights : the result of `rare_terms`.
    keep : number of partners for each row.
    min_terms : fewest terms that a pair shares.
    watch : checked between blocks of rows; may raise RunCancelled.

    Returns
    -------
    Sums by (a, b), a < b.
    """
    pairs: dict[tuple[int, int], float] = {}
    # 1 for each term of a row, also if its weight is 0. Its product with itself counts shared
    # terms.
    binary = weights.copy()
    binary.data = (binary.data >= 0).astype(np.float64)
    for first in range(0, weights.shape[0], ROW_SEARCH.block_rows):
        watch.check()
        sums, counts = (
            part[first : first + ROW_SEARCH.block_rows] @ binary.T for part in (weights, binary)
        )
        for offset in range(sums.shape[0]):
            row = first + offset
            row_sums, row_counts = sums[[offset]].toarray()[0], counts[[offset]].toarray()[0]
            row_counts[row] = 0  # not with itself
            others = np.flatnonzero(row_counts >= min_terms)
            scores = np.round(row_sums, ROW_SEARCH.cosine_decimals)
            _add_best_pairs(pairs, row, others, scores, keep)
    return dict(sorted(pairs.items()))


def _add_best_pairs(
    pairs: dict[tuple[int, int], float], row: int, others: np.ndarray, scores: np.ndarray, keep: int
) -> None:
    """Add the pairs of a row with the `keep` others of the greatest scores."""
    ids, values = top_k(others, scores[others], keep)
    for other, score in zip(ids.tolist(), values.tolist()):
        pairs[min(row, other), max(row, other)] = score
