"""Path retrieval from each seed that scores only the newest triple of each path.

The search follows LEGO-GraphRAG v1: a beam search, as in its paper, or a tree that reaches each
node once, as in its code.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core.errors import BadParameter
from core.graph.algorithms.local_adjacency import LocalAdjacency
from core.models.base import Choice, Task
from core.models.chooser_names import short_name
from core.models.combine import CombinatorCall, parse_chooser
from core.operators.base import DIRECTIONS, MAX_TEXTS, Context, Operator, Recorder
from core.operators.extract import DIRECTION_HELP
from core.operators.refine import chosen_items
from core.parameters import param
from core.types import Frame, Path, Ranking, State


@dataclass(frozen=True, repr=False)
class TreePaths(Operator):
    """The branches of a tree grown from each seed, the best `width` triples per hop.

    A model chooses the triples. Only the newest triple is scored, as `A, r, B`; scores do not
    accumulate. The longest branches are returned in order of finding, without the shorter paths
    that they extend. A branch is lost if none of its extensions is kept. (LEGO-GraphRAG v1,
    iterative path filtering, methods 9 to 14: width 128; 3 hops is the default of its code, as the
    paper names none.)

    `reading` "paper" is a plain beam search, as section 4.1 describes it. Several branches may end
    in one node, and the best `width` are kept. No branch visits a node twice. The paper does not
    say this; but as only the newest triple is scored, a step back would score as high as the step
    before it. The model is asked at every hop, and its choice is final. A branch that cannot be
    extended is returned, and so are all branches if the model picks nothing.

    `reading` "code" reaches every node at most once in a tree. A node counts as reached once a
    triple leads to it, even if that triple is dropped later. A frontier of at most `width` is kept
    without asking the model. If the model picks more than `width` without scores, a sample is
    drawn; if it picks fewer, others follow in frontier order. Only branches of all `hops`, and
    those that end in a node without any step, are returned; shorter branches are lost.

    >>> table = {"A, r1, C": 0.8, "C, r4, D": 0.9}
    >>> answers(
    ...     "EgoNetwork() >> TreePaths(hops=2, width=1, direction='out')", "A", models=scores(table)
    ... )
    ['A -> r1 -> C -> r4 -> D']
    """

    stage = "retrieve"
    title = "tree search"
    plain = "grows a tree of the {width:,} best paths up to {hops} hops {by}"
    reads, writes = ("seeds", "subgraph"), ("paths",)

    model: str = param(
        "encoder", "Model", "What scores or picks the new triples at each hop.", model=True
    )
    width: int = param(
        128, "Tree width", "How many triples are kept at each hop.", low=1, high=10_000
    )
    hops: int = param(3, "Hops", "Longest path.", low=1, high=8)
    reading: str = param(
        "paper",
        "Reading",
        "Where the paper and its code differ: which of them is followed.",
        choices=("paper", "code"),
    )
    direction: str = param("graph", "Direction", DIRECTION_HELP, choices=DIRECTIONS)

    def __post_init__(self) -> None:
        super().__post_init__()
        tree = parse_chooser(self.model)
        if (
            self.reading == "code"
            and isinstance(tree, CombinatorCall)
            and tree.name == "supplement"
        ):
            raise BadParameter(
                "TreePaths in the code's reading fills up in frontier order itself; give it the "
                "chooser without supplement."
            )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        assert state.subgraph is not None
        local = LocalAdjacency(ctx.graph, state.subgraph, self.direction)
        seeds = [seed for seed in dict.fromkeys(state.seeds) if seed in state.subgraph]
        branches: list[Path] = []
        for seed in seeds:
            label = f" from {ctx.graph.node_name(seed)}" if len(seeds) > 1 else ""
            branches += self._grow_tree(local, seed, label, state, ctx, recorder)
        return state.replace(paths=Ranking("path", tuple(branches)))

    def _grow_tree(
        self, local, seed: int, label: str, state: State, ctx: Context, recorder: Recorder
    ) -> list[Path]:
        """Return the branches of one seed's tree."""
        beam = [Path((seed,))]
        reached = {seed}  # nodes of the tree; used only by the code's reading
        finished: list[Path] = []
        for hop in range(1, self.hops + 1):
            frontier = self._make_frontier(local, beam, reached)
            finished += self._finished_paths(local, beam, frontier)
            if not frontier:
                return finished
            if len(frontier) == MAX_TEXTS:
                recorder.notes.append(
                    f"Hop {hop}{label} has too many triples; the first {MAX_TEXTS:,} were read."
                )
            ctx.watch.report(
                f"Tree search, hop {hop} of {self.hops}: {len(frontier):,} triples",
                (hop - 1) / self.hops,
            )
            selected, ranked = self._select_paths(frontier, state, ctx, recorder)
            recorder.frames.append(Frame(f"hop {hop}{label}", selected, len(frontier), ranked))
            if not selected.items:
                return finished + [path for path in beam if len(path) and path not in finished]
            beam = list(selected.items)
        return finished + beam

    def _make_frontier(self, local, beam: list[Path], reached: set[int]) -> list[Path]:
        """Return every branch extended by every step to a new node, at most `MAX_TEXTS`.

        In the code's reading only the first step to each node of the tree is taken.
        """
        frontier = []
        for path in beam:
            for neighbour, edge, forward in local.step_lists[local.local_id(path.end)]:
                node = int(local.nodes[neighbour])
                if node not in (reached if self.reading == "code" else path.nodes):
                    frontier.append(path.extended(node, edge, forward))
                    if self.reading == "code":
                        reached.add(node)
                    if len(frontier) == MAX_TEXTS:
                        return frontier
        return frontier

    def _finished_paths(self, local, beam: list[Path], frontier: list[Path]) -> list[Path]:
        """Return the branches that are not extended at this hop.

        In the paper's reading these are the branches without an extension in the frontier, in the
        code's reading the branches that end in a node without any step.
        """
        if self.reading == "code":
            return [
                path
                for path in beam
                if len(path) and not local.step_lists[local.local_id(path.end)]
            ]
        extended = {(path.nodes[:-1], path.edges[:-1]) for path in frontier}
        return [path for path in beam if len(path) and (path.nodes, path.edges) not in extended]

    def _select_paths(
        self, frontier: list[Path], state: State, ctx: Context, recorder: Recorder
    ) -> tuple[Ranking, Ranking | None]:
        """Return the kept paths, and the frontier in the model's order.

        The second result is None if the model has no order.
        """
        paths = Ranking("path", tuple(frontier))
        follows_code = self.reading == "code"
        if follows_code and len(frontier) <= self.width:
            return paths, None
        entities = tuple(ctx.graph.names(state.seeds))
        task = Task(state.question.text, "triple", ctx.seed, ctx.watch, entities)
        texts = newest_triples(ctx.graph, frontier)
        max_picks = 0 if follows_code else self.width  # 0: no limit
        chooser = ctx.models.chooser(self.model)
        choice = recorder.record_choice(chooser.choose(task, texts, max_picks))
        if follows_code:
            rng = ctx.rng(state.question.text, self)
            choice = narrow_choice(choice, len(frontier), self.width, rng)
        return chosen_items(paths, choice)

    @property
    def is_random(self) -> bool:  # type: ignore[override]
        return self.reading == "code"

    def words(self) -> str:
        return f"tree {self.width:,} wide, {self.hops} hops, {short_name(self.model)}"


