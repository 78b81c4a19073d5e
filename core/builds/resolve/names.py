"""Operator of stage “resolve” that joins names of the same entity.

It also removes common phrases.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from core.builds.base import BuildContext, BuildOperator, BuildState
from core.builds.extract.mentions import ALSO_CALLED, IN_BRACKETS, PHRASE_TYPE
from core.builds.facts import Facts
from core.builds.resolve.corpus_names import CorpusName, key_of_name
from core.builds.resolve.name_parts import ACRONYM_RULE, PartFinder
from core.builds.resolve.resolution import MAX_SHORT_DOCUMENT_CHUNKS, Resolution, ResolvedFacts
from core.builds.resolve.terms import TermWeights, word_counts
from core.corpus.entity_merges import read_merges
from core.languages import is_english
from core.parameters import param

FINAL_PARENTHESES = re.compile(r"(?<!\s)\s*\([^()]*\)\s*$")
ROWS_PER_CHECK = 1000  # chunks or documents between two checks for cancelling
ChunkRow = tuple[str, str, str, Facts]  # document, title, text and facts of a chunk


@dataclass(frozen=True, repr=False)
class ResolveNames(BuildOperator):
    """Facts in which each entity has one name, and common phrases are no entities.

    - Spellings that differ only in case, accents, apostrophes, punctuation, the plural of a term or
      the legal form of a firm are one name.
    - Within a document, a part of a person's name is joined with the only full name that it fits,
      and an acronym with the only name that it abbreviates. The same name in other documents is
      joined as well, unless some document joins it with another full name. A single word must be
      joined by at least two documents for this.
    - A document's title that occurs in its text is the subject of the document. It is joined with
      the full name of which it is a short form, and related to all names of the document. These
      relations replace those between names that only share a sentence.
    - Aliases that the text itself gives are joined (“Pelé, also known as”, “pembrolizumab
      (Keytruda)”).
    - Two names that a person marked as different (`EntityMerges.refused`) are not joined.
    - A term is removed if its weight (`TermWeights`) is below `least`. In other languages than
      English no term is removed.

    The type of joined names is that of most mentions.
    """

    stage = "resolve"
    title = "names joined, common phrases left out"
    edition = 2
    reads, writes = ("chunks", "facts"), ("facts",)

    least: float = param(
        1.0,
        "Least weight",
        "Lowest weight of a term; lighter ones are common phrases.",
        low=-10,
        high=10,
    )
    titles: bool = param(
        True,
        "Titles",
        "Relate a title that its document names to all that the document names.",
    )
    everywhere: bool = param(
        True,
        "In other documents",
        "Also merge parts of names in documents without the full name.",
    )

    def apply(self, state: BuildState, ctx: BuildContext) -> BuildState:
        resolution = self.resolution(state, ctx)
        ctx.report.count(
            **{
                "names joined": sum(map(len, resolution.documents_of_join.values())),
                "common phrases": len(resolution.terms),
            }
        )
        ctx.report.joined = resolution.merges()
        assert state.facts is not None  # a line without facts is refused
        return state.replace(facts=ResolvedFacts(state.facts, resolution))

    def resolution(self, state: BuildState, ctx: BuildContext) -> Resolution:
        """Return the resolution of all names in all chunks.

        Parameters
        ----------
        state : the state of the build, with chunks and facts. The chunks of a document are
            adjacent.
        ctx : the language and the watch of the build.

        Returns
        -------
        The full names, the common phrases, and the refused pairs that would have been joined.
        """
        # A line without these is refused.
        assert state.chunks is not None and state.facts is not None
        name_of_key = self._corpus_names(state.facts, ctx)
        documents = state.chunks.texts("document")
        titles = state.chunks.texts("title")
        texts = state.chunks.texts("text")
        result = Resolution(name_of_key, documents)
        if is_english(ctx.language):
            result.terms = self._terms(name_of_key, texts, ctx)
        result.titles = {_key_of_title(title) for title in set(titles)}
        refused = set(read_merges(state.corpus).refused)
        # Two names that a person marked as different are entities, not common phrases.
        result.terms -= {key_of_name(name, "") for names in refused for name in names}
        finder = PartFinder(name_of_key, refused)
        rows = zip(documents, titles, texts, state.facts)
        for number, (document, group) in enumerate(groupby(rows, key=lambda row: row[0])):
            if number % ROWS_PER_CHECK == 0:
                ctx.watch.check()
            self._join_names(document, list(group), finder, result)
        if self.everywhere:
            result.joined_everywhere = finder.joined_everywhere(result.by_document)
        result.refused = finder.refused
        result.separated = finder.separated
        return result

    def _terms(
        self, name_of_key: dict[str, CorpusName], texts: Sequence[str], ctx: BuildContext
    ) -> set[str]:
        """Return the keys of the common phrases, which are too light to be entities."""
        weights = TermWeights(word_counts(texts, ctx.watch))
        terms = set[str]()
        for key, name in name_of_key.items():
            if name.is_term and weights.weight(name.best_spelling, name.burst) < self.least:
                terms.add(key)
        return terms

    def _join_names(
        self, document: str, rows: Sequence[ChunkRow], finder: PartFinder, result: Resolution
    ) -> None:
        """Add the names that are joined within a document to `result`, given its chunks."""
        _, title, text, _ = rows[0]
        names: dict[str, None] = {}
        for *_, facts in rows:
            names |= dict.fromkeys(
                key_of_name(entity.name, entity.type) for entity in facts.entities
            )
        result.sizes[document] = len(rows)
        is_long = len(rows) > MAX_SHORT_DOCUMENT_CHUNKS
        aliases = _aliases(facts for *_, facts in rows)
        joins = finder.join_parts(names, result.terms, aliases, is_long)
        # A phrase that the text abbreviates is a term of its own, however common its words.
        result.terms -= {full for full, rule in joins.values() if rule == ACRONYM_RULE}
        if self.titles:
            subject = FINAL_PARENTHESES.sub("", title)
            joins = result.join_title(document, subject, text, list(names), joins)
        joins = {key: join for key, join in joins.items() if not finder.check_refused(key, join[0])}
        result.add(document, joins)
        result.near += [
            (key, tuple(fulls), document) for key, fulls in finder.ambiguous_parts.items()
        ]

    def words(self) -> str:
        return f"names joined, terms from weight {self.least:g}"

    def _corpus_names(self, facts: Sequence[Facts], ctx: BuildContext) -> dict[str, CorpusName]:
        """Return the names of all entities by key, with their spellings, types and chunks."""
        name_of_key: dict[str, CorpusName] = {}
        for row, chunk_facts in enumerate(facts):
            if row % ROWS_PER_CHECK == 0:
                ctx.watch.check()
                ctx.watch.report("Comparing names", row / len(facts))
            chunk_keys = set[str]()
            for entity in chunk_facts.entities:
                key = key_of_name(entity.name, entity.type)
                if not key:
                    continue
                name = name_of_key.setdefault(key, CorpusName())
                name.spellings[entity.name] += entity.times
                name.kinds[entity.type or PHRASE_TYPE] += entity.times
                name.chunks += key not in chunk_keys
                chunk_keys.add(key)
        return name_of_key


def _key_of_title(title: str) -> str:
    """Return the key of a title without the parentheses at its end."""
    return key_of_name(FINAL_PARENTHESES.sub("", title), "")


def _aliases(facts: Iterable[Facts]) -> Iterator[tuple[str, str, str]]:
    """Yield the keys of two names of an entity, and the label.

    A chunk gives both names to the entity. The label is that of the relation.
    """
    for chunk_facts in facts:
        kinds = {entity.name: entity.type for entity in chunk_facts.entities}
        for relation in chunk_facts.relations:
            if relation.name in (ALSO_CALLED, IN_BRACKETS):
                head, tail = (
                    key_of_name(end, kinds.get(end, "")) for end in (relation.head, relation.tail)
                )
                if head and tail and head != tail:
                    yield head, tail, relation.name
