"""The sentences of a corpus with the names that they hold: what questions about it can be made from without a language model.

Names are those that the noun-phrase graph has for the chunk of a sentence. Where a name occurs is looked up in all sentences of all
documents, so that a name that the parser found once and overlooked elsewhere is not taken for a rare one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from core.builds.extract.noun_phrases import TYPES
from core.builds.facts import Facts
from core.corpus import Corpus
from core.corpus.quoted import passage_name, squeezed
from core.corpus.sentences import sentences
from core.graph.columns import Table
from core.languages.spelling import fold, fold_with_places, place_behind
from core.watch import NO_WATCH, Watch

# types of entities that are names; “English” and such are said of many things
NAMED = frozenset(TYPES.values()) - {"group", "language"}
WORD, EMPTY = re.compile(r"\w+"), list[int]()
EVERY = 200  # documents between two looks at whether somebody cancelled
NEXT_CHUNKS = 3  # chunks in which the sentence after one is sought


@dataclass(frozen=True)
class NamedSentence:
    """A sentence on one line, the row of its document, the rows of the chunks that hold it whole, and its names with how often each is in
    it, in the order of the text, none of them a part of another."""

    row: int
    text: str
    document: int
    chunks: tuple[int, ...]
    names: tuple[str, ...]
    times: tuple[int, ...]

    @property
    def once(self) -> tuple[str, ...]:
        """The names that it holds once."""
        return tuple(name for name, times in zip(self.names, self.times) if times == 1)


@dataclass(eq=False)
class SentenceTable:
    """All sentences of a corpus by row, those that are whole in a chunk and hold a name as `named`, and where each name occurs."""

    corpus: Corpus
    chunks: Table
    texts: list[str] = field(default_factory=list)
    documents: list[int] = field(default_factory=list)  # of each sentence the row of its document
    named: dict[int, NamedSentence] = field(default_factory=dict)
    _found: dict[str, frozenset[int]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        chunks: Table,
        facts: Sequence[Facts],
        watch: Watch = NO_WATCH,
    ) -> SentenceTable:
        """The table of a corpus cut into these chunks, of which the noun phrases are `facts`. Raises what `watch` raises."""
        table, rows = cls(corpus, chunks), dict[str, list[int]]()
        for row, id in enumerate(chunks.texts("document")):
            rows.setdefault(id, []).append(row)
        for number in range(len(corpus)):
            if number % EVERY == 0:
                watch.check()
            document = corpus.at(number)
            table._add(number, document.text, rows.get(document.id, []), facts)
        return table

    def _add(self, document: int, text: str, rows: list[int], facts: Sequence[Facts]) -> None:
        held = [squeezed(self.chunks.text("text", row)) for row in rows]
        at = 0
        for start, end in sentences(text):
            said = squeezed(text[start:end])
            number = len(self.texts)
            self.texts.append(said)
            self.documents.append(document)
            here = [
                place
                for place in range(at, min(at + NEXT_CHUNKS, len(rows)))
                if said in held[place]
            ]
            if here:
                at = here[0]
                found = names_in(
                    said,
                    [
                        entity.name
                        for place in here
                        for entity in facts[rows[place]].entities
                        if entity.type in NAMED
                    ],
                )
                if found:
                    chunks = tuple(rows[place] for place in here)
                    self.named[number] = NamedSentence(
                        number, said, document, chunks, tuple(found), tuple(found.values())
                    )

    def passage(self, sentence: NamedSentence) -> str:
        """The name of the passage that holds a sentence: the document where it is one chunk, else with the sentence as its quotation."""
        document = self.corpus.table.text("id", sentence.document)
        if self.chunks.text("id", sentence.chunks[0]) == document:
            return document
        return passage_name(document, sentence.text)

    def around(self, sentence: NamedSentence) -> str:
        """Return the texts of all chunks that hold a sentence, without case and typography."""
        return fold("\n".join(squeezed(self.chunks.text("text", row)) for row in sentence.chunks))

    def where(self, name: str) -> frozenset[int]:
        """The rows of all sentences that hold a name as words of their own, in whatever case."""
        known = fold(name)
        if known not in self._found:
            # of its rarest word
            rows = min(
                (self._by_word.get(word, EMPTY) for word in WORD.findall(known)),
                key=len,
                default=EMPTY,
            )
            self._found[known] = frozenset(row for row in rows if spans_of(self.texts[row], name))
        return self._found[known]

    @cached_property
    def _by_word(self) -> dict[str, list[int]]:
        """The rows of the sentences that hold each word, in small letters."""
        found: dict[str, list[int]] = {}
        for row, text in enumerate(self.texts):
            for word in set(WORD.findall(fold(text))):
                found.setdefault(word, []).append(row)
        return found


def names_in(text: str, names: Sequence[str]) -> dict[str, int]:
    """The names that a text holds, as it spells them first, with how often; in their order, longer ones before their parts.

    >>> from core.evaluation.questions.named_sentences import names_in
    >>> names_in("Tom Reid of Ayr knew the Reids; tom reid did not.", ["Reid", "Tom Reid", "Ayr", "Bo"])
    {'Tom Reid': 2, 'Ayr': 1}
    """
    found: dict[str, list[tuple[int, int]]] = {}
    taken: list[tuple[int, int]] = []
    for name in sorted(
        {squeezed(fold(name)) for name in names}, key=lambda name: (-len(name), name)
    ):
        spans = [
            span
            for span in spans_of(text, name)
            if not any(span[0] < end and start < span[1] for start, end in taken)
        ]
        if spans:
            found[name] = spans
            taken += spans
    ordered = sorted(found.values(), key=lambda spans: spans[0])
    return {text[spans[0][0] : spans[0][1]]: len(spans) for spans in ordered}


def spans_of(text: str, name: str) -> list[tuple[int, int]]:
    """Where a text holds a name as words of their own, in whatever case.

    >>> from core.evaluation.questions.named_sentences import spans_of
    >>> spans_of("Oban, OBAN and Obanite", "oban")
    [(0, 4), (6, 10)]
    """
    whole, places = fold_with_places(text)
    wanted, found = fold(name), list[tuple[int, int]]()
    at = whole.find(wanted) if wanted else -1
    while at >= 0:
        end = at + len(wanted)
        if not (_goes_on(whole, at) or _goes_on(whole, end)):
            found.append((places[at], place_behind(places, end)))
        at = whole.find(wanted, end)
    return found


def _goes_on(text: str, at: int) -> bool:
    """Whether a word goes on from one side of a place to the other."""
    return 0 < at < len(text) and _in_word(text[at - 1]) and _in_word(text[at])


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"
