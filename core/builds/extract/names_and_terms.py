"""Extraction without a language model: whole names and terms, and relations labelled by the verb or preposition between them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.builds.base import BuildContext
from core.builds.extract.extracting import Extractor
from core.builds.extract.mentions import BRACKETED, CALLED, PHRASE, TOGETHER
from core.builds.extract.noun_phrases import BATCH_CHUNKS, TIMES, TYPES, NounPhrases, parser, read_english
from core.builds.facts import Entity, Facts, Relation
from core.languages import is_english

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

RULES = 2  # the version of what is found here: facts that were saved by another are found again
FAR = 10  # entities behind one in a sentence to which a label is looked for
NEAR = 2  # entities behind one in a sentence that it appears with where there is no label
KEYWORDS = 3
HEADS = {
    **dict.fromkeys(
        "university college school institute academy company corporation inc inc. ltd corp records orchestra band committee".split(),
        "organisation",
    ),
    **dict.fromkeys(
        "council association society federation department ministry agency commission party league club team army navy".split(),
        "organisation",
    ),
    **dict.fromkeys(
        "city town county village island islands river lake mountain mountains street road bay park station district".split(), "place"
    ),
    **dict.fromkeys("war battle festival olympics championship championships tournament election revolution conference".split(), "event"),
    **dict.fromkeys("award awards medal prize officer president secretary director minister counsel".split(), "concept"),
}  # the type of a name by its last word
LONGEST = 8  # words of a name or a term
QUOTED = 10  # tokens of a title in quotes, at most
LABEL = 4  # words of a label
OPENING, CLOSING = '"“«‘', '"”»’'
SPEAKER = re.compile(r"(?:^|(?<=[.?!]\s)|(?<=\n))([A-Z][A-Z.'’-]+(?: [A-Z][A-Z.'’-]*){1,3})(?=[:,] ?)")
LINKS = ("of", "for")  # what joins two names to one: University of Oxford, Council for Soviet Jews
SINGLE = ("PERSON", "GPE", "NORP", "LOC")  # names that nothing behind an “of” belongs to
INTERJECTIONS = frozenset("hi hello thanks thank great excellent perfect yes no okay ok sure please mr mrs ms dr well oh ah".split())
PARTICLES = frozenset("de do da di du dos del van von der den la le el al bin ibn y e zu".split())
ROLES = frozenset(
    "president vice senator governor minister prime secretary chancellor king queen prince princess lord lady sir dame duke duchess count "
    "countess emperor empress pope bishop archbishop cardinal saint st st. mr mr. mrs mrs. ms ms. miss dr dr. prof prof. professor "
    "general colonel captain major lieutenant sergeant admiral judge justice mayor ambassador congressman congresswoman representative "
    "rev rev. reverend father sister brother uncle aunt coach director ceo chairman actor actress singer author president-elect".split()
)  # before a person's name: who that is, and no part of it
FEMALE = frozenset("mrs mrs. miss lady queen princess dame madame".split())  # with a surname alone these are another than its bearer
GENERIC = frozenset(
    "new old good great big large small important major minor significant several certain various different other same similar additional "
    "overall further future later latter earlier early difficult easy nice strong recent current possible specific particular general main "
    "key full whole entire long right wrong real true subsequent adjacent neighbouring neighboring many much few such own last next first "
    "second third own best better worst more most less least great lower higher total considerable usual common typical extreme final "
    "tough continued initial".split()
)  # adjectives that say nothing of what they are put before
MODIFIERS = ("ADJ", "ADV", "NOUN", "PROPN", "VERB")
DIVIDING = (",", ";", ":", "(", ")", "'s", "’s", "/")
ALIAS = frozenset(
    "also called|also known as|also named|also referred to as|better known as|commonly known as|commonly called|formerly known as|formerly "
    "called|previously known as|known professionally as|known simply as|abbreviated|abbreviated as|abbreviated to|abbreviated with".split(
        "|"
    )
)  # between two names of one
ALIAS_OF_NAMES = frozenset(("known as", "born", "nicknamed"))  # between two names that are no terms
LAST_OF_ALIAS = frozenset(("(", *(words.split()[-1] for words in (*ALIAS, *ALIAS_OF_NAMES))))
BEFORE_ALIAS = frozenset('which who that is was are were often sometimes usually more most widely or and , : " “ ‘ the'.split())
SUBJECTS = ("nsubj", "nsubjpass")
OBJECTS = ("dobj", "attr", "oprd", "dative", "appos")


@dataclass(frozen=True, repr=False)
class NamesAndTerms(Extractor):
    """The names of each chunk as they are written, with what belongs to them (“Windows 10”, “Bay Area Council for Soviet Jews”, a title in
    quotes), its terms (“lymph node”), and how they are related. A relation is labelled by the verb, noun or preposition that leads from
    one to the other in a sentence (“served on”, “captain of”); where none does, one “appears with” the two after it. What the text itself
    calls another name of one (“Pelé, also known as”, “megestrol acetate (Megace)”) is related by it, for `ResolveNames` to join. Its weight
    is the number of sentences.

    Documents in another language than English are read as `NounPhrases` reads them.

    Every spelling is an entity here, and every noun phrase a term: which are one, and which are too common to be any, depends on the
    whole corpus and is left to `ResolveNames`.
    """

    title = "names and terms"
    edition = RULES
    held = BATCH_CHUNKS

    def signature(self, ctx: BuildContext) -> str:
        parsed = NounPhrases().signature(ctx)
        return f"{parsed}, rules {RULES}" if is_english(ctx.language) else parsed

    def extracted(self, texts: Sequence[str], ctx: BuildContext) -> Iterator[tuple[int, Facts]]:
        if not is_english(ctx.language):
            yield from NounPhrases().extracted(texts, ctx)
            return
        yield from read_english(read, texts, ctx)


@dataclass(frozen=True)
class Mention:
    """Where a chunk names something: its first token, the token behind its last, its name and type."""

    start: int
    end: int
    name: str
    type: str


def read(texts: Sequence[str]) -> list[Facts]:
    """The facts of some texts, parsed together. Raises ModelUnavailable."""
    return [facts_of(doc) for doc in parser().pipe(texts, batch_size=BATCH_CHUNKS)]


def facts_of(doc: Doc) -> Facts:
    """The facts of a parsed chunk."""
    entities: dict[str, list[Any]] = {}  # first sentence, spellings, types
    joined: dict[tuple[str, str], list[Any]] = {}  # by both names: times, labels with the name they lead from, first sentence, its verbs
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
    return Facts(tuple(shown.values()), tuple(_relation(shown, pair, *row) for pair, row in joined.items()))


def _entity(said: str, spellings: Counter[str], kinds: Counter[str]) -> Entity:
    name = min(spellings, key=lambda one: (-spellings[one], one))
    kind = min(kinds, key=lambda one: (one == PHRASE, -kinds[one], one))
    return Entity(name, kind, said, spellings.total())


def _relation(
    shown: dict[str, Entity], pair: tuple[str, str], times: int, labels: Counter[tuple[str, str]], said: str, verbs: str
) -> Relation:
    """The relation of two entities: from whom its most frequent label leads."""
    head, label = min(labels, key=lambda one: (one[1] not in (CALLED, BRACKETED), -labels[one], one)) if labels else (pair[0], TOGETHER)
    tail = pair[1] if head == pair[0] else pair[0]
    return Relation(shown[head].name, shown[tail].name, label, said, verbs, float(times))


def _pairs(some: Sequence[Mention]) -> Iterator[tuple[Mention, Mention, int]]:
    """The first mentions of different names, each with the `FAR` after it, and how far behind it they are."""
    firsts = sorted({one.name.casefold(): one for one in reversed(some)}.values(), key=lambda one: one.start)
    for at, one in enumerate(firsts):
        for distance, other in enumerate(firsts[at + 1 : at + 1 + FAR], 1):
            yield one, other, distance


def _verbs(sentence: Span) -> str:
    verbs = [token.lower_ for token in sentence if token.pos_ == "VERB" and not token.is_stop and token.is_alpha]
    return ", ".join(list(dict.fromkeys(verbs))[:KEYWORDS])


# Mentions


def mentions(doc: Doc) -> list[Mention]:
    """Where each entity is named, in the order of the text: titles in quotes, names, and the noun phrases that hold none."""
    taken = set[int]()
    found: list[Mention] = []
    for span, kind in [*_speakers(doc), *_titles(doc), *_names(doc)]:
        if taken.isdisjoint(range(span.start, span.end)):
            name = _cased(_shown(span))
            if _is_name(name):
                taken.update(range(span.start, span.end))
                found.append(Mention(span.start, span.end, name, kind))
    dated = {token.i for span in doc.ents if span.label_ not in TYPES for token in span}
    for span in doc.noun_chunks:
        term = _term(span)
        if len(term) and taken.isdisjoint(range(term.start, term.end)) and not all(token.i in dated for token in term):
            name = _lowered(term)
            if _is_name(name) and len(name) > 2:
                found.append(Mention(term.start, term.end, name, PHRASE))
    return sorted(found, key=lambda one: (one.start, one.end))


def _speakers(doc: Doc) -> Iterator[tuple[Span, str]]:
    """Who speaks, in capitals before a colon: `AMY HOOD:`, `WALTER PRITCHARD, Citi:`."""
    for match in SPEAKER.finditer(doc.text):
        line = doc.text[match.end() : match.end() + 80].split("\n")[0].split(". ")[0]
        span = doc.char_span(match.start(1), match.end(1), alignment_mode="contract")
        if span is not None and ":" in line:
            yield span, "person"


def _titles(doc: Doc) -> Iterator[tuple[Span, str]]:
    """Titles in quotes: some words, of which the first and the last have a capital."""
    start = None
    for token in doc:
        if token.text in OPENING and (start is None or token.text not in CLOSING):
            start = token.i + 1
        elif token.text in CLOSING and start is not None:
            span = doc[start : token.i]
            if 0 < len(span) <= QUOTED and _is_title(span):
                yield span, next((TYPES[one.label_] for one in span.ents if one.label_ in TYPES and len(one) == len(span)), "work")
            start = None


def _is_title(span: Span) -> bool:
    words = [token for token in span if not token.is_punct]
    capital = [word for word in words if word.text[:1].isupper() or word.text[:1].isdigit()]
    return bool(words) and words[0] in capital and words[-1] in capital and 2 * len(capital) >= len(words)


def _names(doc: Doc) -> Iterator[tuple[Span, str]]:
    """Names as the parser finds them and proper nouns that it finds none in, both with what belongs to them."""
    labels: dict[int, str] = {}
    for span in doc.ents:
        if span.label_ in TYPES:
            labels.update(dict.fromkeys(range(span.start, span.end), span.label_))
    dated = {token.i for span in doc.ents if span.label_ not in TYPES for token in span}
    at = 0
    while at < len(doc):
        if not _begins(doc[at], labels, dated):
            at += 1
            continue
        end = _name_end(doc, at, labels, dated)
        span = _without_role(_stripped(doc[at:end]), labels)
        if len(span):
            yield span, _type(span, labels)
        at = end


def _type(span: Span, labels: dict[int, str]) -> str:
    """The type of a name: by its last word where that says it, else by most of its tokens."""
    last = span[-1].lower_
    if len(span) > 1 and last in HEADS:
        return HEADS[last]
    kinds = Counter(labels[token.i] for token in span if token.i in labels)
    kind = TYPES.get(min(kinds, key=lambda one: (-kinds[one], one)) if kinds else "", PHRASE)
    return "product" if kind in ("organisation", "place", "building") and len(span) > 1 and last.isdigit() else kind


def _without_role(span: Span, labels: dict[int, str]) -> Span:
    """A person's name without the role before it; one with a surname alone that is another's stays: Mrs Cratchit is not Bob."""
    start = 0
    while start < len(span) - 1 and span[start].lower_ in ROLES:
        start += 1
    if not start or labels.get(span[start].i) != "PERSON":
        return span
    return span[start - 1 :] if len(span) - start == 1 and span[start - 1].lower_ in FEMALE else span[start:]


def _begins(token: Token, labels: dict[int, str], dated: set[int]) -> bool:
    return _capital(token) and (token.i in labels or (token.pos_ == "PROPN" and token.i not in dated)) and token.lower_ not in INTERJECTIONS


def _capital(token: Token) -> bool:
    """Whether a token looks like a part of a name: with a capital somewhere, and no article or pronoun at the beginning of a sentence."""
    return any(letter.isupper() for letter in token.text) and not (
        token.is_sent_start and token.pos_ in ("DET", "PRON", "ADP", "SCONJ", "CCONJ")
    )


def _name_end(doc: Doc, start: int, labels: dict[int, str], dated: set[int]) -> int:
    """The token behind a name that begins at `start`: capitals, numbers right behind them, and what an “of” or “for” adds."""
    end, label = start + 1, labels.get(start, "")
    while end < len(doc):
        token = doc[end]
        within = labels.get(end) == labels.get(end - 1) and end in labels and not _divides(doc, start, end)
        joins = token.text in ("-", "&", "/", "'", "’", "'s", "’s", "–") and end + 1 < len(doc) and _continues(doc[end + 1], labels, dated)
        if joins and (token.text in ("-", "&", "/") or within):
            end += 2
        elif _continues(token, labels, dated) and not (token.is_sent_start and doc[end - 1].is_punct) and not _other(labels, end):
            end += 1
        elif token.like_num and token.text.isdigit() and doc[end - 1].whitespace_ and len(token.text) <= 4:
            end += 1
        elif token.lower_ in PARTICLES and end + 1 < len(doc) and _capital(doc[end + 1]) and doc[end + 1].pos_ == "PROPN":
            end += 2
        elif token.lower_ in LINKS and label not in SINGLE and (after := _linked(doc, end, labels, dated)):
            end = after
        elif token.lower_ == "and" and _of_one(doc, start, end, labels):
            end += 1
        elif within and not token.is_punct and not token.is_space:
            end += 1
        else:
            break
    return end


def _other(labels: dict[int, str], at: int) -> bool:
    """Whether another name begins at a token, by the parser: one of a people or a place before one of a person."""
    before, now = labels.get(at - 1), labels.get(at)
    return before != now and before in ("NORP", "GPE", "LOC") and now in ("PERSON", "GPE", "NORP")


def _divides(doc: Doc, start: int, at: int) -> bool:
    """Whether an “and” or a comma divides two names rather than being of one: behind an “of” it is of one."""
    return doc[at].lower_ in ("and", "or", ",", ";", ":") and not any(token.lower_ in LINKS for token in doc[start:at])


def _of_one(doc: Doc, start: int, at: int, labels: dict[int, str]) -> bool:
    """Whether an “and” is of one name, as in Vice President for Public Policy and Government Affairs."""
    linked = any(token.lower_ in LINKS for token in doc[start:at])
    return linked and at + 1 < len(doc) and at - 1 not in labels and at + 1 not in labels and _capital(doc[at + 1])


def _continues(token: Token, labels: dict[int, str], dated: set[int]) -> bool:
    return _capital(token) and (token.pos_ in ("PROPN", "NOUN", "ADJ", "NUM", "X", "VERB") or token.i in labels) and token.i not in dated


def _linked(doc: Doc, at: int, labels: dict[int, str], dated: set[int]) -> int:
    """The token up to which an “of”, with or without an article, leads into another capital; 0 where it does not."""
    after = at + 1
    if after < len(doc) and doc[after].lower_ == "the" and doc[at].lower_ == "of":
        after += 1
    if after - at == 2 and labels.get(after) == "ORG":
        return 0  # Staff Director of the Senate Judiciary Committee: two
    return after + 1 if after < len(doc) and _continues(doc[after], labels, dated) else 0


def _stripped(span: Span) -> Span:
    """A name without a leading article, and without marks and possessives around it."""
    start, end = span.start, span.end
    while start < end and (span.doc[start].lower_ in ("the", "a", "an") or span.doc[start].is_punct or span.doc[start].is_space):
        start += 1
    while start < end and _ends_no_name(span.doc[end - 1]):
        end -= 1
    return span.doc[start:end]


def _ends_no_name(token: Token) -> bool:
    """Whether a token is no end of a name: a mark, a possessive, or a verb behind it (“Scrooge muttered”)."""
    return (
        token.is_punct or token.is_space or token.text in ("'s", "’s", "'", "’") or (token.text.islower() and token.pos_ in ("VERB", "AUX"))
    )


def _term(span: Span) -> Span:
    """The noun phrase behind its articles, numbers, possessives, marks and adjectives that say nothing: modifiers and a noun."""
    start, end = span.start, span.end
    while start < end and span.doc[end - 1].pos_ not in ("NOUN", "PROPN"):
        end -= 1
    marks = [token.i for token in span.doc[start:end] if token.text in DIVIDING or token.lower_ in ("and", "or")]
    start = marks[-1] + 1 if marks else start
    while start < end and (span.doc[start].pos_ not in MODIFIERS or _says_nothing(span.doc[start])):
        start += 1
    return span.doc[start:end]


def _says_nothing(token: Token) -> bool:
    return token.pos_ != "PROPN" and (token.is_stop or token.lower_ in GENERIC or token.tag_ in ("JJR", "JJS", "RB", "RBR", "RBS"))


def _shown(span: Span) -> str:
    name = " ".join(span.text.split()).strip("\"'“”‘’`,;:()[]{}<>*_–—- ")
    return name.partition("(")[0].rstrip() if name.count("(") > name.count(")") else name  # “node(s” is a node


def _lowered(term: Span) -> str:
    """A term as it is written within a sentence."""
    name = _shown(term)
    first = term[0]
    return f"{name[0].lower()}{name[1:]}" if first.is_sent_start and first.pos_ != "PROPN" and name[1:].islower() else name


def _cased(name: str) -> str:
    """A name of several words in capitals as it is written elsewhere: `AMY HOOD` as `Amy Hood`."""
    words = name.split()
    shouted = sum(word.isalpha() and len(word) > 1 for word in words) > 1 and name.isupper()
    return " ".join(word.capitalize() for word in words) if shouted else name


def _is_name(name: str) -> bool:
    words = name.split()
    named = any(letter.isalpha() for letter in name) and len(name) > 1 and not TIMES.issuperset(name.casefold().split())
    return named and len(words) <= LONGEST + 2


# Labels


class Links:
    """What leads from one mention of a sentence to another, by the tree of the sentence."""

    def __init__(self, doc: Doc, some: Sequence[Mention]):
        self.doc = doc
        self.at = {token: one for one in some for token in range(one.start, one.end)}

    def between(self, one: Mention, other: Mention) -> tuple[str, str] | None:
        """From which of two the label leads, by its folded name, and the label; None where none does."""
        alias = self._alias(one, other)
        if alias and (other.name[:-1].isupper() or not self._within_term(one)):
            return one.name.casefold(), alias
        for head, tail in ((one, other), (other, one)):
            label = self._label(head, tail)
            if label:
                return head.name.casefold(), label
        return None

    def _within_term(self, one: Mention) -> bool:
        """Whether a mention ends a longer term, which then is what has the other name: removal of the uterus (hysterectomy)."""
        root = _root(self.doc, one)
        return root.dep_ == "pobj" and root.head.head.pos_ in ("NOUN", "PROPN")

    def _alias(self, one: Mention, other: Mention) -> str:
        """Whether the text calls one by the other right behind it: by words that say so, or in brackets."""
        doc, end = self.doc, other.start
        while end > one.end and doc[end - 1].lower_ in ("the", *OPENING):
            end -= 1
        if end > one.end and doc[end - 1].lower_ not in LAST_OF_ALIAS:
            return ""
        words, depth = list[str](), 0
        for token in doc[one.end : end]:
            depth += (token.text == "(") - (token.text == ")" and depth > 0)
            if not depth and token.text != ")":
                words.append(token.lower_)
        opened = depth > 0
        if opened:  # what is within the last bracket
            last = max(at for at in range(one.end, end) if doc[at].text == "(")
            if last > one.end:
                return ""
            words = [token.lower_ for token in doc[last + 1 : end]]
        if opened and not words:
            closed = other.end < len(doc) and doc[other.end].text in (")", ",", ";")
            return BRACKETED if closed else ""
        while words and words[0] in BEFORE_ALIAS:
            words.pop(0)
        said = " ".join(words)
        named = PHRASE not in (one.type, other.type) or (one.name[0].isupper() and other.name[0].isupper())
        persons = one.type == other.type == "person"
        return CALLED if said in ALIAS or (said in ALIAS_OF_NAMES and named and (said != "born" or persons)) else ""

    def _label(self, head: Mention, tail: Mention) -> str:
        """The words on the way from the head as a subject to the tail as an object, or from a noun through a preposition."""
        token, preposition = _root(self.doc, tail), ""
        while token.dep_ == "conj" and token.head.pos_ in ("NOUN", "PROPN"):
            token = token.head
        if self.at.get(token.i) is head:
            return ""
        if token.dep_ in ("pobj", "pcomp"):
            preposition, token = token.head.lower_, token.head.head if token.head.dep_ in ("prep", "agent") else token.head
        elif token.dep_ == "appos":
            return "is" if self.at.get(token.head.i) is head else ""
        elif token.dep_ == "poss":
            return "of" if self.at.get(token.head.i) is head else ""
        elif token.dep_ in OBJECTS:
            token = token.head
        else:
            return ""
        if self.at.get(token.i) is head:
            return preposition
        return self._by_verb(head, token, preposition)

    def _by_verb(self, head: Mention, token: Token, preposition: str) -> str:
        """The label through a verb of which the head is the subject, or a noun that the head is."""
        words = [preposition] if preposition else []
        passed = self.at.get(token.i)
        if (
            token.pos_ in ("NOUN", "PROPN")
            and (passed is None or passed.type == PHRASE)
            and token.dep_ in ("attr", "appos", "dobj", "pobj")
        ):
            words, above = [token.lower_, *words], token.head
            if token.dep_ == "appos":
                return " ".join(words) if self.at.get(above.i) is head else ""
            if token.dep_ == "pobj" and above.dep_ == "prep":
                words, above = [above.lower_, *words], above.head
            token = above
        if token.pos_ not in ("VERB", "AUX"):
            return ""
        if head not in self._subjects(token):
            return ""
        verb = [] if token.lemma_ == "be" or token.lower_ in ("is", "was", "are", "were", "be", "been") else [token.lower_]
        verb += [child.lower_ for child in token.children if child.dep_ == "prt"]
        return " ".join([*verb, *words][:LABEL]) or "is"

    def _subjects(self, verb: Token) -> list[Mention]:
        """The mentions that are subjects of a verb, or of the one that it is joined to."""
        for _ in range(4):
            found = [one for child in verb.children if child.dep_ in SUBJECTS for one in self._mentions(child)]
            if found:
                return found
            if verb.dep_ in ("acl", "relcl"):
                return self._mentions(verb.head)
            if verb.dep_ not in ("conj", "xcomp", "advcl", "ccomp") or verb.head.pos_ not in ("VERB", "AUX"):
                return []
            verb = verb.head
        return []

    def _mentions(self, token: Token) -> list[Mention]:
        """The mention of a token and those joined to it by “and”; a relative pronoun is what its clause is about."""
        if token.tag_ in ("WDT", "WP") and token.head.dep_ == "relcl":
            token = token.head.head
        tokens = [token, *(child for child in token.children if child.dep_ == "conj")]
        return [self.at[one.i] for one in tokens if one.i in self.at]


def _root(doc: Doc, one: Mention) -> Token:
    return doc[one.start : one.end].root