def narrow_choice(choice: Choice, n: int, width: int, rng: np.random.Generator) -> Choice:
    """Return a choice with `width` of `n` positions.

    This follows the code of LEGO-GraphRAG v1. If the choice has more, the best by score are kept,
    or a sample if there are no scores. If it has fewer, the first of the other positions follow,
    and the result has no scores.
    """
    positions, scores = choice.positions, choice.scores
    if len(positions) > width and scores is not None:
        positions = positions[:width]
    elif len(positions) > width:
        positions = tuple(positions[int(i)] for i in rng.permutation(len(positions))[:width])
    if scores is not None:
        scores = scores[:width] if len(scores) >= width else None
    picked = set(positions)
    others = [i for i in range(n) if i not in picked][: width - len(positions)]
    return replace(choice, positions=(*positions, *others), scores=scores)


def newest_triples(graph, paths: list[Path]) -> list[str]:
    """Return the newest triple of each path as `A, r, B`.

    `A` is its head and `B` its tail.
    """
    heads, relations, tails = graph.triples(np.array([path.edges[-1] for path in paths]))
    # each name is read once, as many triples share a node
    nodes = np.unique(np.concatenate([heads, tails]))
    node_names = dict(zip(nodes.tolist(), graph.names(nodes)))
    return [
        f"{node_names[head]}, {graph.relation_names[relation]}, {node_names[tail]}"
        for head, relation, tail in zip(heads.tolist(), relations.tolist(), tails.tolist())
    ]
