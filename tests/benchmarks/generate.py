"""Make a synthetic graph as a file or a store.

python -m tests.benchmarks generate --nodes N --out FILE.tsv [--names] | --store DIR
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def main(arguments: Sequence[str]) -> None:
    """Make the graph and print its size."""
    from tests.benchmarks.synthetic import PER_NODE, SEED, store, write_tsv

    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks generate")
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--names", action="store_true", help="names instead of numbers in the file")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--out", metavar="FILE.tsv", help="tab-separated triples")
    where.add_argument("--store", metavar="DIR", help="a store of numbered nodes")
    options = parser.parse_args(arguments)
    if options.store:
        graph = store(options.nodes, options.store, options.seed)
        print(f"{graph.n_nodes:,} nodes, {graph.n_edges:,} triples in {options.store}")
    else:
        write_tsv(options.nodes, options.out, options.names, options.seed)
        print(f"{PER_NODE * options.nodes:,} triples in {options.out}")
