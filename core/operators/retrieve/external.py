"""Path retrieval by a program of one's own, asked over HTTP or called in Python."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.environment import Environment
from core.errors import BadParameter, RetrieverFailed
from core.operators.base import Context, Operator, Recorder
from core.operators.extract import subgraph_on
from core.parameters import param
from core.retrievers.asking import ask
from core.retrievers.declared import declared, retriever
from core.retrievers.placing import placed
from core.retrievers.reply import UnfitReply, checked
from core.types import Ranking, State

NAME_HELP = "The retriever's name in retrievers.toml of your Hopscope folder. Addresses stand there and nowhere else."
KEEP_HELP = "How many paths stay, the best first."


def _declared() -> tuple[str, ...]:
    return tuple(declared())


@dataclass(frozen=True, repr=False)
class OwnRetriever(Operator):
    """The paths that a retriever of one's own gives for the question, the part of the graph that it names, and its answers.

    It is told the question, the names of its entities, the graph's name, the seed and `keep`, never the known answers. Paths, hits and
    answers come back as names and are looked up in the graph; what is not there is left out with a note. Hits without paths are joined to
    the entities by shortest paths. It is asked anew with every run. docs/own-retriever.md describes request and reply.

    >>> from core.io.home import home
    >>> _ = (home() / "retrievers.toml").write_text('mine.python = "mine:retrieve"')
    >>> _ = (home() / "mine.py").write_text("retrieve = lambda request: {'paths': [{'nodes': ['A', 'C'], 'relations': ['r1']}]}")
    >>> answers("OwnRetriever(name='mine')", "A")
    ['A -> r1 -> C']
    """

    stage = "retrieve"
    title = "own retriever"
    plain = "asks your retriever “{name}”"
    reads, writes = ("seeds",), ("subgraph", "paths")
    remembered = False

    name: str = param("", "Retriever", NAME_HELP, known=_declared)
    keep: int = param(32, "Keep", KEEP_HELP, low=1, high=1000)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        known = retriever(self.name)
        ctx.progress(f"Waiting for “{known.title}”", None)
        try:
            reply = checked(ask(known, self._request(state, ctx), ctx.check))
        except UnfitReply as error:
            raise RetrieverFailed(f"The reply of the retriever “{known.name}” cannot be used: {error}.") from None
        ctx.progress("Finding the reply in the graph", None)
        found = placed(ctx.graph, state.seeds, reply, ctx.check)
        recorder.notes += found.notes
        ranking = _ranking(found.paths)
        if len(ranking) > self.keep:
            recorder.before_cut = ranking
            recorder.notes.append(f"The first {self.keep:,} of {len(ranking):,} paths were kept.")
        selected = ranking.head(self.keep)
        nodes = np.unique(np.array([*state.seeds, *found.nodes, *(node for path in selected.items for node in path.nodes)], np.int64))
        return state.replace(paths=selected, subgraph=subgraph_on(ctx.graph, nodes), reader=found.answers)

    def _request(self, state: State, ctx: Context) -> dict[str, Any]:
        return {
            "question": state.question.text,
            "entities": ctx.graph.names(state.seeds),
            "graph": ctx.graph.name,
            "seed": ctx.seed,
            "keep": self.keep,
        }

    def stamp(self, graph: Any, environment: Environment) -> str:
        try:
            return retriever(self.name).stamp()
        except BadParameter:  # said when it runs
            return ""

    def outcome(self, state: State) -> str:
        assert state.paths is not None and state.subgraph is not None  # both were written here
        parts = (state.paths.items, state.paths.scores, state.subgraph.nodes.tolist(), state.reader)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def words(self) -> str:
        return f"your retriever “{self.name}”" if self.name else self.title


def _ranking(paths: dict) -> Ranking:
    scores = tuple(paths.values())
    return Ranking("path", tuple(paths), None if not scores or None in scores else scores)
