"""A finished comparison without engine, models or the whole graph, and as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from core.errors import BadInput, BadParameter, shorten
from core.instances.catalogue import Instance
from core.operators import OPERATORS
from core.operators.text import parse_line
from core.snapshot import ExcerptGraph, excerpt, freeze_all, thaw_all
from core.types import Question, Repair, State

VERSION = 1
ENDS = ("done", "failed", "cancelled")
TEXTS = ("id", "title", "short", "paper", "group", "notes", "line", "status", "answer")
MOST_LANES = 8


@dataclass(frozen=True, eq=False)
class FinishedLane:
    """What one instance came to: its states after each operator, how it ended, and the name of the model that answered."""

    instance: Instance
    states: tuple[State, ...]
    status: str = "done"  # or failed, cancelled
    error: str | None = None
    answer: str = ""
    retrieved: bool = True
    model: str | None = None
    repair: Repair | None = None  # a change of one step that was seen to bring more

    @property
    def state(self) -> State | None:
        """The newest state; None where the lane failed before its first operator ended."""
        return self.states[-1] if self.states else None


@dataclass(frozen=True, eq=False)
class Finished:
    """A comparison that has ended. `graph` may be the whole graph or an excerpt; ids are its own."""

    graph: Any
    question: Question
    seeds: tuple[int, ...]
    lanes: tuple[FinishedLane, ...]
    seed: int = 0
    reader: bool = True
    model: bool = True


def freeze_finished(finished: Finished) -> dict[str, Any]:
    """The comparison with the part of the graph that it names, as JSON can hold it."""
    states = [State(finished.question, finished.seeds), *(state for lane in finished.lanes for state in lane.states)]
    return {
        "comparison": VERSION,
        "seed": finished.seed,
        "reader": finished.reader,
        "model": finished.model,
        "lanes": [_lane(lane) for lane in finished.lanes],
        "run": freeze_all(states, finished.graph),
        "graph": excerpt(finished.graph, states),
    }


def thaw_finished(saved: Mapping[str, Any]) -> Finished:
    """The comparison of `freeze_finished`, on an `ExcerptGraph`. Raises BadInput where it is of another version or damaged."""
    if not isinstance(saved, Mapping) or "comparison" not in saved:
        raise BadInput("This is not a saved comparison.")
    if saved["comparison"] != VERSION:
        raise BadInput(
            f"This comparison was saved by another version of Hopscope (format {shorten(repr(saved['comparison']), 20)}; "
            f"this one reads {VERSION})."
        )
    try:
        graph = ExcerptGraph.thaw(saved["graph"])
        first, *states = thaw_all(saved["run"], graph)
        lanes = _lanes(saved["lanes"], states)
        seed, reader, model = (_typed(saved, key, wanted) for key, wanted in (("seed", int), ("reader", bool), ("model", bool)))
    except BadParameter as error:
        raise BadInput(f"This comparison was made with an instance that this Hopscope cannot read: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"This saved comparison is damaged ({type(error).__name__}: {shorten(str(error))}).") from None
    return Finished(graph, first.question, first.seeds, lanes, seed, reader, model)


def _lane(lane: FinishedLane) -> dict[str, Any]:
    one = lane.instance
    return {
        "id": one.id,
        "title": one.title,
        "short": one.short,
        "method": one.method,
        "paper": one.paper,
        "group": one.group,
        "notes": one.notes,
        "line": repr(one.line),
        "status": lane.status,
        "error": lane.error,
        "answer": lane.answer,
        "retrieved": lane.retrieved,
        "model": lane.model,
        **({"repair": asdict(lane.repair)} if lane.repair else {}),
        "states": len(lane.states),
    }


def _lanes(rows: Sequence[Mapping[str, Any]], states: list[State]) -> tuple[FinishedLane, ...]:
    if not 1 <= len(rows) <= MOST_LANES:
        raise ValueError(f"{len(rows)} lanes")
    lanes, at = [], 0
    for row in rows:
        texts = {key: _typed(row, key, str) for key in TEXTS}
        if texts["status"] not in ENDS:
            raise ValueError(f"a lane cannot have ended as {texts['status']!r:.20}")
        count = _typed(row, "states", int)
        part = tuple(states[at : at + count])
        if count < 0 or len(part) != count:
            raise ValueError("states are missing")
        at += count
        for state in part:
            _check(state)
        line = parse_line(texts.pop("line"))
        ends = {key: texts.pop(key) for key in ("status", "answer")}
        error, model = (_typed(row, key, str | None) for key in ("error", "model"))
        instance = Instance(line=line, method=_typed(row, "method", str) if "method" in row else "", **texts)
        retrieved = _typed(row, "retrieved", bool)
        lanes.append(FinishedLane(instance, part, error=error, model=model, retrieved=retrieved, repair=_repair(row), **ends))
    if at != len(states):
        raise ValueError("more states than lanes have")
    return tuple(lanes)


def _repair(row: Mapping[str, Any]) -> Repair | None:
    """The change that was seen to help, if one was. Raises as `parse_line` where its line cannot be read."""
    if "repair" not in row:
        return None
    saved = row["repair"]
    spec, label = (_typed(saved, key, str) for key in ("spec", "label"))
    parse_line(spec)
    return Repair(spec, label, _typed(saved, "right", int), _typed(saved, "of", int))


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


def _typed(row: Mapping[str, Any], key: str, wanted: Any) -> Any:
    """The value of `key`, which must be of the type `wanted`. Raises TypeError."""
    if not isinstance(row[key], wanted) or (wanted is int and isinstance(row[key], bool)):
        raise TypeError(f"{key} is {shorten(repr(row[key]), 30)}")
    return row[key]
