"""pcst_fast: its trees in small random graphs, as JSON. It needs numpy 1."""

from __future__ import annotations

import json
import random
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
from pcst_fast import pcst_fast

CASES = 40


def case(number: int) -> dict:
    """A graph of 4 to 12 nodes with prizes and costs of three digits, and its tree.

    The tree is unrooted, one cluster, pruned by "gw".
    """
    chance = random.Random(number)
    nodes = chance.randint(4, 12)
    edges = sorted(
        {
            tuple(sorted(chance.sample(range(nodes), 2)))
            for _ in range(chance.randint(nodes, 2 * nodes))
        }
    )
    prizes = [round(chance.choice((0, 1)) * chance.uniform(0, 3), 3) for _ in range(nodes)]
    costs = [round(chance.uniform(0.05, 1.5), 3) for _ in edges]
    found = pcst_fast(np.array(edges, np.int64), np.array(prizes), np.array(costs), -1, 1, "gw", 0)
    return {
        "edges": edges,
        "prizes": prizes,
        "costs": costs,
        "tree": [sorted(map(int, one)) for one in found],
    }


if __name__ == "__main__":
    told = {
        "program": f"pcst_fast {version('pcst_fast')}",
        "cases": [case(number) for number in range(CASES)],
    }
    Path(sys.argv[1]).write_text(json.dumps(told, sort_keys=True) + "\n", "utf-8")
