"""Conversion of comparisons to JSON-serialisable data, and back.

The data includes the part of the graph that the comparison refers to. A saved comparison can
therefore be shown without the engine, the models and the whole graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.comparison.build_title import build_title
from core.comparison.lane import ENDED_STATUSES, MethodComparison, MethodLane
from core.corpus import Corpus
from core.diagnosis.funnel import alive_before_retrieval
from core.errors import BadInput, BadParameter, shorten
from core.graph.edits import Edit
from core.io.plain_data import from_plain, to_plain
from core.methods.catalogue import Method
from core.operators import OPERATORS
from core.operators.text import parse_line
from core.runtime.jobs import JOB_CANCELLED
from core.snapshot import ExcerptGraph, excerpt, freeze_all, thaw_all
from core.sources import GraphSource, SourceQuestion, source_in
from core.types import State

COMPARISON_VERSION = 1
# Fields of a lane's method that are saved.
SAVED_METHOD_FIELDS = ("id", "title", "short", "method", "paper", "group", "notes")
MAX_SAVED_LANES = 8  # most lanes of a comparison
GraphStates = list[tuple[Any, list[State]]]  # each graph with the states of its lanes, in order


@dataclass(frozen=True)
class _SavedAsk:
    """Saved fields of a question, without its states.

    `seed` is the random seed. `reader` and `model` say whether the graph reader and the language
    model may answer. `corpus` is the name of the corpus; empty for a question to a graph.
    """

    seed: int = 0
    reader: bool = True
    model: bool = True
    corpus: str = ""
    edits: tuple[str, ...] = ()  # in the form of `Edit.to_text`


@dataclass(frozen=True)
class _LaneStates:
    """Saved number of a lane's states, and index of their graph.

    The index is among the graphs of the comparison.
    """

    n_states: int = field(metadata={"saved": "states"})
    graph_index: int = field(default=0, metadata={"saved": "standing"})


def freeze(comparison: MethodComparison) -> dict[str, Any]:
    """Return a comparison as JSON-serialisable data.

    The data includes the part of each graph that the comparison refers to. Lanes that have not
    ended become cancelled. The question's own graph and its states are under `graph` and `run`,
    those of other graphs that lanes use are under `apart`.
    """
    ask = comparison.ask
    lanes = [_ended_lane(lane) for lane in comparison.snapshot.lanes]
    graphs = _graphs(ask, lanes)
    first_state = State(ask.question, ask.seeds)
    states = [first_state, *_states(lanes, graphs, 0)]
    data = {
        "comparison": COMPARISON_VERSION,
        **to_plain(_saved_ask(ask)),
        "lanes": [_lane_dict(lane, graphs) for lane in lanes],
        "run": freeze_all(states, graphs[0]),
        "graph": excerpt(graphs[0], states),
    }
    parts = []
    for index, graph in enumerate(graphs[1:], 1):
        part = _states(lanes, graphs, index)
        parts.append({"run": freeze_all(part, graph), "graph": excerpt(graph, part)})
    if parts:
        data["apart"] = parts
    return data


def thaw(
    saved: Mapping[str, Any], full_graph: Any = None, corpus: Corpus | None = None
) -> MethodComparison:
    """Return the ended comparison that `freeze` saved.

    Parameters
    ----------
    saved : the data of `freeze`.
    full_graph : the graph to attach, used if the comparison was made on it. Else, or if it is
        None, an `ExcerptGraph` of the saved part is made.
    corpus : the corpus that was asked, if it is available.

    Raises
    ------
    BadInput
        If the data is of another version or damaged.
    """
    if not isinstance(saved, Mapping) or "comparison" not in saved:
        raise BadInput("This is not a saved comparison.")
    if saved["comparison"] != COMPARISON_VERSION:
        raise BadInput(
            "This comparison was saved by another version of Hopscope (format "
            f"{shorten(repr(saved['comparison']), 20)}; this one reads {COMPARISON_VERSION})."
        )
    try:
        is_on_full_graph = full_graph is not None and saved["run"]["graph"] == full_graph.digest
        graph = full_graph if is_on_full_graph else ExcerptGraph.thaw(saved["graph"])
        first_state, *states = thaw_all(saved["run"], graph)
        parts: GraphStates = [(None, states)]  # None is the question's own graph
        for part in saved.get("apart", ()):
            part_graph = ExcerptGraph.thaw(part["graph"])
            parts.append((part_graph, list(thaw_all(part["run"], part_graph))))
        ask = _thaw_ask(from_plain(_SavedAsk, saved), first_state, graph, corpus)
        return MethodComparison(ask, _lanes(saved["lanes"], ask, parts))
    except BadParameter as error:
        raise BadInput(
            f"This comparison was made with a method that this Hopscope cannot read: {error}"
        ) from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(
            f"This saved comparison is damaged ({type(error).__name__}: {shorten(str(error))})."
        ) from None


def _ended_lane(lane: MethodLane) -> MethodLane:
    """Return a lane prepared for saving.

    It gets the facts that could not be found again without its whole graph or its corpus. A lane
    that has not ended becomes cancelled.
    """
    return replace(
        lane,
        status=lane.status if lane.status in ENDED_STATUSES else JOB_CANCELLED,
        build_title=build_title(lane),
        saved_alive=alive_before_retrieval(lane),
    )


def _saved_ask(ask: SourceQuestion) -> _SavedAsk:
    edits = tuple(edit.to_text() for edit in ask.source.edits)
    return _SavedAsk(ask.seed, ask.uses_reader, ask.uses_model, ask.source.corpus_name, edits)


def _thaw_ask(saved: _SavedAsk, first: State, graph: Any, corpus: Corpus | None) -> SourceQuestion:
    """Return the question as it was asked; `first` is its state before any operator."""
    saved_source = source_in({"corpus": saved.corpus, "graph": graph.name}) or GraphSource("")
    edits = tuple(map(Edit.from_text, saved.edits))
    source = replace(saved_source, graph=graph, corpus=corpus, edits=edits)
    return SourceQuestion(
        source, first.question, first.seeds, saved.seed, saved.reader, saved.model
    )


def _graphs(ask: SourceQuestion, lanes: Sequence[MethodLane]) -> list[Any]:
    """Return the distinct graphs of the lanes, with the question's graph first."""
    graphs: dict[str, Any] = {ask.source.graph.digest: ask.source.graph}
    for lane in lanes:
        graphs.setdefault(lane.graph.digest, lane.graph)
    return list(graphs.values())


