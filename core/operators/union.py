"""A union: the merged hits of two searches for the same question."""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import BadParameter
from core.operators.base import HIT_FIELDS, Context, Recorder
from core.operators.combinator import (
    Arm,
    Combinator,
    arm_plain_words,
    arm_words,
    written_fields,
)
from core.operators.texts.merge import MERGE_ORDER_HELP, MERGE_ORDERS, merge_rankings
from core.operators.texts.sparse import SparseNodes
from core.operators.texts.vectors import VectorNodes
from core.parameters import param
from core.types import Frame, State


@dataclass(frozen=True, repr=False)
class Union(Combinator):
    """The merged hits of two lines that begin at the same state: `a | b`.

    Each hit is listed once. Neither line sees the results of the other. Hits of the same kind are
    merged as in `Merge`. All other fields of the state stay as they were before both lines. If hits
    are merged by score, the order of the lines does not matter.

    >>> line = "EmbedQuery() >> (VectorNodes(keep=1) | SparseNodes(keep=1))"
    >>> state = retrieve(line, graph=story, question="a lame nephew cheerful", models=scores({}))
    >>> story.names(state.nodes.items), [frame.title for frame in state.trace[-1].frames]
    (['Tim', 'Fred'], ['First: nodes', 'Second: nodes'])
    """

    stage = "retrieve"
    title = "union"
    lines = ("first", "second")
    kind = "a union"

    first: Arm = (VectorNodes(),)
    second: Arm = (SparseNodes(),)
    order: str = param("in turn", "Order", MERGE_ORDER_HELP, choices=MERGE_ORDERS)

    def __post_init__(self) -> None:
        super().__post_init__()
        for arm in self.every_arm():
            if not set(written_fields(arm)).intersection(HIT_FIELDS):
                raise BadParameter("A line of a union finds no hits.")

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(self.fields_read_by_arms())

    @property
    def writes(self) -> tuple[str, ...]:  # type: ignore[override]
        fields = {*written_fields(self.first), *written_fields(self.second)}
        return tuple(field for field in HIT_FIELDS if field in fields)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        first_state = self._run_arm("First", self.first, state, ctx, recorder)
        second_state = self._run_arm("Second", self.second, state, ctx, recorder)
        merged_hits = {}
        for field in self.writes:
            first, second = getattr(first_state, field), getattr(second_state, field)
            merged_hits[field] = merge_rankings(first, second, self.order)
        return state.replace(**merged_hits)

    def _run_arm(
        self, name: str, arm: Arm, state: State, ctx: Context, recorder: Recorder
    ) -> State:
        """Return the state after an arm, and record its hits as frames."""
        for operator in arm:
            ctx.watch.check()
            inner = Recorder()
            state = operator.apply(state, ctx, inner)
            recorder.include(inner)
        for field in self.writes:
            hits = getattr(state, field)
            if hits is not None:
                recorder.frames.append(Frame(f"{name}: {field}", hits, len(hits)))
        return state

    def words(self) -> str:
        suffix = " by reciprocal rank" if self.order == "reciprocal rank" else ""
        return f"union of {' and '.join(map(arm_words, self.every_arm()))}{suffix}"

    def plain_words(self) -> str:
        return f"{' and '.join(map(arm_plain_words, self.every_arm()))}, both together"
