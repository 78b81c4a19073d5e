"""An operator that merges the hits of two searches for the same question."""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import BadParameter
from core.operators.base import HIT_FIELDS, Context, Recorder, missing_fields
from core.operators.combinator import Arm, Combinator, arm_plain_words, arm_words
from core.operators.texts.merge import MERGE_ORDER_HELP, MERGE_ORDERS, merge_rankings
from core.operators.texts.sparse import SparseNodes
from core.operators.texts.vectors import VectorNodes
from core.parameters import param
from core.types import Frame, State


@dataclass(frozen=True, repr=False)
class Union(Combinator):
    """The merged hits of two lines that begin at the same state: `a | b`.

    Each hit is listed once. Each line runs as if it were alone. The hits of every kind are merged
    as in `Merge`. Everything else stays as it was before both lines. If hits are merged by score,
    the order of the lines does not matter.

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
            if not any(field in HIT_FIELDS for operator in arm for field in operator.writes):
                raise BadParameter("A line of a union finds no hits.")

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(
            dict.fromkeys(need for arm in self.every_arm() for need in missing_fields(arm))
        )

    @property
    def writes(self) -> tuple[str, ...]:  # type: ignore[override]
        fields = {
            field for arm in self.every_arm() for operator in arm for field in operator.writes
        }
        return tuple(field for field in HIT_FIELDS if field in fields)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        arm_hits = []
        for name, arm in zip(("First", "Second"), self.every_arm()):
            arm_state = state
            for operator in arm:
                ctx.watch.check()
                inner = Recorder()
                arm_state = operator.apply(arm_state, ctx, inner)
                recorder.include(inner)
            hits_by_field = {field: getattr(arm_state, field) for field in self.writes}
            recorder.frames += [
                Frame(f"{name}: {field}", hits, len(hits))
                for field, hits in hits_by_field.items()
                if hits is not None
            ]
            arm_hits.append(hits_by_field)
        return state.replace(
            **{
                field: merge_rankings(arm_hits[0][field], arm_hits[1][field], self.order)
                for field in self.writes
            }
        )

    def words(self) -> str:
        suffix = " by reciprocal rank" if self.order == "reciprocal rank" else ""
        return f"union of {' and '.join(map(arm_words, self.every_arm()))}{suffix}"

    def plain_words(self) -> str:
        return f"{' and '.join(map(arm_plain_words, self.every_arm()))}, both together"
