"""Build of a synthetic graph, its opening, and lookups of names in it.

python -m tests.benchmarks store --nodes N [--names]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from core.watch import Watch

LOOKUPS, TYPED, KEEP, COLD = 2000, 40, 1000, 20


def main(arguments: Sequence[str]) -> None:
    """Build in a separate process, measure, and print one table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks store")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument(
        "--names",
        action="store_true",
        help="from a file of names (made first, not timed) instead of numbers",
    )
    parser.add_argument("--memory", default="2GiB")
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path("build-benchmark"),
        help="where the store is made; what is there goes",
    )
    parser.add_argument(
        "--keep", action="store_true", help="leave the store there, and build on what is there"
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--step", choices=("build", "look", "cold"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.step:
        print(json.dumps({"build": _build, "look": _look, "cold": _cold}[options.step](options)))
        return
    if not options.keep:
        shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.names and not (options.folder / "triples.tsv").exists():
        from tests.benchmarks.synthetic import write_tsv

        write_tsv(options.nodes, options.folder / "triples.tsv")
    # This compiles the code.
    _step(
        "build",
        [
            "--nodes",
            "2000",
            "--folder",
            f"{options.folder}/first",
            *(["--names"] if options.names else []),
        ],
    )
    rows = [row for step in ("build", "look", "cold") for row in _step(step, arguments)]
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        for name, value, unit in rows:
            print(f"{name:34} {value:>14,.4g} {unit}")
    if not options.keep:
        shutil.rmtree(options.folder, ignore_errors=True)


def _step(step: str, arguments: Sequence[str]) -> list:
    command = [sys.executable, "-m", "tests.benchmarks", "store", *arguments, "--step", step]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def _build(options) -> list:
    from core.graph.building.build import build
    from core.graph.readers.triple_file import TripleFile, parse_memory
    from tests.benchmarks.synthetic import PER_NODE, numbers, write_tsv

    memory, phases = parse_memory(options.memory), []
    source = numbers(options.nodes, memory=memory)
    if options.names:
        path = options.folder / "triples.tsv"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_tsv(options.nodes, path)
        source = TripleFile(path, memory=memory)

    def told(text: str, share: float | None) -> None:
        text = text.partition(",")[0]
        if not phases or phases[-1][0] != text:
            phases.append((text, time.process_time()))

    start, began = time.perf_counter(), time.process_time()
    graph = build(source, options.folder / "store", "synthetic", watch=Watch(report=told))
    seconds, worked = time.perf_counter() - start, time.process_time() - began
    arrays = [
        path
        for path in graph.data_folder.glob("*.npy")
        if not path.name.startswith(("name_", "folded"))
    ]
    rows = [
        ["build", seconds, "s"],
        ["build, processor time", worked, "s"],
        ["build", PER_NODE * options.nodes / seconds, "triples/s"],
        ["build, of processor time", PER_NODE * options.nodes / worked, "triples/s"],
        ["peak memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MiB"],
        [
            "on disk without names",
            sum(path.stat().st_size for path in arrays) / graph.n_edges,
            "bytes/triple",
        ],
    ]
    ends = [begin for _, begin in phases[1:]] + [began + worked]
    return rows + [
        [f"  {text}", end - begin, "s of processor time"]
        for (text, begin), end in zip(phases, ends)
    ]


def _look(options) -> list:
    import random

    from core.graph.names.lookup import name_lookup
    from core.graph.pagerank.top_nodes import top_pagerank
    from core.graph.store import Graph

    rng = random.Random(0)
    # This compiles the code.
    top_pagerank(Graph.open(options.folder / "first" / "store"), [0], KEEP)
    _forget(options.folder / "store")
    start = time.perf_counter()
    graph = Graph.open(options.folder / "store")
    rows = [["open", (time.perf_counter() - start) * 1e3, "ms"]]
    start = time.perf_counter()
    top_pagerank(graph, [rng.randrange(graph.n_nodes)], KEEP)
    rows.append(["first PageRank, nothing in memory", (time.perf_counter() - start) * 1e3, "ms"])
    rows.append(
        [
            "PageRank",
            _median(
                lambda seed: top_pagerank(graph, [seed], KEEP), rng.sample(range(graph.n_nodes), 20)
            )
            * 1e3,
            "ms",
        ]
    )
    rows.append(
        [
            "peak memory of 21 PageRanks",
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "MiB",
        ]
    )
    known = name_lookup(graph)
    nodes = [rng.randrange(graph.n_nodes) for _ in range(LOOKUPS)]
    called = graph.names(nodes)
    known.find_exact(called[0]), known.search(called[0][:4])  # This compiles the code.
    rows.append(["name of a node", _median(graph.node_name, nodes) * 1e6, "µs"])
    rows.append(["node of a name", _median(graph.nodes_named, called) * 1e6, "µs"])
    rows.append(
        [
            "node of a name, case aside",
            _median(lambda name: known.find_exact(name.swapcase()), called) * 1e6,
            "µs",
        ]
    )
    for letters in (1, 3, 6):
        typed = [name[:letters] for name in called[:TYPED]]
        rows.append([f"8 names by {letters} letters", _median(known.search, typed) * 1e3, "ms"])
    if not graph.numbered:
        rows.append(
            [
                "8 names, a letter changed",
                _median(known.search, [_changed(name, rng, 1) for name in called[:TYPED]]) * 1e3,
                "ms",
            ]
        )
        rows.append(
            [
                "8 names, two letters changed",
                _median(known.search, [_changed(name, rng, 2) for name in called[:TYPED]]) * 1e3,
                "ms",
            ]
        )
        asked = [
            f"which films did {name} make with {other}?"
            for name, other in zip(called[:TYPED], called[TYPED:])
        ]
        rows.append(["names in a question", _median(known.find_mentions, asked) * 1e3, "ms"])
    rows.append(
        [
            "peak memory of all these",
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "MiB",
        ]
    )
    return rows


def _cold(options) -> list:
    """Time to open the store and run one PageRank with nothing in memory.

    Seeds are ordinary nodes and the thousand nodes of highest degree.
    """
    import numpy as np

    from core.graph.pagerank.top_nodes import top_pagerank
    from core.graph.store import Graph

    graph, rng = Graph.open(options.folder / "store"), np.random.default_rng(0)
    top_pagerank(graph, [0], KEEP)  # This compiles the code.
    hubs = np.argpartition(-(np.diff(graph.out_indptr) + np.diff(graph.in_indptr)), KEEP)[:KEEP]
    drawn = {
        "a node": rng.integers(graph.n_nodes, size=COLD),
        "a hub": rng.choice(hubs, COLD, replace=False),
    }
    del graph

    def first(seed: int) -> float:
        _forget(options.folder / "store")
        start = time.perf_counter()
        top_pagerank(Graph.open(options.folder / "store"), [seed], KEEP)
        return (time.perf_counter() - start) * 1e3

    rows = []
    for name, seeds in drawn.items():
        took = [first(seed) for seed in seeds.tolist()]
        rows += [
            [f"from {name}, nothing in memory", statistics.median(took), "ms"],
            ["  the slowest", max(took), "ms"],
        ]
    return rows


def _forget(folder: Path) -> None:
    """Drop a folder's files from the page cache."""
    for path in folder.rglob("*"):
        if path.is_file():
            with open(path, "rb") as stream:
                os.fsync(stream.fileno())
                os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _changed(name: str, rng, times: int) -> str:
    for _ in range(times):
        place = rng.randrange(3, len(name))
        name = name[:place] + rng.choice("bcdfgaeiou") + name[place + 1 :]
    return name


def _median(what: Callable, inputs: Sequence) -> float:
    seconds = []
    for one in inputs:
        start = time.perf_counter()
        what(one)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)
