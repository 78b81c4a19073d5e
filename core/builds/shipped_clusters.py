"""Clusters of summary trees that ship with a corpus.

They are the clusters of a tree's layers. Thus trees are equal on all computers.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.builds.clustering import Clusters
from core.builds.fact_store import shipped_rows

CLUSTERS_FIELD = "clusters"  # marks a row of a shipped file that holds the clusters of a layer


class ShippedClusters:
    """Shipped clusters of tree layers, by digest.

    The digest is that of the layer's texts and the clustering method. Vectors differ in their last
    bits between processors, and thus clusters may differ. A tree whose summaries ship can be built
    on other computers only if its clusters ship too.

    Parameters
    ----------
    files : shipped files, read on the first request.
    """

    def __init__(self, files: Sequence[Path] = ()):
        self._files = tuple(files)
        self._lock = threading.Lock()
        self._shipped_clusters: dict[str, list[list[int]]] | None = None
        # Clusters of all layers that were asked for in this build, shipped or computed.
        self._requested: dict[str, list[list[int]]] = {}

    def find_or_make(
        self, method: str, texts: Sequence[str], make: Callable[[], Clusters]
    ) -> Clusters:
        """Return the shipped clusters of some texts, or make them if none ship.

        Parameters
        ----------
        method : text that identifies the clustering method and its settings.
        texts : texts of a layer.
        make : clusters the vectors of these texts.

        Returns
        -------
        For each cluster, the positions of its texts in `texts`, int64.
        """
        key = hashlib.sha256(json.dumps([method, list(texts)]).encode()).hexdigest()
        shipped = self._load_shipped().get(key)
        clusters = make() if shipped is None else [np.array(rows, np.int64) for rows in shipped]
        self._requested[key] = [cluster.tolist() for cluster in clusters]
        return clusters

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield a shipped row for each requested layer, sorted by key."""
        return (
            {CLUSTERS_FIELD: key, "places": self._requested[key]} for key in sorted(self._requested)
        )

    def _load_shipped(self) -> dict[str, list[list[int]]]:
        with self._lock:
            if self._shipped_clusters is None:
                rows = shipped_rows(self._files, CLUSTERS_FIELD)
                self._shipped_clusters = {row[CLUSTERS_FIELD]: row["places"] for row in rows}
            return self._shipped_clusters
