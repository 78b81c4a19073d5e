"""Random small graphs for property-based tests."""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest.mock import patch

from hypothesis import strategies as st

from core.graph.building.build import build

TRIPLE = st.tuples(st.integers(0, 7), st.integers(0, 2), st.integers(0, 7))


def make(triples, direction="both"):
    """Build a graph of (head, relation, tail) numbers.

    Names are n0, n1 … and r0, r1 …; the node n<i> need not have the id i.
    """
    # Tests need no protection from a power failure.
    with tempfile.TemporaryDirectory() as folder, patch("os.fsync"):
        return build(
            [(f"n{h}", f"r{r}", f"n{t}") for h, r, t in triples], Path(folder) / "g", "g", direction
        )


graphs = st.lists(TRIPLE, min_size=1, max_size=24).map(make)
directions = st.sampled_from(["out", "in", "both"])
