"""The outcome of a path in a run: found, dropped by an operator, or never reached."""

from __future__ import annotations

from collections.abc import Sequence

from core.diagnosis.causes import Cause, Fate
from core.diagnosis.pagerank_ranks import rank_beyond_cut
from core.graph.texts import relation_names
from core.operators import OPERATORS
from core.operators.refine import reads_part
from core.types import Path, Ranking, State, Step

HOP_FRAME_TITLE = "hop"  # first word of the frames' titles in a search hop by hop


def path_fate(graph, states: Sequence[State], path: Path, by_model: bool = True) -> Fate:
    """Return the outcome of a path in a run.

    Parameters
    ----------
    graph : the graph of the run.
    states : the states after each operator, oldest first.
    path : a path of that graph.
    by_model : True if the language model's answer counts, so that the path has to be in the prompt.
        The graph reader reads all paths.
    """
    if not states or all(state.paths is None for state in states):
        return _left_out(graph, states, path) or Fate(
            Cause.NOT_SOUGHT, "this method finds no paths"
        )
    paths, shown = states[-1].paths, prompt_paths(states[-1])
    position = _position(paths, path)
    if paths is not None and position is not None:
        place, of = position + 1, len(paths)
        if by_model and shown is not None and shown <= position:
            reads = f"rank {place:,}; the model reads only the top {shown:,}"
            return Fate(Cause.NO_ROOM, reads, place, of, shown, step=states[-1].trace[-1])
        return Fate(Cause.FOUND, f"rank {place:,}", place, of)
    return _dropped(states, path) or _never(graph, states, path)


def path_fate_in(graph, states: Sequence[State], path: Path, known, by_model: bool = True) -> Fate:
    """Return the outcome, in a run on `graph`, of a path of the graph `known`.

    The path is followed in `graph` by the names of its nodes and relations.
    """
    if states and all(state.paths is None for state in states) and graph is not known:
        return Fate(Cause.NOT_SOUGHT, "this method finds no paths")
    same = path if graph is known else translate_path(known, path, graph)
    if same is not None:
        return path_fate(graph, states, same, by_model)
    return Fate(Cause.NOT_IN_GRAPH, "never reached: not in this method's graph")


def translate_path(graph, path: Path, other) -> Path | None:
    """Return the path of `other` with the same names of nodes and relations.

    Of parallel edges the first is taken. The result is None where there is no such path. In a graph
    with a single relation the relation carries no meaning, and it matches that of another such
    graph.
    """
    node_lists = [other.nodes_named(name) for name in graph.names(path.nodes)]
    if not all(node_lists):
        return None
    path_there = Path((node_lists[0][0],))
    for (node, *_), relation, forward in zip(
        node_lists[1:], relation_names(graph, path.edges), path.forward
    ):
        neighbours, edges, along = other.steps(path_there.end, "both")
        steps = zip(
            neighbours.tolist(), relation_names(other, edges), along.tolist(), edges.tolist()
        )
        step = next((edge for *one, edge in steps if one == [node, relation, forward]), None)
        if step is None:
            return None
        path_there = path_there.extended(node, step, forward)
    return path_there


def prompt_paths(state: State) -> int | None:
    """Return how many paths the prompt shows.

    The result is None where there is no prompt, or where it shows hits instead of paths.
    """
    prompt = state.prompt
    return None if prompt is None or (prompt.hits and not prompt.paths) else prompt.paths


def _dropped(states: Sequence[State], path: Path) -> Fate | None:
    """Return the outcome by the last operator that saw the path and did not keep it."""
    operator_inputs = [None, *(state.paths for state in states)]  # the input of each operator
    for before, after in zip(reversed(operator_inputs[:-1]), reversed(states)):
        step = after.trace[-1]
        place = _position(step.before_cut, path)
        if place is None and _position(before, path) is None:
            continue
        if _position(after.paths, path) is not None:
            continue
        assert after.paths is not None  # no operator removes the ranking itself
        retained = len(after.paths)
        if place is not None:
            return _cut_at(step, place, retained)
        assert before is not None  # the path was in it
        return _passed_over(step, len(before), retained)
    return None


def _cut_at(step: Step, place: int, retained: int) -> Fate:
    """Return the outcome of a path at an index of the order that a step cut."""
    assert step.before_cut is not None  # the path has a rank in it
    of = len(step.before_cut)
    if retained == 0:
        text = f"found, but {step_title(step)} handed nothing on"
        return Fate(Cause.NOT_HANDED_ON, text, place + 1, of, 0, step=step)
    late = f"rank {place + 1:,} of {of:,}; only the top {retained:,} {_are(retained)} kept"
    return Fate(Cause.OUTRANKED, late, place + 1, of, retained, step=step)


