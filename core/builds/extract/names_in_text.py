"""Search for mentions of entities in a text parsed by spaCy: titles, names and noun phrases.

spaCy's entity labels are corrected by rules, because they often miss a part of a name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.builds.extract.mentions import PHRASE_TYPE, is_entity_name
from core.builds.extract.noun_phrases import TYPE_OF_LABEL

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

# Types of names, by their last word.
TYPE_OF_HEAD = {
    **dict.fromkeys(
        "university college school institute academy company corporation inc inc. ltd corp "
        "records orchestra band committee".split(),
        "organisation",
    ),
    **dict.fromkeys(
        "council association society federation department ministry agency commission party "
        "league club team army navy".split(),
        "organisation",
    ),
    **dict.fromkeys(
        "city town county village island islands river lake mountain mountains street road bay "
        "park station district".split(),
        "place",
    ),
    **dict.fromkeys(
        "war battle festival olympics championship championships tournament election revolution "
        "conference".split(),
        "event",
    ),
    **dict.fromkeys(
        "award awards medal prize officer president secretary director minister counsel".split(),
        "concept",
    ),
}
MAX_MENTION_WORDS = 10  # most words of a name or a term
MAX_TITLE_TOKENS = 10  # most tokens of a quoted title
OPENING_QUOTES, CLOSING_QUOTES = '"“«‘', '"”»’'
SPEAKER_NAME = re.compile(
    r"(?:^|(?<=[.?!]\s)|(?<=\n))([A-Z][A-Z.'’-]+(?: [A-Z][A-Z.'’-]*){1,3})(?=[:,] ?)"
)
# Words that join two names to one: University of Oxford, Council for Soviet Jews.
LINKING_WORDS = ("of", "for")
# spaCy's labels of names that “of” or “for” does not continue.
UNLINKED_LABELS = ("PERSON", "GPE", "NORP", "LOC")
INTERJECTIONS = frozenset(
    "hi hello thanks thank great excellent perfect yes no okay ok sure please mr mrs ms dr well "
    "oh ah".split()
)
SURNAME_PARTICLES = frozenset(
    "de do da di du dos del van von der den la le el al bin ibn y e zu".split()
)
# Words for the role of a person before the name, which are no part of it.
PERSON_ROLES = frozenset(
    "president vice senator governor minister prime secretary chancellor king queen prince "
    "princess lord lady sir dame duke duchess count "
    "countess emperor empress pope bishop archbishop cardinal saint st st. mr mr. mrs mrs. ms ms. "
    "miss dr dr. prof prof. professor "
    "general colonel captain major lieutenant sergeant admiral judge justice mayor ambassador "
    "congressman congresswoman representative "
    "rev rev. reverend father sister brother uncle aunt coach director ceo chairman actor actress "
    "singer author president-elect".split()
)
# With a surname alone, these titles may refer to another person than the surname does.
FEMALE_TITLES = frozenset("mrs mrs. miss lady queen princess dame madame".split())
# Adjectives that add no meaning to the noun after them.
GENERIC_ADJECTIVES = frozenset(
    "new old good great big large small important major minor significant several certain various "
    "different other same similar additional "
    "overall further future later latter earlier early difficult easy nice strong recent current "
    "possible specific particular general main "
    "key full whole entire long right wrong real true subsequent adjacent neighbouring neighboring "
    "many much few such own last next first "
    "second third own best better worst more most less least great lower higher total considerable "
    "usual common typical extreme final "
    "tough continued initial".split()
)
MODIFIER_TAGS = ("ADJ", "ADV", "NOUN", "PROPN", "VERB")  # parts of speech within a term
# A term begins after the last of these.
DIVIDING_MARKS = (",", ";", ":", "(", ")", "'s", "’s", "/")


@dataclass(frozen=True)
class ParsedMention:
    """A mention of an entity in a chunk.

    `start` is the index of its first token, `end` that of the token after its last. `type` is one
    of the values of `TYPE_OF_LABEL` and `TYPE_OF_HEAD`, or `PHRASE_TYPE`.
    """

    start: int
    end: int
    name: str
    type: str


def parsed_mentions(doc: Doc) -> list[ParsedMention]:
    """Return the mentions of entities in the order of the text.

    They are speakers, quoted titles, names, and noun phrases without any of these in them. Where
    two overlap, the kind that comes first in this list counts.
    """
    used_tokens = set[int]()
    result: list[ParsedMention] = []
    for span, kind in [*_speakers(doc), *_quoted_titles(doc), *_names(doc)]:
        if used_tokens.isdisjoint(range(span.start, span.end)):
            name = _recase(_clean_name(span))
            if is_entity_name(name, MAX_MENTION_WORDS):
                used_tokens.update(range(span.start, span.end))
                result.append(ParsedMention(span.start, span.end, name, kind))
    dates = {token.i for span in doc.ents if span.label_ not in TYPE_OF_LABEL for token in span}
    for span in doc.noun_chunks:
        term = _term(span)
        if (
            len(term)
            and used_tokens.isdisjoint(range(term.start, term.end))
            and not all(token.i in dates for token in term)
        ):
            name = _term_name(term)
            if is_entity_name(name, MAX_MENTION_WORDS) and len(name) > 2:
                result.append(ParsedMention(term.start, term.end, name, PHRASE_TYPE))
    return sorted(result, key=lambda one: (one.start, one.end))


def _speakers(doc: Doc) -> Iterator[tuple[Span, str]]:
    """Yield speakers: names in capitals before a colon, such as "AMY HOOD:".

    The colon may follow more words, as in "WALTER PRITCHARD, Citi:".
    """
    for match in SPEAKER_NAME.finditer(doc.text):
        # The rest of the line or sentence, of at most 80 characters.
        line = doc.text[match.end() : match.end() + 80].split("\n")[0].split(". ")[0]
        span = doc.char_span(match.start(1), match.end(1), alignment_mode="contract")
        if span is not None and ":" in line:
            yield span, "person"


def _quoted_titles(doc: Doc) -> Iterator[tuple[Span, str]]:
    """Yield titles in quotes: a few words whose first and last are capitalised."""
    start = None
    for token in doc:
        if token.text in OPENING_QUOTES and (start is None or token.text not in CLOSING_QUOTES):
            start = token.i + 1
        elif token.text in CLOSING_QUOTES and start is not None:
            span = doc[start : token.i]
            if 0 < len(span) <= MAX_TITLE_TOKENS and _is_title_case(span):
                labels = (entity.label_ for entity in span.ents if len(entity) == len(span))
                types = (TYPE_OF_LABEL[label] for label in labels if label in TYPE_OF_LABEL)
                yield span, next(types, "work")
            start = None


def _is_title_case(span: Span) -> bool:
    """Return whether a span is written like a title.

    Its first word, its last and half of all begin with a capital or digit.
    """
    initials = [token.text[:1] for token in span if not token.is_punct]
    is_large = [initial.isupper() or initial.isdigit() for initial in initials]
    return any(is_large) and is_large[0] and is_large[-1] and 2 * sum(is_large) >= len(is_large)


def _names(doc: Doc) -> Iterator[tuple[Span, str]]:
    """Yield labelled names and other proper nouns, with all words that belong to them."""
    # Two arguments of the functions below: spaCy's label of each token of a name, and the tokens of
    # dates, numbers and the like. Both are given by the index of the token.
    labels: dict[int, str] = {}
    for span in doc.ents:
        if span.label_ in TYPE_OF_LABEL:
            labels.update(dict.fromkeys(range(span.start, span.end), span.label_))
    dates = {token.i for span in doc.ents if span.label_ not in TYPE_OF_LABEL for token in span}
    start = 0
    while start < len(doc):
        if not _begins_name(doc[start], labels, dates):
            start += 1
            continue
        end = _name_end(doc, start, labels, dates)
        span = _without_role(_without_edges(doc[start:end]), labels)
        if len(span):
            yield span, _name_type(span, labels)
        start = end


def _name_type(span: Span, labels: dict[int, str]) -> str:
    """Return the type of a name.

    It is taken from the last word if that is known, else from the tokens.
    """
    last = span[-1].lower_
    if len(span) > 1 and last in TYPE_OF_HEAD:
        return TYPE_OF_HEAD[last]
    counts = Counter(labels[token.i] for token in span if token.i in labels)
    label = min(counts, key=lambda label: (-counts[label], label), default="")
    kind = TYPE_OF_LABEL.get(label, PHRASE_TYPE)
    # A name with a number at its end is mostly a version, such as “Windows 10”.
    if kind in ("organisation", "place", "building") and len(span) > 1 and last.isdigit():
        return "product"
    return kind


def _without_role(span: Span, labels: dict[int, str]) -> Span:
    """Return a person's name without the role before it.

    A role before a surname alone is kept if it may denote another person: Mrs Cratchit is not Bob.
    """
    start = 0
    while start < len(span) - 1 and _is_role(span[start], span[start + 1]):
        start += 1
    if not start or labels.get(span[start].i) != "PERSON":
        return span
    if len(span) - start == 1 and span[start - 1].lower_ in FEMALE_TITLES:
        return span[start - 1 :]
    return span[start:]


def _is_role(token: Token, following: Token) -> bool:
    """Return whether a word is a role, such as Captain.

    A word in capitals before a name in small letters is an acronym, as MS in MS Lyra.
    """
    return token.lower_ in PERSON_ROLES and (not _is_acronym(token) or following.is_upper)


def _is_acronym(token: Token) -> bool:
    return len(token) > 1 and token.is_upper


def _begins_name(token: Token, labels: dict[int, str], dates: set[int]) -> bool:
    """Return whether a name begins at a token."""
    if token.lower_ in INTERJECTIONS and not (token.lower_ in PERSON_ROLES and _is_acronym(token)):
        return False
    is_labelled = token.i in labels or (token.pos_ == "PROPN" and token.i not in dates)
    return is_labelled and _is_capitalised(token)


def _is_capitalised(token: Token) -> bool:
    """Return whether a token looks like a part of a name.

    It has a capital letter, and is no article, pronoun or the like at the beginning of a sentence.
    """
    return any(letter.isupper() for letter in token.text) and not (
        token.is_sent_start and token.pos_ in ("DET", "PRON", "ADP", "SCONJ", "CCONJ")
    )


def _name_end(doc: Doc, start: int, labels: dict[int, str], dates: set[int]) -> int:
    """Return the index of the token after the name that begins at `start`.

    A name continues with capitalised words, numbers directly after them, and parts joined by “of”
    or “for”.
    """
    end = start + 1
    while end < len(doc):
        added = _added_tokens(doc, start, end, labels, dates)
        if not added:
            break
        end += added
    return end


def _added_tokens(doc: Doc, start: int, end: int, labels: dict[int, str], dates: set[int]) -> int:
    """Return how many tokens from `end` on continue a name.

    The name reaches from `start` to `end`. The result is 0 if none does.
    """
    token = doc[end]
    # True within a name that the parser has labelled.
    in_name = end in labels and labels[end] == labels.get(end - 1) and not _divides(doc, start, end)
    if _joins_words(doc, end, in_name, labels, dates):
        return 2
    if _is_next_word(doc, end, labels, dates) or _is_name_number(doc, end):
        return 1
    if _is_surname_particle(doc, end):
        return 2
    added = _tokens_joined_by_word(doc, start, end, labels, dates)
    if added:
        return added
    return int(in_name and not token.is_punct and not token.is_space)


def _joins_words(doc: Doc, i: int, in_name: bool, labels: dict[int, str], dates: set[int]) -> bool:
    """Return whether a token is a mark that joins words to a name.

    It joins the words on both sides. An apostrophe or a long dash does so only within a name of the
    parser.
    """
    mark = doc[i].text
    if mark not in ("-", "&", "/") and not (in_name and mark in ("'", "’", "'s", "’s", "–")):
        return False
    return i + 1 < len(doc) and _can_continue_name(doc[i + 1], labels, dates)


def _is_next_word(doc: Doc, i: int, labels: dict[int, str], dates: set[int]) -> bool:
    """Return whether a word continues the name before it and begins no other."""
    token = doc[i]
    if token.is_sent_start and doc[i - 1].is_punct:
        return False
    return _can_continue_name(token, labels, dates) and not _begins_other_name(labels, i)


def _is_name_number(doc: Doc, i: int) -> bool:
    """Return whether a token is a number that may belong to a name.

    It has at most four digits and follows a blank.
    """
    token = doc[i]
    return bool(
        token.like_num and token.text.isdigit() and doc[i - 1].whitespace_ and len(token.text) <= 4
    )


def _is_surname_particle(doc: Doc, i: int) -> bool:
    """Return whether a token is a particle such as “van” before a proper noun."""
    if doc[i].lower_ not in SURNAME_PARTICLES or i + 1 == len(doc):
        return False
    return _is_capitalised(doc[i + 1]) and doc[i + 1].pos_ == "PROPN"


def _tokens_joined_by_word(
    doc: Doc, start: int, i: int, labels: dict[int, str], dates: set[int]
) -> int:
    """Return how many tokens “of”, “for” or “and” adds to a name. The word itself is counted."""
    word = doc[i].lower_
    if word in LINKING_WORDS and labels.get(start, "") not in UNLINKED_LABELS:
        return max(0, _linked_end(doc, i, labels, dates) - i)
    return int(word == "and" and _and_joins_one_name(doc, start, i, labels))


def _begins_other_name(labels: dict[int, str], i: int) -> bool:
    """Return whether another name begins at a token, by the labels of the parser.

    This is the case if a person, a place or a people follows a people or a place with another
    label.
    """
    before, label = labels.get(i - 1), labels.get(i)
    if before == label:
        return False
    return before in ("NORP", "GPE", "LOC") and label in ("PERSON", "GPE", "NORP")


def _divides(doc: Doc, start: int, i: int) -> bool:
    """Return whether a token such as “and” or a comma separates two names.

    After an “of” or “for” it belongs to a single name.
    """
    return doc[i].lower_ in ("and", "or", ",", ";", ":") and not _has_link(doc, start, i)


def _has_link(doc: Doc, start: int, end: int) -> bool:
    """Return whether there is an “of” or “for” among some tokens."""
    return any(token.lower_ in LINKING_WORDS for token in doc[start:end])


def _and_joins_one_name(doc: Doc, start: int, i: int, labels: dict[int, str]) -> bool:
    """Return whether an “and” belongs to a single name.

    An example is Vice President for Public Policy and Government Affairs.
    """
    if not _has_link(doc, start, i) or i + 1 == len(doc):
        return False
    return i - 1 not in labels and i + 1 not in labels and _is_capitalised(doc[i + 1])


def _can_continue_name(token: Token, labels: dict[int, str], dates: set[int]) -> bool:
    """Return whether a token can continue a name."""
    if token.i in dates or not _is_capitalised(token):
        return False
    return token.pos_ in ("PROPN", "NOUN", "ADJ", "NUM", "X", "VERB") or token.i in labels


def _linked_end(doc: Doc, i: int, labels: dict[int, str], dates: set[int]) -> int:
    """Return the index after the word that an “of” or “for” leads to.

    The result is 0 if there is no such word. The word is capitalised. After “of”, an article may
    come before it.
    """
    after = i + 1
    if after < len(doc) and doc[after].lower_ == "the" and doc[i].lower_ == "of":
        after += 1
        if labels.get(after) == "ORG":
            return 0  # two names: Staff Director of the Senate Judiciary Committee
    return after + 1 if after < len(doc) and _can_continue_name(doc[after], labels, dates) else 0


def _without_edges(span: Span) -> Span:
    """Return a name without a leading article and without marks and possessives around it."""
    doc, start, end = span.doc, span.start, span.end
    while start < end and (_is_mark(doc[start]) or doc[start].lower_ in ("the", "a", "an")):
        start += 1
    while start < end and _cannot_end_name(doc[end - 1]):
        end -= 1
    return doc[start:end]


def _is_mark(token: Token) -> bool:
    """Return whether a token is punctuation or white space."""
    return token.is_punct or token.is_space


def _cannot_end_name(token: Token) -> bool:
    """Return whether a token cannot end a name.

    It is a mark, a possessive, or a verb after the name (“Scrooge muttered”).
    """
    is_verb = token.text.islower() and token.pos_ in ("VERB", "AUX")
    return _is_mark(token) or is_verb or token.text in ("'s", "’s", "'", "’")


def _term(span: Span) -> Span:
    """Return the noun of a noun phrase with its modifiers; empty without a noun.

    Articles, numbers, possessives, marks and adjectives without meaning before them are left out.
    """
    doc, start, end = span.doc, span.start, span.end
    while start < end and doc[end - 1].pos_ not in ("NOUN", "PROPN"):
        end -= 1
    for token in doc[start:end]:  # the term begins after the last mark
        if token.text in DIVIDING_MARKS or token.lower_ in ("and", "or"):
            start = token.i + 1
    while start < end and (doc[start].pos_ not in MODIFIER_TAGS or _is_generic(doc[start])):
        start += 1
    return doc[start:end]


def _is_generic(token: Token) -> bool:
    """Return whether a modifier adds no meaning. Examples are stop words and comparatives."""
    return token.pos_ != "PROPN" and (
        token.is_stop
        or token.lower_ in GENERIC_ADJECTIVES
        or token.tag_ in ("JJR", "JJS", "RB", "RBR", "RBS")
    )


def _clean_name(span: Span) -> str:
    """Return the text of a name with single blanks and without marks around it."""
    name = " ".join(span.text.split()).strip("\"'“”‘’`,;:()[]{}<>*_–—- ")
    # "node(s" becomes "node"
    return name.partition("(")[0].rstrip() if name.count("(") > name.count(")") else name


def _term_name(term: Span) -> str:
    """Return a term in its form within a sentence. It has no initial capital."""
    name = _clean_name(term)
    first = term[0]
    if first.is_sent_start and first.pos_ != "PROPN" and name[1:].islower():
        return f"{name[0].lower()}{name[1:]}"
    return name


def _recase(name: str) -> str:
    """Return a name of several words in capitals in usual spelling.

    "AMY HOOD" becomes "Amy Hood". Other names are returned unchanged.
    """
    words = name.split()
    all_caps = sum(word.isalpha() and len(word) > 1 for word in words) > 1 and name.isupper()
    return " ".join(word.capitalize() for word in words) if all_caps else name
