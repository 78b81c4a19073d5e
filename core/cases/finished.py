"""A finished comparison without engine, models or the whole graph, and as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.errors import BadInput, BadParameter, shorten
from core.instances.catalogue import Instance
from core.io.plain import from_plain, to_plain
from core.operators import OPERATORS
from core.operators.text import parse_line
from core.snapshot import ExcerptGraph, excerpt, freeze_all, thaw_all
from core.types import Beside, Influence, Question, Repair, Rest, State

VERSION = 1
ENDS = ("done", "failed", "cancelled")
NAMED = ("id", "title", "short", "method", "paper", "group", "notes")  # of a lane's instance
BESIDE = {"saved": False}  # what is saved in a way of its own
MAX_LANES = 8


@dataclass(frozen=True, eq=False)
class FinishedLane:
    """What one instance came to: its states after each operator, how it ended, and the name of the model that answered."""

    instance: Instance = field(metadata=BESIDE)
    states: tuple[State, ...] = field(metadata=BESIDE)
    status: str = "done"  # or failed, cancelled
    error: str | None = None
    answer: str = ""
    retrieved: bool = True
    model: str | None = None
    repair: Repair | None = None  # a change of one step that was seen to bring more
    rests: tuple[Rest, ...] | None = None  # what the sentences of its answer most likely rest on
    influences: tuple[
        Influence, ...
    ] = ()  # what each of its answers rests on, as far as that was measured
    beside: Beside | None = None  # what it said before its graph was edited
    graph: Any = field(
        default=None, metadata=BESIDE
    )  # the lane's own, where it is not that of the question
    build_title: str = field(
        default="", metadata={"saved": "stands"}
    )  # the title of the build that made it
    saved_alive: Mapping[str, tuple[str, ...]] | None = field(
        default=None, metadata={"saved": "kept"}
    )
    """Of the known answers and passages those in the corpus and in the graph."""

    @property
    def state(self) -> State | None:
        """The newest state; None where the lane failed before its first operator ended."""
        return self.states[-1] if self.states else None


@dataclass(frozen=True, eq=False)
class Finished:
    """A comparison that has ended. `graph` may be the whole graph or an excerpt; ids are its own, or those of a lane's own graph.

    `corpus` is the name of the corpus that was asked; empty for a question to a graph. `edits` are what was taken away from either, merged
    or renamed, as `Edit.written` writes them.
    """

    graph: Any = field(metadata=BESIDE)
    question: Question = field(metadata=BESIDE)
    seeds: tuple[int, ...] = field(metadata=BESIDE)
    lanes: tuple[FinishedLane, ...] = field(metadata=BESIDE)
    seed: int = 0
    reader: bool = True
    model: bool = True
    corpus: str = ""
    edits: tuple[str, ...] = ()


def freeze_finished(finished: Finished) -> dict[str, Any]:
    """The comparison with the part of the graph that it names, as JSON can hold it."""
    graphs = _graphs(finished)
    states = [State(finished.question, finished.seeds), *_states(finished, graphs, 0)]
    others = [
        (graph, _states(finished, graphs, place)) for place, graph in enumerate(graphs) if place
    ]
    return {
        "comparison": VERSION,
        **to_plain(finished),
        "lanes": [_lane(lane, _graph_number(lane, graphs)) for lane in finished.lanes],
        "run": freeze_all(states, finished.graph),
        "graph": excerpt(finished.graph, states),
        **(
            {
                "apart": [
                    {"run": freeze_all(part, graph), "graph": excerpt(graph, part)}
                    for graph, part in others
                ]
            }
            if others
            else {}
        ),
    }


def _graphs(finished: Finished) -> list[Any]:
    """The graphs of the lanes, each once, that of the question first."""
    found = {finished.graph.digest: finished.graph}
    for lane in finished.lanes:
        if lane.graph is not None:
            found.setdefault(lane.graph.digest, lane.graph)
    return list(found.values())


def _graph_number(lane: FinishedLane, graphs: Sequence[Any]) -> int:
    """The place of a lane's graph among those of the comparison."""
    return 0 if lane.graph is None else [graph.digest for graph in graphs].index(lane.graph.digest)


