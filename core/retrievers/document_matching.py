"""Match the documents in a retriever's reply with chunks of a corpus.

A document is found by its id, by its title, or by its text as a quotation from a chunk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import PurePosixPath
from urllib.parse import unquote

import numpy as np

from core.corpus.quotations import comparable_text, quotation_halves
from core.graph.protocol import KnowledgeGraph
from core.graph.texts import chunk_label, chunk_text
from core.retrievers.reply import ReplyDocument, quote_examples

MAX_QUOTATION_CHUNKS = 20  # chunks that are searched for a quotation, chosen by a word search
QUOTATION_END_WORDS = 48  # words at each end of a quotation that are the query of this search
MIN_HALF_WORDS = 5  # a shorter half of a quotation could occur anywhere
# Notes on the documents of a reply; each follows a number of documents.
MATCH_NOTES = {
    "several chunks": "with several passages: the nearest to the question in words counts",
    "other text": "of which the id is known and the text is not in it: the id counts",
    "ambiguous title": "of which the title is that of several: give an id or a text",
    "wide text": "of which the text covers several passages here: they follow one another",
    "repeated chunk": "of passages that were named before: the first place counts",
}
# Returns the score of every chunk for a text, by the words that they share: float [chunks].
WordScores = Callable[[str], np.ndarray]


@dataclass
class MatchedDocuments:
    """The chunks of a reply's documents.

    Attributes
    ----------
    rows : the rows of the chunks, best first, with their scores; None without a score.
    n_unmatched : number of documents that are not in the corpus.
    notes : sentences for the user on documents that are missing or did not match exactly.
    """

    rows: dict[int, float | None] = field(default_factory=dict)
    n_unmatched: int = 0
    notes: list[str] = field(default_factory=list)


def id_in_corpus(id: str, corpus_ids: Container[str]) -> str:
    """Return an id in the spelling of the corpus.

    An unknown id is returned unchanged. TREC's columns cannot contain blanks, so runs write %20 or
    _ instead.

    >>> from core.retrievers.document_matching import id_in_corpus
    >>> (id_in_corpus("Ed%20Wood", {"Ed Wood"}), id_in_corpus("Ed_Wood", {"Ed Wood"}),
    ...  id_in_corpus("a_b", {"a_b", "a b"}), id_in_corpus("x_y", ()))
    ('Ed Wood', 'Ed Wood', 'a_b', 'x_y')
    """
    spellings = (id, unquote(id), id.replace("_", " "))
    return next((spelling for spelling in spellings if spelling in corpus_ids), id)


@dataclass(frozen=True)
class _ChunkIndex:
    """Lookup tables of a corpus: chunks by id, and documents by id and by title.

    Attributes
    ----------
    chunks : the row of each chunk, by the chunk's id.
    documents : the rows of the chunks of each document, by the document's id.
    titles : the ids of the documents of each title, in its comparable form.
    """

    chunks: dict[str, int]
    documents: dict[str, tuple[int, ...]]
    titles: dict[str, tuple[str, ...]]

    def __contains__(self, id: object) -> bool:
        return id in self.documents or id in self.chunks

    def ids_of_title(self, title: str) -> tuple[str, ...]:
        """Return the ids of the documents with a title; none for an empty title."""
        return self.titles.get(comparable_text(title), ()) if title else ()


def match_documents(
    graph: KnowledgeGraph, question: str, documents: Sequence[ReplyDocument], by_words: WordScores
) -> MatchedDocuments:
    """Find the chunks of a reply's documents, in the order of the reply.

    A document with a text gives the chunk that contains the text, or all chunks that the text
    covers, one after the other. If the corpus splits documents differently, a chunk is recognised
    by the first or the second half of its words. A document with only an id or a title gives the
    one of its chunks that shares the most words with the question. Documents that are not in the
    corpus are counted in a note.

    Parameters
    ----------
    graph : the graph of the corpus, with its chunks.
    question : the text of the question.
    documents : the documents of the reply, best first.
    by_words : returns the score of every chunk for a text, such as BM25.
    """
    matched = MatchedDocuments()
    counts: Counter[str] = Counter()
    unknown_labels: list[str] = []
    for document in documents:
        rows = _find_rows(graph, question, document, by_words, counts)
        if not rows:
            unknown_labels.append(document.label)
        counts["wide text"] += len(rows) > 1
        counts["repeated chunk"] += any(row in matched.rows for row in rows)
        for row in rows:
            matched.rows.setdefault(row, document.score)
    matched.n_unmatched = len(unknown_labels)
    if unknown_labels:
        are = "is" if len(unknown_labels) == 1 else "are"
        matched.notes.append(
            f"{len(unknown_labels):,} of {_count_documents(len(documents))} {are} not in the "
            f"corpus: {quote_examples(unknown_labels)}."
        )
    matched.notes += [
        f"{_count_documents(counts[kind])} {words}."
        for kind, words in MATCH_NOTES.items()
        if counts[kind]
    ]
    return matched


def covered_chunks(graph: KnowledgeGraph, text: str, rows: Sequence[int]) -> tuple[int, ...]:
    """Return the chunks that a text contains, at least by half of their words.

    Parameters
    ----------
    rows : the rows of the chunks that are compared with the text.
    """
    words = comparable_text(text)
    return tuple(row for row in rows if _overlaps(comparable_text(chunk_text(graph, row)), words))


def _find_rows(
    graph: KnowledgeGraph,
    question: str,
    document: ReplyDocument,
    by_words: WordScores,
    counts: Counter[str],
) -> tuple[int, ...]:
    """Return the chunks of one document of a reply; empty if there are none.

    A deviation is counted in `counts` under a key of `MATCH_NOTES`.
    """
    index = _chunk_index(graph)
    id = id_in_corpus(document.id or document.named, index)
    if id in index.chunks and id not in index.documents:
        return (index.chunks[id],)
    ids = (id,) if id in index.documents else index.ids_of_title(document.title or document.named)
    if len(ids) > 1 and not document.text:
        counts["ambiguous title"] += 1
        return ()
    document_rows = list(chain.from_iterable(index.documents[id] for id in ids))
    if not document_rows:
        text = document.text or document.named
        return _find_quotation(graph, text, by_words) if text else ()
    if document.text:
        rows = _chunks_with_text(graph, document.text, document_rows)
        if rows:
            return rows
        counts["other text"] += 1
    return _nearest_chunk(document_rows, question, by_words, counts)


def _nearest_chunk(
    rows: Sequence[int], question: str, by_words: WordScores, counts: Counter[str]
) -> tuple[int, ...]:
    """Return the chunk that shares the most words with the question.

    Of equal ones it is the first.
    """
    if len(rows) == 1:
        return tuple(rows)
    counts["several chunks"] += 1
    scores = by_words(question)
    return (max(rows, key=lambda row: (scores[row], -row)),)


def _find_quotation(graph: KnowledgeGraph, text: str, by_words: WordScores) -> tuple[int, ...]:
    """Return the chunks of one document that match a text.

    They contain the text or are contained in it. Only the `MAX_QUOTATION_CHUNKS` chunks that share
    the most words with the text are compared with it. The result is empty if none of them matches.
    """
    words = text.split()
    if len(words) > 2 * QUOTATION_END_WORDS:
        words = words[:QUOTATION_END_WORDS] + words[-QUOTATION_END_WORDS:]
    scores = by_words(" ".join(words))
    nearest_rows = np.lexsort((np.arange(len(scores)), -scores))[:MAX_QUOTATION_CHUNKS]
    rows = _chunks_with_text(graph, text, sorted(nearest_rows[scores[nearest_rows] > 0].tolist()))
    if not rows or graph.columns.chunks is None:
        return rows
    # the document with the most of these chunks, now with all its chunks
    (document, _), *_ = Counter(graph.columns.chunks.texts("document", rows)).most_common(1)
    return _chunks_with_text(graph, text, _chunk_index(graph).documents[document])


def _chunks_with_text(graph: KnowledgeGraph, text: str, rows: Sequence[int]) -> tuple[int, ...]:
    """Return the first chunk that contains a text.

    Without one, these are the chunks that the text covers. A chunk is also covered if one contains
    half of the words of the other.
    """
    quote = comparable_text(text)
    texts = {row: comparable_text(chunk_text(graph, row)) for row in rows}
    for row, chunk in texts.items():
        if quote in chunk or quote == comparable_text(chunk_label(graph, row)):
            return (row,)
    return tuple(
        row for row, chunk in texts.items() if _overlaps(chunk, quote) or _overlaps(quote, chunk)
    )


def _overlaps(inner: str, outer: str) -> bool:
    """Return whether `outer` contains `inner`, or its first or second half of words.

    An empty `inner` is in no text.
    """
    if not inner or inner in outer:
        return bool(inner)
    return any(
        half in outer for half in quotation_halves(inner) if half.count(" ") + 1 >= MIN_HALF_WORDS
    )


def _chunk_index(graph: KnowledgeGraph) -> _ChunkIndex:
    """Return the lookup tables of a graph's chunks, made once."""

    def make() -> _ChunkIndex:
        table = graph.columns.chunks
        if table is None:
            return _ChunkIndex({}, {}, {})
        documents: dict[str, list[int]] = {}
        titles: dict[str, dict[str, None]] = {}
        for row, (document, title) in enumerate(zip(table.texts("document"), table.texts("title"))):
            documents.setdefault(document, []).append(row)
            # A document without a title is found by the name of its file, without the suffix.
            name = title or PurePosixPath(document).stem
            titles.setdefault(comparable_text(name), {})[document] = None
        chunks = {id: row for row, id in enumerate(table.texts("id"))}
        return _ChunkIndex(
            chunks,
            {id: tuple(rows) for id, rows in documents.items()},
            {title: tuple(ids) for title, ids in titles.items()},
        )

    return graph.derived.get_or_make("chunks by name", None, make)


def _count_documents(count: int) -> str:
    return f"{count:,} document{'' if count == 1 else 's'}"
