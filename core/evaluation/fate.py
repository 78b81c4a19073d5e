"""What became of a path in a run: found, dropped by an operator, or never reached, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.types import Path, Ranking, State, Step


@dataclass(frozen=True)
class Fate:
    """`kind`, and a few words that say the rank, the operator that dropped it, or where it ended."""

    kind: Literal["found", "dropped", "never"]
    text: str


def fate(graph, states: Sequence[State], path: Path) -> Fate:
    """The fate of `path` in a run whose states after each operator are `states`, the oldest first."""
    if not states or all(state.paths is None for state in states):
        lost = _left_out(graph, states, path)
        return Fate("never", lost or "this instance finds no paths")
    position, prompt = _position(states[-1].paths, path), states[-1].prompt
    if position is not None:
        if prompt is not None and prompt.paths <= position:
            return Fate("dropped", f"rank {position + 1:,}, but the prompt holds the first {prompt.paths:,}")
        return Fate("found", f"rank {position + 1:,}")
    return _dropped(states, path) or Fate("never", _never(graph, states, path))


def _dropped(states: Sequence[State], path: Path) -> Fate | None:
    """The last operator that still saw the path and did not keep it."""
    handed = [None, *(state.paths for state in states)]  # what each operator was handed
    for before, after in zip(reversed(handed[:-1]), reversed(states)):
        step = after.trace[-1]
        place = _position(step.before_cut, path)
        if place is None and _position(before, path) is None:
            continue
        if _position(after.paths, path) is not None:
            continue
        if place is not None:
            return Fate("dropped", f"dropped by {step.operator}: {ordinal(place + 1)} of {len(step.before_cut):,}")
        return Fate("dropped", f"dropped by {step.operator}: one of {len(before):,} not chosen")
    return None


def _never(graph, states: Sequence[State], path: Path) -> str:
    lost = _left_out(graph, states, path)
    if lost:
        return f"never reached: {lost}"
    step = next(state.trace[-1] for state in states if state.paths is not None)
    if step.frames:
        return _left_by_beam(step, path)
    hops = step.parameters.get("hops")
    if hops and len(path) > hops:
        return f"never reached: longer than the {hops} hops searched"
    if step.operator == "ShortestPaths":
        return "never reached: another path to its end is as short or shorter"
    return f"never reached by {step.operator}"


def _left_out(graph, states: Sequence[State], path: Path) -> str | None:
    """The operator whose subgraph first lacks a node or edge of the path."""
    for state in states:
        if state.subgraph is None:
            continue
        by = state.trace[-1].operator
        for node in path.nodes:
            if node not in state.subgraph:
                return f"“{graph.node_name(node)}” was left out by {by}"
        for edge in path.edges:
            if not state.subgraph.has_edge(edge):
                return f"a “{graph.relation_name(edge)}” edge was left out by {by}"
    return None


def _left_by_beam(step: Step, path: Path) -> str:
    """The hop at which the beam went on without the path, and the rank of its beginning there."""
    frames = [frame for frame in step.frames if not frame.ranking.items or frame.ranking.items[0].start == path.start]
    for hop, frame in enumerate(frames, 1):
        if hop > len(path):
            break
        beginning = Path(path.nodes[: hop + 1], path.edges[:hop], path.forward[:hop])
        if _position(frame.ranking, beginning) is None:
            place = _position(frame.before_cut, beginning)
            rank = f", {ordinal(place + 1)} of {frame.considered:,}" if place is not None else ""
            return f"never reached: the beam left it at hop {hop}{rank}"
    if len(path) <= len(frames):
        return "never handed on by itself: only paths that begin with it were"
    return f"never reached: longer than the {len(frames)} hops searched"


def _position(ranking: Ranking | None, path: Path) -> int | None:
    return None if ranking is None else ranking.positions.get(path)


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 1,001st."""
    suffix = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{suffix}"
