"""What a build will cost before it starts: calls of language models, tokens, money, and time at the speed measured on this computer."""

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
    """What language models will be asked: calls and tokens, the seconds that it takes here where that is known, and money in a currency,
    which is empty where none has a price."""

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
        """It in a few words."""
        used = self.usage
        parts = [
            f"about {used.calls:,} calls of a language model, {used.tokens_in:,} tokens in, {used.tokens_out:,} out"
        ]
        parts += [shown(self.money, self.currency)] if self.currency else []
        parts += [roughly(self.seconds)] if self.seconds is not None else []
        return ", ".join(parts)


@dataclass(frozen=True)
class Cost:
    """Of `chunks` chunks, `missing` have not been read by this extractor; that takes `usage`, and about `seconds` where the speed on this
    computer is known, by replies of the model or by builds like it. `later` are sentences on what cannot be said exactly before the graph
    is there, and `rest` is about what is asked for that; `spent` is a sentence on what it has cost before it was stopped, `language` are
    sentences on how the language of the documents fits what reads them."""

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
        """What language models are asked to read the chunks."""
        return self.reading.usage

    @property
    def calls(self) -> int:
        """About how often language models are asked in all."""
        return (self.reading + self.rest).usage.calls

    def words(self) -> str:
        """The cost in a sentence or two."""
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
        """The sentences behind that on the chunks: what comes on top, what all takes together, and what was spent before."""
        both = self.usage.calls and self.rest.usage.calls
        return [
            *self.later,
            *([f"In all: {(self.reading + self.rest).words()}."] if both else []),
            *self.time(),
            *filter(None, [self.spent]),
        ]

    def time(self) -> list[str]:
        """How long it takes where no language model is asked, from half to twice as long as its operators took before; nothing where one
        of them was not measured yet."""
        if self.seconds is None or self.calls:
            return []
        return [f"That takes {roughly(self.seconds)} here."]


def cost(corpus: Corpus, build: Build, models: Models, watch: Watch = NO_WATCH) -> Cost:
    """What a build of a corpus will cost now, with all that is kept from before. Its documents are cut for that, and nothing else is done.

    Raises BadInput, StoreError, and what `watch` raises.
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
    """How the language of a corpus fits what a build reads it with, in sentences; none for English that is read as English."""
    own, said = corpus.language, list[str]()
    seems = corpus.language_as_found
    if seems.code and seems.code != own.code:
        said.append(
            f"The documents seem to be in {seems.name}, and are read as {own.name}, as was chosen: names and sentences may be wrong."
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
                f"{models.title(name)} was trained on {trained} alone: vectors of {own.name} texts say little. {WHERE}"
            )
    return tuple(dict.fromkeys(said))


def _priced(usage: Usage, seconds: float | None, names: Sequence[str], ctx: BuildContext) -> Asked:
    """What is asked, by the price of the first of these language models."""
    price = getattr(ctx.models, "price", lambda name: None)
    found = next((one[1] for name in names if (one := price(name)) is not None), None)
    known = found is not None and found.known and bool(usage.calls)
    if found is not None and known:
        return Asked(usage, seconds, found.of(usage), found.currency)
    return Asked(usage, seconds)
