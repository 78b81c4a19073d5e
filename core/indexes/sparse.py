"""Sparse vectors of a graph's nodes by a learned model, computed once and saved."""

from __future__ import annotations

import hashlib
import io
from typing import Any

import numpy as np

from core.errors import damage
from core.graph.store import Graph
from core.graph.texts import node_labels
from core.indexes.place import index_folder, keep_if_possible
from core.io import digests
from core.runtime.meter import spent
from core.watch import NO_WATCH, Watch

BLOCK = 512  # nodes read between two checks for a cancel


@spent("preparation", "Sparse vectors of the graph")
def sparse_nodes(graph: Graph, model: Any, signature: str, watch: Watch = NO_WATCH) -> Any:
    """Return the model's sparse vectors of all nodes, a scipy csr_array float32 [nodes, words].

    `signature` identifies the model in the name of the saved file. Raises
    StoreError, ModelUnavailable, and what `watch` raises.
    """
    key = hashlib.sha256(signature.encode()).hexdigest()[:12]
    return graph.derived.once("sparse nodes", key, lambda: _made(graph, model, key, watch))


def _made(graph: Graph, model: Any, key: str, watch: Watch = NO_WATCH) -> Any:
    from scipy.sparse import load_npz, save_npz, vstack

    file = index_folder(graph) / f"sparse-nodes-{key}.npz"
    if file.exists():
        try:
            digests.check_sealed(file)
            return load_npz(file).tocsr()
        except (OSError, ValueError, KeyError) as error:
            raise damage(f"{file} is", error, "delete it and ask again") from None
    parts = []
    for start in range(0, graph.n_nodes, BLOCK):
        watch.report(f"Reading nodes: {start:,} of {graph.n_nodes:,}", start / graph.n_nodes)
        parts.append(
            model.vectors(
                node_labels(graph, np.arange(start, min(graph.n_nodes, start + BLOCK))), watch
            )
        )
    whole = vstack(parts, format="csr")
    held = io.BytesIO()
    save_npz(held, whole)
    keep_if_possible(file, lambda stream: stream.write(held.getvalue()))
    return whole
