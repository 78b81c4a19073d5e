import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from core.graph.pagerank.top_nodes import top_pagerank

CODE = """
import sys, tempfile, hashlib
import numpy as np
from core.graph.building.build import build
from core.graph.algorithms.local_adjacency import LocalAdjacency
from core.graph.names.lookup import name_lookup
from core.graph.algorithms.neighbourhood import induced_edges
from core.graph.pagerank.top_nodes import top_pagerank
from core.graph.algorithms.paths import shortest_paths, simple_paths
from core.graph.algorithms.walks import random_walks
from core.types import Subgraph
rng = np.random.default_rng(3)
triples = [(f"Node {a}", f"r{r}", f"Node {b}") for a, r, b in rng.integers(0, 60, (300, 3))]
with tempfile.TemporaryDirectory() as folder:
    graph = build(triples, folder + "/g", "g")
    nodes, scores = top_pagerank(graph, [3, 1], 40)
    kept = np.sort(nodes)
    local = LocalAdjacency(graph, Subgraph(kept, induced_edges(graph, kept)))
    out = [graph.digest, nodes.tolist(), scores.tolist(), shortest_paths(local, int(nodes[0]), 3, every=True),
           simple_paths(local, int(nodes[0]), 3, 500), random_walks(graph, [3], 9, 4, .1, "both", np.random.default_rng(0)),
           name_lookup(graph).search("node 1"), name_lookup(graph).find_mentions("Node 1 and node 2 or nod 33")]
print(hashlib.sha256(repr(out).encode()).hexdigest())
"""


def test_two_processes_give_the_same_bytes():
    runs = [
        subprocess.run(
            [sys.executable, "-c", CODE],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "4711")
    ]
    assert runs[0] == runs[1] and len(runs[0]) == 65


def test_threads_give_the_same_bytes(movies):
    def once(seed):
        return np.concatenate(top_pagerank(movies, [seed], 100)).tobytes()

    alone = [once(seed) for seed in range(6)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(once, list(range(6)) * 3)) == alone * 3


def test_opening_a_graph_loads_nothing_heavy():
    code = (
        "import sys, core.graph.store, core.datasets, core.graph.names.lookup\n"
        "import core.graph.algorithms.neighbourhood, core.graph.pagerank.top_nodes\n"
        "print([name for name in ('numba', 'igraph', 'rapidfuzz', "
        "'scipy') if name in sys.modules])"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "[]\n"
    )
