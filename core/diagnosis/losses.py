"""Stage and cause of each known answer's loss in a run on triples.

They are read from the states and the trace of the run. A path to the answer, which this or another
run saw, shows at which operator it was lost. Losses of passages are in `lost_passages`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.diagnosis.answer_match import contains_answer
from core.diagnosis.causes import Cause, Chain, Fate, Loss, required_figure
from core.diagnosis.funnel import gold_nodes
from core.diagnosis.pagerank_ranks import rank_beyond_cut
from core.diagnosis.path_outcome import path_fate
from core.graph.algorithms.local_adjacency import LocalAdjacency
from core.graph.algorithms.paths import shortest_paths
from core.graph.protocol import KnowledgeGraph
from core.operators import OPERATORS
from core.operators.refine import reads_part
from core.types import Path, Ranking, State, Step, Subgraph

MAX_DISTANCE_HOPS = 8  # the largest distance of an answer from the seeds that is searched


@dataclass(frozen=True, eq=False)
class LaneStages:
    """A lane's states after each operator, with the queries that explanations need.

    `by_model` is true if the language model's answer counts, and false for the graph reader's.
    """

    graph: KnowledgeGraph
    states: Sequence[State]
    by_model: bool

    @property
    def state(self) -> State:
        """The last state."""
        return self.states[-1]

    def answer_nodes(self, answer: str) -> tuple[int, ...]:
        """Return the nodes that have one of a known answer's names."""
        return gold_nodes(self.graph, *self.state.question.answer_names(answer))

    def has_answer(self, answer: str) -> bool:
        """Return whether the answer that counts contains one of a known answer's names."""
        if self.by_model:
            return any(
                contains_answer(self.state.answer or "", name)
                for name in self.state.question.answer_names(answer)
            )
        return not set(self.state.reader or ()).isdisjoint(self.answer_nodes(answer))

    @cached_property
    def answer_path(self) -> Path | None:
        """The first path to the reader's first answer.

        If there is no reader, it is the first path.
        """
        items = self.state.paths.items if self.state.paths else ()
        reader = self.state.reader
        return next((path for path in items if not reader or path.end == reader[0]), None)

    def path_chain(self, path: Path) -> Chain:
        """Return the relations of a path with their directions."""
        return tuple(
            (self.graph.relation_name(edge), forward)
            for edge, forward in zip(path.edges, path.forward)
        )

    def search_step(self) -> Step | None:
        """Return the step that first gave paths; None if none did."""
        return next((state.trace[-1] for state in self.states if state.paths is not None), None)


def losses(run: LaneStages, answers: Sequence[str], paths: Mapping[str, Path]) -> tuple[Loss, ...]:
    """Return the known answers that a run lost, with stage and cause.

    Parameters
    ----------
    run : the states of the run.
    answers : the known answers.
    paths : a path to each answer that some lane saw (`core.diagnosis.missed_answers`).
    """
    return tuple(
        _loss(run, answer, paths.get(answer))
        for answer in dict.fromkeys(answers)
        if not run.has_answer(answer)
    )


def best_rank(ranking: Ranking | None, nodes: set[int]) -> int | None:
    """Return the rank, from 1, of the first path through some nodes.

    The result is None if there is none.
    """
    items = ranking.items if ranking is not None else ()
    return next(
        (rank for rank, path in enumerate(items, 1) if not nodes.isdisjoint(path.nodes)), None
    )


def _loss(run: LaneStages, answer: str, path: Path | None) -> Loss:
    """Return the loss of an answer: the latest stage that had it decides."""
    state, nodes = run.state, set(run.answer_nodes(answer))
    if not nodes:
        return Loss(answer, "graph", Cause.NOT_IN_GRAPH)
    if state.paths is None and state.subgraph is None:
        return Loss(answer, "answer", Cause.NOT_SHOWN)
    rank = best_rank(state.paths, nodes)
    if rank is not None:
        return _reading_loss(run, answer, nodes, rank)
    if state.paths is None:
        if state.subgraph is not None and any(node in state.subgraph for node in nodes):
            return Loss(answer, "answer", Cause.NOT_SHOWN)
        return _outside_loss(run, answer, nodes)
    dropped = _dropped_loss(run, answer, nodes)
    if dropped is not None:
        return dropped
    if path is None:
        return _no_path_loss(run, answer, nodes)
    return _path_loss(run, answer, nodes, path)


