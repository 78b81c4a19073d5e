"""Conversion of finished states to JSON-serialisable data and back.

Data that many states share (subgraphs, rankings, steps and common beginnings of paths) is written
once. The fields of an object are found by its class, so a new field of a known type needs no code
in this package. Fields at their default are left out, so data that was saved before a field
existed can still be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from core.errors import BadInput
from core.graph.names.lookup import name_lookup
from core.graph.storage.excerpt import ExcerptGraph, cut_excerpt
from core.graph.texts import chunk_nodes
from core.snapshot.reader import StateReader
from core.snapshot.writer import StateWriter
from core.types import State

__all__ = ["ExcerptGraph", "excerpt", "freeze_all", "thaw_all"]

SNAPSHOT_VERSION = 1


def freeze_all(states: Iterable[State], graph) -> dict[str, Any]:
    """Return several states as JSON-serialisable data, with shared data written once.

    Equal states give equal data. Scores keep seven significant digits. Ids are those of `graph`.
    """
    writer = StateWriter()
    rows = [writer.fields(state) for state in states]
    return {
        "snapshot": SNAPSHOT_VERSION,
        "graph": graph.digest,
        "states": rows,
        **writer.tables,
        "paths": writer.paths,
    }


def thaw_all(snapshot: Mapping[str, Any], graph=None) -> tuple[State, ...]:
    """Return the states that `freeze_all` saved.

    Parameters
    ----------
    graph : an `ExcerptGraph`, to whose ids all ids are translated, or the original graph, in which
        they must exist; with None the ids are neither translated nor checked.

    Raises
    ------
    BadInput
        If the data is of another version, of another graph, or damaged.
    """
    if not isinstance(snapshot, Mapping) or "snapshot" not in snapshot:
        raise BadInput("This is not a saved run.")
    if snapshot["snapshot"] != SNAPSHOT_VERSION:
        raise BadInput(
            "This run was saved by another version of Hopscope (format "
            f"{snapshot['snapshot']!r:.20}; this one reads {SNAPSHOT_VERSION})."
        )
    if graph is not None and snapshot.get("graph") != getattr(graph, "origin", graph.digest):
        raise BadInput(f"This run was saved on another state of the graph “{graph.name}”.")
    try:
        reader = StateReader(snapshot, graph)
        return tuple(reader.value(State, state) for state in snapshot["states"])
    except (
        KeyError,
        TypeError,
        ValueError,
        IndexError,
        OverflowError,
        AttributeError,
        RecursionError,
    ) as error:
        raise BadInput(f"This saved run is damaged ({type(error).__name__}: {error}).") from None


def excerpt(graph, states: Iterable[State]) -> dict[str, Any]:
    """Return the part of the graph that these states refer to, with the known answers.

    `ExcerptGraph.thaw` makes a graph of it.
    """
    writer, states = StateWriter(), tuple(states)
    answers: dict[str, None] = {}
    for state in states:
        writer.fields(state)
        answers |= dict.fromkeys(
            name
            for answer in state.question.answers
            for name in state.question.answer_names(answer)
        )
    if graph.n_nodes:
        nodes = {node for answer in answers for node in name_lookup(graph).find_exact(answer)}
    else:
        nodes = set()
    full = {row for state in states for row in _shown_chunks(graph, state)}
    chunks = writer.ids["chunk"] | full
    return cut_excerpt(
        graph,
        writer.ids["node"] | nodes,
        writer.ids["triple"],
        writer.ids["relation"],
        chunks,
        writer.ids["community"],
        full,
    )


def _shown_chunks(graph, state: State) -> Iterator[int]:
    """Yield the passages whose texts a screen shows.

    They are the passages among the hits and in the tables, the excerpt, and nodes that stand for
    passages.
    """
    for hits in (state.chunks, *state.waiting):
        yield from hits.items if hits is not None and hits.kind == "chunk" else ()
    for table in state.tables or ():
        yield from table.items if table.kind == "chunk" else ()
    if state.excerpt is not None:
        yield state.excerpt.chunk
    if state.nodes is not None:
        yield from chunk_nodes(graph, state.nodes.items).values()
