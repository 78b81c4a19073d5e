"""Extraction of names, terms and labelled relations by a parser, without a language model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.builds.base import BuildContext
from core.builds.extract.extractor import Extractor
from core.builds.extract.labels import MentionLabels
from core.builds.extract.markdown_prose import as_prose
from core.builds.extract.mentions import (
    ALSO_CALLED,
    APPEARS_WITH,
    IN_BRACKETS,
    EntityMentions,
)
from core.builds.extract.names_in_text import ParsedMention, parsed_mentions
from core.builds.extract.noun_phrases import (
    PARSE_BATCH_CHUNKS,
    NounPhrases,
    english_parser,
    read_english,
    verb_keywords,
)
from core.builds.facts import ChunkEntity, ChunkRelation, Facts
from core.languages import is_english

if TYPE_CHECKING:
    from spacy.tokens import Doc

TERM_RULES_EDITION = 3  # version of the rules; facts saved by another version are extracted again
MAX_LABEL_DISTANCE = 10  # following entities of a sentence for which a label is searched
MAX_UNLABELLED_DISTANCE = 2  # following entities of a sentence that are related without a label


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

    Every spelling is a separate entity, and every noun phrase a term. Which of them are the same,
    and which are too common, depends on the whole corpus and is decided by `ResolveNames`.
    """

    title = "names and terms"
    edition = TERM_RULES_EDITION
    max_unsaved_chunks = PARSE_BATCH_CHUNKS

    def signature(self, ctx: BuildContext) -> str:
        parsed = NounPhrases().signature(ctx)
        return f"{parsed}, rules {TERM_RULES_EDITION}"

    def extract_facts(self, texts: Sequence[str], ctx: BuildContext) -> Iterator[tuple[int, Facts]]:
        english = is_english(ctx.language)
        texts = [as_prose(text, english) for text in texts]
        if not english:
            yield from NounPhrases().extract_facts(texts, ctx)
            return
        yield from read_english(read_terms, texts, ctx)


def read_terms(texts: Sequence[str]) -> list[Facts]:
    """Return the facts of texts that are parsed in one batch. Raises ModelUnavailable."""
    return [term_facts(doc) for doc in english_parser().pipe(texts, batch_size=PARSE_BATCH_CHUNKS)]


def term_facts(doc: Doc) -> Facts:
    """Return the facts of a parsed chunk: its names and terms, and relations within sentences."""
    entities: dict[str, EntityMentions] = {}
    # By the folded names of two entities: number of sentences, counts of (folded name of the head,
    # label), first sentence, its verbs. These are the last arguments of `_relation`.
    pairs: dict[tuple[str, str], list[Any]] = {}
    all_mentions = parsed_mentions(doc)
    for sentence in doc.sents:
        sentence_text = " ".join(sentence.text.split())
        sentence_mentions = [
            mention for mention in all_mentions if sentence.start <= mention.start < sentence.end
        ]
        for mention in sentence_mentions:
            mentions = entities.setdefault(mention.name.casefold(), EntityMentions(sentence_text))
            mentions.add(mention.name, mention.type)
        labels = MentionLabels(doc, sentence_mentions)
        verbs = verb_keywords(sentence)
        for first, second, distance in _pairs(sentence_mentions):
            label = labels.label_between(first, second)
            if label is None and distance > MAX_UNLABELLED_DISTANCE:
                continue
            pair = (first.name.casefold(), second.name.casefold())
            if pair not in pairs and pair[::-1] in pairs:
                pair = pair[::-1]
            row = pairs.setdefault(pair, [0, Counter[tuple[str, str]](), sentence_text, verbs])
            row[0] += 1
            if label is not None:
                row[1][label] += 1
    entity_of_name = {key: mentions.entity for key, mentions in entities.items()}
    return Facts(
        tuple(entity_of_name.values()),
        tuple(_relation(entity_of_name, pair, *row) for pair, row in pairs.items()),
    )


def _relation(
    entities: dict[str, ChunkEntity],
    pair: tuple[str, str],
    times: int,
    labels: Counter[tuple[str, str]],
    sentence: str,
    verbs: str,
) -> ChunkRelation:
    """Return the relation of two entities, directed and named by its most frequent label.

    Labels that give an entity another name are preferred, even if they are less frequent.
    """
    head, label = min(
        labels,
        key=lambda entry: (entry[1] not in (ALSO_CALLED, IN_BRACKETS), -labels[entry], entry),
        default=(pair[0], APPEARS_WITH),
    )
    tail = pair[1] if head == pair[0] else pair[0]
    return ChunkRelation(
        entities[head].name, entities[tail].name, label, sentence, verbs, float(times)
    )


def _pairs(mentions: Sequence[ParsedMention]) -> Iterator[tuple[ParsedMention, ParsedMention, int]]:
    """Yield pairs of mentions that may be related, with their distance.

    Both are in one sentence. Of each name, the first mention counts. It is paired with the
    `MAX_LABEL_DISTANCE` first mentions after it. The distance is 1 for the next one.
    """
    first_of_name = {mention.name.casefold(): mention for mention in reversed(mentions)}
    firsts = sorted(first_of_name.values(), key=lambda mention: mention.start)
    for index, first in enumerate(firsts):
        for distance, second in enumerate(firsts[index + 1 : index + 1 + MAX_LABEL_DISTANCE], 1):
            yield first, second, distance
