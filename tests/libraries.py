"""Libraries that a test leaves out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from core.graph.algorithms.igraph_library import has_igraph


@contextmanager
def no_igraph() -> Iterator[None]:
    """Leave out igraph within the block, as if it was not installed."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sys.modules, "igraph", None)
        has_igraph.cache_clear()
        yield
    has_igraph.cache_clear()
