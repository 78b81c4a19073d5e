"""Nearest texts by cosine, with sparse vectors of words or of pieces of words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

BLOCK_ROWS = 512  # rows whose similarities are computed at once
# Pieces of more texts than this share say little and would make large products.
MAX_PIECE_SHARE = 0.05


def word_vectors(texts: Sequence[str]) -> Any:
    """Return sparse unit vectors of texts by their words and pairs of words, [texts, pieces]."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\S+").fit_transform(texts)


def letter_vectors(texts: Sequence[str]) -> Any:
    """Return sparse unit vectors by pieces of words, which typing errors change little."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(4, 4), max_df=MAX_PIECE_SHARE)
    return vectorizer.fit_transform(texts)


def nearest_texts(vectors: Any, row: int, count: int) -> list[tuple[int, float]]:
    """Return the nearest other texts of a text with their cosines, the nearest first."""
    cosines = np.asarray((vectors @ vectors[row].T).todense()).ravel()
    cosines[row] = 0.0
    order = np.argsort(-cosines, kind="stable")[:count]
    return [(int(other), float(cosines[other])) for other in order if cosines[other] > 0]


def similar_pairs(vectors: Any, min_cosine: float) -> Iterator[tuple[int, int]]:
    """Yield the pairs of rows with at least this cosine, the smaller index first.

    `vectors` are unit vectors, a sparse matrix or an array.
    """
    for start in range(0, vectors.shape[0], BLOCK_ROWS):
        near = vectors[start : start + BLOCK_ROWS] @ vectors.T >= min_cosine
        for row, column in zip(*(ids.tolist() for ids in near.nonzero())):
            if start + row < column:
                yield start + row, column
