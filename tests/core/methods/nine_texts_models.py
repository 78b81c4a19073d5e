"""Operators on the graph of the nine texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.environment import Environment
from core.graph.building.text_graph import assemble, with_tables
from core.graph.columns import Table
from core.graph.store import Graph
from core.methods.catalogue import catalogue
from core.operators.base import Context
from core.operators.text import parse_line
from core.types import Question, State
from core.watch import NO_WATCH
from tests.core.methods.nine_texts import (
    CHUNKS,
    COMMUNITIES,
    ENTITIES,
    QUESTION,
    RELATIONS,
    SIZE,
    vector,
)
from tests.films import Parrot, Written


class CorpusEncoder:
    """The encoder of the corpus: how near each thing is to the question is written down."""

    size = SIZE

    def encode(self, texts, watch=NO_WATCH):
        return np.array([vector(text) for text in texts], np.float32)


class RecordedModels(Written):
    """Its encoder, and a language model of recorded replies."""

    def encoder(self, name="encoder"):
        return CorpusEncoder()


def graph_of(told: dict[str, Any]) -> Graph:
    """The graph of some nodes and edges; communities where there are some."""
    names, edges = list(told["nodes"]), told["edges"]
    types, descriptions, sources = zip(*told["nodes"].values())
    columns = {
        "description": [edge[2] for edge in edges],
        "keywords": [RELATIONS[edge[0], edge[1]][1] for edge in edges],
        "weight": [edge[3] for edge in edges],
        "chunks": [edge[4] for edge in edges],
    }
    ids = [f"c{place}" for place in range(len(CHUNKS))]
    chunks = Table.from_columns(
        id=ids,
        document=ids,
        title=[""] * len(ids),
        text=CHUNKS,
        tokens=[len(text.split()) for text in CHUNKS],
    )
    triples = [(edge[0], "related to", edge[1]) for edge in edges]
    graph = assemble(
        "peer",
        names,
        triples,
        {"type": types, "description": descriptions, "chunks": sources},
        columns,
        chunks,
    )
    if not told.get("communities"):
        return graph
    keys, levels, members, reports = zip(*told["communities"])
    return with_tables(
        graph,
        communities=Table.from_columns(
            title=[COMMUNITIES[key][2] for key in keys],
            level=levels,
            parent=[-1] * len(keys),
            members=[sorted(graph.nodes_named(name)[0] for name in one) for one in members],
            report=reports,
            rating=[float(COMMUNITIES[key][4]) for key in keys],
        ),
    )


def whole() -> Graph:
    """The graph of the corpus."""
    nodes = {name: [kind, text, where] for name, (kind, text, where, _) in ENTITIES.items()}
    edges = [
        [*ends, text, float(weight * len(where)), where]
        for ends, (text, _, weight, where, _) in RELATIONS.items()
    ]
    communities = [
        [key, level, members, f"# {title}\n\n{summary}"]
        for key, (level, members, title, summary, *_) in COMMUNITIES.items()
    ]
    return graph_of(
        {"nodes": dict(sorted(nodes.items())), "edges": sorted(edges), "communities": communities}
    )


def after(
    graph: Graph, line: str, models: Written | None = None, **values: dict[str, Any]
) -> State:
    """The state that a row of the catalogue, or a line, leaves.

    A row runs up to its tables. `values` change parameters of its operators, each by the name of
    the operator.
    """
    operators = (catalogue()[line].line if line in catalogue() else parse_line(line)).operators
    state, context = (
        State(Question(QUESTION)),
        Context(graph, Environment(models or RecordedModels(Parrot("the answer")))),
    )
    for operator in operators:
        if operator.stage in ("graph", "generate") or type(operator).__name__ == "ContextTables":
            continue
        state = type(operator)(**{**operator.__dict__, **values.get(type(operator).__name__, {})})(
            state, context
        )
    return state


def found(graph: Graph, state: State) -> dict[str, list]:
    """The hits in their order, by name and number."""
    heads, _, tails = graph.triples(
        np.array(state.relations.items if state.relations else (), np.int64)
    )
    return {
        "entities": graph.names(state.nodes.items if state.nodes else ()),
        "relations": [sorted(pair) for pair in zip(graph.names(heads), graph.names(tails))],
        "chunks": list(state.chunks.items) if state.chunks else [],
        "communities": list(state.communities.items) if state.communities else [],
    }
