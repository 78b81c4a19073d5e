"""Conversion of the states of finished runs to JSON-serialisable data (snapshots) and back.

Saved comparisons and evaluations keep their states this way. An excerpt is the part of the graph to
which states refer; with it a snapshot can be shown where the graph is missing.

Data that many states share (subgraphs, rankings, steps and common beginnings of paths) is written
once. The fields of an object are found by its class, so a new field of a known type needs no code
in this package. Fields at their default are left out, so data that was saved before a field existed
can still be read.
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

    Equal states give equal data. Scores keep seven significant digits. Ids are those of `graph`,
    whose digest is saved with them.
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
    snapshot : the data that `freeze_all` returned.
    graph : the graph of the states. Ids are checked against the original graph, and translated to
        those of an `ExcerptGraph`. None leaves them as they are.

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
    """Return the part of a graph to which states refer, as plain data.

    The known answers are part of it.

    `ExcerptGraph.thaw` makes a graph of it.
    """
    writer = StateWriter()
    states = tuple(states)
    answers: dict[str, None] = {}
    for state in states:
        writer.fields(state)  # collects the state's ids in `writer.ids`
        answers |= dict.fromkeys(
            name
            for answer in state.question.answers
            for name in state.question.answer_names(answer)
        )
    if graph.n_nodes:
        answer_nodes = {node for name in answers for node in name_lookup(graph).find_exact(name)}
    else:
        answer_nodes = set()
    shown_chunks = {chunk for state in states for chunk in _shown_chunks(graph, state)}
    return cut_excerpt(
        graph,
        writer.ids["node"] | answer_nodes,
        writer.ids["triple"],
        writer.ids["relation"],
        writer.ids["chunk"] | shown_chunks,
        writer.ids["community"],
        shown_chunks,  # with their whole texts
    )


def _shown_chunks(graph, state: State) -> Iterator[int]:
    """Yield the rows of the passages whose texts a screen shows.

    They are the passages among the hits and in the tables, the passage of the excerpt that answers,
    and those for which nodes stand.
    """
    for hits in (state.chunks, *state.waiting):
        yield from hits.items if hits is not None and hits.kind == "chunk" else ()
    for table in state.tables or ():
        yield from table.items if table.kind == "chunk" else ()
    if state.excerpt is not None:
        yield state.excerpt.chunk
    if state.nodes is not None:
        yield from chunk_nodes(graph, state.nodes.items).values()
