"""Estimate of the cost of a build before it starts: model calls, tokens, money and time.

The time is that of this computer, as measured before. Results that are saved cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.builds.base import BuildContext, BuildOperator, BuildState
from core.builds.catalogue import GraphBuild
from core.builds.extract import reader_choice
from core.builds.extract.described_names import DescribedNames
from core.builds.extract.extractor import Extractor
from core.builds.extract.names_and_terms import NamesAndTerms
from core.builds.extract.noun_phrases import NounPhrases
from core.builds.run import build_context, build_folder, build_status
from core.builds.speed import estimate_model_seconds, estimate_seconds
from core.builds.spending import spent_words
from core.corpus import Corpus
from core.io.durations import rough_range_text
from core.languages import is_english, languages
from core.models.base import Models
from core.models.languages import MULTILINGUAL_ADVICE, other_trained_languages
from core.models.price import format_money
from core.types import Usage
from core.watch import NO_WATCH, Watch


@dataclass(frozen=True)
class UsageEstimate:
    """Estimated use of language models.

    `usage` holds calls and tokens. `seconds` is the time on this computer, None if it is unknown.
    `money` is in `currency`, which is empty if no price is known. With `is_money_partial`, a part
    of the usage has no known price or one in another currency, so that all costs more.
    """

    usage: Usage = Usage()
    seconds: float | None = None
    money: float = 0.0
    currency: str = ""
    is_money_partial: bool = False

    def __add__(self, other: UsageEstimate) -> UsageEstimate:
        if not (self.usage.calls and other.usage.calls):
            return self if self.usage.calls else other
        usage, seconds = self.usage + other.usage, None
        if self.seconds is not None and other.seconds is not None:
            seconds = self.seconds + other.seconds
        currencies = {part.currency for part in (self, other) if part.currency}
        is_partial = self.currency != other.currency
        is_partial = is_partial or self.is_money_partial or other.is_money_partial
        if len(currencies) > 1:  # the money cannot be added up
            return UsageEstimate(usage, seconds, is_money_partial=True)
        money, currency = self.money + other.money, "".join(currencies)
        return UsageEstimate(usage, seconds, money, currency, is_partial)

    def words(self) -> str:
        """Return the estimate in a few words."""
        used = self.usage
        phrases = [
            f"about {used.calls:,} calls of a language model, {used.tokens_in:,} tokens in, "
            f"{used.tokens_out:,} out"
        ]
        if self.currency:
            least = "at least " if self.is_money_partial else ""
            phrases.append(f"{least}{format_money(self.money, self.currency)}")
        elif self.is_money_partial:
            phrases.append("prices in several currencies")
        phrases += [rough_range_text(self.seconds)] if self.seconds is not None else []
        return ", ".join(phrases)


@dataclass(frozen=True)
class BuildCost:
    """Estimated cost of a build.

    - `chunks` is the number of all chunks, and `missing` of those without saved facts.
    - `reading` is the use of language models for reading the missing chunks.
    - `seconds` is the time of a build without a language model, or else of `reading`. It is None if
      the speed on this computer is unknown.
    - `later` holds sentences on costs that are exactly known only once the graph is built, such as
      those of reports. `later_usage` is a rough estimate of these.
    - `spent` is a sentence on the cost of a build that was stopped; else empty.
    - `language` holds sentences on how well the models and parsers fit the language of the
      documents.
    """

    chunks: int
    missing: int
    reading: UsageEstimate = UsageEstimate()
    seconds: float | None = None
    later: tuple[str, ...] = ()
    later_usage: UsageEstimate = UsageEstimate()
    spent: str = ""
    language: tuple[str, ...] = ()

    @property
    def usage(self) -> Usage:
        """Use of language models for reading the chunks."""
        return self.reading.usage

    @property
    def calls(self) -> int:
        """Approximate number of all calls of language models."""
        return (self.reading + self.later_usage).usage.calls

    def words(self) -> str:
        """Return the cost in a sentence or two."""
        if self.missing:
            text = f"{self.missing:,} of {self.chunks:,} chunks are to be read"
        else:
            text = f"{self.chunks:,} chunks"
        if self.usage.calls:
            text += f": {self.reading.words()}"
            if self.reading.seconds is None:
                text += "; the time is known once some are done"
        elif not self.later:
            text += ". No language model is asked"
        return " ".join([f"{text}.", *self.further_sentences()])

    def further_sentences(self) -> list[str]:
        """Return the sentences after the first: later costs, total, time, and earlier spending."""
        sentences = list(self.later)
        if self.usage.calls and self.later_usage.usage.calls:
            sentences.append(f"In all: {(self.reading + self.later_usage).words()}.")
        sentences += self.time_sentences()
        return [*sentences, self.spent] if self.spent else sentences

    def time_sentences(self) -> list[str]:
        """Return a sentence on the time of a build without a language model.

        It gives a range from half to twice the time that its operators took before. The list is
        empty if one of them has not been measured yet, or if a language model is used.
        """
        if self.seconds is None or self.calls:
            return []
        return [f"That takes {rough_range_text(self.seconds)} here."]


def estimate_cost(
    corpus: Corpus, build: GraphBuild, models: Models, watch: Watch = NO_WATCH
) -> BuildCost:
    """Estimate the present cost of a build of a corpus, given everything saved before.

    The documents are cut into chunks for this, and nothing else is done.

    Parameters
    ----------
    corpus : the corpus.
    build : the build.
    models : the registry of models, with their prices.
    watch : receives the progress; what it raises stops the work.

    Returns
    -------
    The cost that remains.

    Raises
    ------
    BadInput, StoreError : the corpus cannot be read, or lacks something that the build needs.
    """
    ctx = build_context(corpus, models, watch=watch.without_reports)
    state = BuildState(corpus)
    missing, reading = 0, UsageEstimate()
    for operator in build.line:
        if operator.stage == "chunk":
            state = operator.apply(state, ctx)
        if isinstance(operator, Extractor) and state.chunks is not None:
            texts = operator.missing_texts(state.chunks, ctx)
            missing = len(texts)
            usage, seconds = operator.cost(texts, ctx)
            reading = _add_price(usage, seconds, operator, ctx)
            break
    chunks = len(state.chunks or ())
    later, later_usage = _estimate_later(build, chunks, ctx)
    seconds = reading.seconds
    if not build.line.uses_chat_model:
        # After a first build, only the texts of new chunks have to be encoded.
        to_encode = missing if build_status(corpus, build).is_built else chunks
        seconds = estimate_seconds(build.line, chunks, missing, to_encode)
    return BuildCost(
        chunks,
        missing,
        reading,
        seconds=seconds,
        later=later,
        later_usage=later_usage,
        spent=spent_words(build_folder(corpus, build), models, build.line.models()),
        language=language_fit(corpus, build, models),
    )


def _estimate_later(
    build: GraphBuild, chunks: int, ctx: BuildContext
) -> tuple[tuple[str, ...], UsageEstimate]:
    """Return sentences on costs known only later, and their estimate.

    They are known only once the graph is built.
    """
    sentences, total = [], UsageEstimate()
    for operator in build.line:
        usage, estimate = operator.expected_usage(chunks), UsageEstimate()
        if usage.calls:
            seconds = estimate_model_seconds(ctx, operator.chat_models()[0], usage)
            estimate = _add_price(usage, seconds, operator, ctx)
        total += estimate
        if sentence := operator.later_cost_sentence():
            cost = f": {estimate.words()}, minus saved replies" if usage.calls else ""
            sentences.append(f"{sentence}{cost}.")
    return tuple(sentences), total


def language_fit(corpus: Corpus, build: GraphBuild, models: Models) -> tuple[str, ...]:
    """Return sentences on how a corpus's language fits a build.

    They are on the parsers and models of the build.

    Parameters
    ----------
    corpus : the corpus, with the language that it is read as.
    build : the build.
    models : the registry of models.

    Returns
    -------
    Sentences; empty for English documents that are read as English.
    """
    language, sentences = corpus.language, list[str]()
    detected = corpus.detected_language
    if detected.code and detected.code != language.code:
        sentences.append(
            f"The documents seem to be in {detected.name} but are read as {language.name}, "
            "as chosen. Names and sentences may be wrong."
        )
    if language.other_languages:
        shares = " and ".join(
            f"{100 * share:.0f} % of the sample is in {languages()[code].name}"
            for code, share in language.other_languages.items()
        )
        sentences.append(f"{shares}; all documents are read as {language.name}.")
    if is_english(language.code):
        return tuple(sentences)
    if any(
        isinstance(operator, NounPhrases | NamesAndTerms | DescribedNames)
        for operator in build.line
    ):
        sentences.append(
            f"The documents are in {language.name}: names are found {reader_choice.reader_words(language.code)}."
        )
    for name in build.line.models():
        if trained_on := other_trained_languages(models, name, language.code):
            sentences.append(
                f"{models.title(name)} was trained on {trained_on} alone: "
                f"its vectors of {language.name} texts are poor. {MULTILINGUAL_ADVICE}"
            )
    return tuple(dict.fromkeys(sentences))


def _add_price(
    usage: Usage, seconds: float | None, operator: BuildOperator, ctx: BuildContext
) -> UsageEstimate:
    """Return an estimate with the price of the usage.

    The price is that of the first of the operator's models whose price is set. Without calls there
    is neither time nor money.
    """
    if not usage.calls:
        return UsageEstimate(usage)
    find_price = getattr(ctx.models, "price", lambda name: None)
    prices = filter(None, map(find_price, operator.chat_models()))
    _, price = next(prices, ("", None))
    if price is None or not price.is_known:
        return UsageEstimate(usage, seconds)
    return UsageEstimate(usage, seconds, price.compute(usage), price.currency)
