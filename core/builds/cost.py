"""What a build will cost before it starts: calls of language models, tokens, and time at the speed measured on this computer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.builds.base import Made
from core.builds.catalogue import Build
from core.builds.extract.extracting import Extractor
from core.builds.run import context, status
from core.builds.speed import foretold
from core.corpus import Corpus
from core.io.durations import roughly
from core.models.base import Models
from core.models.price import shown
from core.types import Usage


@dataclass(frozen=True)
class Cost:
    """Of `chunks` chunks, `missing` have not been read by this extractor; that takes `usage`, and about `seconds` where the speed on this
    computer is known, by replies of the model or by builds like it, and `money` where the model has a price. `later` are sentences on
    what cannot be told before the graph is there."""

    chunks: int
    missing: int
    usage: Usage = Usage()
    seconds: float | None = None
    later: tuple[str, ...] = ()
    money: str = ""

    def words(self) -> str:
        """The cost in a sentence or two."""
        text = f"{self.missing:,} of {self.chunks:,} chunks are to be read" if self.missing else f"{self.chunks:,} chunks"
        if self.usage.calls:
            text += (
                f": about {self.usage.calls:,} calls of a language model, {self.usage.tokens_in:,} tokens in, {self.usage.tokens_out:,} out"
            )
            text += f", {self.money}" if self.money else ""
            text += f", {roughly(self.seconds)}" if self.seconds is not None else "; how long that takes here is known once some are done"
        elif not self.later:
            text += ". No language model is asked"
        return " ".join([f"{text}.", *self.later, *self.time()])

    def time(self) -> list[str]:
        """How long it takes where no language model is asked, from half to twice as long as its operators took before; nothing where one
        of them was not measured yet."""
        return [] if self.seconds is None or self.usage.calls else [f"That takes {roughly(self.seconds)} here."]


def cost(corpus: Corpus, build: Build, models: Models, check: Callable[[], None] = lambda: None) -> Cost:
    """What a build of a corpus will cost now, with all that is kept from before. Its documents are cut for that, and nothing else is done.

    Raises BadInput, StoreError, and what `check` raises.
    """
    ctx, made = context(corpus, models, check=check), Made(corpus)
    later = tuple(filter(None, (operator.later() for operator in build.line)))
    missing, usage, seconds = 0, Usage(), None
    for operator in build.line:
        if operator.stage == "chunk":
            made = operator.apply(made, ctx)
        if isinstance(operator, Extractor) and made.chunks is not None:
            texts = operator.missing(made.chunks, ctx)
            missing, (usage, seconds) = len(texts), operator.cost(texts, ctx)
            break
    chunks = len(made.chunks or ())
    if build.line.asks_chat:
        seconds = seconds if usage.calls else None
    else:
        seconds = foretold(build.line, chunks, missing, missing if status(corpus, build).built else chunks)
    return Cost(chunks, missing, usage, seconds, later, _money(build, usage, models))


def _money(build: Build, usage: Usage, models: Models) -> str:
    """What the calls cost by the price of the first language model that is asked; empty where it has none."""
    price = getattr(models, "price", lambda name: None)
    found = next((one[1] for name in build.line.models() if (one := price(name)) is not None), None)
    return shown(found.of(usage), found.currency) if found is not None and found.known and usage.calls else ""
