"""Quick pass of a lane: a first result whose rankings read only a part of their candidates.

The exact pass follows. The encoder caches the vectors of the texts that it has read, so that the
exact pass reads only the rest. Quick results are only shown: they are neither saved nor returned by
the API.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import Any

from core.comparison.lane_run import LaneRun
from core.errors import HopscopeError
from core.models.base import Models
from core.models.scorers import is_streamed
from core.operators.base import Context, Line, Operator
from core.operators.refine import Rank
from core.operators.retrieve.beam import BeamSearch
from core.types import State

ENCODER_KIND = "encoder"


@dataclass(frozen=True)
class QuickPassDefaults:
    """Expected recall of the best candidates in a quick pass.

    It depends on the number of other questions. The shares are values of the parameter `recall` of
    `Rank` and `BeamSearch`. They were chosen on twelve development questions of MetaQA. At 0.8 one
    of them found 0.16 of the best.
    """

    shares: tuple[float, ...] = (0.99, 0.95, 0.9)
    min_others: tuple[int, ...] = (1, 4)  # from which the second and third shares apply


QUICK_PASS = QuickPassDefaults()


def quick_share(n_others: int) -> float:
    """Return the expected recall that a quick pass aims at while `n_others` questions wait."""
    return QUICK_PASS.shares[bisect_right(QUICK_PASS.min_others, n_others)]


def quick_operator(operator: Operator, models: Models, share: float) -> Operator | None:
    """Return an operator that stops at a share of the best.

    None if the operator has no quick form. Only rankings that read all candidates have a quick
    form. Their encoder must give a text the same vector in any order of reading, as the embedded
    encoders do. The exact pass then has the same result, bit by bit, as without a quick pass.

    Parameters
    ----------
    operator : an operator of a lane's line.
    models : the models that it may name.
    share : the share of the best results that is expected when it stops, from 0.5 to 1.
    """
    if not isinstance(operator, (Rank, BeamSearch)) or operator.read or operator.recall < 1:
        return None
    try:
        is_encoder = models.info(operator.model).kind == ENCODER_KIND
        if not is_encoder or not is_streamed(models.encoder(operator.model)):
            return None
    except HopscopeError:  # an unknown or absent model, which the exact pass reports
        return None
    return replace(operator, recall=share)


def has_quick_form(line: Line, models: Models) -> bool:
    """Return whether a ranking of a line has a quick form."""
    # It has one for every share or for none.
    return any(quick_operator(operator, models, share=0.5) is not None for operator in line)


@dataclass
class QuickRun(LaneRun):
    """The run of a line whose rankings stop early.

    A ranking does not stop early if its exact result is cached.

    Parameters
    ----------
    share : the share of the best at which rankings stop.
    n_exact : number of leading states before the first shortened ranking; None if there is none.
    """

    share: float = 1.0
    n_exact: int | None = None

    @property
    def is_shortened(self) -> bool:
        """True once a ranking has stopped early."""
        return self.n_exact is not None

    @property
    def lane_fields(self) -> dict[str, Any]:
        """The fields of a lane that this run fills, with only the exact states."""
        return super().lane_fields | {"states": tuple(self.states[: self.n_exact])}

    def _next_state(self, operator: Operator, context: Context) -> State:
        if self.prefixes.get(self._key(operator, self.stamp)) is None:
            quick_form = quick_operator(operator, self.environment.models, self.share)
            if quick_form is not None:
                if self.n_exact is None:
                    self.n_exact = len(self.states)
                operator = quick_form
        return super()._next_state(operator, context)
