"""Clusters of the texts in a tree's layers, shipped with a corpus for later builds."""

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
    """Clusters of layers, found by their texts and the method.

    Vectors differ in their last bits between processors, and thus clusters may differ. A tree whose
    summaries ship can be built on other computers only if its clusters ship too. `requested` holds
    the clusters that were requested, shipped or computed.
    """

    def __init__(self, files: Sequence[Path] = ()):
        self._files = tuple(files)
        self._lock = threading.Lock()
        self._shipped_clusters: dict[str, list[list[int]]] | None = None
        self.requested: dict[str, list[list[int]]] = {}

    def find_or_make(
        self, how: str, texts: Sequence[str], make: Callable[[], Clusters]
    ) -> Clusters:
        """Return the shipped clusters of some texts, or make them if none ship.

        Parameters
        ----------
        how : text that identifies the method.
        texts : texts of a layer.
        make : makes the clusters of their vectors.

        Returns
        -------
        Positions of the texts of each cluster.
        """
        key = hashlib.sha256(json.dumps([how, list(texts)]).encode()).hexdigest()
        shipped = self._load_shipped().get(key)
        clusters = make() if shipped is None else [np.array(one, np.int64) for one in shipped]
        self.requested[key] = [one.tolist() for one in clusters]
        return clusters

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield a row for each requested layer, by key."""
        return (
            {CLUSTERS_FIELD: key, "places": self.requested[key]} for key in sorted(self.requested)
        )

    def _load_shipped(self) -> dict[str, list[list[int]]]:
        with self._lock:
            if self._shipped_clusters is None:
                rows = shipped_rows(self._files, CLUSTERS_FIELD)
                self._shipped_clusters = {row[CLUSTERS_FIELD]: row["places"] for row in rows}
            return self._shipped_clusters
