"""Construction and clustering of graphs that are larger than memory.

A build (`large_build`) sorts the triples of a source in files on disk, in phases. It records its
progress in a journal, so it can continue after an interruption. It also stores the folded names
(lower case, plain typography) by which a large graph is searched. `array_leiden` clusters a graph.

Other packages import only the names listed in `__all__`. Modules that import numba are loaded at
first use.

Terms
-----
spill file : a temporary file of a build, which the finished store does not need.
block : a part of the source that is read at a time.
part : a range of ids or hashes that is processed in memory at a time.
fact : a value that the journal records, such as the number of nodes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from core.graph.large.sources import NumberSource, TextSource, prepare_block_source

if TYPE_CHECKING:
    from core.graph.large.array_leiden import Links, inner_edges, leiden, make_links
    from core.graph.large.finish import build_large
    from core.graph.large.folding import FOLDED, FOLDED_ENDS, FOLDED_NODES, write_folded

__all__ = [
    "FOLDED",
    "FOLDED_ENDS",
    "FOLDED_NODES",
    "Links",
    "NumberSource",
    "TextSource",
    "build_large",
    "inner_edges",
    "leiden",
    "make_links",
    "prepare_block_source",
    "write_folded",
]

# Names of each module that `__getattr__` loads at first use.
LOADED_LATE = {
    "array_leiden": ("Links", "inner_edges", "leiden", "make_links"),
    "finish": ("build_large",),
    "folding": ("FOLDED", "FOLDED_ENDS", "FOLDED_NODES", "write_folded"),
}


def __getattr__(name: str) -> Any:
    for module, names in LOADED_LATE.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
