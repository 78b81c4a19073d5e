"""Public Python interface: compare and evaluate retrieval methods, add graphs and documents.

    import hopscope as hs

    methods = ["pagerank-paths-ranked", "chain-ranking"]
    found = hs.compare("who directed Inception", methods, graph="metaqa")
    found                    # in a notebook: one card per lane, with what it retrieved
    found["pagerank-paths-ranked"].answers
    found.to_pandas()

Every operator is an attribute of the package. Operators are joined to a method with `>>`:
`hs.PersonalizedPageRank(keep=500) >> hs.ShortestPaths()`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from core import __version__

if TYPE_CHECKING:
    from core.errors import HopscopeError
    from hopscope.adapters import from_langchain, from_llama_index, to_langchain, to_llama_index
    from hopscope.auditing import audit
    from hopscope.bringing import build, corpus, graph, open
    from hopscope.comparing import compare
    from hopscope.comparison import Comparison
    from hopscope.evaluating import advise, evaluate
    from hopscope.evaluation import Evaluation
    from hopscope.experiment import Experiment
    from hopscope.extending import Context, Operator, Path, Ranking, Recorder, State, param
    from hopscope.lane import Lane
    from hopscope.method_values import methods

__all__ = [
    "Comparison",
    "Context",
    "Evaluation",
    "Experiment",
    "HopscopeError",
    "Lane",
    "Operator",
    "Path",
    "Ranking",
    "Recorder",
    "State",
    "__version__",
    "advise",
    "audit",
    "build",
    "compare",
    "corpus",
    "evaluate",
    "from_langchain",
    "from_llama_index",
    "graph",
    "methods",
    "open",
    "param",
    "to_langchain",
    "to_llama_index",
]
MODULES = (  # the modules of the names above, quick imports first
    "session",
    "lane",
    "extending",
    "bringing",
    "method_values",
    "comparing",
    "evaluating",
    "auditing",
    "experiment",
    "adapters",
)


def __getattr__(name: str) -> Any:
    """Return a public name or an operator class, imported at its first use.

    The command line imports this package and needs none of these names.
    """
    if name in __all__:
        for module_name in MODULES:
            module = import_module(f"{__name__}.{module_name}")
            if hasattr(module, name):
                return getattr(module, name)
    from core.operators import OPERATORS

    if name in OPERATORS:
        return OPERATORS[name]
    raise AttributeError(f"hopscope has no “{name}”.")


def __dir__() -> list[str]:
    from core.operators import OPERATORS

    return sorted([*__all__, *OPERATORS])
