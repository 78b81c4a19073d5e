"""Questions about two linked passages of a corpus graph, whose answer needs both.

They follow FastInsight, section 4.2.1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.corpus import Corpus
from core.corpus.quoted import passage_name
from core.corpus.sentences import sentences
from core.errors import BadInput
from core.evaluation.questions.from_model import SAME, UNREADABLE, VAGUE
from core.evaluation.questions.writing import ASKS, LONGEST, ROLE, Written
from core.graph.columns import Table
from core.graph.store import Graph
from core.graph.texts import leaves
from core.io.durations import with_time_left
from core.languages.spelling import fold
from core.models.base import Models
from core.models.chat.json_reply import json_reply
from core.models.chat.saved_replies import CachedChat, SavedReplies
from core.prompts import messages, plain
from core.runtime.flight import Flight
from core.types import Question
from core.watch import NO_WATCH, Watch

LINKED = "linked"  # prefix of the ids of these questions
TRIES = 3  # maximum pairs of passages per wanted question
MAX_COUNT = 10_000
REPLY_TOKENS = 160
# Minimum characters of the sentence that names a passage of a longer document.
QUOTED = 40
SHOWN = 4096  # characters of a passage that the model reads
PASSAGE = re.compile(r"\bpassages?\b", re.IGNORECASE)
NAMES_PASSAGE = "it speaks of a passage or document, and not of what is in it"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"question": {"type": "string", "maxLength": LONGEST}},
    "required": ["question"],
    "additionalProperties": False,
}


@dataclass
class LinkedWriting:
    """Writer of questions about linked passages; calling it with its job returns the questions.

    A pair is two linked nodes of a corpus graph that belong to different documents. The choice of
    pairs depends on the seed alone. The result has `count` questions, or as many as `TRIES` times
    that number of pairs gave. Both passages of a pair are gold. As in the paper, nothing checks
    that both are needed. Raises BadInput if the graph has no such pair or no question was written,
    Cancelled, ModelUnavailable and ModelFailed.
    """

    corpus: Corpus
    graph: Graph
    models: Models
    count: int
    role: str = ROLE
    seed: int = 0
    saved: SavedReplies | None = None
    kind: str = "questions to two linked passages each"

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MAX_COUNT:
            raise BadInput(
                f"1 to {MAX_COUNT:,} questions to linked passages can be written, not "
                f"{self.count:,}."
            )

    def __call__(self, watch: Watch) -> Written:
        pairs = linked_pairs(self.graph, self.seed)
        if not pairs:
            raise BadInput(
                f"The graph of {self.corpus.name} has no links between passages of different "
                "documents."
            )
        chat = CachedChat(
            lambda: self.models.chat(self.role),
            self.models.weights(self.role),
            self.saved or SavedReplies(),
        )
        watch = with_time_left(watch)
        found, left, asked = dict[str, Question](), Counter[str](), 0
        while len(found) < self.count and asked < min(len(pairs), TRIES * self.count):
            batch = pairs[asked : asked + min(self.count - len(found), TRIES * self.count - asked)]
            watch.report(
                f"{len(found):,} of {self.count:,} questions written", len(found) / self.count
            )
            for pair, reply in zip(batch, self._replies(chat, batch, watch)):
                text, fault = question_in(reply)
                fault = fault or (SAME if fold(text) in found else "")
                if fault:
                    left[fault] += 1
                else:
                    gold = tuple(gold_name(self._chunks, row) for row in pair)
                    found[fold(text)] = Question(
                        text, f"{LINKED}-{len(found) + 1}", gold=gold, abstract=True
                    )
            asked += len(batch)
        notes = tuple(self._notes(len(found), asked, left))
        if not found:
            raise BadInput(f"No question came of it. {' '.join(notes)}")
        return Written(tuple(found.values()), "", notes)

    @property
    def _chunks(self) -> Table:
        assert self.graph.columns.chunks is not None  # a graph without chunks has no pairs
        return self.graph.columns.chunks

    def _replies(
        self, chat: CachedChat, pairs: Sequence[tuple[int, int]], watch: Watch
    ) -> list[str]:
        """Return the reply to each pair, with as many concurrent requests as the model takes."""
        flight = Flight(lambda: chat.at_once, watch)
        found = dict(flight.each(lambda pair: self._asked(chat, pair, flight), pairs))
        return [found[pair] for pair in pairs]

    def _asked(self, chat: CachedChat, pair: tuple[int, int], watch: Watch = NO_WATCH) -> str:
        shown = [plain(self._chunks.text("text", row))[:SHOWN] for row in pair]
        titles = [
            f" from “{title}”" if (title := self._chunks.text("title", row)) else "" for row in pair
        ]
        asked = messages(
            "questions",
            "of-linked",
            first=shown[0],
            second=shown[1],
            one=titles[0],
            other=titles[1],
        )
        return chat.reply(asked, schema=SCHEMA, max_tokens=REPLY_TOKENS, watch=watch).text

    def _notes(self, found: int, asked: int, left: Counter[str]) -> Iterator[str]:
        for reason, times in left.most_common():
            yield f"{times:,} of {asked:,} pairs gave no question: {reason}."
        if found < self.count:
            yield f"{found:,} of {self.count:,} questions were written."


def linked_pairs(graph: Graph, seed: int = 0) -> list[tuple[int, int]]:
    """Return the pairs of chunks (rows) that are linked nodes of different documents.

    Each pair occurs once. The order depends on the seed alone.
    """
    chunks, own = graph.columns.chunks, leaves(graph, np.arange(graph.n_nodes))
    if chunks is None or not own:
        return []
    documents = chunks.texts("document")
    heads, _, tails = graph.triples(np.arange(graph.n_edges))
    rows = {
        (own[a], own[b]) for a, b in zip(heads.tolist(), tails.tolist()) if a in own and b in own
    }
    pairs = sorted(
        (a, b) for a, b in rows if documents[a] != documents[b] and ((b, a) not in rows or a < b)
    )
    return [pairs[place] for place in np.random.default_rng(seed).permutation(len(pairs)).tolist()]


def question_in(reply: str) -> tuple[str, str]:
    """Return the question in a reply, and why it is unusable.

    The reason is empty if the question can be used.

    >>> from core.evaluation.questions.linked import question_in
    >>> (
    ...     question_in('{"question": "Who wrote the tool that LIDA names?"}'),
    ...     question_in("I cannot")[1],
    ... )
    (('Who wrote the tool that LIDA names?', ''), 'the reply could not be read, or held no
    question')
    """
    found = json_reply(reply, ("question",))
    text = plain(str(found.value["question"])) if found else ""
    if not ASKS.search(text):
        return "", UNREADABLE
    return ("", NAMES_PASSAGE) if VAGUE.search(text) or PASSAGE.search(text) else (text, "")


def gold_name(chunks: Table, row: int) -> str:
    """Return the name of a chunk as a gold passage.

    It is the name of its document. If the document has several chunks, a sentence of the chunk is
    added.
    """
    document, text = chunks.text("document", row), chunks.text("text", row)
    if chunks.text("id", row) == document:
        return document
    said = [text[start:end] for start, end in sentences(text)]
    return passage_name(document, next((one for one in said if len(one) >= QUOTED), text))
