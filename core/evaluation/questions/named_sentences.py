"""The sentences of a corpus with the names that they hold: what questions about it can be made from without a language model.

Names are those that the noun-phrase graph has for the chunk of a sentence. Where a name occurs is looked up in all sentences of all
documents, so that a name that the parser found once and overlooked elsewhere is not taken for a rare one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from core.builds.extract.noun_phrases import TYPES
from core.builds.facts import Facts
from core.corpus import Corpus
from core.corpus.quoted import passage_name, squeezed
from core.corpus.sentences import sentences
from core.graph.columns import Table

NAMED = frozenset(TYPES.values()) - {"group", "language"}  # types of entities that are names; “English” and such are said of many things
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
    def of(cls, corpus: Corpus, chunks: Table, facts: Sequence[Facts], check: Callable[[], None] = lambda: None) -> SentenceTable:
        """The table of a corpus cut into these chunks, of which the noun phrases are `facts`. Raises what `check` raises."""
        table, rows = cls(corpus, chunks), dict[str, list[int]]()
        for row, id in enumerate(chunks.texts("document")):
            rows.setdefault(id, []).append(row)
        for number in range(len(corpus)):
            if number % EVERY == 0:
                check()
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
            here = [place for place in range(at, min(at + NEXT_CHUNKS, len(rows))) if said in held[place]]
            if here:
                at = here[0]
                found = names_in(said, [entity.name for place in here for entity in facts[rows[place]].entities if entity.type in NAMED])
                if found:
                    chunks = tuple(rows[place] for place in here)
                    self.named[number] = NamedSentence(number, said, document, chunks, tuple(found), tuple(found.values()))

    def passage(self, sentence: NamedSentence) -> str:
        """The name of the passage that holds a sentence: the document where it is one chunk, else with the sentence as its quotation."""
        document = self.corpus.table.text("id", sentence.document)
        return document if self.chunks.text("id", sentence.chunks[0]) == document else passage_name(document, sentence.text)

    def around(self, sentence: NamedSentence) -> str:
        """The texts of all chunks that hold a sentence, in small letters."""
        return "\n".join(squeezed(self.chunks.text("text", row)) for row in sentence.chunks).casefold()

    def where(self, name: str) -> frozenset[int]:
        """The rows of all sentences that hold a name as words of their own, in whatever case."""
        known = name.casefold()
        if known not in self._found:
            whole, starts = self._whole
            self._found[known] = frozenset(bisect_right(starts, at) - 1 for at in _places(whole, known))
        return self._found[known]

    @cached_property
    def _whole(self) -> tuple[str, list[int]]:
        """All sentences in small letters, a line each, and where each begins."""
        lines, starts, at = [text.casefold() for text in self.texts], list[int](), 0
        for line in lines:
            starts.append(at)
            at += len(line) + 1
        return "\n".join(lines), starts


def names_in(text: str, names: Sequence[str]) -> dict[str, int]:
    """The names that a text holds, as it spells them first, with how often; in their order, longer ones before their parts.

    >>> from core.evaluation.questions.named_sentences import names_in
    >>> names_in("Tom Reid of Ayr knew the Reids; tom reid did not.", ["Reid", "Tom Reid", "Ayr", "Bo"])
    {'Tom Reid': 2, 'Ayr': 1}
    """
    found: dict[str, list[tuple[int, int]]] = {}
    taken: list[tuple[int, int]] = []
    for name in sorted({squeezed(name).casefold() for name in names}, key=lambda name: (-len(name), name)):
        spans = [span for span in spans_of(text, name) if not any(span[0] < end and start < span[1] for start, end in taken)]
        if spans:
            found[name] = spans
            taken += spans
    ordered = sorted(found.values(), key=lambda spans: spans[0])
    return {text[spans[0][0] : spans[0][1]]: len(spans) for spans in ordered}


def spans_of(text: str, name: str) -> list[tuple[int, int]]:
    """Where a text holds a name as words of their own, in whatever case."""
    if not name or name.casefold() not in text.casefold():
        return []
    return [match.span() for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)]


def _places(whole: str, name: str) -> Iterator[int]:
    at = whole.find(name)
    while at >= 0:
        end = at + len(name)
        if not (whole[at - 1 : at].isalnum() and name[0].isalnum()) and not (whole[end : end + 1].isalnum() and name[-1].isalnum()):
            yield at
        at = whole.find(name, end)
