"""On which chunk a sentence of an answer most likely rests, and where a text holds the words of a name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from core.corpus.sentences import sentences
from core.diagnosis.funnel_texts import retrieved_chunks, shown_chunks
from core.graph.protocol import KnowledgeGraph
from core.graph.told import chunk_text
from core.models.base import Encoder
from core.types import State

MOST = 400  # sentences of chunks that are compared
Span = tuple[int, int]
UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # scripts that write no spaces between words: each letter is one
WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
ARTICLES = ("a", "an", "the")


@dataclass(frozen=True)
class Support:
    """A sentence of the answer, from `start` to `end`, and what is nearest to it: the sentence at `place` of a chunk, with its cosine."""

    start: int
    end: int
    chunk: int
    place: Span
    score: float


def supports(graph: KnowledgeGraph, state: State, encoder: Encoder, check: Callable[[], None] = lambda: None) -> tuple[Support, ...]:
    """For each sentence of the answer the nearest sentence of the chunks that the prompt showed, else of those that were found.

    By the cosine of the encoder's vectors, of equal ones the first of the first chunk. None where there is no answer or no chunk. It tells
    what is alike, not what the model used.
    """
    answer, rows = state.answer or "", sorted(shown_chunks(graph, state) or retrieved_chunks(graph, state) or ())
    said = sentences(answer)
    texts = {row: chunk_text(graph, row) for row in rows}
    told = [(row, span) for row, text in texts.items() for span in sentences(text)][:MOST]
    if not said or not told:
        return ()
    known = encoder.encode([texts[row][start:end] for row, (start, end) in told], check)
    asked = encoder.encode([answer[start:end] for start, end in said], check)
    cosines = np.round(asked.astype(np.float64) @ known.T.astype(np.float64), 6)
    best = cosines.argmax(axis=1)
    found = []
    for i, ((start, end), at) in enumerate(zip(said, best.tolist())):
        row, place = told[at]
        found.append(Support(start, end, row, place, float(cosines[i, at])))
    return tuple(found)


def marks(text: str, names: Iterable[str]) -> tuple[Span, ...]:
    """Where a text holds the words of one of the names, case, punctuation and articles aside; ascending, none inside another.

    >>> from core.diagnosis.support import marks
    >>> text = "Scrooge, the miser, met Tim. Tiny Tim!"
    >>> [text[start:end] for start, end in marks(text, ["tiny tim", "Tim", "a miser"])]
    ['miser', 'Tim', 'Tiny Tim']
    """
    words = [(match.start(), match.end(), match.group().casefold()) for match in WORD.finditer(text)]
    plain = [word for word in words if word[2] not in ARTICLES]
    found: list[Span] = []
    for name in names:
        wanted = [word for word in map(str.casefold, WORD.findall(name)) if word not in ARTICLES]
        for at in range(len(plain) - len(wanted) + 1) if wanted else ():
            if [word for _, _, word in plain[at : at + len(wanted)]] == wanted:
                found.append((plain[at][0], plain[at + len(wanted) - 1][1]))
    kept: list[Span] = []
    for span in sorted(found, key=lambda span: (span[0], -span[1])):
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return tuple(kept)
