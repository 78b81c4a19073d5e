"""Pairs of related rows of a table, by their vectors or by rare terms that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
    # compared with all others; beyond it the nearest are searched by HNSW
    max_exact_rows: int = 30_000
    hnsw_links: int = 16  # M of HNSW
    hnsw_build_ef: int = 64  # efConstruction
    min_hnsw_search_ef: int = 64  # efSearch
    recall_sample_rows: int = 128  # for which the recall of the exact nearest is measured
    cosine_decimals: int = 6  # further ones are numerical noise
    min_term_letters: int = 3


ROW_SEARCH = RowSearchDefaults()


@dataclass(frozen=True, eq=False)
class NeighbourIndex:
    """Unit rows in an HNSW index over bytes.

    Finding the nearest of all rows takes time that grows as n log n.
    """

    vectors: np.ndarray | UnitRows  # float32 or float16 [n, d]
    index: Any

    @classmethod
    def of(cls, vectors: np.ndarray | UnitRows, watch: Watch = NO_WATCH) -> NeighbourIndex:
        """Build the index of unit rows.

        It is built by one thread, so that equal rows always give the same links.

        Parameters
        ----------
        vectors : float [n, d], with unit rows.
        watch : receives the progress and may raise RunCancelled.

        Returns
        -------
        The index, in memory.
        """
        import faiss

        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        try:
            index = faiss.index_factory(
                vectors.shape[1], f"HNSW{ROW_SEARCH.hnsw_links}_SQ8", faiss.METRIC_INNER_PRODUCT
            )
            index.hnsw.efConstruction = ROW_SEARCH.hnsw_build_ef  # type: ignore[attr-defined]
            index.train(vectors[:: -(-len(vectors) // 20_000)].astype(np.float32))
            for first in range(0, len(vectors), ROW_SEARCH.block_rows):
                watch.check()
                watch.step(first / len(vectors))
                index.add(
                    np.ascontiguousarray(vectors[first : first + ROW_SEARCH.block_rows], np.float32)
                )
        finally:
            faiss.omp_set_num_threads(threads)
        return cls(vectors, index)

    def nearest(self, rows: np.ndarray, keep: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield each row with its nearest others.

        Parameters
        ----------
        rows : row numbers, int64.
        keep : largest number of others, as far as the index finds them.

        Yields
        ------
        A row, its nearest others, and their exact cosines float32, ordered by (-cosine, row).
        """
        queries = np.asarray(self.vectors[rows], np.float32)
        self.index.hnsw.efSearch = max(ROW_SEARCH.min_hnsw_search_ef, 2 * (keep + 1))
        for row, vector, neighbours in zip(
            rows.tolist(), queries, self.index.search(queries, min(len(self.vectors), keep + 8))[1]
        ):
            others = np.sort(neighbours[(neighbours >= 0) & (neighbours != row)])
            cosines = np.round(
                np.asarray(self.vectors[others], np.float32) @ vector, ROW_SEARCH.cosine_decimals
            )
            yield row, *top_k(others, cosines, keep)

    def recall(self, keep: int) -> float:
        """Return the share of the exact `keep` nearest that is found, measured on some rows.

        Equal cosines count as found.
        """
        rows, keep = (
            np.unique(
                np.linspace(0, len(self.vectors) - 1, ROW_SEARCH.recall_sample_rows).astype(
                    np.int64
                )
            ),
            min(keep, len(self.vectors) - 1),
        )
        queries = np.asarray(self.vectors[rows], np.float32)
        blocks = (
            np.asarray(self.vectors[first : first + ROW_SEARCH.max_exact_rows], np.float32)
            for first in range(0, len(self.vectors), ROW_SEARCH.max_exact_rows)
        )
        cosines = np.round(
            np.concatenate([queries @ part.T for part in blocks], axis=1),
            ROW_SEARCH.cosine_decimals,
        )
        cosines[np.arange(len(rows)), rows] = -np.inf
        bars = np.partition(cosines, -keep, axis=1)[:, -keep]
        n_found = sum(
            np.count_nonzero(values >= bar - 1e-5)
            for bar, (_, _, values) in zip(bars, self.nearest(rows, keep))
        )
        return n_found / (keep * len(rows))


