"""The outcome of a path in a run: found, dropped by an operator, or never reached.

It is read from the states and the trace of the run, without running anything again.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.diagnosis.causes import Cause, Fate
from core.diagnosis.pagerank_ranks import rank_beyond_cut
from core.diagnosis.wording import count_noun, is_or_are
from core.graph.texts import relation_names
from core.operators import OPERATORS
from core.operators.refine import reads_part
from core.types import Path, Ranking, State, Step

HOP_FRAME_TITLE = "hop"  # first word of the titles of frames, in a search hop by hop


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
        return _left_out_fate(graph, states, path) or Fate(
            Cause.NOT_SOUGHT, "this method finds no paths"
        )
    paths, limit = states[-1].paths, prompt_paths(states[-1])
    position = _position(paths, path)
    if paths is not None and position is not None:
        rank, total = position + 1, len(paths)
        if by_model and limit is not None and limit <= position:
            text = f"rank {rank:,}; the model reads only the top {limit:,}"
            return Fate(Cause.NO_ROOM, text, rank, total, limit, step=states[-1].trace[-1])
        return Fate(Cause.FOUND, f"rank {rank:,}", rank, total)
    return _dropped_fate(states, path) or _unreached_fate(graph, states, path)


def path_fate_in(graph, states: Sequence[State], path: Path, origin, by_model: bool = True) -> Fate:
    """Return the outcome of a path of `origin` in a run on `graph`.

    `origin` is the graph of the path. The path is followed in `graph` by the names of its nodes and
    relations.
    """
    if states and all(state.paths is None for state in states) and graph is not origin:
        return Fate(Cause.NOT_SOUGHT, "this method finds no paths")
    local_path = path if graph is origin else translate_path(origin, path, graph)
    if local_path is not None:
        return path_fate(graph, states, local_path, by_model)
    return Fate(Cause.NOT_IN_GRAPH, "never reached: not in this method's graph")


def translate_path(graph, path: Path, other) -> Path | None:
    """Return the path of `other` with the same names of nodes and relations.

    Of parallel edges, and of nodes with the same name, the first is taken. The result is None if
    there is no such path. The relation of a graph with a single relation carries no meaning; it
    matches the relation of another such graph.
    """
    node_lists = [other.nodes_named(name) for name in graph.names(path.nodes)]
    if not all(node_lists):
        return None
    other_path = Path((node_lists[0][0],))
    wanted_steps = zip(node_lists[1:], relation_names(graph, path.edges), path.forward)
    for (node, *_), relation, forward in wanted_steps:
        neighbours, edges, forwards = other.steps(other_path.end, "both")
        steps = zip(neighbours.tolist(), relation_names(other, edges), forwards.tolist())
        wanted = (node, relation, forward)
        edge = next((edge for edge, step in zip(edges.tolist(), steps) if step == wanted), None)
        if edge is None:
            return None
        other_path = other_path.extended(node, edge, forward)
    return other_path


def prompt_paths(state: State) -> int | None:
    """Return how many paths the prompt shows.

    The result is None if there is no prompt, or if it shows hits instead of paths.
    """
    prompt = state.prompt
    return None if prompt is None or (prompt.hits and not prompt.paths) else prompt.paths


def _dropped_fate(states: Sequence[State], path: Path) -> Fate | None:
    """Return the outcome by the last operator that dropped the path.

    The operator saw the path and did not keep it.
    """
    operator_inputs = [None, *(state.paths for state in states)]  # the input of each operator
    for old_paths, output in zip(reversed(operator_inputs[:-1]), reversed(states)):
        step = output.trace[-1]
        index = _position(step.before_cut, path)
        if index is None and _position(old_paths, path) is None:
            continue
        if _position(output.paths, path) is not None:
            continue
        assert output.paths is not None  # no operator removes the ranking itself
        limit = len(output.paths)
        if index is not None:
            return _cut_fate(step, index, limit)
        assert old_paths is not None  # the path was in it
        return _not_read_fate(step, len(old_paths), limit)
    return None


def _cut_fate(step: Step, index: int, limit: int) -> Fate:
    """Return the outcome of a path in an order that was cut.

    The path is at `index` of the order, which `step` cut to `limit` paths.
    """
    assert step.before_cut is not None  # the path has a rank in it
    total = len(step.before_cut)
    if limit == 0:
        text = f"found, but {step_title(step)} handed nothing on"
        return Fate(Cause.NOT_HANDED_ON, text, index + 1, total, 0, step=step)
    text = f"rank {index + 1:,} of {total:,}; only the top {limit:,} {is_or_are(limit)} kept"
    return Fate(Cause.OUTRANKED, text, index + 1, total, limit, step=step)


def _not_read_fate(step: Step, total: int, limit: int) -> Fate:
    """Return the outcome of a path that a step did not read.

    The step did not read it or did not choose it. There were `total` paths. `limit` is the number
    of paths that it kept.
    """
    if step.before_cut is not None and reads_part(step.parameters):
        read = len(step.before_cut)
        text = f"not read by {step_title(step)}, which read {read:,} of {total:,}"
        return Fate(Cause.NOT_READ, text, None, total, read, step=step)
    text = f"dropped by {step_title(step)}: one of {total:,} not chosen"
    return Fate(Cause.NOT_CHOSEN, text, None, total, limit, step=step)


def _unreached_fate(graph, states: Sequence[State], path: Path) -> Fate:
    """Return the outcome of a path that no operator saw."""
    outcome = _left_out_fate(graph, states, path)
    if outcome:
        return outcome
    step = next(state.trace[-1] for state in states if state.paths is not None)
    if step.frames and step.frames[0].title.startswith(HOP_FRAME_TITLE):
        return _beam_fate(step, path)
    hops = step.parameters.get("hops")
    if hops and len(path) > hops:
        return _too_far_fate(step, path, hops)
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


def _left_out_fate(graph, states: Sequence[State], path: Path) -> Fate | None:
    """Return the outcome by the first operator that left out the path.

    The subgraph of that operator lacks a node or edge of the path. The result is None if no
    subgraph does.
    """
    for state in states:
        if state.subgraph is None:
            continue
        step, size = state.trace[-1], len(state.subgraph.nodes)
        for node in path.nodes:
            if node not in state.subgraph:
                name = graph.node_name(node)
                rank = rank_beyond_cut(graph, state, (node,))
                rank_clause = f": rank {rank:,}, top {size:,} kept" if rank else ""
                text = f"never reached: “{name}” was left out by {step_title(step)}{rank_clause}"
                return Fate(
                    Cause.LEFT_OUT, text, rank, n_retained=size, missing_name=name, step=step
                )
        for edge in path.edges:
            if not state.subgraph.has_edge(edge):
                name = graph.relation_name(edge)
                text = f"never reached: a “{name}” edge was left out by {step_title(step)}"
                return Fate(
                    Cause.EDGE_LEFT_OUT,
                    text,
                    n_retained=len(state.subgraph.edges),
                    missing_name=name,
                    step=step,
                )
    return None


def _beam_fate(step: Step, path: Path) -> Fate:
    """Return the outcome of a path in a beam search: the hop at which its beginning was dropped.

    A beam search has a frame for each hop from each seed.
    """
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
            index = _position(frame.before_cut, beginning)
            size = len(frame.ranking)
            cause = Cause.BEAM
            text = f"dropped at hop {hop}"
            rank: int | None = None
            if index is not None:
                rank = index + 1
                text += f": rank {rank:,} of {frame.considered:,}, top {size:,} kept"
            elif frame.before_cut is not None:
                cause = Cause.NOT_TRIED
                text = f"never reached: not tried at hop {hop}"
            return Fate(cause, text, rank, frame.considered, size, hop, step=step)
    if len(path) <= len(frames):
        return Fate(
            Cause.ONLY_LONGER,
            "never reached by itself: only longer paths that begin with it were kept",
            step=step,
        )
    return _too_far_fate(step, path, len(frames))


def _too_far_fate(step: Step, path: Path, hops: int) -> Fate:
    """Return the outcome of a path that is longer than the searched `hops`."""
    away = count_noun(len(path), "hop")
    text = f"never reached: {away} away, {hops} {is_or_are(hops)} searched"
    return Fate(Cause.TOO_FAR, text, n_retained=hops, step=step)


def step_title(step: Step) -> str:
    """Return the title of a step's operator."""
    return OPERATORS[step.operator].title if step.operator in OPERATORS else step.operator


def _position(ranking: Ranking | None, path: Path) -> int | None:
    return None if ranking is None else ranking.positions.get(path)


def ordinal(number: int) -> str:
    """Return an ordinal number: 1st, 2nd, 3rd, 4th, 11th, 1,001st."""
    suffix = (
        "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    )
    return f"{number:,}{suffix}"
