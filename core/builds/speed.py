"""How long language models take here."""

from __future__ import annotations

from core.builds.base import BuildContext
from core.types import Usage


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