def _reading_loss(run: LaneStages, answer: str, nodes: set[int], rank: int) -> Loss:
    """Return the loss of an answer that lies on a path.

    It is lost in the prompt or in the answer. `rank` is the rank of the first path through its
    `nodes`.
    """
    state, paths = run.state, run.state.paths
    assert paths is not None  # the answer has a rank among them
    total = len(paths)
    if run.by_model:
        shown_count = state.prompt.paths if state.prompt is not None else 0
        if rank > shown_count:
            return Loss(answer, "prompt", Cause.NO_ROOM, rank, total, shown_count)
        return Loss(answer, "answer", Cause.NOT_SAID, rank, shown_count)
    ending = next((i for i, path in enumerate(paths.items, 1) if path.end in nodes), None)
    path = paths.items[(ending or rank) - 1]
    followed_chain = run.path_chain(run.answer_path) if run.answer_path is not None else ()
    chain = run.path_chain(path) if ending else ()  # empty if no path ends at the answer
    if not ending:
        cause = Cause.ON_THE_WAY
    elif followed_chain and chain != followed_chain:
        cause = Cause.NOT_FOLLOWED
    else:
        cause = Cause.NOT_NAMED
    return Loss(
        answer,
        "answer",
        cause,
        ending or rank,
        total,
        len(state.reader or ()),
        chain=chain,
        followed_chain=followed_chain,
    )


def _dropped_loss(run: LaneStages, answer: str, nodes: set[int]) -> Loss | None:
    """Return the loss by the last operator that dropped an answer's path.

    The result is None if none did.
    """
    operator_inputs = [None, *(state.paths for state in run.states)]  # and the last output
    for old_paths, output in zip(reversed(operator_inputs[:-1]), reversed(run.states)):
        if output.paths is None or best_rank(output.paths, nodes) is not None:
            continue
        loss = _step_loss(output.trace[-1], old_paths, output.paths, answer=answer, nodes=nodes)
        if loss is not None:
            return loss
    return None


def _step_loss(
    step: Step, old_paths: Ranking | None, new_paths: Ranking, *, answer: str, nodes: set[int]
) -> Loss | None:
    """Return the loss by a step that dropped an answer's paths.

    The result is None if the step did not drop all paths to the answer. `old_paths` are the paths
    before the step, or None before any paths.
    """
    order = step.before_cut
    rank = best_rank(order, nodes)
    if rank is not None and len(new_paths):
        assert order is not None  # the answer has a rank in it
        return Loss(answer, "paths", Cause.OUTRANKED, rank, len(order), len(new_paths), step=step)
    if rank is None and best_rank(old_paths, nodes) is None:
        return None
    seen_paths = old_paths if old_paths is not None else order
    assert seen_paths is not None  # it held a path to the answer
    total = len(seen_paths)
    if order is not None and reads_part(step.parameters) and new_paths:
        return Loss(answer, "paths", Cause.NOT_READ, None, total, len(order), step=step)
    cause = Cause.NOT_CHOSEN if new_paths else Cause.NOT_HANDED_ON
    return Loss(answer, "paths", cause, None, total, len(new_paths), step=step)


def _path_loss(run: LaneStages, answer: str, nodes: set[int], path: Path) -> Loss:
    """Return the loss of an answer to which a run saw no path.

    The loss depends on the fate of `path`.
    """
    outcome = path_fate(run.graph, run.states, path, run.by_model)
    is_inside = run.state.subgraph is not None and any(node in run.state.subgraph for node in nodes)
    stage = "paths" if is_inside else "subgraph"
    if outcome.cause in (Cause.LEFT_OUT, Cause.EDGE_LEFT_OUT) and _searches_whole_graph(
        outcome.step
    ):
        paths = run.state.paths
        chain = run.path_chain(path)
        walked_chain = run.path_chain(paths.items[0]) if paths else ()
        if walked_chain != chain:
            return Loss(
                answer,
                stage,
                Cause.OTHER_RELATIONS,
                chain=chain,
                followed_chain=walked_chain,
                step=outcome.step,
            )
    if outcome.cause in (Cause.LEFT_OUT, Cause.EDGE_LEFT_OUT):
        return Loss(
            answer,
            stage,
            outcome.cause,
            outcome.rank,
            n_retained=outcome.n_retained,
            missing_name=outcome.missing_name,
            step=outcome.step,
        )
    if outcome.cause in (Cause.BEAM, Cause.NOT_TRIED):
        return _beam_loss(run, answer, path, outcome)
    if outcome.cause is Cause.TOO_FAR:
        return _no_path_loss(run, answer, nodes)
    cause = Cause.ONE_WAY if outcome.cause is Cause.ONE_WAY else Cause.NOT_REACHED
    return Loss(answer, stage, cause, step=run.search_step())


