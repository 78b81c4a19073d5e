"""Vectors put into clusters: RAPTOR's mixtures, and balanced k-means."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable

import numpy as np

from core.errors import ModelUnavailable
from core.watch import NO_WATCH, Watch

# as RAPTOR's: of the mixtures that are compared, and of the one that is taken
SEED, FITTED = (224, 0)
DIMENSIONS = 10
SHARE = 0.1  # the least probability with which a vector belongs to a cluster of a mixture
MAX_COMPONENTS = 49  # components of a mixture
REGULARISATION = 1e-6  # added to each variance: scikit-learn's own, which RAPTOR leaves as it is
LEARNT = 2000  # vectors from which a mixture is learnt
ROUNDS = 10  # of balanced k-means
WHOLE = 20_000  # vectors that PCA is given whole; of more the covariance is summed up
TOGETHER = 10_000  # vectors that balanced k-means puts into clusters at a time
REDUCERS = ("pca", "umap")
Clusters = list[np.ndarray]  # of places, each ascending


def mixture(
    vectors: np.ndarray, reducer: str, watch: Watch = NO_WATCH, sought: bool = False
) -> Clusters:
    """RAPTOR's clusters: a Gaussian mixture on all vectors, made of few dimensions, then one inside each of its clusters; the number of
    components, below 50, is that of the least BIC. A vector belongs to each cluster in which it has a probability above .1, so perhaps to
    several.

    Few vectors of a cluster (one more than there are dimensions, or fewer) stay together. Differs from RAPTOR's code in four things:
    vectors are made of few dimensions by PCA unless UMAP is asked for; a mixture is learnt from at most some 2,000 vectors; one that has
    no probability above .1 is in its likeliest cluster, where the code leaves it out; and a cluster that was found twice is taken once.
    Where it is `sought`, the number of components is found by `least_bic` without trying every number. Deterministic.
    """
    found: dict[tuple[int, ...], None] = {}
    for outer in _mixed(
        _reduced(vectors, reducer, math.isqrt(max(1, len(vectors) - 1))), watch, sought
    ):
        inner = [np.arange(len(outer))]
        if len(outer) > DIMENSIONS + 1:
            inner = _mixed(_reduced(vectors[outer], reducer, 10), watch, sought)
        found |= {tuple(outer[part].tolist()): None for part in inner if len(part)}
    return [np.array(one, np.int64) for one in sorted(found)]


def balanced(vectors: np.ndarray, size: int, watch: Watch = NO_WATCH) -> Clusters:
    """Balanced k-means: `n // size` clusters, none with more than the mean number of vectors rounded up; each vector in one (RAPTOR-K).

    More than `TOGETHER` vectors are halved first, between two means, until fewer are left, so that time grows as n log n.

    >>> import numpy as np
    >>> from core.builds.clustering import balanced
    >>> [one.tolist() for one in balanced(np.array([[0.0], [9.0], [1.0], [8.0]]), 2)]
    [[0, 2], [1, 3]]
    """
    from sklearn.cluster import KMeans

    if len(vectors) > TOGETHER:
        found = [
            half[one] for half in _halves(vectors) for one in balanced(vectors[half], size, watch)
        ]
        return sorted(found, key=lambda one: int(one[0]))
    count = max(1, len(vectors) // size)
    if count == 1:
        return [np.arange(len(vectors))]
    centres = KMeans(count, n_init=1, max_iter=ROUNDS, random_state=0).fit(vectors).cluster_centers_
    labels = np.zeros(len(vectors), np.int64)
    for _ in range(ROUNDS):
        watch.check()
        fresh = _assigned(vectors, centres, -(-len(vectors) // count))
        centres = np.stack(
            [
                vectors[fresh == one].mean(axis=0) if (fresh == one).any() else centres[one]
                for one in range(count)
            ]
        )
        if np.array_equal(fresh, labels):
            break
        labels = fresh
    return sorted(
        (np.flatnonzero(labels == one) for one in np.unique(labels)), key=lambda one: int(one[0])
    )


def _halves(vectors: np.ndarray) -> Clusters:
    """The vectors in two halves, ascending, by how far they lie along the line between two means."""
    from sklearn.cluster import KMeans

    one, other = (
        KMeans(2, n_init=1, max_iter=ROUNDS, random_state=0)
        .fit(vectors[:: -(-len(vectors) // LEARNT)])
        .cluster_centers_
    )
    order = np.argsort(np.round(vectors @ (other - one), 6), kind="stable")
    return [np.sort(half) for half in np.array_split(order, 2)]


def _assigned(vectors: np.ndarray, centres: np.ndarray, room: int) -> np.ndarray:
    """The centre of each vector: pairs by distance, the nearest first, as long as a centre has room."""
    distances = np.round(
        ((vectors**2).sum(1)[:, None] - 2 * vectors @ centres.T + (centres**2).sum(1)).astype(
            np.float64
        ),
        6,
    )
    labels, left = np.full(len(vectors), -1, np.int64), np.full(len(centres), room)
    for pair in np.argsort(distances, axis=None, kind="stable").tolist():
        vector, centre = divmod(pair, len(centres))
        if labels[vector] < 0 and left[centre]:
            labels[vector] = centre
            left[centre] -= 1
    return labels


def least_bic(bic: Callable[[int], float], most: int) -> int:
    """The number from 1 to `most` with the least BIC, as far as it is found by trying 1, 2, 4, 8 ..., and then those half way between the
    best and the nearest that were tried: some 14 of 49.

    >>> from core.builds.clustering import least_bic
    >>> tried = {}
    >>> least_bic(lambda count: tried.setdefault(count, (count - 11) ** 2), 49), sorted(tried)
    (11, [1, 2, 4, 6, 8, 9, 10, 11, 12, 14, 16, 32, 49])
    """
    tried = {
        count: bic(count) for count in {*(1 << power for power in range(most.bit_length())), most}
    }
    while True:
        best = min(tried, key=lambda count: (tried[count], count))
        below, above = (
            max((one for one in tried if one < best), default=best),
            min((one for one in tried if one > best), default=best),
        )
        fresh = {(below + best) // 2, (above + best + 1) // 2} - tried.keys()
        if not fresh:
            return best
        tried |= {count: bic(count) for count in fresh}


def _mixed(points: np.ndarray, watch: Watch, sought: bool) -> Clusters:
    """The clusters of a Gaussian mixture, those with nothing in them left out."""
    from sklearn.mixture import GaussianMixture
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    n = len(points)
    if n < 3:
        return [np.arange(n)]
    learnt = points[:: -(-n // LEARNT)]
    different = len(np.unique(np.round(learnt, 6), axis=0))
    most = max(1, min(MAX_COMPONENTS, len(learnt) - 1, different))

    def bic(components: int) -> float:
        watch.check()
        return (
            GaussianMixture(components, reg_covar=REGULARISATION, random_state=SEED)
            .fit(learnt)
            .bic(learnt)
        )

    if sought:
        with threadpool_limits(1):  # of so little work each thread more costs more than it does
            count = least_bic(bic, most)
    else:
        count = 1 + int(np.argmin([bic(components) for components in range(1, most + 1)]))
    best = GaussianMixture(count, reg_covar=REGULARISATION, random_state=FITTED).fit(learnt)
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
            raise ModelUnavailable(
                "UMAP is not installed; get it with: pip install umap-learn, or reduce by PCA."
            )
        import umap  # type: ignore[import-not-found]

        how = dict(
            n_neighbors=max(2, min(neighbours, len(vectors) - 1)),
            n_components=dimensions,
            metric="cosine",
            random_state=SEED,
        )
        return umap.UMAP(**how).fit_transform(vectors)
    if len(vectors) > WHOLE:
        return _projected(vectors, dimensions)
    from sklearn.decomposition import PCA

    return PCA(dimensions, svd_solver="full", random_state=SEED).fit_transform(
        vectors.astype(np.float64)
    )


def _projected(vectors: np.ndarray, dimensions: int) -> np.ndarray:
    """Very many vectors along the directions in which they vary most, by their covariance, which is summed up block after block."""
    blocks = [vectors[first : first + TOGETHER] for first in range(0, len(vectors), TOGETHER)]
    mean = sum(block.sum(axis=0, dtype=np.float64) for block in blocks) / len(vectors)
    spread = sum((centred := block - mean).T @ centred for block in blocks)
    axes = np.linalg.eigh(spread)[1][:, : -dimensions - 1 : -1]
    # an axis has two directions
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(dimensions)])
    return np.concatenate([(block - mean) @ axes for block in blocks])
