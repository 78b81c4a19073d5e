"""Extraction of whole names, terms and labelled relations without a language model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.builds.base import BuildContext
from core.builds.extract.extractor import Extractor
from core.builds.extract.labels import MentionLabels
from core.builds.extract.markdown_prose import as_prose
from core.builds.extract.mentions import ALSO_CALLED, APPEARS_WITH, IN_BRACKETS, PHRASE_TYPE
from core.builds.extract.names_in_text import ParsedMention, mentions
from core.builds.extract.noun_phrases import (
    PARSE_BATCH_CHUNKS,
    NounPhrases,
    english_parser,
    read_english,
)
from core.builds.facts import ChunkEntity, ChunkRelation, Facts
from core.languages import is_english

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

TERM_RULES_EDITION = 3  # version of the rules; facts saved by another version are extracted again
MAX_LABEL_DISTANCE = 10  # following entities of a sentence for which a label is searched
MAX_UNLABELLED_DISTANCE = 2  # following entities of a sentence that are related without a label
MAX_TERM_KEYWORDS = 3


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
    edition = TERM_RULES_EDITION
    held = PARSE_BATCH_CHUNKS

    def signature(self, ctx: BuildContext) -> str:
        parsed = NounPhrases().signature(ctx)
        return f"{parsed}, rules {TERM_RULES_EDITION}"

    def extracted(self, texts: Sequence[str], ctx: BuildContext) -> Iterator[tuple[int, Facts]]:
        english = is_english(ctx.language)
        texts = [as_prose(text, english) for text in texts]
        if not english:
            yield from NounPhrases().extracted(texts, ctx)
            return
        yield from read_english(read_terms, texts, ctx)


def read_terms(texts: Sequence[str]) -> list[Facts]:
    """Return the facts of some texts, parsed together. Raises ModelUnavailable."""
    return [term_facts(doc) for doc in english_parser().pipe(texts, batch_size=PARSE_BATCH_CHUNKS)]


def term_facts(doc: Doc) -> Facts:
    """Return the facts of a parsed chunk."""
    entities: dict[str, list[Any]] = {}  # first sentence, spellings, types
    # By both names: count, labels with the name they lead from, first sentence, its verbs.
    pairs: dict[tuple[str, str], list[Any]] = {}
    all_mentions = mentions(doc)
    for sentence in doc.sents:
        sentence_text = " ".join(sentence.text.split())
        sentence_mentions = [
            one for one in all_mentions if sentence.start <= one.start < sentence.end
        ]
        for first in sentence_mentions:
            counts = entities.setdefault(
                first.name.casefold(), [sentence_text, Counter[str](), Counter[str]()]
            )
            counts[1][first.name] += 1
            counts[2][first.type] += 1
        links = MentionLabels(doc, sentence_mentions)
        verbs = _verbs(sentence)
        for first, second, distance in _pairs(sentence_mentions):
            label = links.between(first, second)
            if label is None and distance > MAX_UNLABELLED_DISTANCE:
                continue
            pair = (first.name.casefold(), second.name.casefold())
            pair = pair if pair in pairs or pair[::-1] not in pairs else pair[::-1]
            row = pairs.setdefault(pair, [0, Counter[tuple[str, str]](), sentence_text, verbs])
            row[0] += 1
            if label is not None:
                row[1][label] += 1
    entity_of_name = {key: _entity(*entry) for key, entry in entities.items()}
    return Facts(
        tuple(entity_of_name.values()),
        tuple(_relation(entity_of_name, pair, *row) for pair, row in pairs.items()),
    )


def _entity(said: str, spellings: Counter[str], kinds: Counter[str]) -> ChunkEntity:
    name = min(spellings, key=lambda one: (-spellings[one], one))
    kind = min(kinds, key=lambda one: (one == PHRASE_TYPE, -kinds[one], one))
    return ChunkEntity(name, kind, said, spellings.total())


def _relation(
    entities: dict[str, ChunkEntity],
    pair: tuple[str, str],
    times: int,
    labels: Counter[tuple[str, str]],
    said: str,
    verbs: str,
) -> ChunkRelation:
    """Return the relation of two entities, directed and named by its most frequent label."""
    head, label = (
        min(labels, key=lambda one: (one[1] not in (ALSO_CALLED, IN_BRACKETS), -labels[one], one))
        if labels
        else (pair[0], APPEARS_WITH)
    )
    tail = pair[1] if head == pair[0] else pair[0]
    return ChunkRelation(entities[head].name, entities[tail].name, label, said, verbs, float(times))


def _pairs(some: Sequence[ParsedMention]) -> Iterator[tuple[ParsedMention, ParsedMention, int]]:
    """Pair the first mentions of different names, each with the `MAX_LABEL_DISTANCE` after it.

    Also yields the distance of the two, counted in mentions.
    """
    firsts = sorted(
        {one.name.casefold(): one for one in reversed(some)}.values(), key=lambda one: one.start
    )
    for index, one in enumerate(firsts):
        for distance, other in enumerate(firsts[index + 1 : index + 1 + MAX_LABEL_DISTANCE], 1):
            yield one, other, distance


def _verbs(sentence: Span) -> str:
    verbs = [
        token.lower_
        for token in sentence
        if token.pos_ == "VERB" and not token.is_stop and token.is_alpha
    ]
    return ", ".join(list(dict.fromkeys(verbs))[:MAX_TERM_KEYWORDS])
