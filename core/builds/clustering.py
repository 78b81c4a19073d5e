"""Clustering of vectors for trees of summaries: RAPTOR's Gaussian mixtures, or balanced k-means."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from core.errors import ModelUnavailable, with_command
from core.watch import NO_WATCH, Watch


@dataclass(frozen=True)
class ClusteringDefaults:
    """Settings of RAPTOR's mixtures and of balanced k-means."""

    raptor_seed: int = 224  # of the mixtures that are compared
    final_mixture_seed: int = 0  # of the mixture with the chosen number of components
    reduced_dimensions: int = 10
    min_cluster_probability: float = 0.1  # with which a vector belongs to a cluster
    max_components: int = 49  # of a mixture, as RAPTOR tries numbers below 50
    # added to each variance; scikit-learn's default, which RAPTOR keeps
    regularisation: float = 1e-6
    max_fitted_vectors: int = 2000  # from which a mixture is learnt
    kmeans_rounds: int = 10
    # read at once by PCA; beyond it the covariance is summed up in blocks
    max_pca_vectors: int = 20_000
    # clustered at once by balanced k-means; also the rows of a block in a large PCA
    max_kmeans_vectors: int = 10_000


CLUSTERING = ClusteringDefaults()
REDUCERS = ("pca", "umap")
Clusters = list[np.ndarray]  # positions of the vectors, ascending in each cluster


def cluster_by_mixtures(
    vectors: np.ndarray,
    reducer: str,
    watch: Watch = NO_WATCH,
    search_count: bool = False,
    seed: int = 0,
) -> Clusters:
    """Cluster vectors as RAPTOR does, by two levels of Gaussian mixtures.

    The first mixture is fitted to all vectors in reduced dimensions, the second inside each of its
    clusters. The number of components, below 50, is the one with the least BIC. A vector belongs to
    every cluster in which its probability is above 0.1, so possibly to several. A cluster stays
    whole if it has at most one vector more than there are dimensions.

    The result is deterministic. It differs from RAPTOR's code in four points:

    - Dimensions are reduced by PCA unless UMAP is requested.
    - A mixture is learnt from at most some 2,000 vectors.
    - A vector without any probability above 0.1 is put into its likeliest cluster. RAPTOR's code
      leaves it out.
    - A cluster that is found twice is returned once.

    Parameters
    ----------
    vectors : float [n, d], one row for each text.
    reducer : "pca" or "umap".
    watch : may raise RunCancelled.
    search_count : search the number of components by `least_bic` instead of trying every number.
    seed : 0 for the seeds of `CLUSTERING`, to which it is added.

    Returns
    -------
    Positions of the vectors of each cluster, int64 ascending.
    """
    clusters: dict[tuple[int, ...], None] = {}
    # The numbers of UMAP's neighbours, here and below, are those of RAPTOR's code.
    points = _reduce_dimensions(vectors, reducer, math.isqrt(max(1, len(vectors) - 1)), seed)
    for outer in _fit_mixture(points, watch, search_count, seed):
        inner = [np.arange(len(outer))]
        if len(outer) > CLUSTERING.reduced_dimensions + 1:
            points = _reduce_dimensions(vectors[outer], reducer, 10, seed)
            inner = _fit_mixture(points, watch, search_count, seed)
        clusters |= {tuple(outer[part].tolist()): None for part in inner if len(part)}
    return [np.array(cluster, np.int64) for cluster in sorted(clusters)]


