"""Clusters of summary trees, and communities of graphs, that ship with a corpus.

Thus trees and communities are equal on all computers, with and without igraph.
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

CLUSTERS_FIELD = "clusters"  # marks a row of a shipped file with clusters or communities


class ShippedClusters:
    """Shipped clusters of tree layers, and communities of graphs, by digest.

    The digest is that of the layer's texts and the clustering method; for communities, of the graph
    and the operator. Vectors differ in their last bits between processors, and thus clusters may
    differ; communities depend on igraph. A tree or graph whose summaries or reports ship can be
    built on other computers only if its clusters or communities ship too.

    Parameters
    ----------
    files : shipped files, read on the first request.

    Attributes
    ----------
    is_recording : keep what is requested, so that it can ship.
    """

    is_recording = False

    def __init__(self, files: Sequence[Path] = ()):
        self._files = tuple(files)
        self._lock = threading.Lock()
        self._shipped_clusters: dict[str, list[list[int]]] | None = None
        # Clusters that were requested while recording, shipped or computed.
        self._requested: dict[str, Clusters] = {}

    def find_or_make(
        self, method: str, texts: Sequence[str], make: Callable[[], Clusters]
    ) -> Clusters:
        """Return the shipped clusters of some texts or of a graph, or make them if none ship.

        Parameters
        ----------
        method : text that identifies the clustering method and its settings.
        texts : texts of a layer, or the digest of a graph.
        make : makes the clusters.

        Returns
        -------
        For each cluster, the positions of its texts in `texts`, or its nodes, int64.
        """
        key = hashlib.sha256(json.dumps([method, list(texts)]).encode()).hexdigest()
        shipped = self._load_shipped().get(key)
        clusters = make() if shipped is None else [np.array(rows, np.int64) for rows in shipped]
        if self.is_recording:
            self._requested[key] = clusters
        return clusters

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield a shipped row for each recorded request, sorted by key."""
        for key in sorted(self._requested):
            places = [cluster.tolist() for cluster in self._requested[key]]
            yield {CLUSTERS_FIELD: key, "places": places}

    def _load_shipped(self) -> dict[str, list[list[int]]]:
        with self._lock:
            if self._shipped_clusters is None:
                rows = shipped_rows(self._files, CLUSTERS_FIELD)
                self._shipped_clusters = {row[CLUSTERS_FIELD]: row["places"] for row in rows}
            return self._shipped_clusters
