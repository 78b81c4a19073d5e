"""Resolution of entity names: the full name of each name in a document, and facts with full names.

Names are compared by their keys (`corpus_names.key_of_name`), in which spellings are folded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import overload

from core.builds.extract.mentions import APPEARS_WITH, IN_BRACKETS, PHRASE_TYPE
from core.builds.facts import ChunkEntity, ChunkRelation, Facts
from core.builds.report import NameMerge, NameMerges, NearMerge
from core.builds.resolve.corpus_names import ORGANISATION_TYPE, PERSON_TYPE, CorpusName, key_of_name
from core.builds.resolve.name_parts import SMALL_WORDS, Joins, final_name, is_part_of_name

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

    A name is joined with its full name if both denote one entity: “Hood” with “Amy Hood”. All names
    are given by their keys.
    """

    by_key: dict[str, CorpusName]  # all names of the corpus
    documents: Sequence[str]  # id of the document of each chunk
    by_document: dict[str, Joins] = field(default_factory=dict)
    # Full names in documents that do not join the name themselves.
    joined_everywhere: dict[str, str] = field(default_factory=dict)
    terms: set[str] = field(default_factory=set)  # common phrases, which are no entities
    # Names with several possible full names: name, full names, document.
    near: list[tuple[str, tuple[str, ...], str]] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)  # number of chunks of each document
    topics: dict[str, str] = field(default_factory=dict)  # subject of each document, from its title
    # All titles. The subject of one document is not joined with a person who is that of another.
    titles: set[str] = field(default_factory=set)
    # Names of a document that occur only as parts of its title.
    title_parts: dict[str, set[str]] = field(default_factory=dict)
    # Documents of each join, by (name, full name, rule); the inner values are not used.
    documents_of_join: dict[tuple[str, str, str], dict[str, None]] = field(default_factory=dict)
    refused: Set[tuple[str, str]] = frozenset()  # pairs of names that a person marked as different
    separated: Set[tuple[str, str]] = frozenset()  # refused pairs that would have been joined

    def add(self, document: str, joins: Joins) -> None:
        """Record the names that a document joins.

        Parameters
        ----------
        document : id of the document.
        joins : full name and rule of each joined name.
        """
        if joins:
            all_joins = self.by_document.get(document, {}) | joins
            self.by_document[document] = {
                key: (final_name(full, all_joins), rule) for key, (full, rule) in all_joins.items()
            }
        for key, (full, rule) in joins.items():
            self.documents_of_join.setdefault((key, full, rule), {})[document] = None

    def join_title(
        self, document: str, title: str, text: str, names: Sequence[str], joins: Joins
    ) -> Joins:
        """Record a document's subject, and join its title with the full form.

        Parameters
        ----------
        document : id of the document.
        title : its title.
        text : the first chunk of the document.
        names : keys of the names of the document, in the order of the text.
        joins : full name and rule of each joined name.

        Returns
        -------
        `joins`, with the join of the full form and the title. It is unchanged if the title is no
        subject, or does not occur in the text.
        """
        key = key_of_name(title, "")
        if not self._may_be_subject(key, title):
            return joins
        full = key if key in names else self._name_for_title(key, names)
        if full is None:
            other_text = _text_without(key, text)
            if other_text is None:
                return joins
            parts = (name for name in names if f" {name} " in f" {key} ")
            self.title_parts[document] = {name for name in parts if f" {name} " not in other_text}
            full = key
        if key not in self.by_key:
            kinds = self.by_key[full].kinds if full in self.by_key else {PHRASE_TYPE: 1}
            self.by_key[key] = CorpusName(Counter({title: 1}), Counter(kinds), 1)
        topic = final_name(key, joins)
        self.topics[document] = topic
        if full in (key, topic):
            return joins
        # Names that are joined with the full form are now joined with the topic, too.
        moved = {name: (topic, rule) for name, (into, rule) in joins.items() if into == full}
        return joins | moved | {full: (topic, TITLE_RULE)}

    def _may_be_subject(self, key: str, title: str) -> bool:
        """Return whether a title may be a subject.

        It is short, has a capital letter and is no common phrase.
        """
        if not key or len(key.split()) > MAX_SUBJECT_WORDS or key in self.terms:
            return False
        return any(letter.isupper() for letter in title)

    def _name_for_title(self, key: str, names: Sequence[str]) -> str | None:
        """Return the full form of a document's title among its names.

        The result is None if there is none. It is the only longer name with the words of the title.
        Otherwise it is the first person of the document, if the surname is that of the title and no
        other document is about the person.
        """
        words = key.split()
        if len(words) < 2:
            return None
        longer = [name for name in names if is_part_of_name(words, name.split())]
        if len(longer) == 1:
            return longer[0]
        persons = (name for name in names if self.by_key[name].kind == PERSON_TYPE)
        person = next(persons, None)
        if person is None or person in self.titles:
            return None
        if len(words) > MAX_PERSON_WORDS or SMALL_WORDS.intersection(words):
            return None
        return person if person.split()[-1] == words[-1] and " " in person else None

    def resolved_name(self, row: int, name: str, kind: str | None = None) -> str | None:
        """Return the resolved name of a name in a chunk.

        Parameters
        ----------
        row : row of the chunk.
        name : the name as written.
        kind : type of the entity; None if it is unknown.

        Returns
        -------
        The best spelling of the full name; None for a name that is no entity.
        """
        key = self._key(name, kind)
        if key is None or key in self.title_parts.get(self.documents[row], ()):
            return None
        full = self.full_key(row, key)
        return None if full in self.terms else self.by_key[full].best_spelling

    def full_key(self, row: int, key: str) -> str:
        """Return the key that a key is joined with.

        It is the join in the document of the chunk.

        Parameters
        ----------
        row : row of the chunk.
        key : key of a name.

        Returns
        -------
        Key of the full name; the key itself if it is joined with no other.
        """
        joins = self.by_document.get(self.documents[row])
        if joins and key in joins:
            return joins[key][0]
        return self.joined_everywhere.get(key, key)

    def _key(self, name: str, kind: str | None) -> str | None:
        """Return the key of a name.

        The result is None if the corpus has no such name. The key depends on the type. If that is
        unknown, the types with special keys are tried.
        """
        kinds = (kind,) if kind is not None else (PHRASE_TYPE, ORGANISATION_TYPE, "")
        keys = (key_of_name(name, tried_kind) for tried_kind in kinds)
        return next((key for key in keys if key in self.by_key), None)

    def resolve_facts(self, row: int, facts: Facts) -> Facts:
        """Return the facts of a chunk with resolved names.

        Equal entities and relations are merged. Relations of an entity with itself are left out.

        Parameters
        ----------
        row : row of the chunk.
        facts : its facts.

        Returns
        -------
        Facts with the best spellings of full names, and with the relations of the document's
        subject.
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
                kind = self.by_key[self.full_key(row, keys[entity.name])].kind
                merged = entities.get(name, ChunkEntity(name, kind, entity.description, 0))
                entities[name] = replace(merged, type=kind, times=merged.times + entity.times)
        edges: dict[tuple[str, str, str], ChunkRelation] = {}  # by (head, label, tail)
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
        name = self.by_key[topic].best_spelling
        if name not in entities:
            if self.sizes[document] > MAX_SHORT_DOCUMENT_CHUNKS or not entities:
                return
            description = next(iter(entities.values())).description
            entities[name] = ChunkEntity(name, self.by_key[topic].kind, description)
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
            names = self._best_spelling(key), self._best_spelling(full)
            merges.append(NameMerge(*names, rule, len(documents), listed))
        near: dict[tuple[str, tuple[str, ...]], dict[str, None]] = {}
        for key, fulls, document in self.near:
            near.setdefault((key, fulls), {})[document] = None
        near_merges: list[NearMerge] = []
        for (key, fulls), documents in near.items():
            listed = tuple(documents)[:MAX_LISTED_DOCUMENTS]
            candidates = tuple(map(self._best_spelling, fulls))
            name = self._best_spelling(key)
            near_merges.append(NearMerge(name, candidates, len(documents), listed))
        return NameMerges.from_merges(merges, near_merges, self.separated, self.refused)

    def _best_spelling(self, key: str) -> str:
        return self.by_key[key].best_spelling if key in self.by_key else key


def _text_without(key: str, text: str) -> str | None:
    """Return the folded text with bars in place of a key.

    The result is None if the key does not occur.
    """
    folded_text = f" {key_of_name(text, '')} "
    if f" {key} " not in folded_text:
        return None
    return folded_text.replace(f" {key} ", " | ")


@dataclass(frozen=True, eq=False)
class ResolvedFacts(Sequence[Facts]):
    """Facts of all chunks with resolved names.

    The names are resolved on each access to save memory.
    """

    facts: Sequence[Facts]
    resolution: Resolution

    def __len__(self) -> int:
        return len(self.facts)

    def __iter__(self) -> Iterator[Facts]:
        return (self.resolution.resolve_facts(row, facts) for row, facts in enumerate(self.facts))

    @overload
    def __getitem__(self, index: int) -> Facts: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Facts]: ...
    def __getitem__(self, index: int | slice) -> Facts | Sequence[Facts]:
        rows = range(len(self))[index]
        if isinstance(rows, int):
            return self.resolution.resolve_facts(rows, self.facts[rows])
        return [self.resolution.resolve_facts(row, self.facts[row]) for row in rows]