def cluster_balanced(
    vectors: np.ndarray, size: int, watch: Watch = NO_WATCH, seed: int = 0
) -> Clusters:
    """Cluster vectors by balanced k-means.

    None of the clusters has more than the mean number of vectors, rounded up. Each vector is in one
    cluster. More than `CLUSTERING.max_kmeans_vectors` vectors are first halved between two means,
    repeatedly, so that time grows as n log n.

    Parameters
    ----------
    vectors : float [n, d].
    size : mean number of vectors in a cluster; there are n // size clusters.
    watch : may raise RunCancelled.
    seed : seed of the first means.

    Returns
    -------
    Positions of the vectors of each cluster, int64 ascending; clusters by their first position.

    Notes
    -----
    This is RAPTOR-K of the In-depth Analysis.

    Examples
    --------
    >>> import numpy as np
    >>> from core.builds.clustering import cluster_balanced
    >>> [one.tolist() for one in cluster_balanced(np.array([[0.0], [9.0], [1.0], [8.0]]), 2)]
    [[0, 2], [1, 3]]
    """
    clusters: Clusters = []
    if len(vectors) > CLUSTERING.max_kmeans_vectors:
        for half in _split_in_halves(vectors, seed):
            parts = cluster_balanced(vectors[half], size, watch, seed)
            clusters += [half[part] for part in parts]
        return sorted(clusters, key=lambda cluster: int(cluster[0]))
    count = max(1, len(vectors) // size)
    if count == 1:
        return [np.arange(len(vectors))]
    centres = _kmeans_centres(vectors, count, seed)
    labels = np.zeros(len(vectors), np.int64)
    for _ in range(CLUSTERING.kmeans_rounds):
        watch.check()
        new_labels = _assign_centres(vectors, centres, -(-len(vectors) // count))
        members = [vectors[new_labels == label] for label in range(count)]
        centres = np.stack(
            [some.mean(axis=0) if len(some) else old for some, old in zip(members, centres)]
        )
        if np.array_equal(new_labels, labels):
            break
        labels = new_labels
    clusters = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    return sorted(clusters, key=lambda cluster: int(cluster[0]))


def _kmeans_centres(vectors: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Return the means of k-means, float [count, d]."""
    from sklearn.cluster import KMeans

    kmeans = KMeans(count, n_init=1, max_iter=CLUSTERING.kmeans_rounds, random_state=seed)
    return kmeans.fit(vectors).cluster_centers_


def _split_in_halves(vectors: np.ndarray, seed: int) -> Clusters:
    """Split vectors into two halves by their position along the line between two means.

    Like all comparisons of this module, that of positions is rounded, because the last digits
    differ between processors.
    """
    sample = vectors[:: -(-len(vectors) // CLUSTERING.max_fitted_vectors)]
    first_mean, second_mean = _kmeans_centres(sample, 2, seed)
    order = np.argsort(np.round(vectors @ (second_mean - first_mean), 6), kind="stable")
    return [np.sort(half) for half in np.array_split(order, 2)]


def _assign_centres(vectors: np.ndarray, centres: np.ndarray, capacity: int) -> np.ndarray:
    """Return the centre of each vector, at most `capacity` per centre, nearest pairs first."""
    squares = (vectors**2).sum(1)[:, None] - 2 * vectors @ centres.T + (centres**2).sum(1)
    distances = np.round(squares.astype(np.float64), 6)
    labels = np.full(len(vectors), -1, np.int64)
    free_places = np.full(len(centres), capacity)
    for pair in np.argsort(distances, axis=None, kind="stable").tolist():
        vector, centre = divmod(pair, len(centres))
        if labels[vector] < 0 and free_places[centre]:
            labels[vector] = centre
            free_places[centre] -= 1
    return labels


def least_bic(bic: Callable[[int], float], limit: int) -> int:
    """Search the number of clusters with the least BIC.

    First 1, 2, 4, 8 and so on are tried, then the numbers half way between the best and the nearest
    ones tried, until none is left. Of 49 numbers, some 14 are tried. The search may miss the least
    BIC.

    Parameters
    ----------
    bic : returns the Bayesian information criterion of a number of clusters.
    limit : the largest number.

    Returns
    -------
    A number from 1 to `limit`.

    Examples
    --------
    >>> from core.builds.clustering import least_bic
    >>> tried = {}
    >>> least_bic(lambda count: tried.setdefault(count, (count - 11) ** 2), 49), sorted(tried)
    (11, [1, 2, 4, 6, 8, 9, 10, 11, 12, 14, 16, 32, 49])
    """
    scores = {
        count: bic(count) for count in {*(1 << power for power in range(limit.bit_length())), limit}
    }
    while True:
        best = min(scores, key=lambda count: (scores[count], count))
        below = max((count for count in scores if count < best), default=best)
        above = min((count for count in scores if count > best), default=best)
        untried = {(below + best) // 2, (above + best + 1) // 2} - scores.keys()
        if not untried:
            return best
        scores |= {count: bic(count) for count in untried}


def _fit_mixture(points: np.ndarray, watch: Watch, search_count: bool, seed: int) -> Clusters:
    """Return the non-empty clusters of the Gaussian mixture with the least BIC, as positions."""
    from sklearn.mixture import GaussianMixture
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    n = len(points)
    if n < 3:
        return [np.arange(n)]
    sample = points[:: -(-n // CLUSTERING.max_fitted_vectors)]
    n_distinct = len(np.unique(np.round(sample, 6), axis=0))
    limit = max(1, min(CLUSTERING.max_components, len(sample) - 1, n_distinct))
    new_mixture = partial(GaussianMixture, reg_covar=CLUSTERING.regularisation)

    def bic(components: int) -> float:
        watch.check()
        mixture = new_mixture(components, random_state=CLUSTERING.raptor_seed + seed)
        return mixture.fit(sample).bic(sample)

    if search_count:
        with threadpool_limits(1):  # for so little work, more threads cost more than they save
            count = least_bic(bic, limit)
    else:
        count = 1 + int(np.argmin([bic(components) for components in range(1, limit + 1)]))
    best = new_mixture(count, random_state=CLUSTERING.final_mixture_seed + seed).fit(sample)
    probabilities = best.predict_proba(points)
    # each vector is at least in its likeliest cluster
    probabilities[np.arange(n), probabilities.argmax(axis=1)] = 1.0
    is_member = probabilities > CLUSTERING.min_cluster_probability
    return [np.flatnonzero(column) for column in is_member.T if column.any()]


def _reduce_dimensions(vectors: np.ndarray, reducer: str, neighbours: int, seed: int) -> np.ndarray:
    """Return vectors in fewer dimensions, float [n, dimensions].

    `neighbours` and `seed` are of UMAP alone. Raises ModelUnavailable if UMAP is not installed.
    """
    # RAPTOR's code also has two dimensions fewer than vectors.
    dimensions = min(CLUSTERING.reduced_dimensions, len(vectors) - 2, vectors.shape[1])
    if dimensions < 1:
        return vectors
    if reducer == "umap":
        if importlib.util.find_spec("umap") is None:
            raise ModelUnavailable(
                with_command("UMAP is not installed. PCA reduces too.", "pip install umap-learn")
            )
        import umap  # type: ignore[import-not-found]

        options = dict(
            n_neighbors=max(2, min(neighbours, len(vectors) - 1)),
            n_components=dimensions,
            metric="cosine",
            random_state=CLUSTERING.raptor_seed + seed,
        )
        return umap.UMAP(**options).fit_transform(vectors)
    if len(vectors) > CLUSTERING.max_pca_vectors:
        return _project(vectors, dimensions)
    from sklearn.decomposition import PCA

    return PCA(dimensions, svd_solver="full", random_state=CLUSTERING.raptor_seed).fit_transform(
        vectors.astype(np.float64)
    )


def _project(vectors: np.ndarray, dimensions: int) -> np.ndarray:
    """Project very many vectors on the directions of largest variance, as PCA does.

    Their covariance is summed up block by block, to save memory.
    """
    blocks = [
        vectors[first : first + CLUSTERING.max_kmeans_vectors]
        for first in range(0, len(vectors), CLUSTERING.max_kmeans_vectors)
    ]
    mean = sum(block.sum(axis=0, dtype=np.float64) for block in blocks) / len(vectors)
    covariance = sum((centred := block - mean).T @ centred for block in blocks)
    # Eigenvalues ascend, so the last eigenvectors are taken, in reverse order.
    axes = np.linalg.eigh(covariance)[1][:, : -dimensions - 1 : -1]
    # The sign of an axis is arbitrary. Here its largest component becomes positive.
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(dimensions)])
    return np.concatenate([(block - mean) @ axes for block in blocks])
