"""Estimate of the cost of a build before it starts.

It covers calls of language models, tokens, money, and time at the speed measured on this computer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.builds.base import BuildContext, Made
from core.builds.catalogue import Build
from core.builds.extract import by_language
from core.builds.extract.described_names import DescribedNames
from core.builds.extract.extracting import Extractor
from core.builds.extract.names_and_terms import NamesAndTerms
from core.builds.extract.noun_phrases import NounPhrases
from core.builds.run import context, place, status
from core.builds.speed import foretold, measured
from core.builds.spending import spent_words
from core.corpus import Corpus
from core.io.durations import roughly
from core.languages import is_english, languages
from core.models.base import Models
from core.models.languages import WHERE, trained_elsewhere
from core.models.price import shown
from core.types import Usage
from core.watch import NO_WATCH, Watch


@dataclass(frozen=True)
class Asked:
    """Estimated use of language models.

    `usage` holds calls and tokens. `seconds` is the time on this computer, None where it is
    unknown. `currency` is empty where no model has a price.
    """

    usage: Usage = Usage()
    seconds: float | None = None
    money: float = 0.0
    currency: str = ""

    def __add__(self, other: Asked) -> Asked:
        if not (self.usage.calls and other.usage.calls):
            return self if self.usage.calls else other
        seconds = (
            None if self.seconds is None or other.seconds is None else self.seconds + other.seconds
        )
        paid = self.currency == other.currency  # else they cannot be added up
        money, currency = (self.money + other.money, self.currency) if paid else (0.0, "")
        return Asked(self.usage + other.usage, seconds, money, currency)

    def words(self) -> str:
        """Return the estimate in a few words."""
        used = self.usage
        parts = [
            f"about {used.calls:,} calls of a language model, {used.tokens_in:,} tokens in, "
            f"{used.tokens_out:,} out"
        ]
        parts += [shown(self.money, self.currency)] if self.currency else []
        parts += [roughly(self.seconds)] if self.seconds is not None else []
        return ", ".join(parts)


@dataclass(frozen=True)
class Cost:
    """Estimated cost of a build.

    - `missing` of the `chunks` chunks have not been read by this extractor yet.
    - `reading` is what language models are asked to read them.
    - `seconds` is the total time, where the speed on this computer is known from replies of the
      model or from similar builds.
    - `later` holds sentences on costs that are exactly known only once the graph is built. `rest`
      is a rough estimate of these.
    - `spent` is a sentence on what the build has cost before it was stopped.
    - `language` holds sentences on how well the models and parsers fit the language of the
      documents.
    """

    chunks: int
    missing: int
    reading: Asked = Asked()
    seconds: float | None = None
    later: tuple[str, ...] = ()
    rest: Asked = Asked()
    spent: str = ""
    language: tuple[str, ...] = ()

    @property
    def usage(self) -> Usage:
        """Use of language models for reading the chunks."""
        return self.reading.usage

    @property
    def calls(self) -> int:
        """Approximate number of all calls of language models."""
        return (self.reading + self.rest).usage.calls

    def words(self) -> str:
        """Return the cost in a sentence or two."""
        if self.missing:
            text = f"{self.missing:,} of {self.chunks:,} chunks are to be read"
        else:
            text = f"{self.chunks:,} chunks"
        if self.usage.calls:
            text += f": {self.reading.words()}"
            text += (
                ""
                if self.reading.seconds is not None
                else "; how long that takes here is known once some are done"
            )
        elif not self.later:
            text += ". No language model is asked"
        return " ".join([f"{text}.", *self.after()])

    def after(self) -> list[str]:
        """Return the sentences after the first: later costs, total, time, and earlier spending."""
        both = self.usage.calls and self.rest.usage.calls
        return [
            *self.later,
            *([f"In all: {(self.reading + self.rest).words()}."] if both else []),
            *self.time(),
            *filter(None, [self.spent]),
        ]

    def time(self) -> list[str]:
        """Return a sentence on the time of a build without a language model.

        It gives a range from half to twice the time that its operators took before. Empty where one
        of them has not been measured yet.
        """
        if self.seconds is None or self.calls:
            return []
        return [f"That takes {roughly(self.seconds)} here."]


def cost(corpus: Corpus, build: Build, models: Models, watch: Watch = NO_WATCH) -> Cost:
    """Estimate the present cost of a build of a corpus, given everything saved before.

    The documents are cut into chunks for this, and nothing else is done. Raises
    BadInput, StoreError, and what `watch` raises.
    """
    ctx, made = context(corpus, models, watch=watch.quiet), Made(corpus)
    missing, reading = 0, Asked()
    for operator in build.line:
        if operator.stage == "chunk":
            made = operator.apply(made, ctx)
        if isinstance(operator, Extractor) and made.chunks is not None:
            texts = operator.missing(made.chunks, ctx)
            missing, (usage, took) = len(texts), operator.cost(texts, ctx)
            reading = _priced(usage, took if usage.calls else None, operator.chats(), ctx)
            break
    chunks = len(made.chunks or ())
    later, rest = [], Asked()
    for operator in build.line:
        usage = operator.expected(chunks)
        if usage.calls:
            more = _priced(usage, measured(ctx, operator.chats()[0], usage), operator.chats(), ctx)
        else:
            more = Asked()
        rest += more
        if sentence := operator.later():
            later.append(
                f"{sentence}: {more.words()}, less what was replied before."
                if more.usage.calls
                else f"{sentence}."
            )
    seconds = reading.seconds
    if not build.line.asks_chat:
        seconds = foretold(
            build.line, chunks, missing, missing if status(corpus, build).built else chunks
        )
    spent = spent_words(place(corpus, build), models, build.line.models())
    return Cost(
        chunks,
        missing,
        reading,
        seconds,
        tuple(later),
        rest,
        spent,
        language_fit(corpus, build, models),
    )


def language_fit(corpus: Corpus, build: Build, models: Models) -> tuple[str, ...]:
    """Return sentences on how the language of a corpus fits the parsers and models of a build.

    Empty for English documents that are read as English.
    """
    own, said = corpus.language, list[str]()
    seems = corpus.language_as_found
    if seems.code and seems.code != own.code:
        said.append(
            f"The documents seem to be in {seems.name}, and are read as {own.name}, as was chosen: "
            "names and sentences may be wrong."
        )
    if own.others:
        parts = " and ".join(
            f"{100 * share:.0f} % of what was looked at is in {languages()[code].name}"
            for code, share in own.others.items()
        )
        said.append(f"{parts}; all documents are read as {own.name}.")
    if is_english(own.code):
        return tuple(said)
    if any(
        isinstance(operator, NounPhrases | NamesAndTerms | DescribedNames)
        for operator in build.line
    ):
        said.append(
            f"The documents are in {own.name}: names are found {by_language.words(own.code)}."
        )
    for name in build.line.models():
        if trained := trained_elsewhere(models, name, own.code):
            said.append(
                f"{models.title(name)} was trained on {trained} alone: "
                f"vectors of {own.name} texts say little. {WHERE}"
            )
    return tuple(dict.fromkeys(said))


def _priced(usage: Usage, seconds: float | None, names: Sequence[str], ctx: BuildContext) -> Asked:
    """Return the estimate with its price, that of the first language model that has one."""
    price = getattr(ctx.models, "price", lambda name: None)
    found = next((one[1] for name in names if (one := price(name)) is not None), None)
    known = found is not None and found.known and bool(usage.calls)
    if found is not None and known:
        return Asked(usage, seconds, found.of(usage), found.currency)
    return Asked(usage, seconds)
