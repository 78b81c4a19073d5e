"""Extraction of whole names, terms and labelled relations without a language model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.builds.base import BuildContext
from core.builds.extract.extracting import Extractor
from core.builds.extract.labels import Links
from core.builds.extract.markdown_prose import as_prose
from core.builds.extract.mentions import BRACKETED, CALLED, PHRASE, TOGETHER
from core.builds.extract.names_in_text import Mention, mentions
from core.builds.extract.noun_phrases import BATCH_CHUNKS, NounPhrases, parser, read_english
from core.builds.facts import Entity, Facts, Relation
from core.languages import is_english

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

RULES = 3  # version of the rules; facts saved by another version are extracted again
FAR = 10  # following entities of a sentence for which a label is searched
NEAR = 2  # following entities of a sentence that are related without a label
KEYWORDS = 3


@dataclass(frozen=True, repr=False)
class NamesAndTerms(Extractor):
    """Names and terms of each chunk, and labelled relations between them.

    Names are taken as written, with the words that belong to them (“Windows 10”, “Bay Area Council
    for Soviet Jews”, a title in quotes). Terms are noun phrases (“lymph node”). A relation is
    labelled by the verb, noun or preposition that leads from one to the other in a sentence
    (“served on”, “captain of”). Without such a label, an entity “appears with” the two after it. If
    the text itself gives another name of an entity (“Pelé, also known as”, “megestrol acetate
    (Megace)”), the two names are related by this, for `ResolveNames` to join. The weight of a
    relation is its number of sentences.

    Headings and tables of Markdown are read as sentences. Documents in other languages than English
    are read as by `NounPhrases`.

    Every spelling is an entity here, and every noun phrase a term. Which of them are the same, and
    which are too common, depends on the whole corpus and is decided by `ResolveNames`.
    """

    title = "names and terms"
    edition = RULES
    held = BATCH_CHUNKS

    def signature(self, ctx: BuildContext) -> str:
        parsed = NounPhrases().signature(ctx)
        return f"{parsed}, rules {RULES}"

    def extracted(self, texts: Sequence[str], ctx: BuildContext) -> Iterator[tuple[int, Facts]]:
        english = is_english(ctx.language)
        texts = [as_prose(text, english) for text in texts]
        if not english:
            yield from NounPhrases().extracted(texts, ctx)
            return
        yield from read_english(read, texts, ctx)


def read(texts: Sequence[str]) -> list[Facts]:
    """Return the facts of some texts, parsed together. Raises ModelUnavailable."""
    return [facts_of(doc) for doc in parser().pipe(texts, batch_size=BATCH_CHUNKS)]


def facts_of(doc: Doc) -> Facts:
    """Return the facts of a parsed chunk."""
    entities: dict[str, list[Any]] = {}  # first sentence, spellings, types
    # By both names: count, labels with the name they lead from, first sentence, its verbs.
    joined: dict[tuple[str, str], list[Any]] = {}
    found = mentions(doc)
    for sentence in doc.sents:
        said = " ".join(sentence.text.split())
        some = [one for one in found if sentence.start <= one.start < sentence.end]
        for one in some:
            known = entities.setdefault(one.name.casefold(), [said, Counter[str](), Counter[str]()])
            known[1][one.name] += 1
            known[2][one.type] += 1
        links = Links(doc, some)
        verbs = _verbs(sentence)
        for one, other, distance in _pairs(some):
            label = links.between(one, other)
            if label is None and distance > NEAR:
                continue
            pair = (one.name.casefold(), other.name.casefold())
            pair = pair if pair in joined or pair[::-1] not in joined else pair[::-1]
            row = joined.setdefault(pair, [0, Counter[tuple[str, str]](), said, verbs])
            row[0] += 1
            if label is not None:
                row[1][label] += 1
    shown = {key: _entity(*known) for key, known in entities.items()}
    return Facts(
        tuple(shown.values()), tuple(_relation(shown, pair, *row) for pair, row in joined.items())
    )


def _entity(said: str, spellings: Counter[str], kinds: Counter[str]) -> Entity:
    name = min(spellings, key=lambda one: (-spellings[one], one))
    kind = min(kinds, key=lambda one: (one == PHRASE, -kinds[one], one))
    return Entity(name, kind, said, spellings.total())


def _relation(
    shown: dict[str, Entity],
    pair: tuple[str, str],
    times: int,
    labels: Counter[tuple[str, str]],
    said: str,
    verbs: str,
) -> Relation:
    """Return the relation of two entities, directed and named by its most frequent label."""
    head, label = (
        min(labels, key=lambda one: (one[1] not in (CALLED, BRACKETED), -labels[one], one))
        if labels
        else (pair[0], TOGETHER)
    )
    tail = pair[1] if head == pair[0] else pair[0]
    return Relation(shown[head].name, shown[tail].name, label, said, verbs, float(times))


def _pairs(some: Sequence[Mention]) -> Iterator[tuple[Mention, Mention, int]]:
    """Pair the first mentions of different names, each with the `FAR` after it.

    Also yields the distance of the two, counted in mentions.
    """
    firsts = sorted(
        {one.name.casefold(): one for one in reversed(some)}.values(), key=lambda one: one.start
    )
    for at, one in enumerate(firsts):
        for distance, other in enumerate(firsts[at + 1 : at + 1 + FAR], 1):
            yield one, other, distance


def _verbs(sentence: Span) -> str:
    verbs = [
        token.lower_
        for token in sentence
        if token.pos_ == "VERB" and not token.is_stop and token.is_alpha
    ]
    return ", ".join(list(dict.fromkeys(verbs))[:KEYWORDS])
