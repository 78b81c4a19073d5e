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
from core.types import Question, Repair, Rest, State

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
    rests: tuple[Rest, ...] | None = None  # what the sentences of its answer most likely rest on
    graph: Any = None  # the one that it stands on, where that is not the question's
    stands: str = ""  # the title of the build that made it
    kept: Mapping[str, tuple[str, ...]] | None = None  # of the known answers and passages those in the corpus and in the graph

    @property
    def state(self) -> State | None:
        """The newest state; None where the lane failed before its first operator ended."""
        return self.states[-1] if self.states else None


@dataclass(frozen=True, eq=False)
class Finished:
    """A comparison that has ended. `graph` may be the whole graph or an excerpt; ids are its own, or those of a lane's own graph.

    `corpus` is the name of the corpus that was asked; empty for a question to a graph.
    """

    graph: Any
    question: Question
    seeds: tuple[int, ...]
    lanes: tuple[FinishedLane, ...]
    seed: int = 0
    reader: bool = True
    model: bool = True
    corpus: str = ""


def freeze_finished(finished: Finished) -> dict[str, Any]:
    """The comparison with the part of the graph that it names, as JSON can hold it."""
    graphs = _graphs(finished)
    states = [State(finished.question, finished.seeds), *_states(finished, graphs, 0)]
    apart = [(graph, _states(finished, graphs, place)) for place, graph in enumerate(graphs) if place]
    return {
        "comparison": VERSION,
        "seed": finished.seed,
        "reader": finished.reader,
        "model": finished.model,
        **({"corpus": finished.corpus} if finished.corpus else {}),
        "lanes": [_lane(lane, _standing(lane, graphs)) for lane in finished.lanes],
        "run": freeze_all(states, finished.graph),
        "graph": excerpt(finished.graph, states),
        **({"apart": [{"run": freeze_all(part, graph), "graph": excerpt(graph, part)} for graph, part in apart]} if apart else {}),
    }


def _graphs(finished: Finished) -> list[Any]:
    """The graphs that lanes stand on, each once, that of the question first."""
    found = {finished.graph.digest: finished.graph}
    for lane in finished.lanes:
        if lane.graph is not None:
            found.setdefault(lane.graph.digest, lane.graph)
    return list(found.values())


def _standing(lane: FinishedLane, graphs: Sequence[Any]) -> int:
    """The place of a lane's graph among those of the comparison."""
    return 0 if lane.graph is None else [graph.digest for graph in graphs].index(lane.graph.digest)


def _states(finished: Finished, graphs: Sequence[Any], place: int) -> list[State]:
    """The states of the lanes that stand on one graph, in the order of the lanes."""
    return [state for lane in finished.lanes if _standing(lane, graphs) == place for state in lane.states]


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
            standing = ExcerptGraph.thaw(part["graph"])
            parts.append((standing, list(thaw_all(part["run"], standing))))
        lanes = _lanes(saved["lanes"], parts)
        corpus = _typed({"corpus": "", **saved}, "corpus", str)
        seed, reader, model = (_typed(saved, key, wanted) for key, wanted in (("seed", int), ("reader", bool), ("model", bool)))
    except BadParameter as error:
        raise BadInput(f"This comparison was made with an instance that this Hopscope cannot read: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"This saved comparison is damaged ({type(error).__name__}: {shorten(str(error))}).") from None
    return Finished(graph, first.question, first.seeds, lanes, seed, reader, model, corpus)


def _lane(lane: FinishedLane, standing: int) -> dict[str, Any]:
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
        **({"rests": [asdict(rest) for rest in lane.rests]} if lane.rests is not None else {}),
        **({"standing": standing} if standing else {}),
        **({"stands": lane.stands} if lane.stands else {}),
        **({"kept": {name: list(texts) for name, texts in lane.kept.items()}} if lane.kept is not None else {}),
        "states": len(lane.states),
    }


def _lanes(rows: Sequence[Mapping[str, Any]], parts: list[tuple[Any, list[State]]]) -> tuple[FinishedLane, ...]:
    """The lanes; `parts` are the graphs that they stand on, None for the question's own, each with the states of its lanes."""
    if not 1 <= len(rows) <= MOST_LANES:
        raise ValueError(f"{len(rows)} lanes")
    lanes, done = [], [0] * len(parts)
    for row in rows:
        texts = {key: _typed(row, key, str) for key in TEXTS}
        if texts["status"] not in ENDS:
            raise ValueError(f"a lane cannot have ended as {texts['status']!r:.20}")
        count, standing = _typed(row, "states", int), _typed({"standing": 0, **row}, "standing", int)
        if not 0 <= standing < len(parts):
            raise ValueError(f"there is no graph {standing}")
        graph, states = parts[standing]
        part = tuple(states[done[standing] : done[standing] + count])
        if count < 0 or len(part) != count:
            raise ValueError("states are missing")
        done[standing] += count
        for state in part:
            _check(state)
        line = parse_line(texts.pop("line"))
        ends = {key: texts.pop(key) for key in ("status", "answer")}
        error, model = (_typed(row, key, str | None) for key in ("error", "model"))
        instance = Instance(line=line, method=_typed(row, "method", str) if "method" in row else "", **texts)
        retrieved = _typed(row, "retrieved", bool)
        more = {"retrieved": retrieved, "repair": _repair(row), "rests": _rests(row), "graph": graph, "kept": _kept(row)}
        more["stands"] = _typed({"stands": "", **row}, "stands", str)
        lanes.append(FinishedLane(instance, part, error=error, model=model, **more, **ends))
    if any(at != len(states) for at, (_, states) in zip(done, parts)):
        raise ValueError("more states than lanes have")
    return tuple(lanes)


def _kept(row: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]] | None:
    """What a lane's row tells of the corpus and the graph; None where it does not."""
    if "kept" not in row:
        return None
    return {name: tuple(_typed({"text": text}, "text", str) for text in row["kept"][name]) for name in ("corpus", "graph")}


def _repair(row: Mapping[str, Any]) -> Repair | None:
    """The change that was seen to help, if one was. Raises as `parse_line` where its line cannot be read."""
    if "repair" not in row:
        return None
    saved = row["repair"]
    spec, label = (_typed(saved, key, str) for key in ("spec", "label"))
    parse_line(spec)
    return Repair(spec, label, _typed(saved, "right", int), _typed(saved, "of", int))


def _rests(row: Mapping[str, Any]) -> tuple[Rest, ...] | None:
    """What the sentences of the answer rest on; None where it was not looked up."""
    if "rests" not in row:
        return None
    found = []
    for saved in row["rests"]:
        start, end = (_typed(saved, key, int) for key in ("start", "end"))
        place = tuple(_typed({"at": at}, "at", int) for at in saved["place"])
        score, words = float(_typed(saved, "score", int | float)), _typed(saved, "words", bool)
        found.append(Rest(start, end, _typed(saved, "chunk", str), (place[0], place[1]), score, words))
    return tuple(found)


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