def recall_sentence(recall: float, keep: int) -> str:
    """Return a sentence for the report on how the nearest were searched.

    Parameters
    ----------
    recall : measured share of the nearest that is found, 0 to 1.
    keep : number of nearest.

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
    """Return the cosine of each pair of neighbouring unit rows.

    One of the two is among the nearest of the other.

    Parameters
    ----------
    vectors : float [n, d], with unit rows. More than `ROW_SEARCH.max_exact_rows` are searched
        approximately by
        `NeighbourIndex`.
    keep : number of nearest rows.
    min_cosine : least cosine of a pair.
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
        neighbours = NeighbourIndex.of(vectors, watch)
        note(recall_sentence(neighbours.recall(keep), keep))
        for first in range(0, len(vectors), ROW_SEARCH.block_rows):
            watch.check()
            for row, ids, values in neighbours.nearest(
                np.arange(first, min(first + ROW_SEARCH.block_rows, len(vectors))), keep
            ):
                pairs.update(
                    {
                        (min(row, one), max(row, one)): float(value)
                        for one, value in zip(ids.tolist(), values)
                        if value >= min_cosine
                    }
                )
        return dict(sorted(pairs.items()))
    for first in range(0, len(vectors), ROW_SEARCH.block_rows):
        watch.check()
        cosines = np.round(
            vectors[first : first + ROW_SEARCH.block_rows].astype(np.float64)
            @ vectors.T.astype(np.float64),
            ROW_SEARCH.cosine_decimals,
        )
        for offset, row in enumerate(cosines):
            row[first + offset] = -np.inf
            _join(pairs, first + offset, np.flatnonzero(row >= min_cosine), row, keep)
    return dict(sorted(pairs.items()))


def rare_terms(texts: Sequence[str], common: int) -> Any:
    """Return the weights of rare terms in texts.

    The weight is ln(n / n_t) where a text has a term that n_t of the n texts have, else 0.

    Parameters
    ----------
    texts : the texts.
    common : largest number of texts with a term; terms of a single text do not count.

    Returns
    -------
    Sparse float64 [texts, terms].
    """
    from scipy.sparse import csr_array

    bags = [
        sorted({word for word in search_terms(text) if len(word) >= ROW_SEARCH.min_term_letters})
        for text in texts
    ]
    counts: dict[str, int] = {}
    for bag in bags:
        for word in bag:
            counts[word] = counts.get(word, 0) + 1
    terms = {
        word: column
        for column, word in enumerate(
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
    weights: Any, keep: int, min_terms: int, watch: Watch = NO_WATCH
) -> dict[tuple[int, int], float]:
    """Return the summed weights of the terms that pairs of rows share.

    One row of a pair is among those that share the rarest terms with the other.

    Parameters
    ----------
    weights : the result of `rare_terms`.
    keep : number of such rows.
    min_terms : fewest terms that a pair shares.
    watch : checked between blocks of rows; may raise RunCancelled.

    Returns
    -------
    Sums by (a, b), a < b.
    """
    pairs: dict[tuple[int, int], float] = {}
    binary = weights.copy()
    binary.data = (binary.data >= 0).astype(np.float64)
    for first in range(0, weights.shape[0], ROW_SEARCH.block_rows):
        watch.check()
        sums, counts = (
            part[first : first + ROW_SEARCH.block_rows] @ binary.T for part in (weights, binary)
        )
        for row, others, scores in _rows(first, sums, counts, min_terms):
            _join(pairs, row, others, scores, keep)
    return dict(sorted(pairs.items()))


def _rows(
    first: int, sums: Any, counts: Any, min_terms: int
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield each row of a block, the rows that share enough with it, and all shared weights."""
    for offset in range(sums.shape[0]):
        shared, n_shared = sums[[offset]].toarray()[0], counts[[offset]].toarray()[0]
        n_shared[first + offset] = 0
        yield (
            first + offset,
            np.flatnonzero(n_shared >= min_terms),
            np.round(shared, ROW_SEARCH.cosine_decimals),
        )


def _join(
    pairs: dict[tuple[int, int], float], row: int, others: np.ndarray, scores: np.ndarray, keep: int
) -> None:
    ids, values = top_k(others, scores[others], keep)
    for other, score in zip(ids.tolist(), values.tolist()):
        pairs[min(row, other), max(row, other)] = score
