"""Sparse vectors of a graph's nodes by a learned model, computed once and saved."""

from __future__ import annotations

import hashlib
import io
from typing import Any

import numpy as np

from core.errors import damage_error
from core.graph.store import Graph
from core.graph.texts import node_labels
from core.indexes.index_storage import index_folder, write_if_possible
from core.io import digests
from core.runtime.meter import count_time
from core.watch import NO_WATCH, Watch

SPARSE_BATCH_NODES = 512  # nodes encoded between two checks for a cancellation


@count_time("preparation", "Sparse vectors of the graph")
def sparse_nodes(graph: Graph, model: Any, signature: str, watch: Watch = NO_WATCH) -> Any:
    """Return a model's sparse vectors of all nodes.

    Parameters
    ----------
    graph : the graph, whose node texts are encoded.
    model : a sparse encoder such as `Splade`.
    signature : identifies the model in the name of the saved file.
    watch : receives the progress; what it raises stops the work.

    Returns
    -------
    A csr_array of scipy, float32 [nodes, words].

    Raises
    ------
    StoreError : saved vectors are damaged, or new ones cannot be saved.
    ModelUnavailable : the model is not installed.
    """
    key = hashlib.sha256(signature.encode()).hexdigest()[:12]
    return graph.derived.get_or_make(
        "sparse nodes", key, lambda: _load_vectors(graph, model, key, watch)
    )


def _load_vectors(graph: Graph, model: Any, key: str, watch: Watch = NO_WATCH) -> Any:
    """Return the saved vectors, or compute and save them."""
    from scipy.sparse import load_npz, save_npz, vstack

    file = index_folder(graph) / f"sparse-nodes-{key}.npz"
    if file.exists():
        try:
            digests.check_appended_digest(file)
            return load_npz(file).tocsr()
        except (OSError, ValueError, KeyError) as error:
            raise damage_error(f"{file} is", error, "delete it and ask again") from None
    blocks = []
    for start in range(0, graph.n_nodes, SPARSE_BATCH_NODES):
        watch.report(f"Reading nodes: {start:,} of {graph.n_nodes:,}", start / graph.n_nodes)
        nodes = np.arange(start, min(graph.n_nodes, start + SPARSE_BATCH_NODES))
        blocks.append(model.vectors(node_labels(graph, nodes), watch))
    matrix = vstack(blocks, format="csr")
    buffer = io.BytesIO()
    save_npz(buffer, matrix)
    write_if_possible(file, lambda stream: stream.write(buffer.getvalue()))
    return matrix