def _passed_over(step: Step, of: int, retained: int) -> Fate:
    """Return the outcome of one of `of` paths that a step did not read or did not choose."""
    if step.before_cut is not None and reads_part(step.parameters):
        read = len(step.before_cut)
        text = f"not read by {step_title(step)}, which read {read:,} of {of:,}"
        return Fate(Cause.NOT_READ, text, None, of, read, step=step)
    text = f"dropped by {step_title(step)}: one of {of:,} not chosen"
    return Fate(Cause.NOT_CHOSEN, text, None, of, retained, step=step)


def _never(graph, states: Sequence[State], path: Path) -> Fate:
    outcome = _left_out(graph, states, path)
    if outcome:
        return outcome
    step = next(state.trace[-1] for state in states if state.paths is not None)
    if step.frames and step.frames[0].title.startswith(HOP_FRAME_TITLE):
        return _left_by_beam(step, path)
    hops = step.parameters.get("hops")
    if hops and len(path) > hops:
        return Fate(
            Cause.TOO_FAR,
            f"never reached: {_hops(len(path))} away, {hops} {_are(hops)} searched",
            retained=hops,
            step=step,
        )
    edge_direction = graph.resolve(step.parameters.get("direction", "graph"))
    if edge_direction != "both" and any(
        forward != (edge_direction == "out") for forward in path.forward
    ):
        return Fate(
            Cause.ONE_WAY,
            "never reached: edges are followed one way only, and it needs the other",
            step=step,
        )
    if step.operator == "ShortestPaths":
        return Fate(
            Cause.TIE, "never reached: another path to its end is as short or shorter", step=step
        )
    return Fate(Cause.NOT_REACHED, f"never reached by {step_title(step)}", step=step)


def _left_out(graph, states: Sequence[State], path: Path) -> Fate | None:
    """Return the outcome by the operator whose subgraph first lacks a node or edge of the path."""
    for state in states:
        if state.subgraph is None:
            continue
        step, size = state.trace[-1], len(state.subgraph.nodes)
        for node in path.nodes:
            if node not in state.subgraph:
                name = graph.node_name(node)
                place = rank_beyond_cut(graph, state, (node,))
                at = f": rank {place:,}, top {size:,} kept" if place else ""
                text = f"never reached: “{name}” was left out by {step_title(step)}{at}"
                return Fate(Cause.LEFT_OUT, text, place, retained=size, what=name, step=step)
        for edge in path.edges:
            if not state.subgraph.has_edge(edge):
                name = graph.relation_name(edge)
                text = f"never reached: a “{name}” edge was left out by {step_title(step)}"
                return Fate(
                    Cause.EDGE_LEFT_OUT,
                    text,
                    retained=len(state.subgraph.edges),
                    what=name,
                    step=step,
                )
    return None


def _left_by_beam(step: Step, path: Path) -> Fate:
    """Return the hop at which a beam dropped the path, and the rank of its beginning there."""
    frames = [
        frame
        for frame in step.frames
        if not frame.ranking.items or frame.ranking.items[0].start == path.start
    ]
    for hop, frame in enumerate(frames, 1):
        if hop > len(path):
            break
        beginning = Path(path.nodes[: hop + 1], path.edges[:hop], path.forward[:hop])
        if _position(frame.ranking, beginning) is None:
            place = _position(frame.before_cut, beginning)
            size = len(frame.ranking)
            cause = Cause.BEAM
            text = f"dropped at hop {hop}"
            at: int | None = None
            if place is not None:
                at = place + 1
                text += f": rank {at:,} of {frame.considered:,}, top {size:,} kept"
            elif frame.before_cut is not None:
                cause = Cause.NOT_TRIED
                text = f"never reached: not tried at hop {hop}"
            return Fate(cause, text, at, frame.considered, size, hop, step=step)
    if len(path) <= len(frames):
        return Fate(
            Cause.ONLY_LONGER,
            "never reached by itself: only longer paths that begin with it were kept",
            step=step,
        )
    retained = len(frames)
    return Fate(
        Cause.TOO_FAR,
        f"never reached: {_hops(len(path))} away, {retained} {_are(retained)} searched",
        retained=retained,
        step=step,
    )


def step_title(step: Step) -> str:
    """Return the title of a step's operator."""
    return OPERATORS[step.operator].title if step.operator in OPERATORS else step.operator


def _position(ranking: Ranking | None, path: Path) -> int | None:
    return None if ranking is None else ranking.positions.get(path)


def _hops(number: int) -> str:
    return f"{number:,} hop{'' if number == 1 else 's'}"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def ordinal(number: int) -> str:
    """Return an ordinal number: 1st, 2nd, 3rd, 4th, 11th, 1,001st."""
    suffix = (
        "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    )
    return f"{number:,}{suffix}"
