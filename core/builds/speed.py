"""How long building takes here: language models by the replies that are kept, other operators by the builds that were."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from core.builds.base import BuildContext, BuildLine, BuildOperator
from core.indexes.place import keep
from core.io.home import home
from core.types import Usage

FILE = "speeds.json"  # in a person's folder: seconds a chunk by operator
LEAST = 20  # chunks from which a build tells how long others take


@dataclass(frozen=True)
class Took:
    """What an operator took of a build: seconds, and how many texts it read or encoded that were not kept from before."""

    seconds: float
    fresh: int


def learn(took: Mapping[BuildOperator, Took], chunks: int) -> None:
    """Remember how long operators take for a chunk, by a build in which nothing was kept from before. Raises StoreError."""
    if chunks < LEAST or any(keeps(operator) and one.fresh < chunks for operator, one in took.items() if operator.stage == "extract"):
        return
    fresh = {repr(operator): one.seconds / chunks for operator, one in took.items() if one.fresh or not keeps(operator)}
    keep(home() / FILE, lambda stream: stream.write(json.dumps(_known() | fresh, indent=1).encode()))


def foretold(line: BuildLine, chunks: int, read: int, encoded: int) -> float | None:
    """The seconds that a build takes here, of whose chunks so many are to be `read`, and what is told of so many `encoded`; None where one
    of its operators was not measured yet."""
    known = _known()
    if not all(repr(operator) in known for operator in line):
        return None
    wanted = [read if operator.stage == "extract" else encoded if keeps(operator) else chunks for operator in line]
    return sum(known[repr(operator)] * count for operator, count in zip(line, wanted))


def keeps(operator: BuildOperator) -> bool:
    """Whether what an operator reads or encodes is kept, so that it is not done again."""
    return operator.stage == "extract" or bool(operator.models())


def _known() -> dict[str, float]:
    try:
        told = json.loads((home() / FILE).read_text("utf-8"))
        return {str(name): float(seconds) for name, seconds in told.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def measured(ctx: BuildContext, name: str, usage: Usage) -> float | None:
    """Seconds that such calls take here, by the mean of those that are kept; None where none were measured."""
    known = ctx.kept.measured(ctx.models.weights(name))
    if known is None or not usage.calls:
        return None if usage.calls else 0.0
    seconds, read, written = known
    share = (
        (usage.tokens_in + 4 * usage.tokens_out) / usage.calls / max(1.0, read + 4 * written)
    )  # a token written takes as long as four read
    return usage.calls * seconds * share / ctx.lanes