def _states(finished: Finished, graphs: Sequence[Any], place: int) -> list[State]:
    """The states of the lanes on one graph, in the order of the lanes."""
    return [
        state
        for lane in finished.lanes
        if _graph_number(lane, graphs) == place
        for state in lane.states
    ]


def thaw_finished(saved: Mapping[str, Any], whole: Any = None) -> Finished:
    """The comparison of `freeze_finished`, on an `ExcerptGraph`, or on the `whole` graph where it was made on that one. Raises BadInput
    where it is of another version or damaged."""
    if not isinstance(saved, Mapping) or "comparison" not in saved:
        raise BadInput("This is not a saved comparison.")
    if saved["comparison"] != VERSION:
        raise BadInput(
            f"This comparison was saved by another version of Hopscope (format {shorten(repr(saved['comparison']), 20)}; "
            f"this one reads {VERSION})."
        )
    try:
        of_whole = whole is not None and saved["run"]["graph"] == whole.digest
        graph = whole if of_whole else ExcerptGraph.thaw(saved["graph"])
        first, *states = thaw_all(saved["run"], graph)
        parts: list[tuple[Any, list[State]]] = [(None, states)]
        for part in saved.get("apart", ()):
            own = ExcerptGraph.thaw(part["graph"])
            parts.append((own, list(thaw_all(part["run"], own))))
        lanes = _lanes(saved["lanes"], parts)
        return from_plain(
            Finished, saved, graph=graph, question=first.question, seeds=first.seeds, lanes=lanes
        )
    except BadParameter as error:
        raise BadInput(
            f"This comparison was made with an instance that this Hopscope cannot read: {error}"
        ) from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(
            f"This saved comparison is damaged ({type(error).__name__}: {shorten(str(error))})."
        ) from None


def _lane(lane: FinishedLane, graph: int) -> dict[str, Any]:
    named = {name: getattr(lane.instance, name) for name in NAMED} | {
        "line": repr(lane.instance.line)
    }
    return {**named, "standing": graph, **to_plain(lane), "states": len(lane.states)}


def _lanes(
    rows: Sequence[Mapping[str, Any]], parts: list[tuple[Any, list[State]]]
) -> tuple[FinishedLane, ...]:
    """The lanes; `parts` are their graphs, None for the question's own, each with the states of its lanes."""
    if not 1 <= len(rows) <= MAX_LANES:
        raise ValueError(f"{len(rows)} lanes")
    lanes, done = [], [0] * len(parts)
    for row in rows:
        place = from_plain(_Place, row)
        if not 0 <= place.graph < len(parts):
            raise ValueError(f"there is no graph {place.graph}")
        graph, states = parts[place.graph]
        part = tuple(states[done[place.graph] : done[place.graph] + place.states])
        if place.states < 0 or len(part) != place.states:
            raise ValueError("states are missing")
        done[place.graph] += place.states
        for state in part:
            _check(state)
        instance = from_plain(
            Instance,
            {name: row[name] for name in NAMED if name in row},
            line=parse_line(row["line"]),
        )
        lane = from_plain(FinishedLane, row, instance=instance, states=part, graph=graph)
        if lane.status not in ENDS:
            raise ValueError(f"a lane cannot have ended as {lane.status!r:.20}")
        if lane.saved_alive is not None and set(lane.saved_alive) != {"corpus", "graph"}:
            raise ValueError("what was alive in the corpus and in the graph is missing")
        if lane.repair:
            parse_line(lane.repair.spec)
        lanes.append(lane)
    if any(at != len(states) for at, (_, states) in zip(done, parts)):
        raise ValueError("more states than lanes have")
    return tuple(lanes)


@dataclass(frozen=True)
class _Place:
    """Where the states of a lane are: on which graph of the comparison, and how many."""

    states: int
    graph: int = field(default=0, metadata={"saved": "standing"})


def _check(state: State) -> None:
    """What screens take for granted."""
    if not state.trace:
        raise ValueError("a state without its steps")
    for step in state.trace:
        if step.operator not in OPERATORS:
            raise BadParameter(f"it has no operator “{shorten(step.operator, 40)}”.")
    for message in state.prompt.messages if state.prompt else ():
        if not all(isinstance(message.get(key), str) for key in ("role", "content")):
            raise ValueError("a message without role or content")
