"""Sentences of a corpus with their names, from which questions are made without a language model.

Names are those that the noun-phrase graph has for the chunk of a sentence. Their occurrences are
searched in all sentences of all documents. A name that the parser found once and missed elsewhere
is therefore not mistaken for a rare one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from core.builds.extract.noun_phrases import TYPE_OF_LABEL
from core.builds.facts import Facts
from core.corpus import Corpus
from core.corpus.quotations import passage_name, single_line
from core.corpus.sentences import sentence_spans
from core.graph.columns import Table
from core.languages.spelling import end_offset, fold, fold_with_offsets
from core.watch import NO_WATCH, Watch

# Entity types that are names. Groups and languages (such as “English”) apply to many things.
NAME_TYPES = frozenset(TYPE_OF_LABEL.values()) - {"group", "language"}
WORD_IN_TEXT = re.compile(r"\w+")
CHECK_EVERY_DOCUMENTS = 200  # documents between two checks for cancellation
NEXT_CHUNKS = 3  # chunks in which the next sentence is searched


@dataclass(frozen=True)
class NamedSentence:
    """A sentence on one line with its names.

    `row` is the row of the sentence and `document` the row of its document. `chunks` are the rows
    of the chunks that contain it whole. `names` are in the order of the text, none inside another,
    and `name_counts` says how often each occurs in the sentence.
    """

    row: int
    text: str
    document: int
    chunks: tuple[int, ...]
    names: tuple[str, ...]
    name_counts: tuple[int, ...]

    @property
    def names_occurring_once(self) -> tuple[str, ...]:
        """Names that occur once in the sentence."""
        return tuple(name for name, times in zip(self.names, self.name_counts) if times == 1)


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

        Parameters
        ----------
        corpus : the corpus.
        chunks : the chunks of the corpus.
        facts : the noun phrases of each chunk.
        watch : may raise RunCancelled.

        Returns
        -------
        The sentences with their names.
        """
        table = cls(corpus, chunks)
        rows: dict[str, list[int]] = {}
        for row, id in enumerate(chunks.texts("document")):
            rows.setdefault(id, []).append(row)
        for number in range(len(corpus)):
            if number % CHECK_EVERY_DOCUMENTS == 0:
                watch.check()
            document = corpus.document_at(number)
            table._add(number, document.text, rows.get(document.id, []), facts)
        return table

    def _add(self, document: int, text: str, rows: list[int], facts: Sequence[Facts]) -> None:
        chunk_texts = [single_line(self.chunks.text("text", row)) for row in rows]
        first_chunk = 0
        for start, end in sentence_spans(text):
            sentence = single_line(text[start:end])
            number = len(self.texts)
            self.texts.append(sentence)
            self.documents.append(document)
            last_chunk = min(first_chunk + NEXT_CHUNKS, len(rows))
            indices = [i for i in range(first_chunk, last_chunk) if sentence in chunk_texts[i]]
            if not indices:
                continue
            first_chunk = indices[0]
            chunks = tuple(rows[index] for index in indices)
            entities = chain.from_iterable(facts[row].entities for row in chunks)
            names = [entity.name for entity in entities if entity.type in NAME_TYPES]
            counts = names_in(sentence, names)
            if counts:
                self.named[number] = NamedSentence(
                    number, sentence, document, chunks, tuple(counts), tuple(counts.values())
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

    def surrounding_text(self, sentence: NamedSentence) -> str:
        """Return the texts of all chunks that contain a sentence, without case and typography."""
        texts = (single_line(self.chunks.text("text", row)) for row in sentence.chunks)
        return fold("\n".join(texts))

    def rows_with(self, name: str) -> frozenset[int]:
        """Return the rows of all sentences that contain a name as whole words, ignoring case."""
        folded_name = fold(name)
        if folded_name not in self._found:
            words = WORD_IN_TEXT.findall(folded_name)
            # Search only the sentences with the name's rarest word.
            rows = min((self._by_word.get(word, []) for word in words), key=len, default=[])
            matching = (row for row in rows if spans_of(self.texts[row], name))
            self._found[folded_name] = frozenset(matching)
        return self._found[folded_name]

    @cached_property
    def _by_word(self) -> dict[str, list[int]]:
        """Rows of the sentences that contain each word, in lower case."""
        rows_by_word: dict[str, list[int]] = {}
        for row, text in enumerate(self.texts):
            for word in set(WORD_IN_TEXT.findall(fold(text))):
                rows_by_word.setdefault(word, []).append(row)
        return rows_by_word


def names_in(text: str, names: Sequence[str]) -> dict[str, int]:
    """Return the names in a text, in their order, with the number of their occurrences.

    Each name has the spelling of its first occurrence. A part of a longer name does not count.

    Parameters
    ----------
    text : the text.
    names : names to look for, in any case.

    Returns
    -------
    Numbers of occurrences by name.

    Examples
    --------
    >>> from core.evaluation.questions.named_sentences import names_in
    >>> names_in(
    ...     "Tom Reid of Ayr knew the Reids; tom reid did not.", ["Reid", "Tom Reid", "Ayr", "Bo"]
    ... )
    {'Tom Reid': 2, 'Ayr': 1}
    """
    spans_by_name: dict[str, list[tuple[int, int]]] = {}
    taken_spans: list[tuple[int, int]] = []
    folded_names = {single_line(fold(name)) for name in names}
    for name in sorted(folded_names, key=lambda name: (-len(name), name)):
        spans = [
            span
            for span in spans_of(text, name)
            if not any(span[0] < end and start < span[1] for start, end in taken_spans)
        ]
        if spans:
            spans_by_name[name] = spans
            taken_spans += spans
    ordered = sorted(spans_by_name.values(), key=lambda spans: spans[0])
    return {text[spans[0][0] : spans[0][1]]: len(spans) for spans in ordered}


def spans_of(text: str, name: str) -> list[tuple[int, int]]:
    """Return the spans at which a text contains a name as whole words, ignoring case.

    Parameters
    ----------
    text : the text.
    name : the name, in any case.

    Returns
    -------
    Start and end of each occurrence, in characters.

    Examples
    --------
    >>> from core.evaluation.questions.named_sentences import spans_of
    >>> spans_of("Oban, OBAN and Obanite", "oban")
    [(0, 4), (6, 10)]
    """
    folded_text, offsets = fold_with_offsets(text)
    folded_name = fold(name)
    spans: list[tuple[int, int]] = []
    position = folded_text.find(folded_name) if folded_name else -1
    while position >= 0:
        end = position + len(folded_name)
        if not (_is_inside_word(folded_text, position) or _is_inside_word(folded_text, end)):
            spans.append((offsets[position], end_offset(offsets, end)))
        position = folded_text.find(folded_name, end)
    return spans


def _is_inside_word(text: str, index: int) -> bool:
    """Return whether a word continues across a position."""
    return 0 < index < len(text) and _in_word(text[index - 1]) and _in_word(text[index])


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"
