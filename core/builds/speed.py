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
ENCODED = "encoded"  # among them: seconds a text that was encoded, for chunks whose vectors were kept from another graph each time
LEAST = 20  # chunks from which a build tells how long others take


@dataclass(frozen=True)
class Took:
    """What an operator took of a build: seconds, and how many texts it read or encoded that were not kept from before."""

    seconds: float
    fresh: int


def learn(line: BuildLine, took: Mapping[BuildOperator, Took], chunks: int) -> None:
    """Remember how long operators take for a chunk, by a build in which nothing was kept from before. Raises StoreError."""
    if chunks < LEAST or any(
        took[operator].fresh < chunks for operator in line if operator.stage == "extract"
    ):
        return
    fresh = {
        _key(line, operator): one.seconds / chunks
        for operator, one in took.items()
        if one.fresh or not keeps(operator)
    }
    for operator, one in took.items():
        if one.fresh and operator.stage == "index":
            fresh[ENCODED] = one.seconds / one.fresh
    keep(
        home() / FILE, lambda stream: stream.write(json.dumps(_known() | fresh, indent=1).encode())
    )


def foretold(line: BuildLine, chunks: int, read: int, encoded: int) -> float | None:
    """The seconds that a build takes here, of whose chunks so many are to be `read`, and of so many texts `encoded`; None where one
    of its operators was not measured yet."""
    known, total = _known(), 0.0
    for operator in line:
        each = known.get(
            _key(line, operator),
            known.get(ENCODED) if getattr(operator, "of", "") == "chunks" else None,
        )
        if each is None:
            return None
        total += each * (
            read if operator.stage == "extract" else encoded if keeps(operator) else chunks
        )
    return total


def _key(line: BuildLine, operator: BuildOperator) -> str:
    """The name under which an operator's speed is saved: of vectors with what made the graph, as it says how many there are for a chunk."""
    maker = next((type(one).__name__ for one in line if "graph" in one.writes), "")
    return f"{maker} {operator!r}".strip() if operator.stage == "index" else repr(operator)


def keeps(operator: BuildOperator) -> bool:
    """Whether what an operator reads or encodes is kept, so that it is not done again."""
    return operator.stage == "extract" or bool(operator.models())


def _known() -> dict[str, float]:
    try:
        saved = json.loads((home() / FILE).read_text("utf-8"))
        return {str(name): float(seconds) for name, seconds in saved.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def measured(ctx: BuildContext, name: str, usage: Usage) -> float | None:
    """Seconds that such calls take here by the clock, by the mean of those that are kept; None where none were measured."""
    known = ctx.replies.measured(ctx.models.weights(name))
    if known is None or not usage.calls:
        return None if usage.calls else 0.0
    seconds, read, written = known
    # a token written takes as long as four read
    share = (usage.tokens_in + 4 * usage.tokens_out) / usage.calls / max(1.0, read + 4 * written)
    return usage.calls * seconds * share
