"""Sentences of chunks on which the sentences of an answer most likely rest.

Also the spans of a text that contain given names, to mark them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.corpus.sentences import sentence_spans
from core.diagnosis.answer_match import YES_NO_ANSWERS
from core.diagnosis.passages import retrieved_chunks, shown_chunks
from core.graph.protocol import KnowledgeGraph
from core.graph.texts import chunk_text, hit_names
from core.languages.spelling import end_offset, fold, fold_with_offsets, normalize
from core.models.base import Encoder
from core.types import State, SupportingSentence
from core.watch import NO_WATCH, Watch

MAX_COMPARED_SENTENCES = 400  # sentences of chunks that are compared, the first ones
LIKELY_COSINE = 0.6  # from this cosine on, a sentence likely rests on another
POSSIBLE_COSINE = 0.4  # from this cosine on, it perhaps does
TextSpan = tuple[int, int]  # indices of the first character and of the one after the last
ChunkSentence = tuple[int, TextSpan]  # a chunk's row and a sentence of it
# Scripts without spaces between words, in which each letter counts as a word.
UNSPACED_SCRIPT_LETTERS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
ANSWER_WORD = re.compile(rf"[{UNSPACED_SCRIPT_LETTERS}]|[^\W_{UNSPACED_SCRIPT_LETTERS}]+")
SKIPPED_ARTICLES = ("a", "an", "the")


@dataclass(frozen=True)
class Support:
    """A sentence of the answer, with the most similar chunk sentence.

    `start` and `end` delimit the sentence in the answer, and `chunk_span` the one in the chunk.
    `chunk` is the row of the chunk, and `score` the cosine.
    """

    start: int
    end: int
    chunk: int
    chunk_span: TextSpan
    score: float


def find_supports(
    graph: KnowledgeGraph, state: State, encoder: Encoder, watch: Watch = NO_WATCH
) -> tuple[Support, ...]:
    """Return, for each sentence of the answer, the most similar sentence of the chunks.

    The chunks are those in the prompt, or without a prompt those retrieved. Similarity is the
    cosine of the encoder's vectors. Ties go to the first sentence of the first chunk. The result is
    empty if there is no answer or no chunk. The model need not have used the most similar sentence.
    """
    supports_found = []
    for (start, end), sentences, cosines in _compare_sentences(graph, state, encoder, watch):
        best = int(cosines.argmax())
        supports_found.append(Support(start, end, *sentences[best], float(cosines[best])))
    return tuple(supports_found)


def find_supporting_sentences(
    graph: KnowledgeGraph, state: State, encoder: Encoder, watch: Watch = NO_WATCH
) -> tuple[SupportingSentence, ...]:
    """Return the sentence that each sentence of the answer rests on.

    It is the most likely one. It differs from `find_supports` in two respects. The result has ids
    of chunks. And a sentence that contains all words of the answer's sentence comes before all
    others, because short answers such as a name or a year are similar to no whole sentence. A bare
    yes or no counts as contained in none.

    >>> from core.diagnosis.support import find_supporting_sentences
    >>> from core.types import Question, Ranking, State
    >>> from tests.films import Bag
    >>> state = State(Question("Who was lame?"), chunks=Ranking("chunk", (0, 2)),
    ...     answer="Tiny Tim.")
    >>> [(rest.chunk, rest.words) for rest in find_supporting_sentences(story, state, Bag())]
    [('carol#2', True)]
    """
    rests_found = []
    answer = state.answer or ""
    for (start, end), sentences, cosines in _compare_sentences(graph, state, encoder, watch):
        sentence_text = answer[start:end]
        names = [sentence_text] if normalize(sentence_text) not in YES_NO_ANSWERS else []
        containing = [
            index
            for index, (row, (begin, stop)) in enumerate(sentences)
            if name_spans(chunk_text(graph, row)[begin:stop], names)
        ]
        best = max(containing or range(len(sentences)), key=lambda index: (cosines[index], -index))
        row, span = sentences[best]
        rests_found.append(
            SupportingSentence(
                start,
                end,
                hit_names(graph, "chunk", [row])[0],
                span,
                float(cosines[best]),
                bool(containing),
            )
        )
    return tuple(rests_found)


def support_level(support: SupportingSentence) -> str:
    """Return how sure a support is: `words`, `alike`, `maybe` or `none`.

    `words` means that the sentence of the chunk contains the words. The others depend on the
    cosine.
    """
    if support.words:
        return "words"
    if support.score >= LIKELY_COSINE:
        return "alike"
    if support.score >= POSSIBLE_COSINE:
        return "maybe"
    return "none"


def _compare_sentences(
    graph: KnowledgeGraph, state: State, encoder: Encoder, watch: Watch = NO_WATCH
) -> Iterator[tuple[TextSpan, list[ChunkSentence], Any]]:
    """Yield each sentence of the answer with the chunks' sentences.

    A tuple has the span of a sentence of the answer, all sentences of the chunks, and their
    cosines. The chunks are those in the prompt, or without a prompt those retrieved.
    """
    answer = state.answer or ""
    rows = sorted(shown_chunks(graph, state) or retrieved_chunks(graph, state) or ())
    answer_sentences = sentence_spans(answer)
    texts = {row: chunk_text(graph, row) for row in rows}
    chunk_sentences: list[ChunkSentence] = []
    for row, text in texts.items():
        chunk_sentences += [(row, span) for span in sentence_spans(text)]
    chunk_sentences = chunk_sentences[:MAX_COMPARED_SENTENCES]
    if not answer_sentences or not chunk_sentences:
        return
    chunk_vectors = encoder.encode(
        [texts[row][start:end] for row, (start, end) in chunk_sentences], watch
    )
    answer_vectors = encoder.encode([answer[start:end] for start, end in answer_sentences], watch)
    yield from zip(
        answer_sentences,
        [chunk_sentences] * len(answer_sentences),
        np.round(answer_vectors.astype(np.float64) @ chunk_vectors.T.astype(np.float64), 6),
    )


def name_spans(text: str, names: Iterable[str]) -> tuple[TextSpan, ...]:
    """Return the spans of a text that have a name's words.

    Each span has the words of one of the names. They are ascending and do not overlap; of spans
    with the same start the longest is taken. Case, typography, punctuation and articles are
    ignored.

    >>> from core.diagnosis.support import name_spans
    >>> text = "Scrooge, the miser, met Tim. Tiny Tim!"
    >>> [text[start:end] for start, end in name_spans(text, ["tiny tim", "Tim", "a miser"])]
    ['miser', 'Tim', 'Tiny Tim']
    """
    folded, offsets = fold_with_offsets(text)
    words = [  # (start, end, word)
        (offsets[match.start()], end_offset(offsets, match.end()), match.group())
        for match in ANSWER_WORD.finditer(folded)
    ]
    text_words = [word for word in words if word[2] not in SKIPPED_ARTICLES]
    spans_found: list[TextSpan] = []
    for name in names:
        name_words = [
            word for word in ANSWER_WORD.findall(fold(name)) if word not in SKIPPED_ARTICLES
        ]
        for i in range(len(text_words) - len(name_words) + 1) if name_words else ():
            if [word for _, _, word in text_words[i : i + len(name_words)]] == name_words:
                spans_found.append((text_words[i][0], text_words[i + len(name_words) - 1][1]))
    spans: list[TextSpan] = []
    for span in sorted(spans_found, key=lambda span: (span[0], -span[1])):  # longest first
        if not spans or span[0] >= spans[-1][1]:
            spans.append(span)
    return tuple(spans)
