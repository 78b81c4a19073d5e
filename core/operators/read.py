"""Answers read from paths without a language model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.graph.identifier_names import is_unnamed
from core.operators.base import Context, Operator, Recorder
from core.operators.expected_answer import MAX_ANSWER_FIT, AnswerFit, ExpectedAnswer, expect_answer
from core.parameters import param
from core.types import Path, State

ANYWHERE_HELP = (
    "Every entity on a path may be an answer, not only its end: for walks and triples that are not "
    "led by the question."
)
ITSELF_HELP = (
    "An entity of the question counts as an answer where a path comes back to it, as for “the "
    "spouse of the spouse of Ann”."
)
MAX_PATHS_READ = 5_000  # paths among which one with the expected answer is sought


@dataclass(frozen=True, repr=False)
class GraphReader(Operator):
    """The entities at the ends of the best paths, best first.

    The relations and directions of the best path are taken as the meaning of the question. Every
    path along the same relations gives its end, in the order of the paths. The question entities
    are no answers, so the best path is the first that ends elsewhere, at an entity with a name.

    With `itself` a question entity may be an answer if a path returns to it by a triple that it had
    not used before ("the spouse of the spouse"). Of the retrievers, beam search finds such paths.

    `anywhere` is for walks and single triples, which have no target. Each is read as the paths on
    it from the question entity to every other node, in both directions. The path to its end comes
    first and gives the answer, unless another node fits the question better. Then come the paths to
    nodes near the entity.

    Answers given by a person's own retriever are left unchanged.

    >>> # r0 leads to B alone
    >>> line = "EgoNetwork() >> ShortestPaths(direction='out') >> GraphReader()"
    >>> toy.names(retrieve(line, "A").reader)
    ['B']
    """

    stage = "read"
    title = "graph reader"
    reads, writes = ("paths",), ("reader",)

    keep: int = param(
        50, "Answers at most", "How many entities the reader names.", low=1, high=10_000
    )
    asked: bool = param(
        True,
        "Minds what is asked for",
        "No year for “who”: paths whose end is of the kind that the question's words name first.",
    )
    itself: bool = param(False, "May answer the question's entity", ITSELF_HELP)
    anywhere: bool = param(False, "Answers anywhere on a path", ANYWHERE_HELP)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        if state.reader is not None:
            recorder.notes.append("The answers are the retriever's own.")
            return state
        assert state.paths is not None  # a line in which nothing writes it is refused
        seeds = frozenset(state.seeds)
        paths = (
            [part for walk in state.paths.items for part in paths_along_walk(walk, seeds)]
            if self.anywhere
            else state.paths.items
        )
        ending = [
            path
            for path in paths
            if path.end not in seeds or self.itself and _ends_with_new_triple(path)
        ]
        elsewhere = [path for path in ending if not is_unnamed(ctx.graph.node_name(path.end))]
        if not elsewhere:
            return state.replace(reader=())
        relations = relations_of(ctx.graph, elsewhere)
        expected_answer = (
            expect_answer(ctx.graph, state.question.text, ctx.graph.names(state.seeds))
            if self.asked
            else ExpectedAnswer()
        )
        fit = AnswerFit(ctx.graph, expected_answer, relations)
        best_path = _best_fitting(elsewhere, fit) if expected_answer.answer_type else elsewhere[0]
        chain = _relation_chain(relations, best_path)
        same = [path for path in elsewhere if _relation_chain(relations, path) == chain]
        # the question names the relation: take its ends, whichever triple a path took there
        if expected_answer.answer_type and fit(best_path) == MAX_ANSWER_FIT:
            names_relation = fit.names_relation(chain[-1][0])
            alike = [
                path for path in elsewhere if _relation_chain(relations, path)[:-1] == chain[:-1]
            ]
            same = [
                path
                for path in alike
                if fit(path) == MAX_ANSWER_FIT
                or names_relation
                and _relation_chain(relations, path) == chain
            ]
        ends = dict.fromkeys(path.end for path in same)
        return state.replace(reader=tuple(ends)[: self.keep])


def paths_along_walk(walk: Path, seeds: frozenset[int]) -> Iterator[Path]:
    """Yield the paths along a walk from its nearest seed to each other node.

    The path to the end of the walk comes first, then the short ones. A walk without a seed is read
    from its start, and its start is reached by its first step.

    >>> from core.operators.read import paths_along_walk
    >>> from core.types import Path
    >>> walk = Path((0, 1, 2), (7, 8), (True, False))  # to 2 and to 0 from 1
    >>> [(part.nodes, part.edges, part.forward) for part in paths_along_walk(walk, frozenset({1}))]
    [((1, 2), (8,), (False,)), ((1, 0), (7,), (False,))]
    """
    if not walk.edges:
        return
    here = [place for place, node in enumerate(walk.nodes) if node in seeds]
    nearest = [
        min(here or [1 if to == 0 else 0], key=lambda place: abs(place - to))
        for to in range(len(walk.nodes))
    ]
    seen_nodes = set(seeds)
    last = len(nearest) - 1
    for target in sorted(range(len(nearest)), key=lambda to: (to != last, abs(to - nearest[to]))):
        if walk.nodes[target] not in seen_nodes:
            seen_nodes.add(walk.nodes[target])
            yield _part_of_walk(walk, nearest[target], target)


def _part_of_walk(walk: Path, start: int, end: int) -> Path:
    """Return the part of a walk between two positions, reversed if needed."""
    low, high = sorted((start, end))
    slices = walk.nodes[low : high + 1], walk.edges[low:high], walk.forward[low:high]
    if start < end:
        return Path(*slices)
    nodes, edges, forward = (one[::-1] for one in slices)
    return Path(nodes, edges, tuple(not way for way in forward))


def _ends_with_new_triple(path: Path) -> bool:
    """Return whether a path reached its end by a new triple."""
    return bool(path.edges) and path.edges[-1] not in path.edges[:-1]


def _best_fitting(paths: Sequence[Path], fit: AnswerFit) -> Path:
    """Return the first of the paths that best fit the expected answer."""
    best_path, best_value = paths[0], 0
    for path in paths[:MAX_PATHS_READ]:
        fits = fit(path)
        if fits > best_value:
            best_path, best_value = path, fits
        if best_value == MAX_ANSWER_FIT:
            break
    return best_path


def relations_of(graph, paths: Iterable[Path]) -> dict[int, int]:
    """Return the relation of each edge of some paths."""
    edges = list(dict.fromkeys(edge for path in paths for edge in path.edges))
    return dict(zip(edges, graph.triples(np.array(edges, np.int64))[1].tolist()))


def _relation_chain(relations: dict[int, int], path: Path) -> tuple[tuple[int, bool], ...]:
    """Return the relations and directions of a path."""
    return tuple((relations[edge], forward) for edge, forward in zip(path.edges, path.forward))
