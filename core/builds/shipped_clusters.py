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
from core.io.files import numbered_lines

CLUSTERS_FIELD = "clusters"  # marks a row of a shipped file that holds the clusters of a layer


class ShippedClusters:
    """Clusters of layers, found by the texts and the method they were made from.

    Vectors differ in their last bits between processors, and so do the clusters. A tree whose
    summaries ship can be opened elsewhere only if its clusters ship too. `used` holds the clusters
    that were requested, shipped or computed.
    """

    def __init__(self, files: Sequence[Path] = ()):
        self._files, self._lock = tuple(files), threading.Lock()
        self._shipped_clusters: dict[str, list[list[int]]] | None = None
        self.used: dict[str, list[list[int]]] = {}

    def of(self, how: str, texts: Sequence[str], make: Callable[[], Clusters]) -> Clusters:
        """Return the shipped clusters of some texts, or those made now.

        Parameters
        ----------
        how : text that identifies the method.
        texts : texts of a layer.
        make : clusters their vectors, if the clusters do not ship.

        Returns
        -------
        Positions of the texts of each cluster.
        """
        key = hashlib.sha256(json.dumps([how, list(texts)]).encode()).hexdigest()
        shipped = self._load_shipped().get(key)
        clusters = make() if shipped is None else [np.array(one, np.int64) for one in shipped]
        self.used[key] = [one.tolist() for one in clusters]
        return clusters

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield a row for each requested layer, by key."""
        return ({CLUSTERS_FIELD: key, "places": self.used[key]} for key in sorted(self.used))

    def _load_shipped(self) -> dict[str, list[list[int]]]:
        with self._lock:
            if self._shipped_clusters is None:
                rows = (
                    json.loads(line)
                    for file in self._files
                    if file.exists()
                    for _, line in numbered_lines(file)
                )
                self._shipped_clusters = {
                    row[CLUSTERS_FIELD]: row["places"] for row in rows if CLUSTERS_FIELD in row
                }
            return self._shipped_clusters
