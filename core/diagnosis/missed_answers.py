"""A path to each known answer that a run lost.

It explains the loss, and may come from another run in the same comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from core.diagnosis.funnel import gold_nodes
from core.graph.algorithms.local_adjacency import LocalAdjacency
from core.graph.algorithms.paths import shortest_paths
from core.types import Path, Question, Ranking, State, Subgraph

MAX_LOST_PATH_HOPS = 4  # the longest path that is searched for if no run saw one


def lost_paths(
    graph, runs: Sequence[Sequence[State]], answers: Sequence[str], by_model: Sequence[bool] = ()
) -> list[list[tuple[str, Path]]]:
    """Find a path to each known answer that a run lost.

    The path is the best path that a run kept, by preference a run whose graph reader names the
    answer. Else it is a path that an operator saw and dropped, else a shortest path of at most four
    hops in the largest extracted subgraph. An answer without any such path is left out.

    Parameters
    ----------
    runs : the states of each run, oldest first.
    answers : the known answers.
    by_model : for each run, True if the language model's answer counts. An answer is then lost if
        no path in the prompt holds it, else if no path at all does. Empty means True for all runs.

    Returns
    -------
    For each run, the lost answers with a path to each.
    """
    goals = _answer_nodes(graph, runs, answers)
    paths_by_answer = paths_to_answers(graph, runs, answers)
    measured_runs = zip(runs, by_model or [True] * len(runs))
    return [
        [
            (answer, path)
            for answer, path in paths_by_answer.items()
            if not _is_read(states, goals[answer], model)
        ]
        for states, model in measured_runs
    ]


def paths_to_answers(
    graph, runs: Sequence[Sequence[State]], answers: Sequence[str]
) -> dict[str, Path]:
    """Return a path to each known answer that has one, as `lost_paths` finds it.

    Parameters
    ----------
    runs : the states of each run, oldest first.
    answers : the known answers.
    """
    paths_by_answer: dict[str, Path] = {}
    for answer, nodes in _answer_nodes(graph, runs, answers).items():
        path = (
            _path_from_ranking(runs, nodes)
            or _path_from_steps(runs, nodes)
            or _shortest_path(graph, runs, nodes)
        )
        if path is not None:
            paths_by_answer[answer] = path
    return paths_by_answer


def _answer_nodes(
    graph, runs: Sequence[Sequence[State]], answers: Sequence[str]
) -> dict[str, set[int]]:
    """Return the nodes of each known answer of the runs' question."""
    question = next((states[-1].question for states in runs if states), Question(""))
    return {
        answer: set(gold_nodes(graph, *question.answer_names(answer)))
        for answer in dict.fromkeys(answers)
    }


def read_paths(state: State, by_model: bool) -> tuple[Path, ...]:
    """Return the paths from which the answer that counts is made.

    These are the paths in the prompt if the model's answer counts and a prompt was written, else
    all paths.
    """
    paths = state.paths.items if state.paths is not None else ()
    return paths[: state.prompt.paths] if by_model and state.prompt is not None else paths


def _is_read(states: Sequence[State], nodes: set[int], by_model: bool) -> bool:
    """Return whether one of the nodes lies on a read path.

    The read paths are `read_paths` of the last state. The result is True for a run that searches no
    paths, which cannot lose any.
    """
    last = states[-1] if states else None
    if last is None or last.paths is None:
        return True
    return any(not nodes.isdisjoint(path.nodes) for path in read_paths(last, by_model))


def _first_path_to(ranking: Ranking | None, nodes: set[int]) -> Path | None:
    if ranking is not None:
        return next((path for path in ranking.items if path.end in nodes), None)
    return None


def _path_from_ranking(runs: Sequence[Sequence[State]], nodes: set[int]) -> Path | None:
    """Return the best kept path to one of the nodes, if any."""
    reader_first = sorted(
        (states for states in runs if states),
        key=lambda states: nodes.isdisjoint(states[-1].reader or ()),
    )
    candidate_paths = (_first_path_to(states[-1].paths, nodes) for states in reader_first)
    return next((path for path in candidate_paths if path is not None), None)


def _path_from_steps(runs: Sequence[Sequence[State]], nodes: set[int]) -> Path | None:
    """Return the first seen path to one of the nodes, if any. Any operator may have seen it."""
    for state in chain.from_iterable(runs):
        path_before_cut = _first_path_to(state.trace[-1].before_cut, nodes)
        path = path_before_cut or _first_path_to(state.paths, nodes)
        if path is not None:
            return path
    return None


def _shortest_path(graph, runs: Sequence[Sequence[State]], nodes: set[int]) -> Path | None:
    """Return a path from a seed to one of the nodes.

    It lies inside the largest subgraph. The result is None if there is none.
    """
    candidates = [
        (state.subgraph, state.seeds)
        for state in chain.from_iterable(runs)
        if state.subgraph is not None
    ]
    if not candidates:
        return None
    subgraph, seeds = max(candidates, key=lambda pair: len(pair[0].edges))
    if not any(node in subgraph for node in nodes):
        return None
    local = LocalAdjacency(graph, Subgraph(subgraph.nodes, subgraph.edges), "graph")
    for seed in seeds:
        if seed in subgraph:
            for path in shortest_paths(local, seed, MAX_LOST_PATH_HOPS)[0]:
                if path.end in nodes:
                    return path
    return None
