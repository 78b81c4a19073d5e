"""Sentences of a corpus with their names.

Questions are made from them without a language model. The names of a sentence are those that the
noun-phrase graph has for its chunk. Their occurrences are searched in all sentences of all
documents. A name that the parser found once and missed elsewhere is therefore not mistaken for a
rare one.
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
NEXT_CHUNKS = 3  # chunks in which a sentence is searched, from that of the sentence before


@dataclass(frozen=True)
class NamedSentence:
    """A sentence on one line with its names.

    Parameters
    ----------
    row : row of the sentence in its `SentenceTable`.
    document : row of its document in the corpus.
    chunks : rows of the chunks that contain all of it, at least one.
    names : names in the order of the text. None is part of another one.
    name_counts : how often each name occurs in the sentence.
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

    `texts` and `documents` hold the text of each sentence and the row of its document. `named`
    holds, by row, the sentences that contain a name and are not divided between chunks.
    """

    corpus: Corpus
    chunks: Table
    texts: list[str] = field(default_factory=list)
    documents: list[int] = field(default_factory=list)
    named: dict[int, NamedSentence] = field(default_factory=dict)
    _rows_by_name: dict[str, frozenset[int]] = field(default_factory=dict)  # as searched so far

    @classmethod
    def from_corpus(
        cls, corpus: Corpus, chunks: Table, facts: Sequence[Facts], watch: Watch = NO_WATCH
    ) -> SentenceTable:
        """Return the table of a corpus.

        Parameters
        ----------
        corpus : the corpus.
        chunks : the chunks of the corpus.
        facts : the entities of each chunk, by its row.
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
        """Add the sentences of a document.

        The document is given by its row, its text and the rows of its chunks.
        """
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
            first_chunk = indices[0]  # chunks are in text order, so the next sentence is not before
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
        """Return the texts of all chunks that contain a sentence, folded for comparison."""
        texts = (single_line(self.chunks.text("text", row)) for row in sentence.chunks)
        return fold("\n".join(texts))

    def rows_with(self, name: str) -> frozenset[int]:
        """Return the rows of all sentences that contain a name.

        The name must be there as whole words. Case is ignored.
        """
        folded_name = fold(name)
        if folded_name not in self._rows_by_name:
            words = WORD_IN_TEXT.findall(folded_name)
            # Search only the sentences with the name's rarest word.
            rows = min((self._rows_by_word.get(word, []) for word in words), key=len, default=[])
            matching = (row for row in rows if spans_of(self.texts[row], name))
            self._rows_by_name[folded_name] = frozenset(matching)
        return self._rows_by_name[folded_name]

    @cached_property
    def _rows_by_word(self) -> dict[str, list[int]]:
        """Rows of the sentences that contain a word, by the folded word."""
        rows_by_word: dict[str, list[int]] = {}
        for row, text in enumerate(self.texts):
            for word in set(WORD_IN_TEXT.findall(fold(text))):
                rows_by_word.setdefault(word, []).append(row)
        return rows_by_word


def names_in(text: str, names: Sequence[str]) -> dict[str, int]:
    """Return the names in a text with the number of their occurrences.

    The names are in the order of the text. Each name has the spelling of its first occurrence. A
    part of a longer name does not count.

    Parameters
    ----------
    text : the text.
    names : names to look for, in any case.

    Returns
    -------
    Numbers of occurrences by name, of those names that occur.

    Examples
    --------
    >>> from core.evaluation.questions.named_sentences import names_in
    >>> names_in(
    ...     "Tom Reid of Ayr knew the Reids; tom reid did not.", ["Reid", "Tom Reid", "Ayr", "Bo"]
    ... )
    {'Tom Reid': 2, 'Ayr': 1}
    """
    spans_by_name: dict[str, list[tuple[int, int]]] = {}
    used_spans: list[tuple[int, int]] = []
    folded_names = {single_line(fold(name)) for name in names}
    # Longer names first, so that their parts do not count.
    for name in sorted(folded_names, key=lambda name: (-len(name), name)):
        spans = [
            span
            for span in spans_of(text, name)
            if not any(span[0] < end and start < span[1] for start, end in used_spans)
        ]
        if spans:
            spans_by_name[name] = spans
            used_spans += spans
    ordered = sorted(spans_by_name.values(), key=lambda spans: spans[0])
    return {text[spans[0][0] : spans[0][1]]: len(spans) for spans in ordered}


def spans_of(text: str, name: str) -> list[tuple[int, int]]:
    """Return the spans at which a text contains a name.

    The name must be there as whole words. Case is ignored.

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
    """Return whether an index lies between two characters of one word."""
    return 0 < index < len(text) and _in_word(text[index - 1]) and _in_word(text[index])


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"