def _beam_loss(run: LaneStages, answer: str, path: Path, fate: Fate) -> Loss:
    """Return the loss by a beam that dropped the beginning of a path."""
    hop = required_figure(fate.hop)
    beginning = Path(path.nodes[: hop + 1], path.edges[:hop], path.forward[:hop])
    start, missing_name = run.graph.names(path.nodes[hop - 1 : hop + 1])
    return Loss(
        answer,
        "paths",
        fate.cause,
        rank=fate.rank,
        n_candidates=fate.n_candidates,
        n_retained=fate.n_retained,
        hop=hop,
        missing_name=missing_name,
        start=start,
        chain=run.path_chain(beginning),
        step=fate.step,
    )


def _no_path_loss(run: LaneStages, answer: str, nodes: set[int]) -> Loss:
    """Return the loss of an answer that no path reaches.

    Only paths of the searched length count. The answer is outside the subgraph, too far away, or
    not connected with the seeds.
    """
    subgraph, search = run.state.subgraph, run.search_step()
    if subgraph is None or not any(node in subgraph for node in nodes):
        return _outside_loss(run, answer, nodes)
    parameters = search.parameters if search is not None else {}
    hops, direction = parameters.get("hops"), parameters.get("direction", "graph")
    distance = hops_inside(run.graph, subgraph, run.state.seeds, nodes, direction)
    if distance is None:
        any_distance = hops_inside(run.graph, subgraph, run.state.seeds, nodes, "both")
        cause = Cause.NO_WAY if any_distance is None else Cause.ONE_WAY
        return Loss(answer, "paths", cause, step=search)
    cause = Cause.TOO_FAR if hops and distance > hops else Cause.NOT_REACHED
    return Loss(answer, "paths", cause, n_retained=hops, hop=distance, step=search)


def _outside_loss(run: LaneStages, answer: str, nodes: set[int]) -> Loss:
    """Return the loss by the first operator that omitted an answer.

    The subgraph of that operator has none of the answer's nodes.
    """
    for state in run.states:
        if state.subgraph is not None and not any(node in state.subgraph for node in nodes):
            step = state.trace[-1]
            if _searches_whole_graph(step):
                walked = run.path_chain(run.state.paths.items[0]) if run.state.paths else ()
                return Loss(
                    answer, "subgraph", Cause.OTHER_RELATIONS, followed_chain=walked, step=step
                )
            rank = rank_beyond_cut(run.graph, state, nodes)
            return Loss(
                answer,
                "subgraph",
                Cause.LEFT_OUT,
                rank,
                n_retained=len(state.subgraph.nodes),
                missing_name=answer,
                step=step,
            )
    return Loss(answer, "paths", Cause.NOT_REACHED, step=run.search_step())


def _searches_whole_graph(step: Step | None) -> bool:
    """Return whether a step searched the whole graph.

    Its subgraph is what it found. An example is a search by relation chains. Its subgraph lacks a
    node because it followed other relations.
    """
    cls = OPERATORS.get(step.operator) if step is not None else None
    return (
        cls is not None
        and cls.stage == "retrieve"
        and isinstance(cls.writes, tuple)
        and "subgraph" in cls.writes
    )


def hops_inside(
    graph, subgraph: Subgraph, seeds: Sequence[int], nodes: set[int], direction: str
) -> int | None:
    """Return the fewest hops from a seed to some nodes inside the subgraph.

    The result is None if none of the nodes is reached within eight hops.
    """
    local = LocalAdjacency(graph, subgraph, direction)
    distances: list[int] = []
    for seed in dict.fromkeys(seeds):
        paths = shortest_paths(local, seed, MAX_DISTANCE_HOPS)[0]
        distances += [len(path) for path in paths if path.end in nodes]
    return min(distances, default=None)
