"""Resolved names of each chunk, and facts with these names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import overload

from core.builds.extract.mentions import APPEARS_WITH, IN_BRACKETS, PHRASE_TYPE
from core.builds.facts import ChunkEntity, ChunkRelation, Facts
from core.builds.report import NameMerge, NameMerges, NearMerge
from core.builds.resolve.corpus_names import ORGANISATION_TYPE, PERSON_TYPE, CorpusName, key_of_name
from core.builds.resolve.name_parts import SMALL_WORDS, final_name, is_part_of_name

TITLE_RULE = "title of the document"  # rule that joins a name with a document's title
MAX_SUBJECT_WORDS = 8  # of a title that is a subject
MAX_PERSON_WORDS = 4  # of a title that is a person's name
# Up to this size, the title of a document is related to the names of all chunks. In longer
# documents, only to those of chunks that mention it.
MAX_SHORT_DOCUMENT_CHUNKS = 8
MAX_LISTED_DOCUMENTS = 5  # of a merge in the report


@dataclass
class Resolution:
    """Resolved names of a corpus.

    `by_document` holds the full name and the rule of each part, by document. `joined_everywhere`
    holds the full names of parts in other documents. `terms` are the keys that are no entities.
    """

    known: dict[str, CorpusName]
    documents: Sequence[str]
    by_document: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)
    joined_everywhere: dict[str, str] = field(default_factory=dict)
    terms: set[str] = field(default_factory=set)
    near: list[tuple[str, tuple[str, ...], str]] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)  # number of chunks of each document
    topics: dict[str, str] = field(default_factory=dict)  # subject of each document, from its title
    # Keys of all titles. A name with a document of its own is no other name of another subject.
    titles: set[str] = field(default_factory=set)
    # Names of a document that occur only as parts of its title.
    title_parts: dict[str, set[str]] = field(default_factory=dict)
    # Documents of each join, by (key, full name, rule).
    documents_of_join: dict[tuple[str, str, str], dict[str, None]] = field(default_factory=dict)
    refused: Set[tuple[str, str]] = frozenset()  # pairs of names that a person marked as different
    separated: Set[tuple[str, str]] = frozenset()  # refused pairs that would have been joined

    def add(self, document: str, joins: dict[str, tuple[str, str]]) -> None:
        """Record the names that a document joins.

        Parameters
        ----------
        document : id of the document.
        joins : full name and rule by the key of a part.
        """
        if joins:
            all_joins = self.by_document.get(document, {}) | joins
            self.by_document[document] = {
                key: (final_name(full, all_joins), rule) for key, (full, rule) in all_joins.items()
            }
        for key, (full, rule) in joins.items():
            self.documents_of_join.setdefault((key, full, rule), {})[document] = None

    def join_title(
        self,
        document: str,
        title: str,
        text: str,
        names: Sequence[str],
        joins: dict[str, tuple[str, str]],
    ) -> dict[str, tuple[str, str]]:
        """Record the subject of a document, and join it with the full form of its title.

        Parameters
        ----------
        text : the first chunk of the document.
        names : keys of the names of the document.
        joins : full name and rule of each joined name.

        Returns
        -------
        `joins`, including the title.
        """
        key = key_of_name(title, "")
        if not self._may_be_subject(key, title):
            return joins
        full = key if key in names else self._name_for_title(key, names)
        if full is None:
            other_text = _text_without(key, text)
            if other_text is None:
                return joins
            parts = (one for one in names if f" {one} " in f" {key} ")
            self.title_parts[document] = {one for one in parts if f" {one} " not in other_text}
            full = key
        if key not in self.known:
            kinds = self.known[full].kinds if full in self.known else {PHRASE_TYPE: 1}
            self.known[key] = CorpusName(Counter({title: 1}), Counter(kinds), 1)
        topic = final_name(key, joins)
        self.topics[document] = topic
        if full in (key, topic):
            return joins
        result = joins | {one: (topic, rule) for one, (into, rule) in joins.items() if into == full}
        return result | {full: (topic, TITLE_RULE)}

    def _may_be_subject(self, key: str, title: str) -> bool:
        """Return whether a title is short, has a capital letter and is no common phrase."""
        if not key or len(key.split()) > MAX_SUBJECT_WORDS or key in self.terms:
            return False
        return any(letter.isupper() for letter in title)

    def _name_for_title(self, key: str, names: Sequence[str]) -> str | None:
        """Return the name in a document of which its title is a short form, or None.

        It is the only name with the words of the title, or it is the first person named and has the
        surname of the title.
        """
        words = key.split()
        if len(words) < 2:
            return None
        longer = [one for one in names if is_part_of_name(words, one.split())]
        if len(longer) == 1:
            return longer[0]
        first = next((one for one in names if self.known[one].kind == PERSON_TYPE), None)
        if first is None or first in self.titles:
            return None
        if len(words) > MAX_PERSON_WORDS or SMALL_WORDS.intersection(words):
            return None
        return first if first.split()[-1] == words[-1] and " " in first else None

    def resolved_name(self, row: int, name: str, kind: str | None = None) -> str | None:
        """Return the name that stands for a name of a chunk.

        Parameters
        ----------
        row : row of the chunk.
        name : the name as written.
        kind : type of the entity; None if it is unknown.

        Returns
        -------
        The name that is shown; None for one that is no entity.
        """
        key = self._key(name, kind)
        if key is None or key in self.title_parts.get(self.documents[row], ()):
            return None
        full = self.full_key(row, key)
        return None if full in self.terms else self.known[full].best_spelling

    def full_key(self, row: int, key: str) -> str:
        """Return the key that a key is joined with in the document of a chunk.

        Parameters
        ----------
        row : row of the chunk.
        key : key of a name.

        Returns
        -------
        The key itself if it is joined with no other.
        """
        joins = self.by_document.get(self.documents[row])
        if joins and key in joins:
            return joins[key][0]
        return self.joined_everywhere.get(key, key)

    def _key(self, name: str, kind: str | None) -> str | None:
        """Return the key of a name, or None if the corpus has no such name."""
        kinds = (kind,) if kind is not None else (PHRASE_TYPE, ORGANISATION_TYPE, "")
        keys = (key_of_name(name, one) for one in kinds)
        return next((key for key in keys if key in self.known), None)

    def resolve_facts(self, row: int, facts: Facts) -> Facts:
        """Return the facts of a chunk with resolved names.

        Equal entities and relations are merged. Relations of an entity with itself are left out.

        Parameters
        ----------
        row : row of the chunk.
        facts : its facts.

        Returns
        -------
        New facts.
        """
        keys: dict[str, str] = {}
        names: dict[str, str | None] = {}
        for entity in facts.entities:
            key = self._key(entity.name, entity.type)
            if key:
                keys[entity.name] = key
                names[entity.name] = self.resolved_name(row, entity.name, entity.type)
        entities: dict[str, ChunkEntity] = {}
        for entity in facts.entities:
            name = names.get(entity.name)
            if name is not None:
                kind = self.known[self.full_key(row, keys[entity.name])].kind
                merged = entities.get(name, ChunkEntity(name, kind, entity.description, 0))
                entities[name] = replace(merged, type=kind, times=merged.times + entity.times)
        edges: dict[tuple[str, str, str], ChunkRelation] = {}
        for relation in facts.relations:
            head, tail = names.get(relation.head), names.get(relation.tail)
            if head is not None and tail is not None and head != tail:
                label = APPEARS_WITH if relation.name == IN_BRACKETS else relation.name
                edge = replace(relation, head=head, tail=tail, name=label)
                former = edges.get((head, label, tail))
                if former is not None:
                    edge = replace(edge, weight=former.weight + edge.weight)
                edges[head, label, tail] = edge
        self._relate_subject(row, entities, edges)
        return replace(facts, entities=tuple(entities.values()), relations=tuple(edges.values()))

    def _relate_subject(
        self,
        row: int,
        entities: dict[str, ChunkEntity],
        edges: dict[tuple[str, str, str], ChunkRelation],
    ) -> None:
        """Relate the subject of a chunk's document to all names of the chunk.

        These relations replace those between other names that only share a sentence. Long passages
        have very many of the latter, and methods that count relations would prefer these passages.
        """
        document = self.documents[row]
        topic = self.topics.get(document)
        if topic is None:
            return
        name = self.known[topic].best_spelling
        if name not in entities:
            if self.sizes[document] > MAX_SHORT_DOCUMENT_CHUNKS or not entities:
                return
            description = next(iter(entities.values())).description
            entities[name] = ChunkEntity(name, self.known[topic].kind, description)
        for head, label, tail in list(edges):
            if label == APPEARS_WITH and name not in (head, tail):
                del edges[head, label, tail]
        pairs = {frozenset((head, tail)) for head, _, tail in edges}
        for other, entity in entities.items():
            if other != name and frozenset((name, other)) not in pairs:
                edges[name, APPEARS_WITH, other] = ChunkRelation(
                    name, other, APPEARS_WITH, entity.description
                )

    def merges(self) -> NameMerges:
        """Return the merges of names for the report."""
        merges: list[NameMerge] = []
        for (key, full, rule), documents in self.documents_of_join.items():
            listed = tuple(documents)[:MAX_LISTED_DOCUMENTS]
            names = self._shown(key), self._shown(full)
            merges.append(NameMerge(*names, rule, len(documents), listed))
        near: dict[tuple[str, tuple[str, ...]], dict[str, None]] = {}
        for key, fulls, document in self.near:
            near.setdefault((key, fulls), {})[document] = None
        near_merges: list[NearMerge] = []
        for (key, fulls), documents in near.items():
            listed = tuple(documents)[:MAX_LISTED_DOCUMENTS]
            candidates = tuple(map(self._shown, fulls))
            near_merges.append(NearMerge(self._shown(key), candidates, len(documents), listed))
        return NameMerges.from_merges(merges, near_merges, self.separated, self.refused)

    def _shown(self, key: str) -> str:
        return self.known[key].best_spelling if key in self.known else key


def _text_without(key: str, text: str) -> str | None:
    """Return the folded text with bars in place of a key; None if it lacks the key."""
    folded_text = f" {key_of_name(text, '')} "
    if f" {key} " not in folded_text:
        return None
    return folded_text.replace(f" {key} ", " | ")


@dataclass(frozen=True, eq=False)
class ResolvedFacts(Sequence[Facts]):
    """Facts with resolved names, resolved on each access."""

    facts: Sequence[Facts]
    resolution: Resolution

    def __len__(self) -> int:
        return len(self.facts)

    def __iter__(self) -> Iterator[Facts]:
        return (self.resolution.resolve_facts(row, one) for row, one in enumerate(self.facts))

    @overload
    def __getitem__(self, index: int) -> Facts: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Facts]: ...
    def __getitem__(self, index: int | slice) -> Facts | Sequence[Facts]:
        rows = range(len(self))[index]
        if isinstance(rows, int):
            return self.resolution.resolve_facts(rows, self.facts[rows])
        return [self.resolution.resolve_facts(row, self.facts[row]) for row in rows]
