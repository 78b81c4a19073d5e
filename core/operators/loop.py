"""A loop: operators that are repeated until enough nodes are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.errors import BadParameter
from core.operators.base import Context, Operator, Recorder
from core.operators.combinator import (
    Arm,
    Combinator,
    arm_plain_words,
    arm_words,
    written_fields,
)
from core.operators.nodes.expansion import ExpandNodes
from core.operators.nodes.smoothing import GraphRerank
from core.parameters import param
from core.types import Frame, Ranking, State

MAX_LOOP_ROUNDS = 10_000  # a loop usually ends earlier, after a round that adds no node


@dataclass(frozen=True, repr=False)
class Loop(Combinator):
    """Operators repeated until `budget` nodes are found, or a round adds no node.

    FastInsight's loop (algorithm 1). The printed algorithm never ends in a component smaller than
    the budget. This one ends after a round that adds no node. Nodes beyond the budget are cut off
    before the next operator runs.

    The loop has one step in the trace, with a frame for every operator of a round that changed the
    nodes. If an operator only adds nodes, the frame lists the new ones.

    >>> line = (
    ...     "SparseNodes(keep=1) >> EmbedQuery() >> "
    ...     "Loop(body=ExpandNodes(keep=1) >> GraphRerank(alpha=0.0), budget=3)"
    ... )
    >>> table = {"Scrooge: person: A rich and lonely man.": 1.0}
    >>> state = retrieve(line, graph=story, question="Marley", models=scores(table))
    >>> story.names(state.nodes.items)
    ['Scrooge', 'Marley', 'Cratchit']
    >>> [frame.title for frame in state.trace[-1].frames]
    ['Start', 'Round 1: ExpandNodes', 'Round 1: GraphRerank', 'Round 2: ExpandNodes']
    """

    stage = "retrieve"
    title = "loop"
    lines = ("body",)
    kind = "a loop"

    body: Arm = (ExpandNodes(), GraphRerank())
    budget: int = param(
        100,
        "Nodes in all",
        "The loop ends when so many are found; b_max in the paper.",
        low=1,
        high=100_000,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.body:
            raise BadParameter("A loop has no operator to repeat.")
        if "nodes" not in self.writes:
            raise BadParameter("No operator of the loop finds nodes, so it would never end.")

    def admits(self, operator: Operator) -> bool:
        return super().admits(operator) and not isinstance(operator, Loop)

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(dict.fromkeys(["nodes", *self.fields_read_by_arms()]))

    @property
    def writes(self) -> tuple[str, ...]:  # type: ignore[override]
        return written_fields(self.body)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        recorder.frames.append(
            Frame("Start", state.nodes or Ranking("node", (), ()), _node_count(state))
        )
        notes: list[str | Callable[[], str]] = []
        for number in range(1, MAX_LOOP_ROUNDS):
            n_nodes = _node_count(state)
            if n_nodes >= self.budget:
                break
            ctx.watch.check()
            ctx.watch.report(
                f"Round {number}: {n_nodes:,} of {self.budget:,} nodes", n_nodes / self.budget
            )
            state, round_notes = self._run_round(number, state, ctx, recorder)
            if _node_count(state) <= n_nodes:
                notes.append(
                    f"No node is left to be found after {n_nodes:,} of {self.budget:,}; the loop "
                    "ends."
                )
                break
            notes = round_notes
        recorder.notes += notes
        return state

    def _run_round(
        self, number: int, state: State, ctx: Context, recorder: Recorder
    ) -> tuple[State, list[str | Callable[[], str]]]:
        """Run one round; return the new state and the operators' notes.

        Nodes beyond the budget are cut off as soon as an operator adds them.
        """
        notes: list[str | Callable[[], str]] = []
        for operator in self.body:
            inner = Recorder()  # of one operator, so that its frame and notes can be told apart
            known_nodes = state.nodes.items if state.nodes else ()
            state = operator.apply(state, ctx, inner)
            if state.nodes is not None and len(state.nodes) > self.budget:
                state = state.replace(nodes=state.nodes.head(self.budget))
            notes += inner.notes
            inner.notes = []  # the loop keeps only the notes of its last round
            recorder.include(inner)
            if state.nodes is not None and state.nodes.items != known_nodes:
                title = f"Round {number}: {type(operator).__name__}"
                recorder.frames.append(_make_frame(title, known_nodes, state.nodes, inner))
        return state, notes

    def words(self) -> str:
        return f"until {self.budget:,} nodes: {arm_words(self.body)}"

    def plain_words(self) -> str:
        return f"until {self.budget:,} nodes are read {arm_plain_words(self.body)}"


def _make_frame(title: str, known_nodes: tuple[int, ...], nodes: Ranking, inner: Recorder) -> Frame:
    """Return a frame with the added nodes, best first.

    If the known nodes were reordered, the frame lists all nodes. `inner` is the operator's record.
    """
    n_known = len(known_nodes)
    added = nodes.items[n_known:] if nodes.items[:n_known] == known_nodes else ()
    if not added:
        return Frame(title, nodes, len(nodes))
    order = inner.before_cut
    if order is None:
        return Frame(title, Ranking("node", added), len(added))
    choice_scores = dict(zip(order.items[: len(added)], order.scores or ()))
    scores = None
    if all(node in choice_scores for node in added):
        scores = tuple(choice_scores[node] for node in added)
    return Frame(title, Ranking("node", added, scores), len(order), order)


def _node_count(state: State) -> int:
    return len(state.nodes) if state.nodes is not None else 0
