"""Chunks that the sentences of an answer most likely rest on, and names marked in texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.corpus.sentences import sentences
from core.diagnosis.matching import BARE
from core.diagnosis.passages import retrieved_chunks, shown_chunks
from core.graph.protocol import KnowledgeGraph
from core.graph.texts import chunk_text, hit_names
from core.languages.spelling import fold, fold_with_places, normalize, place_behind
from core.models.base import Encoder
from core.types import Rest, State
from core.watch import NO_WATCH, Watch

MOST = 400  # sentences of chunks that are compared
ALIKE, MAYBE = 0.6, 0.4  # cosines from which a sentence likely, or perhaps, rests on another
Span = tuple[int, int]
Place = tuple[int, Span]  # a chunk's row and a sentence of it
# Scripts without spaces between words, in which each letter counts as a word.
UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
ARTICLES = ("a", "an", "the")


@dataclass(frozen=True)
class Support:
    """A sentence of the answer, and the sentence of a chunk that is most similar to it.

    `start` and `end` are the answer's characters, and `place` those of the chunk. `score` is the
    cosine.
    """

    start: int
    end: int
    chunk: int
    place: Span
    score: float


def supports(
    graph: KnowledgeGraph, state: State, encoder: Encoder, watch: Watch = NO_WATCH
) -> tuple[Support, ...]:
    """Return, for each sentence of the answer, the most similar sentence of the chunks.

    The chunks are those in the prompt, else those found. Similarity is the cosine of the encoder's
    vectors. Ties go to the first sentence of the first chunk. The result is empty where there is no
    answer or no chunk. It tells what is similar, not what the model used.
    """
    found = []
    for (start, end), places, cosines in _likeness(graph, state, encoder, watch):
        best = int(cosines.argmax())
        found.append(Support(start, end, *places[best], float(cosines[best])))
    return tuple(found)


def rests(
    graph: KnowledgeGraph, state: State, encoder: Encoder, watch: Watch = NO_WATCH
) -> tuple[Rest, ...]:
    """Return, for each sentence of the answer, the sentence that it most likely rests on.

    It works as `supports`, with ids of chunks. Sentences that contain all words of the answer's
    sentence come before all others. Short answers such as a name or a year are similar to no whole
    sentence. A bare yes or no is contained in none.

    >>> from core.diagnosis.support import rests
    >>> from core.types import Question, Ranking, State
    >>> from tests.films import Bag
    >>> state = State(Question("Who was lame?"), chunks=Ranking("chunk", (0, 2)),
    ...     answer="Tiny Tim.")
    >>> [(one.chunk, one.words) for one in rests(story, state, Bag())]
    [('carol#2', True)]
    """
    found, answer = [], state.answer or ""
    for (start, end), places, cosines in _likeness(graph, state, encoder, watch):
        said = answer[start:end]
        sought = [said] if normalize(said) not in BARE else []
        holds = [
            place
            for place, (row, (at, to)) in enumerate(places)
            if marks(chunk_text(graph, row)[at:to], sought)
        ]
        best = max(holds or range(len(places)), key=lambda place: (cosines[place], -place))
        row, span = places[best]
        found.append(
            Rest(
                start,
                end,
                hit_names(graph, "chunk", [row])[0],
                span,
                float(cosines[best]),
                bool(holds),
            )
        )
    return tuple(found)


def sureness(rest: Rest) -> str:
    """Return how sure a support is: `words`, `alike`, `maybe` or `none`.

    `words` means that the chunk contains the words. The others are by the cosine.
    """
    if rest.words:
        return "words"
    if rest.score >= ALIKE:
        return "alike"
    if rest.score >= MAYBE:
        return "maybe"
    return "none"


def _likeness(
    graph: KnowledgeGraph, state: State, encoder: Encoder, watch: Watch = NO_WATCH
) -> Iterator[tuple[Span, list[Place], Any]]:
    """Yield, for each sentence of the answer, the chunks' sentences and their cosines.

    The chunks are those in the prompt, else those found.
    """
    answer, rows = (
        state.answer or "",
        sorted(shown_chunks(graph, state) or retrieved_chunks(graph, state) or ()),
    )
    said = sentences(answer)
    texts = {row: chunk_text(graph, row) for row in rows}
    found = [(row, span) for row, text in texts.items() for span in sentences(text)][:MOST]
    if not said or not found:
        return
    known = encoder.encode([texts[row][start:end] for row, (start, end) in found], watch)
    asked = encoder.encode([answer[start:end] for start, end in said], watch)
    yield from zip(
        said,
        [found] * len(said),
        np.round(asked.astype(np.float64) @ known.T.astype(np.float64), 6),
    )


def marks(text: str, names: Iterable[str]) -> tuple[Span, ...]:
    """Return the spans in which a text contains the words of one of the names.

    They are ascending, none inside another. Case, typography, punctuation and articles are ignored.

    >>> from core.diagnosis.support import marks
    >>> text = "Scrooge, the miser, met Tim. Tiny Tim!"
    >>> [text[start:end] for start, end in marks(text, ["tiny tim", "Tim", "a miser"])]
    ['miser', 'Tim', 'Tiny Tim']
    """
    folded, places = fold_with_places(text)
    words = [
        (places[match.start()], place_behind(places, match.end()), match.group())
        for match in WORD.finditer(folded)
    ]
    plain = [word for word in words if word[2] not in ARTICLES]
    found: list[Span] = []
    for name in names:
        wanted = [word for word in WORD.findall(fold(name)) if word not in ARTICLES]
        for at in range(len(plain) - len(wanted) + 1) if wanted else ():
            if [word for _, _, word in plain[at : at + len(wanted)]] == wanted:
                found.append((plain[at][0], plain[at + len(wanted) - 1][1]))
    retained: list[Span] = []
    for span in sorted(found, key=lambda span: (span[0], -span[1])):
        if not retained or span[0] >= retained[-1][1]:
            retained.append(span)
    return tuple(retained)
