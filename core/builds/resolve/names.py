"""Stage “resolve”: names that are one entity joined, by document and over all, and terms left out that are common phrases."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import groupby
from typing import overload

from core.builds.base import BuildContext, BuildOperator, Made
from core.builds.extract.mentions import BRACKETED, CALLED, PHRASE, TOGETHER
from core.builds.facts import Entity, Facts, Relation
from core.builds.mending import spellings
from core.builds.report import NameMerge, NameMerges, NearMerge
from core.builds.resolve.terms import RARE, TermWeights, commonness, word_counts
from core.corpus.mends import mends_of, pair
from core.languages import is_english
from core.parameters import param

PERSON, ORGANISATION, PLACE = "person", "organisation", "place"
INITIALS = re.compile(r"\b(\w)\.(?=\w\b|\s|$)")
SUFFIXES = frozenset("inc ltd llc corp corporation co company plc gmbh ag limited incorporated".split())
SMALL = frozenset("of the and for in on at to a an de la".split())
ACRONYM = re.compile(r"[A-Z][A-Z0-9&]{1,6}s?")
ARTICLES = ("the ", "a ", "an ")
TITLES = frozenset("mr mrs ms miss dr prof sir lady lord dame madame king queen prince princess saint st uncle aunt".split())
NO_SURNAME = 4.5  # the Zipf value from which a word that the parser gave no type is no part of a person's name
PLAIN_WORD = 4.0  # the Zipf value from which a single word with a capital counts as a term
PART, ABBREVIATED, TITLED = "part of a name", "acronym", "title of the document"
ALSO, TWICE = "called so by the text", "written twice"
PARENTHESES = re.compile(r"(?<!\s)\s*\([^()]*\)\s*$")
TITLE_WORDS = 8
PERSON_WORDS = 4  # of a title that is a person's name, at most
SHORT = 8  # chunks of a document up to which its title is joined with what all of them name; in longer ones, where they name it
EVERY = 1000  # chunks between two looks at whether somebody cancelled
DOCUMENTS = 5  # that a merge names
EVIDENCE = 2  # documents that join a part to one full name alone, from which it is joined in all


@dataclass
class Known:
    """A name over the whole corpus: its spellings, its types, in how many chunks it is."""

    spellings: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    chunks: int = 0

    @property
    def shown(self) -> str:
        """Its most frequent spelling."""
        return min(self.spellings, key=lambda one: (-self.spellings[one], one))

    @property
    def kind(self) -> str:
        """Its most frequent type, that of a name before that of a phrase; what is mostly written without a capital is a phrase."""
        if self.shown.islower():
            return PHRASE
        return min(self.kinds, key=lambda one: (one == PHRASE, -self.kinds[one], one)) if self.kinds else PHRASE

    @property
    def is_term(self) -> bool:
        """Whether it is a phrase of common nouns rather than a name: without a capital, or one common word that the parser gave no type."""
        shown = self.shown
        if self.kind != PHRASE:
            return False
        return not any(c.isupper() for c in shown) or (" " not in shown and commonness(shown.lower()) >= PLAIN_WORD)

    @property
    def burst(self) -> float:
        """How often a chunk that has it names it."""
        return self.spellings.total() / max(1, self.chunks)


def key_of_name(name: str, kind: str) -> str:
    """What spellings of one name have in common: case, accents, apostrophes and marks; of an organisation its legal form too, of a term
    its plural.

    >>> from core.builds.resolve.names import key_of_name
    >>> key_of_name("The U.S.", "place"), key_of_name("Apple Inc.", "organisation"), key_of_name("Lymph nodes", "concept")
    ('us', 'apple', 'lymph node')
    """
    steps = spellings(INITIALS.sub(r"\1", name))
    key = steps[3] if kind == PHRASE and not any(letter.isupper() for letter in name[1:]) else steps[2]
    key = next((key.removeprefix(article) for article in ARTICLES if key.startswith(article)), key)
    words = key.split()
    while kind == ORGANISATION and len(words) > 1 and words[-1] in SUFFIXES:
        words.pop()
    return " ".join(words)


@dataclass(frozen=True, repr=False)
class ResolveNames(BuildOperator):
    """One name for what a document calls by several, and no entity for what is a common phrase.

    Spellings that differ in case, accents, apostrophes, marks, a term's plural or a firm's legal form are one. Within a document, part of
    a person's name is joined with the only full name that it fits, and an acronym with the only name that it abbreviates; in other
    documents too where at least two documents join it with one full name alone. A document's title that its text names is what it is
    about: it is joined with the name that it is short for, and related to all that the document names, in the place of relations of
    these by nothing but a sentence that they share. What the text itself gives as another name is joined (“Pelé, also known as”,
    “pembrolizumab (Keytruda)”). Two names that a person said are not the same (`Mends.refused`) are not joined. A term stays where its
    weight (`TermWeights`) is `least` or more; in other languages than English every one does. Of what was joined the type is that of most
    mentions.
    """

    stage = "resolve"
    title = "names joined, common phrases left out"
    edition = 2
    reads, writes = ("chunks", "facts"), ("facts",)

    least: float = param(1.0, "Least weight", "The least weight of a term; lower ones are common phrases.", low=-10, high=10)
    titles: bool = param(True, "Titles", "Whether a document's title that its text names is related to all that the document names.")
    everywhere: bool = param(True, "In other documents", "Whether parts of names are joined in documents without the full name too.")

    def apply(self, made: Made, ctx: BuildContext) -> Made:
        resolution = self.resolution(made, ctx)
        ctx.report.count(**{"names joined": sum(map(len, resolution.where.values())), "common phrases": len(resolution.terms)})
        ctx.report.joined = resolution.merges()
        assert made.facts is not None  # a line without them is refused
        return made.replace(facts=ResolvedFacts(made.facts, resolution))

    def resolution(self, made: Made, ctx: BuildContext) -> Resolution:
        """What each name of each chunk is called."""
        assert made.chunks is not None and made.facts is not None  # a line without them is refused
        known = self._known(made.facts, ctx)
        found = Resolution(known, made.chunks.texts("document"))
        if is_english(ctx.language):
            weights = TermWeights(word_counts(made.chunks.texts("text"), ctx.check))
            found.terms = {key for key, one in known.items() if one.is_term and weights.weight(one.shown, one.burst) < self.least}
        found.titles = {key_of_name(PARENTHESES.sub("", title), "") for title in set(made.chunks.texts("title"))}
        refused = set(mends_of(made.corpus).refused)
        found.terms -= {key_of_name(name, "") for names in refused for name in names}  # a person takes both for entities
        parts = Parts(known, refused)
        columns = [made.chunks.texts(name) for name in ("document", "title", "text")]
        for number, (document, group) in enumerate(groupby(zip(*columns, made.facts), key=lambda row: row[0])):
            if number % EVERY == 0:
                ctx.check()
            rows = list(group)
            named = {key_of_name(one.name, one.type): None for row in rows for one in row[3].entities}
            found.sizes[document] = len(rows)
            joined = parts.joined(named, found.terms, _aliases(row[3] for row in rows), len(rows) > SHORT)
            found.terms.difference_update(full for full, rule in joined.values() if rule == ABBREVIATED)
            if self.titles:
                joined = found.titled(document, PARENTHESES.sub("", rows[0][1]), rows[0][2], list(named), joined)
            found.add(document, {key: one for key, one in joined.items() if not parts.separates(key, one[0])})
            found.near += [(key, tuple(fulls), document) for key, fulls in parts.several.items()]
        if self.everywhere:
            found.elsewhere = parts.elsewhere(found.by_document)
        found.refused, found.separated = parts.refused, parts.separated
        return found

    def words(self) -> str:
        return f"names joined, terms from weight {self.least:g}"

    def _known(self, facts: Sequence[Facts], ctx: BuildContext) -> dict[str, Known]:
        known: dict[str, Known] = {}
        for row, one in enumerate(facts):
            if row % EVERY == 0:
                ctx.check()
                ctx.progress("Comparing names", row / len(facts))
            seen = set[str]()
            for entity in one.entities:
                key = key_of_name(entity.name, entity.type)
                if not key:
                    continue
                of = known.setdefault(key, Known())
                of.spellings[entity.name] += entity.times
                of.kinds[entity.type or PHRASE] += entity.times
                of.chunks += key not in seen
                seen.add(key)
        return known


def _aliases(facts: Iterable[Facts]) -> Iterator[tuple[str, str, str]]:
    """The pairs of names of some chunks that the text gives as names of one, by their keys, and the words that say so."""
    for one in facts:
        kinds = {entity.name: entity.type for entity in one.entities}
        for relation in one.relations:
            if relation.name in (CALLED, BRACKETED):
                head, tail = (key_of_name(end, kinds.get(end, "")) for end in (relation.head, relation.tail))
                if head and tail and head != tail:
                    yield head, tail, relation.name


class Parts:
    """Which names of a document are parts, acronyms or other names of others in it, but for the pairs that a person `refused`."""

    def __init__(self, known: dict[str, Known], refused: Set[tuple[str, str]] = frozenset()):
        self.known, self.refused = known, refused
        self.separated: set[tuple[str, str]] = set()  # of the refused ones those that would have been joined
        self.several: dict[str, list[str]] = {}  # of the last document: parts that fit more than one full name

    def joined(
        self, named: Iterable[str], terms: Set[str], aliases: Iterable[tuple[str, str, str]] = (), long: bool = False
    ) -> dict[str, tuple[str, str]]:
        """Of each part the full name, which is none of the common `terms`, and by which rule; `named` are in the order of the text,
        `aliases` pairs that it gives as names of one. In a `long` document initials fit by chance, so it must say what an acronym is."""
        found: dict[str, tuple[str, str]] = {}
        self.several = {}
        place = {key: at for at, key in enumerate(named)}
        by_word: dict[str, list[str]] = {}
        by_initials: dict[str, list[str]] = {}
        for key in sorted(place):
            words = key.split()
            if len(words) < 2 or key not in self.known or key in terms:
                continue
            if self.known[key].kind == PERSON:
                for word in {words[0], words[-1]} if self._is_full(key) else ():
                    by_word.setdefault(word, []).append(key)
            elif not long:
                for initials in _initials(words):
                    by_initials.setdefault(initials, []).append(key)
        for part, full, rule in self._called(aliases):
            if _last(full, found) != part and not self.separates(part, full):
                found[part] = full, rule
        for key in sorted(place.keys() - found.keys()):
            rule, fulls = self._fulls(key, by_word, by_initials, place)
            fulls = [full for full in fulls if not self.separates(key, full)]
            if len(fulls) == 1 and _last(fulls[0], found) != key:
                found[key] = fulls[0], rule
            elif len(fulls) > 1:
                self.several[key] = fulls
        return {key: (_last(full, found), rule) for key, (full, rule) in found.items()}

    def separates(self, key: str, full: str) -> bool:
        """Whether a person said that two names are not the same; noted, as they would be joined else."""
        names = pair(self.known[key].shown, self.known[full].shown)
        if names not in self.refused:
            return False
        self.separated.add(names)
        return True

    def _called(self, aliases: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
        """The names that the text gives other names for, with the full name and the rule; none where it gives several as often."""
        fulls: dict[str, Counter[tuple[str, str]]] = {}
        for head, tail, said in aliases:
            if head in self.known and tail in self.known and (rule := self._alias(head, tail, said)):
                part, full = (head, tail) if rule == ABBREVIATED and len(head) < len(tail) else (tail, head)
                fulls.setdefault(part, Counter())[full, rule] += 1
        for part, counted in sorted(fulls.items()):
            (first, times), *others = counted.most_common(2)
            if not others or times > others[0][1]:
                yield part, *first

    def _is_full(self, key: str) -> bool:
        """Whether a person's name is a full one: its first word no role (“Mrs Cratchit”), its last with a capital, and no number in it."""
        shown = self.known[key].shown
        return key.split()[0] not in TITLES and shown.split()[-1][0].isupper() and not any(letter.isdigit() for letter in shown)

    def _alias(self, head: str, tail: str, said: str) -> str:
        """The rule by which a name right behind another, or in brackets there, is of the same; empty where it may be of another.

        In brackets it is an acronym, or a brand behind a rare word without a capital (“pembrolizumab (Keytruda)”); behind words that say
        so it is any, but of a single common noun, which mostly ends a longer term."""
        short, long = sorted((head, tail), key=len)
        if ACRONYM.fullmatch(self.known[short].shown.replace(".", "")) and abbreviates(short, long):
            return ABBREVIATED
        one, other = self.known[head], self.known[tail]
        kinds = {one.kind, other.kind}
        if said == CALLED:
            alike = len(kinds) == 1 or not kinds & {PERSON, PLACE}
            return ALSO if alike and (" " in head or PHRASE not in kinds) else ""
        rare = all(commonness(word) == RARE for key in (head, tail) for word in key.split())
        branded = not other.shown.islower() and not ACRONYM.match(other.shown)
        return ALSO if rare and branded and any(map(str.islower, one.spellings)) else ""

    def _fulls(
        self, key: str, by_word: dict[str, list[str]], by_initials: dict[str, list[str]], place: dict[str, int]
    ) -> tuple[str, list[str]]:
        """The names that one may be a part or the acronym of, and by which rule."""
        words, of = key.split(), self.known.get(key)
        if of is None:
            return "", []
        half = " ".join(words[: len(words) // 2])
        if len(words) % 2 == 0 and words[: len(words) // 2] * 2 == words and half in self.known and self.known[half].chunks > of.chunks:
            return TWICE, [half]
        plain = of.kind == PHRASE and commonness(key) >= NO_SURNAME
        if len(words) == 1 and of.shown[:1].isupper() and key in by_word and len(key) > 1 and not plain:
            fulls = by_word[key]
            if of.kind not in (PERSON, PHRASE):  # the parser takes a rare surname for a place where it is alone
                rare = commonness(key) == RARE and of.chunks <= max(self.known[full].chunks for full in fulls)
                fulls = [full for full in fulls if rare and full.endswith(f" {key}") and place[full] < place[key]]
            longest = [full for full in fulls if not any(_within(full.split(), other.split()) for other in fulls if other != full)]
            return PART, longest
        if of.kind == PERSON and len(words) > 1:
            fulls = [full for full in by_word.get(words[-1], ()) if full != key and _within(words, full.split())]
            return PART, fulls
        if len(words) == 1 and of.kind != PERSON and ACRONYM.fullmatch(of.shown.replace(".", "")) and key in by_initials:
            return ABBREVIATED, by_initials[key]
        return "", []

    def elsewhere(self, by_document: dict[str, dict[str, tuple[str, str]]]) -> dict[str, str]:
        """Of parts that at least two documents join with one full name, and none with another, that name; not where the word is in other
        full names."""
        fulls: dict[str, Counter[str]] = {}
        for joined in by_document.values():
            for key, (full, _) in joined.items():
                fulls.setdefault(key, Counter())[full] += 1
        holders = Counter(word for key, one in self.known.items() if one.kind == PERSON for word in set(key.split()) if " " in key)
        found = {}
        for key, counted in fulls.items():
            full, times = counted.most_common(1)[0]
            if len(counted) == 1 and (" " in key or (times >= EVIDENCE and holders[key] <= (key in full.split()))):
                found[key] = full
        return found


def _within(words: Sequence[str], full: Sequence[str]) -> bool:
    """Whether a longer name begins and ends as a shorter one and has its words in their order."""
    rest = iter(full)
    return len(words) < len(full) and words[0] == full[0] and words[-1] == full[-1] and all(word in rest for word in words)


def abbreviates(short: str, long: str) -> bool:
    """Whether the letters of an acronym are in a name in their order, the first at its beginning (Schwartz and Hearst, PSB 2003), and
    as many words of it begin with one of them as there are words.

    >>> from core.builds.resolve.names import abbreviates
    >>> abbreviates("pcp", "primary care physician"), abbreviates("nbc", "national football league"), abbreviates("us", "unix")
    (True, False, False)
    """
    letters = [letter for letter in short.removesuffix("s") if letter.isalnum()]
    at = -1
    for letter in letters:
        at = long.find(letter, at + 1)
        if at < 0:
            return False
    large = [word for word in long.split() if word not in SMALL]
    return len(large) > 1 and long[0] == letters[0] and len(letters) >= len(large) and all(word[0] in letters for word in large)


def _initials(words: Sequence[str]) -> set[str]:
    """What a name may be abbreviated to: the first letters of all words, or of the large ones."""
    large = [word for word in words if word not in SMALL]
    return {"".join(word[0] for word in some) for some in (words, large) if len(some) > 1}


def _last(key: str, found: dict[str, tuple[str, str]]) -> str:
    """What a name is joined with in the end."""
    for _ in range(4):
        if key not in found:
            break
        key = found[key][0]
    return key


@dataclass
class Resolution:
    """What names are called: `by_document` the full name and rule of each part, `elsewhere` that of parts in other documents, `terms` the
    keys that are no entity."""

    known: dict[str, Known]
    documents: Sequence[str]
    by_document: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)
    elsewhere: dict[str, str] = field(default_factory=dict)
    terms: set[str] = field(default_factory=set)
    near: list[tuple[str, tuple[str, ...], str]] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)  # chunks of a document
    topics: dict[str, str] = field(default_factory=dict)  # what a document is about, by its title
    titles: set[str] = field(default_factory=set)  # the keys of all titles: what has a document of its own is nothing else
    inside: dict[str, set[str]] = field(default_factory=dict)  # of a document: names that are only parts of its title
    where: dict[tuple[str, str, str], dict[str, None]] = field(default_factory=dict)
    refused: Set[tuple[str, str]] = frozenset()  # names that a person said are not the same
    separated: Set[tuple[str, str]] = frozenset()  # those of them that would have been joined

    def add(self, document: str, joined: dict[str, tuple[str, str]]) -> None:
        """Note what a document joins."""
        if joined:
            every = {**self.by_document.get(document, {}), **joined}
            self.by_document[document] = {key: (_last(full, every), rule) for key, (full, rule) in every.items()}
        for key, (full, rule) in joined.items():
            self.where.setdefault((key, full, rule), {})[document] = None

    def titled(
        self, document: str, title: str, text: str, named: Sequence[str], joined: dict[str, tuple[str, str]]
    ) -> dict[str, tuple[str, str]]:
        """What a document joins, with the name that its title is short for joined with it."""
        key = key_of_name(title, "")
        if not key or len(key.split()) > TITLE_WORDS or key in self.terms or not any(letter.isupper() for letter in title):
            return joined
        full = key if key in named else self._titled(key, named)
        if full is None and f" {key} " in f" {key_of_name(text, '')} ":
            rest = f" {key_of_name(text, '')} ".replace(f" {key} ", " | ")
            self.inside[document] = {one for one in named if f" {one} " in f" {key} " and f" {one} " not in rest}
            full = key
        if full is None:
            return joined
        if key not in self.known:
            self.known[key] = Known(Counter({title: 1}), Counter(self.known[full].kinds if full in self.known else {PHRASE: 1}), 1)
        self.topics[document] = _last(key, joined)
        if full != key and full != self.topics[document]:
            joined = {one: (self.topics[document] if into == full else into, rule) for one, (into, rule) in joined.items()}
            joined[full] = self.topics[document], TITLED
        return joined

    def _titled(self, key: str, named: Sequence[str]) -> str | None:
        """The name of a document that its title is short for: one that begins and ends as the title, or a person's with that surname
        which is named first."""
        words = key.split()
        longer = [one for one in named if len(words) > 1 and _within(words, one.split())]
        if len(longer) == 1:
            return longer[0]
        first = next((one for one in named if self.known[one].kind == PERSON), None)
        if first is None or first in self.titles or not 1 < len(words) <= PERSON_WORDS or SMALL.intersection(words):
            return None
        return first if first.split()[-1] == words[-1] and " " in first else None

    def of(self, row: int, name: str, kind: str | None = None) -> str | None:
        """What a name of the chunk of a row is called; None for one that is no entity."""
        key = self._key(name, kind)
        if key is None or key in self.inside.get(self.documents[row], ()):
            return None
        full = self.full(row, key)
        return None if full in self.terms else self.known[full].shown

    def full(self, row: int, key: str) -> str:
        """The key that one is joined with in the document of a row."""
        joined = self.by_document.get(self.documents[row])
        if joined and key in joined:
            return joined[key][0]
        return self.elsewhere.get(key, key)

    def _key(self, name: str, kind: str | None) -> str | None:
        kinds = (kind,) if kind is not None else (PHRASE, ORGANISATION, "")
        return next((key for one in kinds if (key := key_of_name(name, one)) in self.known), None)

    def resolved(self, row: int, facts: Facts) -> Facts:
        """The facts of a chunk by the names of entities; each once, relations of one with itself left out."""
        names = {one.name: (key, self.of(row, one.name, one.type)) for one in facts.entities if (key := self._key(one.name, one.type))}
        entities: dict[str, Entity] = {}
        for one in facts.entities:
            key, name = names.get(one.name, ("", None))
            if name is None or key is None:
                continue
            before = entities.get(name)
            kind = self.known[self.full(row, key)].kind
            times = one.times + (before.times if before else 0)
            entities[name] = Entity(name, kind, before.description if before else one.description, times)
        joined: dict[tuple[str, str, str], Relation] = {}
        for relation in facts.relations:
            head, tail = (names.get(end, ("", None))[1] for end in (relation.head, relation.tail))
            if head is not None and tail is not None and head != tail:
                label = TOGETHER if relation.name == BRACKETED else relation.name
                key_of = (head, label, tail)
                weight = relation.weight + (joined[key_of].weight if key_of in joined else 0.0)
                joined[key_of] = Relation(head, tail, label, relation.description, relation.keywords, weight)
        self._about(row, entities, joined)
        return Facts(tuple(entities.values()), tuple(joined.values()), facts.unreadable, facts.dropped, facts.notes)

    def _about(self, row: int, entities: dict[str, Entity], joined: dict[tuple[str, str, str], Relation]) -> None:
        """Add what the document of a row is about, related to all that the chunk names beside it, in the place of relations that say no
        more than that two of these share a sentence: long passages have most of them, and the rows that count relations preferred these."""
        document = self.documents[row]
        topic = self.topics.get(document)
        if topic is None:
            return
        name, kind = self.known[topic].shown, self.known[topic].kind
        if name not in entities and (self.sizes[document] > SHORT or not entities):
            return
        entities.setdefault(name, Entity(name, kind, next(iter(entities.values())).description if entities else ""))
        for key in [key for key in joined if key[1] == TOGETHER and name not in (key[0], key[2])]:
            del joined[key]
        pairs = {frozenset((head, tail)) for head, _, tail in joined}
        for other, entity in entities.items():
            if other != name and frozenset((name, other)) not in pairs:
                joined[name, TOGETHER, other] = Relation(name, other, TOGETHER, entity.description)

    def merges(self) -> NameMerges:
        """What the report saves."""
        shown = lambda key: self.known[key].shown if key in self.known else key
        made = [
            NameMerge(shown(key), shown(full), rule, len(documents), tuple(documents)[:DOCUMENTS])
            for (key, full, rule), documents in self.where.items()
        ]
        near: dict[tuple[str, tuple[str, ...]], dict[str, None]] = {}
        for key, fulls, document in self.near:
            near.setdefault((key, fulls), {})[document] = None
        close = [
            NearMerge(shown(key), tuple(map(shown, fulls)), len(documents), tuple(documents)[:DOCUMENTS])
            for (key, fulls), documents in near.items()
        ]
        return NameMerges.of(made, close, self.separated, self.refused)


@dataclass(frozen=True, eq=False)
class ResolvedFacts(Sequence[Facts]):
    """Facts by the names of entities, resolved as they are read."""

    facts: Sequence[Facts]
    resolution: Resolution

    def __len__(self) -> int:
        return len(self.facts)

    def __iter__(self) -> Iterator[Facts]:
        return (self.resolution.resolved(row, one) for row, one in enumerate(self.facts))

    @overload
    def __getitem__(self, place: int) -> Facts: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Facts]: ...
    def __getitem__(self, place: int | slice) -> Facts | Sequence[Facts]:
        rows = range(len(self))[place]
        if isinstance(rows, int):
            return self.resolution.resolved(rows, self.facts[rows])
        return [self.resolution.resolved(row, self.facts[row]) for row in rows]
