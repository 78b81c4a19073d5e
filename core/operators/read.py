"""The graph reader: answers are read from the ends of paths, without a language model."""

from __future__ import annotations

import itertools
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
MAX_PATHS_READ = 5_000  # paths, the best first, in which the expected answer is sought
RelationChain = tuple[tuple[int, bool], ...]  # the relation and direction of each step


@dataclass(frozen=True, repr=False)
class GraphReader(Operator):
    """The entities at the ends of the best paths, best first.

    The relations and directions of the best path are taken as the meaning of the question. The ends
    of all paths along the same relations are the answers, in the order of the paths. The question
    entities are no answers. The best path is therefore the first one to another entity with a name.
    With `asked` it is the first one whose end fits the expected answer best (`AnswerFit`).

    With `itself` a question entity may be an answer if a path returns to it by a triple that it did
    not use before ("the spouse of the spouse"). Of the retrievers, beam search finds such paths.

    `anywhere` is for walks and single triples, which have no target. Each is split into the paths
    on it from the question entity to every other node, in both directions. The path to its end
    comes first and gives the answer, unless another node fits the question better. The paths to the
    nodes nearest to the entity follow.

    Answers given by a user's own retriever are left unchanged.

    >>> # r0 leads to B alone
    >>> line = "EgoNetwork() >> ShortestPaths(direction='out') >> GraphReader()"
    >>> toy.names(retrieve(line, "A").reader)
    ['B']
    """

    stage = "read"
    title = "graph reader"
    plain = ""
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
        paths = self._paths_to_answers(state, ctx)
        if not paths:
            return state.replace(reader=())
        answers = dict.fromkeys(path.end for path in self._answering_paths(paths, state, ctx))
        return state.replace(reader=tuple(answers)[: self.keep])

    def _paths_to_answers(self, state: State, ctx: Context) -> list[Path]:
        """Return the paths whose end may be an answer and has a name."""
        assert state.paths is not None
        seeds = frozenset(state.seeds)
        paths: Iterable[Path] = state.paths.items
        if self.anywhere:
            paths = itertools.chain.from_iterable(paths_along_walk(walk, seeds) for walk in paths)
        answering = [path for path in paths if self._may_answer(path, seeds)]
        return [path for path in answering if not is_unnamed(ctx.graph.node_name(path.end))]

    def _may_answer(self, path: Path, seeds: frozenset[int]) -> bool:
        """Return whether the end of a path may be an answer, whatever its name."""
        if path.end not in seeds:
            return True
        return self.itself and _ends_with_new_triple(path)

    def _answering_paths(self, paths: list[Path], state: State, ctx: Context) -> list[Path]:
        """Return the paths along the relations of the best one, in their order."""
        relations = relations_of(ctx.graph, paths)
        expected_answer = ExpectedAnswer()
        if self.asked:
            seed_names = ctx.graph.names(state.seeds)
            expected_answer = expect_answer(ctx.graph, state.question.text, seed_names)
        best_path = paths[0]
        if expected_answer.answer_type:
            fit = AnswerFit(ctx.graph, expected_answer, relations)
            best_path = _best_fitting(paths, fit)
            if fit(best_path) == MAX_ANSWER_FIT:
                return _paths_of_named_relation(paths, _relation_chain(relations, best_path), fit)
        best_chain = _relation_chain(relations, best_path)
        return [path for path in paths if _relation_chain(relations, path) == best_chain]


def paths_along_walk(walk: Path, seeds: frozenset[int]) -> Iterator[Path]:
    """Yield the paths along a walk to each of its nodes.

    They begin at the nearest seed on the walk. The seeds are left out. The path to the end of the
    walk comes first, then the others, the shortest first. Each node is reached once. A walk without
    a seed is read from its start, and the path to the start itself is the first step backwards.

    >>> from core.operators.read import paths_along_walk
    >>> from core.types import Path
    >>> walk = Path((0, 1, 2), (7, 8), (True, False))  # to 2 and to 0 from 1
    >>> [(part.nodes, part.edges, part.forward) for part in paths_along_walk(walk, frozenset({1}))]
    [((1, 2), (8,), (False,)), ((1, 0), (7,), (False,))]
    """
    if not walk.edges:
        return
    seed_positions = [position for position, node in enumerate(walk.nodes) if node in seeds]
    starts = []  # for each position on the walk, the position at which its path starts
    for target in range(len(walk.nodes)):
        candidates = seed_positions or [1 if target == 0 else 0]
        starts.append(min(candidates, key=lambda position: abs(position - target)))
    last = len(starts) - 1
    seen_nodes = set(seeds)
    for target in sorted(
        range(len(starts)), key=lambda target: (target != last, abs(target - starts[target]))
    ):
        if walk.nodes[target] not in seen_nodes:
            seen_nodes.add(walk.nodes[target])
            yield _part_of_walk(walk, starts[target], target)


def _part_of_walk(walk: Path, start: int, end: int) -> Path:
    """Return the part of a walk between two positions, reversed if needed."""
    low, high = sorted((start, end))
    part = Path(walk.nodes[low : high + 1], walk.edges[low:high], walk.forward[low:high])
    if start < end:
        return part
    reversed_forward = tuple(not is_forward for is_forward in reversed(part.forward))
    return Path(part.nodes[::-1], part.edges[::-1], reversed_forward)


def _ends_with_new_triple(path: Path) -> bool:
    """Return whether a path reaches its end by a new triple.

    A triple is new if the path did not use it before.
    """
    return bool(path.edges) and path.edges[-1] not in path.edges[:-1]


def _best_fitting(paths: Sequence[Path], fit: AnswerFit) -> Path:
    """Return the first of the paths that best fit the expected answer."""
    best_path = paths[0]
    best_value = 0
    for path in paths[:MAX_PATHS_READ]:
        value = fit(path)
        if value > best_value:
            best_path, best_value = path, value
        if best_value == MAX_ANSWER_FIT:
            break
    return best_path


def _paths_of_named_relation(
    paths: Sequence[Path], best_chain: RelationChain, fit: AnswerFit
) -> list[Path]:
    """Return the fitting paths that share the best chain's beginning.

    They share all but its last step, and fit the question. The last triple of a path may have
    another relation than the question names, if a triple of the named relation joins the same
    nodes.
    """
    names_relation = fit.names_relation(best_chain[-1][0])
    answering = []
    for path in paths:
        chain_of_path = _relation_chain(fit.relations, path)
        if chain_of_path[:-1] != best_chain[:-1]:
            continue
        if fit(path) == MAX_ANSWER_FIT or (names_relation and chain_of_path == best_chain):
            answering.append(path)
    return answering


def relations_of(graph, paths: Iterable[Path]) -> dict[int, int]:
    """Return the relation of each edge of some paths, by edge."""
    edges = list(dict.fromkeys(edge for path in paths for edge in path.edges))
    return dict(zip(edges, graph.triples(np.array(edges, np.int64))[1].tolist()))


def _relation_chain(relations: dict[int, int], path: Path) -> RelationChain:
    """Return the relations and directions of a path, as a hashable tuple."""
    return tuple((relations[edge], forward) for edge, forward in zip(path.edges, path.forward))