def _graph_number(lane: MethodLane, graphs: Sequence[Any]) -> int:
    """Return the index of a lane's graph among those of the comparison."""
    return [graph.digest for graph in graphs].index(lane.graph.digest)


def _states(lanes: Sequence[MethodLane], graphs: Sequence[Any], index: int) -> list[State]:
    """Return the states of all lanes on one graph, lane after lane."""
    states: list[State] = []
    for lane in lanes:
        if _graph_number(lane, graphs) == index:
            states += lane.states
    return states


def _lane_dict(lane: MethodLane, graphs: Sequence[Any]) -> dict[str, Any]:
    """Return the data of a lane.

    They include its method, its line, and the number of its states.
    """
    fields = {name: getattr(lane.method, name) for name in SAVED_METHOD_FIELDS}
    fields |= {"line": repr(lane.line), "standing": _graph_number(lane, graphs)}
    return {**fields, **to_plain(lane), "states": len(lane.states)}


def _lanes(
    rows: Sequence[Mapping[str, Any]], ask: SourceQuestion, parts: GraphStates
) -> list[MethodLane]:
    """Return the lanes of saved rows.

    `parts` are the graphs, each with the states of its lanes; None for the question's own graph.
    Raises ValueError if the numbers of states in the rows do not fit the states.
    """
    if not 1 <= len(rows) <= MAX_SAVED_LANES:
        raise ValueError(f"{len(rows)} lanes")
    lanes = []
    n_read = [0] * len(parts)  # by graph, the number of states that earlier lanes have
    for row in rows:
        saved = from_plain(_LaneStates, row)
        index = saved.graph_index
        if not 0 <= index < len(parts):
            raise ValueError(f"there is no graph {index}")
        graph, states = parts[index]
        lane_states = tuple(states[n_read[index] : n_read[index] + saved.n_states])
        if saved.n_states < 0 or len(lane_states) != saved.n_states:
            raise ValueError("states are missing")
        n_read[index] += saved.n_states
        for state in lane_states:
            _check_state(state)
        lanes.append(_thaw_lane(row, ask, states=lane_states, own_graph=graph))
    if any(count != len(states) for count, (_, states) in zip(n_read, parts)):
        raise ValueError("more states than lanes have")
    return lanes


def _thaw_lane(row: Mapping[str, Any], ask: SourceQuestion, **fields: Any) -> MethodLane:
    """Return a lane from its row, with `fields` that are not in the row."""
    method_fields = {name: row[name] for name in SAVED_METHOD_FIELDS if name in row}
    method = from_plain(Method, method_fields, line=parse_line(row["line"]))
    lane = from_plain(MethodLane, row, ask=ask, method=method, repairs_tried=True, **fields)
    if lane.status not in ENDED_STATUSES:
        raise ValueError(f"a lane cannot have ended as {lane.status!r:.20}")
    if lane.saved_alive is not None and set(lane.saved_alive) != {"corpus", "graph"}:
        raise ValueError("what was alive in the corpus and in the graph is missing")
    if lane.repair:
        parse_line(lane.repair.spec)
    return lane if lane.status != JOB_CANCELLED else replace(lane, text="Cancelled")


def _check_state(state: State) -> None:
    """Raise ValueError or BadParameter for a state that the screens cannot show."""
    if not state.trace:
        raise ValueError("a state without its steps")
    for step in state.trace:
        if step.operator not in OPERATORS:
            raise BadParameter(f"it has no operator “{shorten(step.operator, 40)}”.")
    for message in state.prompt.messages if state.prompt else ():
        if not all(isinstance(message.get(key), str) for key in ("role", "content")):
            raise ValueError("a message without role or content")
