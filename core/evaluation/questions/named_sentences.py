"""Sentences of a corpus with their names, from which questions are made without a language model.

Names are those that the noun-phrase graph has for the chunk of a sentence. The occurrences of a
name are searched in all sentences of all documents. So a name that the parser found once and missed
elsewhere is not mistaken for a rare one.
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

# Entity types that are names. Groups and languages (such as “English”) apply to many things.
NAMED = frozenset(TYPES.values()) - {"group", "language"}
WORD, EMPTY = re.compile(r"\w+"), list[int]()
EVERY = 200  # documents between two checks for cancellation
NEXT_CHUNKS = 3  # chunks in which the next sentence is searched


@dataclass(frozen=True)
class NamedSentence:
    """A sentence on one line with its names.

    `row` is the row of the sentence and `document` the row of its document. `chunks` are the rows
    of the chunks that contain it whole. `names` are in the order of the text, none inside another,
    and `times` says how often each occurs in the sentence.
    """

    row: int
    text: str
    document: int
    chunks: tuple[int, ...]
    names: tuple[str, ...]
    times: tuple[int, ...]

    @property
    def once(self) -> tuple[str, ...]:
        """Names that occur once in the sentence."""
        return tuple(name for name, times in zip(self.names, self.times) if times == 1)


@dataclass(eq=False)
class SentenceTable:
    """All sentences of a corpus, by row, and the occurrences of names.

    `named` holds the sentences that are whole in a chunk and contain a name.
    """

    corpus: Corpus
    chunks: Table
    texts: list[str] = field(default_factory=list)
    documents: list[int] = field(default_factory=list)  # row of the document of each sentence
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
        """Return the table of a corpus.

        Raises the errors of `watch`.

        Parameters
        ----------
        chunks : the chunks of the corpus.
        facts : the noun phrases of each chunk.
        """
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
        """Return the name of the passage that contains a sentence.

        It is the name of the document. If the document has several chunks, the sentence is added as
        a quotation.
        """
        document = self.corpus.table.text("id", sentence.document)
        if self.chunks.text("id", sentence.chunks[0]) == document:
            return document
        return passage_name(document, sentence.text)

    def around(self, sentence: NamedSentence) -> str:
        """Return the texts of all chunks that contain a sentence, without case and typography."""
        return fold("\n".join(squeezed(self.chunks.text("text", row)) for row in sentence.chunks))

    def where(self, name: str) -> frozenset[int]:
        """Return the rows of all sentences that contain a name as whole words, ignoring case."""
        known = fold(name)
        if known not in self._found:
            # Search only the sentences with the name's rarest word.
            rows = min(
                (self._by_word.get(word, EMPTY) for word in WORD.findall(known)),
                key=len,
                default=EMPTY,
            )
            self._found[known] = frozenset(row for row in rows if spans_of(self.texts[row], name))
        return self._found[known]

    @cached_property
    def _by_word(self) -> dict[str, list[int]]:
        """Rows of the sentences that contain each word, in lower case."""
        found: dict[str, list[int]] = {}
        for row, text in enumerate(self.texts):
            for word in set(WORD.findall(fold(text))):
                found.setdefault(word, []).append(row)
        return found


def names_in(text: str, names: Sequence[str]) -> dict[str, int]:
    """Return the names in a text, in their order, with the number of their occurrences.

    Each name has the spelling of its first occurrence. A part of a longer name does not count.

    >>> from core.evaluation.questions.named_sentences import names_in
    >>> names_in(
    ...     "Tom Reid of Ayr knew the Reids; tom reid did not.", ["Reid", "Tom Reid", "Ayr", "Bo"]
    ... )
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
    """Return the spans at which a text contains a name as whole words, ignoring case.

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
    """Return whether a word continues across a position."""
    return 0 < at < len(text) and _in_word(text[at - 1]) and _in_word(text[at])


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"
