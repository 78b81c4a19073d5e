"""An operator that merges the hits of two searches for the same question."""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import BadParameter
from core.operators.base import HITS, Context, Recorder, needs
from core.operators.combinator import Arm, Combinator, arm_plain_words, arm_words
from core.operators.texts.merge import ORDER_HELP, ORDERS, merged
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
    order: str = param("in turn", "Order", ORDER_HELP, choices=ORDERS)

    def __post_init__(self) -> None:
        super().__post_init__()
        for arm in self.every_arm():
            if not any(field in HITS for operator in arm for field in operator.writes):
                raise BadParameter("A line of a union finds no hits.")

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(dict.fromkeys(need for arm in self.every_arm() for need in needs(arm)))

    @property
    def writes(self) -> tuple[str, ...]:  # type: ignore[override]
        found = {field for arm in self.every_arm() for operator in arm for field in operator.writes}
        return tuple(field for field in HITS if field in found)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        ends = []
        for name, arm in zip(("First", "Second"), self.every_arm()):
            end = state
            for operator in arm:
                ctx.watch.check()
                inner = Recorder()
                end = operator.apply(end, ctx, inner)
                recorder.include(inner)
            found = {field: getattr(end, field) for field in self.writes}
            recorder.frames += [
                Frame(f"{name}: {field}", hits, len(hits))
                for field, hits in found.items()
                if hits is not None
            ]
            ends.append(found)
        return state.replace(
            **{field: merged(ends[0][field], ends[1][field], self.order) for field in self.writes}
        )

    def words(self) -> str:
        fused = " by reciprocal rank" if self.order == "reciprocal rank" else ""
        return f"union of {' and '.join(map(arm_words, self.every_arm()))}{fused}"

    def plain_words(self) -> str:
        return f"{' and '.join(map(arm_plain_words, self.every_arm()))}, both together"
