"""What a build will cost before it starts: calls of language models, tokens, and time at the speed measured on this computer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.builds.base import Made
from core.builds.catalogue import Build
from core.builds.extracting import Extractor
from core.builds.run import context
from core.corpus import Corpus
from core.io.durations import span
from core.models.base import Models
from core.types import Usage


@dataclass(frozen=True)
class Cost:
    """Of `chunks` chunks, `missing` have not been read by this extractor; that takes `usage`, and about `seconds` where the model's speed
    on this computer is known. `later` are sentences on what cannot be told before the graph is there."""

    chunks: int
    missing: int
    usage: Usage = Usage()
    seconds: float | None = None
    later: tuple[str, ...] = ()

    def words(self) -> str:
        """The cost in a sentence or two."""
        told = f"{self.missing:,} of {self.chunks:,} chunks are to be read"
        if self.usage.calls:
            told += (
                f": about {self.usage.calls:,} calls of a language model, {self.usage.tokens_in:,} tokens in, {self.usage.tokens_out:,} out"
            )
            told += f", {span(self.seconds)}" if self.seconds is not None else "; how long that takes here is told once some are done"
        else:
            told += ", without asking a language model"
        return " ".join([f"{told}.", *self.later])


def cost(corpus: Corpus, build: Build, models: Models, check: Callable[[], None] = lambda: None) -> Cost:
    """What a build of a corpus will cost now, with all that is kept from before. Its documents are cut for that, and nothing else is done.

    Raises BadInput, StoreError, and what `check` raises.
    """
    ctx, made = context(corpus, models, check=check), Made(corpus)
    later = tuple(filter(None, (operator.later() for operator in build.line)))
    for operator in build.line:
        if operator.stage == "chunk":
            made = operator.apply(made, ctx)
        if isinstance(operator, Extractor) and made.chunks is not None:
            missing = operator.missing(made.chunks, ctx)
            usage, seconds = operator.cost(missing, ctx)
            return Cost(len(made.chunks), len(missing), usage, seconds, later)
    return Cost(len(made.chunks or ()), 0, later=later)
