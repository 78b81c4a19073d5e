"""Operator that selects the graph of a corpus on which the other operators run."""

from __future__ import annotations

from dataclasses import dataclass

from core.builds.catalogue import GRAPH_KIND_WORDS, catalogue
from core.builds.run import graph_note
from core.operators.base import Context, Operator, Recorder
from core.parameters import param
from core.types import State

# words for the nodes by kind of graph; the nodes of other kinds are entities
NODE_WORDS_BY_GRAPH = {
    "links": "documents",
    "passage": "passages",
    "tree": "summaries and passages",
    "tree-k": "summaries and passages",
}


@dataclass(frozen=True, repr=False)
class BuiltGraph(Operator):
    """The graph that `build` made of the corpus; the line runs on it.

    The lanes of a question may run on different graphs of its corpus. The graph is opened before
    the first operator runs. A line that begins with this operator cannot run on a graph of triples.

    >>> # this example runs on the graph `story`, whatever the build
    >>> retrieve("BuiltGraph(build='tkg')", graph=story).trace[0].notes
    ('story: 5 entities, 4 relations, 4 chunks, 3 communities.',)
    """

    stage = "graph"
    title = "graph of the texts"

    build: str = param(
        "chunks",
        "Graph",
        "A kind of graph, of which the best that is built is taken; or one build, by its name or "
        "line.",
        known=lambda: (*GRAPH_KIND_WORDS, *catalogue()),
    )

    mended: bool = param(
        True,
        "Mended",
        "With the merges that are saved for the corpus (Texts, Mend); without them it is the "
        "graph as it was built.",
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        graph = ctx.graph
        tables = graph.columns.tables()
        counts = {"entities": graph.n_nodes, "relations": graph.n_edges}
        counts |= {name: len(tables[name]) for name in ("chunks", "communities") if name in tables}
        count_words = ", ".join(f"{count:,} {name}" for name, count in counts.items())
        recorder.notes.append(f"{graph.name}: {count_words}.")
        recorder.notes.extend(filter(None, (graph_note(graph),)))
        return state

    @property
    def node_noun(self) -> str:  # type: ignore[override]
        if self.build in GRAPH_KIND_WORDS:
            kind = self.build
        elif self.build in catalogue():
            kind = catalogue()[self.build].graph
        else:
            kind = ""
        return NODE_WORDS_BY_GRAPH.get(kind, "")

    def words(self) -> str:
        return f"on the {self._graph_words()}"

    def plain_words(self) -> str:
        return f"searches the {self._graph_words()}"

    def _graph_words(self) -> str:
        words = GRAPH_KIND_WORDS.get(self.build, f"graph “{self.build}”")
        return words if self.mended else f"{words} as it was built"
