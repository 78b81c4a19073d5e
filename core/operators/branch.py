"""Branch: a place in a line where the question decides which operators run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.errors import BadParameter
from core.operators.base import Context, needs
from core.operators.combinator import Arm, Combinator, arm_plain_words, arm_text, arm_words
from core.types import State

DECIDES = ("hops",)  # fields of State that a branch can look at


@dataclass(frozen=True, repr=False)
class Branch(Combinator):
    """Operators that depend on the question: those of the arm for its number of hops, or those for all other questions.

    The number is what the field `on` of the state holds; `otherwise` runs where no arm is for it.

    What a branch reads is what one of its arms reads that the arm did not write itself; it writes what every arm writes.
    Its operators appear in the trace like all others; the branch itself does no work and has no step of its own.

    >>> line = "PredictHops(source='own') >> Branch(on='hops', arms={1: EgoNetwork(hops=0)}, otherwise=EgoNetwork(direction='out'))"
    >>> [len(retrieve(line, "B", question=text, models=scores({})).subgraph.nodes) for text in ("the r2 of B", "the r4 of the r2 of B")]
    [1, 4]
    """

    title = "branch"
    kind = "an arm of a branch"
    inside = False

    on: str
    arms: tuple[tuple[int, Arm], ...]
    otherwise: Arm

    def __post_init__(self) -> None:
        if self.on not in DECIDES:
            raise BadParameter(f"A branch looks at {' or '.join(DECIDES)}, not at {self.on!r}.")
        keys = [key for key, _ in self.arms]
        if (
            not keys
            or len(set(keys)) < len(keys)
            or any(type(key) is not int or key < 0 for key in keys)
        ):
            raise BadParameter(
                "A branch needs arms, each for a whole number of its own, and “else”."
            )
        for arm in self.every_arm():
            if not arm:
                raise BadParameter("An arm of a branch has no operator.")
        super().__post_init__()

    def every_arm(self) -> tuple[Arm, ...]:
        return (*(arm for _, arm in self.arms), self.otherwise)

    def changed(self, change: Callable[[Arm], Arm]) -> Branch:
        return Branch(
            self.on, tuple((key, change(arm)) for key, arm in self.arms), change(self.otherwise)
        )

    @property
    def stage(self) -> str:  # type: ignore[override]
        return self.otherwise[-1].stage

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(
            dict.fromkeys([self.on, *(need for arm in self.every_arm() for need in needs(arm))])
        )

    @property
    def writes(self) -> tuple[str, ...]:  # type: ignore[override]
        each = [
            [field for operator in arm for field in operator.writes] for arm in self.every_arm()
        ]
        return tuple(
            dict.fromkeys(field for field in each[0] if all(field in fields for fields in each))
        )

    def arm(self, state: State) -> Arm:
        """The operators that run for this state."""
        value = getattr(state, self.on)
        return next((arm for key, arm in self.arms if key == value), self.otherwise)

    def __call__(self, state: State, ctx: Context) -> State:
        for operator in self.arm(state):
            state = operator(state, ctx)
        return state

    def words(self) -> str:
        arms = [f"{key} → {arm_words(arm)}" for key, arm in self.arms]
        return f"by {self.on}: {', '.join(arms)}, else {arm_words(self.otherwise)}"

    def plain_words(self) -> str:
        return f"by the number of {self.on} {' or '.join(map(arm_plain_words, self.every_arm()))}"

    def __repr__(self) -> str:
        arms = ", ".join(f"{key}: {arm_text(arm)}" for key, arm in self.arms)
        return f"Branch(on={self.on!r}, arms={{{arms}}}, otherwise={arm_text(self.otherwise)})"
