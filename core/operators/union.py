"""Union: two searches from the same question, whose hits are brought together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.environment import Environment
from core.errors import BadParameter, nearest
from core.operators.base import HITS, Context, Operator, Recorder, needs
from core.operators.branch import Branch
from core.operators.texts.merge import ORDER_HELP, ORDERS, merged
from core.operators.texts.sparse import SparseNodes
from core.operators.texts.vectors import VectorNodes
from core.parameters import param, parameters, values
from core.types import Frame, State

Arm = tuple[Operator, ...]


@dataclass(frozen=True, repr=False)
class Union(Operator):
    """The hits of two lines of operators that begin at the same state, each once: `a | b`.

    Each line runs as if it were alone; of what they leave behind the hits of every kind are merged, as `Merge` does, and all else stays
    as it was before both. By score, a union is the same whichever line comes first.

    >>> line = "EmbedQuery() >> (VectorNodes(keep=1) | SparseNodes(keep=1))"
    >>> state = retrieve(line, graph=story, question="a lame nephew cheerful", models=scores({}))
    >>> story.names(state.nodes.items), [frame.title for frame in state.trace[-1].frames]
    (['Tim', 'Fred'], ['First: nodes', 'Second: nodes'])
    """

    stage = "retrieve"
    title = "union"

    first: Arm = (VectorNodes(),)
    second: Arm = (SparseNodes(),)
    order: str = param("in turn", "Order", ORDER_HELP, choices=ORDERS)

    def __post_init__(self) -> None:
        super().__post_init__()
        for arm in self.arms:
            if not any(field in HITS for operator in arm for field in operator.writes):
                raise BadParameter("A line of a union finds no hits.")
            for operator in arm:
                if isinstance(operator, Branch) or operator.stage in ("generate", "graph"):
                    raise BadParameter(f"{type(operator).__name__} cannot stand in a union.")

    @property
    def arms(self) -> tuple[Arm, Arm]:
        """Both lines."""
        return self.first, self.second

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(dict.fromkeys(need for arm in self.arms for need in needs(arm)))

    @property
    def writes(self) -> tuple[str, ...]:  # type: ignore[override]
        found = {field for arm in self.arms for operator in arm for field in operator.writes}
        return tuple(field for field in HITS if field in found)

    def told(self) -> Mapping[str, Any]:
        return {**values(self), "first": _text(self.first), "second": _text(self.second)}

    def parts(self) -> tuple[Operator, ...]:
        return (*self.first, *self.second)

    def stamp(self, graph: Any, environment: Environment) -> str:
        return " ".join(operator.stamp(graph, environment) for operator in self.parts())

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        ends = []
        for name, arm in zip(("First", "Second"), self.arms):
            end = state
            for operator in arm:
                ctx.check()
                inner = Recorder()
                end = operator.apply(end, ctx, inner)
                recorder.usage += inner.usage
                recorder.notes += inner.notes
            found = {field: getattr(end, field) for field in self.writes}
            recorder.frames += [Frame(f"{name}: {field}", hits, len(hits)) for field, hits in found.items() if hits is not None]
            ends.append(found)
        return state.replace(**{field: merged(ends[0][field], ends[1][field], self.order) for field in self.writes})

    def words(self) -> str:
        both = (", then ".join(operator.words() for operator in arm) for arm in self.arms)
        return f"union of {' and '.join(both)}"

    def __repr__(self) -> str:
        more = "" if self.order == Union.order else f", order={self.order!r}"
        return f"Union(first={_text(self.first)}, second={_text(self.second)}{more})"


def united(first: Arm, second: Arm, given: Mapping[str, Any], where: str = "") -> Union:
    """The union of two lines with named values. Raises BadParameter that says where."""
    known, prefix = [parameter.name for parameter in parameters(Union)], f"{where}: " if where else ""
    for key in given:
        if key not in known:
            raise BadParameter(f"{prefix}A union has no parameter “{key}”.{nearest(key, known)}")
    try:
        return Union(first, second, **given)
    except BadParameter as error:
        raise BadParameter(f"{prefix}{error}") from None


def _text(arm: Arm) -> str:
    return " >> ".join(map(repr, arm))
