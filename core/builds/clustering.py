"""Vectors put into clusters: RAPTOR's mixtures, and balanced k-means."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable

import numpy as np

from core.errors import ModelUnavailable

SEED, FITTED = 224, 0  # as RAPTOR's: of the mixtures that are compared, and of the one that is taken
DIMENSIONS = 10
SHARE = 0.1  # the least probability with which a vector belongs to a cluster of a mixture
MAX_COMPONENTS = 49  # components of a mixture
REGULARISATION = 1e-6  # added to each variance: scikit-learn's own, which RAPTOR leaves as it is
LEARNT = 2000  # vectors from which a mixture is learnt
ROUNDS = 10  # of balanced k-means
TOGETHER = 10_000  # vectors that balanced k-means puts into clusters at a time
REDUCERS = ("pca", "umap")
Check = Callable[[], None]
Clusters = list[np.ndarray]  # of places, each ascending


def mixture(vectors: np.ndarray, reducer: str, check: Check) -> Clusters:
    """RAPTOR's clusters: a Gaussian mixture on all vectors, made of few dimensions, then one inside each of its clusters; the number of
    components, below 50, is that of the least BIC. A vector belongs to each cluster in which it has a probability above .1, so perhaps to
    several.

    Few vectors of a cluster (one more than there are dimensions, or fewer) stay together. Differs from RAPTOR's code in four things:
    vectors are made of few dimensions by PCA unless UMAP is asked for; a mixture is learnt from at most some 2,000 vectors; one that has
    no probability above .1 is in its likeliest cluster, where the code leaves it out; and a cluster that was found twice is taken once.
    Deterministic.
    """
    found: dict[tuple[int, ...], None] = {}
    for outer in _mixed(_reduced(vectors, reducer, math.isqrt(max(1, len(vectors) - 1))), check):
        inner = [np.arange(len(outer))]
        if len(outer) > DIMENSIONS + 1:
            inner = _mixed(_reduced(vectors[outer], reducer, 10), check)
        found |= {tuple(outer[part].tolist()): None for part in inner if len(part)}
    return [np.array(one, np.int64) for one in sorted(found)]


def balanced(vectors: np.ndarray, size: int, check: Check) -> Clusters:
    """Balanced k-means: `n // size` clusters, none with more than the mean number of vectors rounded up; each vector in one (RAPTOR-K).

    More than `TOGETHER` vectors are halved first, between two means, until fewer are left, so that time grows as n log n.

    >>> import numpy as np
    >>> from core.builds.clustering import balanced
    >>> [one.tolist() for one in balanced(np.array([[0.0], [9.0], [1.0], [8.0]]), 2, lambda: None)]
    [[0, 2], [1, 3]]
    """
    from sklearn.cluster import KMeans

    if len(vectors) > TOGETHER:
        found = [half[one] for half in _halves(vectors) for one in balanced(vectors[half], size, check)]
        return sorted(found, key=lambda one: int(one[0]))
    count = max(1, len(vectors) // size)
    if count == 1:
        return [np.arange(len(vectors))]
    centres = KMeans(count, n_init=1, max_iter=ROUNDS, random_state=0).fit(vectors).cluster_centers_
    labels = np.zeros(len(vectors), np.int64)
    for _ in range(ROUNDS):
        check()
        fresh = _assigned(vectors, centres, -(-len(vectors) // count))
        centres = np.stack([vectors[fresh == one].mean(axis=0) if (fresh == one).any() else centres[one] for one in range(count)])
        if np.array_equal(fresh, labels):
            break
        labels = fresh
    return sorted((np.flatnonzero(labels == one) for one in np.unique(labels)), key=lambda one: int(one[0]))


def _halves(vectors: np.ndarray) -> Clusters:
    """The vectors in two halves, ascending, by how far they lie along the line between two means."""
    from sklearn.cluster import KMeans

    one, other = KMeans(2, n_init=1, max_iter=ROUNDS, random_state=0).fit(vectors[:: -(-len(vectors) // LEARNT)]).cluster_centers_
    order = np.argsort(np.round(vectors @ (other - one), 6), kind="stable")
    return [np.sort(half) for half in np.array_split(order, 2)]


def _assigned(vectors: np.ndarray, centres: np.ndarray, room: int) -> np.ndarray:
    """The centre of each vector: pairs by distance, the nearest first, as long as a centre has room."""
    distances = np.round(((vectors**2).sum(1)[:, None] - 2 * vectors @ centres.T + (centres**2).sum(1)).astype(np.float64), 6)
    labels, left = np.full(len(vectors), -1, np.int64), np.full(len(centres), room)
    for pair in np.argsort(distances, axis=None, kind="stable").tolist():
        vector, centre = divmod(pair, len(centres))
        if labels[vector] < 0 and left[centre]:
            labels[vector] = centre
            left[centre] -= 1
    return labels


def _mixed(points: np.ndarray, check: Check) -> Clusters:
    """The clusters of a Gaussian mixture, those with nothing in them left out."""
    from sklearn.mixture import GaussianMixture

    n = len(points)
    if n < 3:
        return [np.arange(n)]
    learnt = points[:: -(-n // LEARNT)]
    different = len(np.unique(np.round(learnt, 6), axis=0))
    scores = []
    for components in range(1, 1 + max(1, min(MAX_COMPONENTS, len(learnt) - 1, different))):
        check()
        scores.append(GaussianMixture(components, reg_covar=REGULARISATION, random_state=SEED).fit(learnt).bic(learnt))
    best = GaussianMixture(1 + int(np.argmin(scores)), reg_covar=REGULARISATION, random_state=FITTED).fit(learnt)
    shares = best.predict_proba(points)
    shares[np.arange(n), shares.argmax(axis=1)] = 1.0  # each is at least in the likeliest
    return [np.flatnonzero(column > SHARE) for column in shares.T if (column > SHARE).any()]


def _reduced(vectors: np.ndarray, reducer: str, neighbours: int) -> np.ndarray:
    """The vectors in few dimensions. Raises ModelUnavailable where UMAP is asked for and not installed."""
    dimensions = min(DIMENSIONS, len(vectors) - 2, vectors.shape[1])
    if dimensions < 1:
        return vectors
    if reducer == "umap":
        if importlib.util.find_spec("umap") is None:
            raise ModelUnavailable("UMAP is not installed; get it with: pip install umap-learn, or reduce by PCA.")
        import umap  # type: ignore[import-not-found]

        how = dict(n_neighbors=max(2, min(neighbours, len(vectors) - 1)), n_components=dimensions, metric="cosine", random_state=SEED)
        return umap.UMAP(**how).fit_transform(vectors)
    from sklearn.decomposition import PCA

    return PCA(dimensions, svd_solver="full", random_state=SEED).fit_transform(vectors.astype(np.float64))
