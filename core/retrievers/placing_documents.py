"""Documents in a retriever's reply, found among the chunks of a corpus.

They are found by id, by title, or by their text as a quotation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from urllib.parse import unquote

import numpy as np

from core.corpus.quoted import alike, halves
from core.graph.protocol import KnowledgeGraph
from core.graph.texts import chunk_label, chunk_text
from core.retrievers.reply import GivenDocument, examples

NEAREST = 20  # most chunks that are searched for a quotation
SOUGHT_WORDS = 48  # words at each end of a quotation that select these chunks
SHORTEST_HALF = 5  # words; a shorter half of a quotation could occur anywhere
NOTES = {
    "several": "with several passages: the nearest to the question in words counts",
    "another": "of which the id is known and the text is not in it: the id counts",
    "ambiguous": "of which the title is that of several: give an id or a text",
    "wide": "of which the text covers several passages here: they follow one another",
    "again": "of passages that were named before: the first place counts",
}
"""Notes on the documents of a reply; each follows a number of documents."""
# Returns the score of every chunk for a text, by the words that they share: float [chunks].
ByWords = Callable[[str], np.ndarray]


@dataclass
class PlacedDocuments:
    """The rows of the named chunks, best first, each with its score.

    `unplaced` counts the documents that were not found.
    """

    rows: dict[int, float | None] = field(default_factory=dict)
    unplaced: int = 0
    notes: list[str] = field(default_factory=list)


def known_id(id: str, known: Container[str]) -> str:
    """Return an id as the corpus writes it; the id itself if the corpus has no such id.

    TREC's columns hold no blanks, so runs write %20 or _ in their place.

    >>> from core.retrievers.placing_documents import known_id
    >>> (known_id("Ed%20Wood", {"Ed Wood"}), known_id("Ed_Wood", {"Ed Wood"}),
    ...  known_id("a_b", {"a_b", "a b"}), known_id("x_y", ()))
    ('Ed Wood', 'Ed Wood', 'a_b', 'x_y')
    """
    return next((one for one in (id, unquote(id), id.replace("_", " ")) if one in known), id)


@dataclass(frozen=True)
class _Names:
    """Rows of chunks by chunk id and by document id, and document ids by title."""

    chunks: dict[str, int]
    documents: dict[str, tuple[int, ...]]
    titles: dict[str, tuple[str, ...]]

    def __contains__(self, id: object) -> bool:
        return id in self.documents or id in self.chunks


def placed_documents(
    graph: KnowledgeGraph, question: str, given: Sequence[GivenDocument], by_words: ByWords
) -> PlacedDocuments:
    """Find the chunks of a corpus that a reply's documents stand for, in the order of the reply.

    An id or a title stands for the chunk of that document that shares the most words with the
    question, so that it takes one rank. A text stands for every chunk that it covers, or for the
    chunk that contains it. Such chunks take consecutive ranks. A chunk that is split differently
    here is recognised by half of its words. Documents that are not in the corpus are counted in a
    note.

    Parameters
    ----------
    graph : the graph of the corpus, with its chunks.
    question : the text of the question.
    given : the documents of the reply, best first.
    by_words : returns the score of every chunk for a text.
    """
    found, counts, strangers = PlacedDocuments(), Counter[str](), list[str]()
    for one in given:
        rows = _rows(graph, question, one, by_words, counts)
        if not rows:
            strangers.append(one.label)
        counts["wide"] += len(rows) > 1
        counts["again"] += any(row in found.rows for row in rows)
        for row in rows:
            found.rows.setdefault(row, one.score)
    found.unplaced = len(strangers)
    if strangers:
        are = "is" if len(strangers) == 1 else "are"
        found.notes.append(
            f"{len(strangers):,} of {_documents(len(given))} {are} not in the corpus: "
            f"{examples(strangers)}."
        )
    found.notes += [
        f"{_documents(counts[kind])} {words}." for kind, words in NOTES.items() if counts[kind]
    ]
    return found


def covered(graph: KnowledgeGraph, text: str, rows: Sequence[int]) -> tuple[int, ...]:
    """Return the chunks whose words, all or half of them, are in a text such as a prompt.

    Parameters
    ----------
    rows : the chunks to look at.
    """
    whole = alike(text)
    return tuple(row for row in rows if _overlaps(alike(chunk_text(graph, row)), whole))


def _rows(
    graph: KnowledgeGraph,
    question: str,
    one: GivenDocument,
    by_words: ByWords,
    counts: Counter[str],
) -> tuple[int, ...]:
    known = _names(graph)
    id, title, text = (
        known_id(one.id or one.named, known),
        one.title or one.named,
        one.text or one.named,
    )
    if id in known.chunks and id not in known.documents:
        return (known.chunks[id],)
    among: tuple[int, ...] = known.documents.get(id, ())
    if not among and title:
        documents = known.titles.get(alike(title), ())
        among = tuple(row for document in documents for row in known.documents[document])
        if len(documents) > 1 and not one.text:
            counts["ambiguous"] += 1
            return ()
    if one.text and among:
        rows = _holding(graph, one.text, among)
        counts["another"] += not rows
        return rows or _nearest(among, question, by_words, counts)
    if among:
        return _nearest(among, question, by_words, counts)
    return _quoted(graph, text, by_words) if text else ()


def _nearest(
    rows: Sequence[int], question: str, by_words: ByWords, counts: Counter[str]
) -> tuple[int, ...]:
    if len(rows) == 1:
        return tuple(rows)
    counts["several"] += 1
    scores = by_words(question)
    return (max(rows, key=lambda row: (scores[row], -row)),)


def _quoted(graph: KnowledgeGraph, text: str, by_words: ByWords) -> tuple[int, ...]:
    """Return the chunks of one document that contain a text or are contained in it.

    The result is empty where none of the chunks that share the most words does.
    """
    words = text.split()
    ends = words if len(words) <= 2 * SOUGHT_WORDS else words[:SOUGHT_WORDS] + words[-SOUGHT_WORDS:]
    scores = by_words(" ".join(ends))
    near = np.lexsort((np.arange(len(scores)), -scores))[:NEAREST]
    found = _holding(graph, text, sorted(near[scores[near] > 0].tolist()))
    if not found or graph.columns.chunks is None:
        return found
    (document, _), *_ = Counter(graph.columns.chunks.texts("document", found)).most_common(1)
    return _holding(graph, text, _names(graph).documents[document])


def _holding(graph: KnowledgeGraph, text: str, rows: Sequence[int]) -> tuple[int, ...]:
    """Return the first of some chunks that contains a text.

    Where there is none, the result is the chunks that the text contains, wholly or by half of the
    words.
    """
    quote = alike(text)
    texts = {row: alike(chunk_text(graph, row)) for row in rows}
    holding = (
        row
        for row, chunk in texts.items()
        if quote in chunk or quote == alike(chunk_label(graph, row))
    )
    if (whole := next(holding, None)) is not None:
        return (whole,)
    return tuple(
        row for row, chunk in texts.items() if _overlaps(chunk, quote) or _overlaps(quote, chunk)
    )


def _overlaps(inner: str, outer: str) -> bool:
    """Return whether `outer` contains `inner`, or either half of its words."""
    if not inner or inner in outer:
        return bool(inner)
    return any(half in outer for half in halves(inner) if half.count(" ") + 1 >= SHORTEST_HALF)


def _names(graph: KnowledgeGraph) -> _Names:
    def make() -> _Names:
        table = graph.columns.chunks
        if table is None:
            return _Names({}, {}, {})
        documents: dict[str, list[int]] = {}
        titles: dict[str, dict[str, None]] = {}
        for row, (document, title) in enumerate(zip(table.texts("document"), table.texts("title"))):
            documents.setdefault(document, []).append(row)
            # A document without a title is called by its file's name.
            called = title or PurePosixPath(document).stem
            titles.setdefault(alike(called), {})[document] = None
        chunks = {id: row for row, id in enumerate(table.texts("id"))}
        return _Names(
            chunks,
            {one: tuple(rows) for one, rows in documents.items()},
            {title: tuple(of) for title, of in titles.items()},
        )

    return graph.derived.once("chunks by name", None, make)


def _documents(count: int) -> str:
    return f"{count:,} document{'s' * (count != 1)}"
