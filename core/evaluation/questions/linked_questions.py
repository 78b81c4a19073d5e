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
from core.errors import BadInput
from core.evaluation.questions.abstract_questions import (
    MAX_REPLY_LINE_CHARACTERS,
    QUESTION_MARK,
    QUESTION_WRITER_ROLE,
    WrittenQuestions,
)
from core.evaluation.questions.model_questions import (
    DUPLICATE_QUESTION,
    UNREADABLE_REPLY,
    VAGUE_REFERENCE,
    gold_passage_name,
)
from core.graph.columns import Table
from core.graph.store import Graph
from core.graph.texts import chunk_nodes
from core.io.durations import with_time_left
from core.languages.spelling import fold
from core.models.base import Models
from core.models.chat.json_reply import json_reply
from core.models.chat.saved_replies import CachedChat, SavedReplies
from core.prompts import make_messages, one_line
from core.runtime.concurrent_work import ConcurrentWork
from core.types import Question
from core.watch import NO_WATCH, Watch

LINKED_ID_PREFIX = "linked"  # prefix of the ids of these questions
MAX_PAIRS_PER_QUESTION = 3  # maximum pairs of passages per requested question
MAX_LINKED_QUESTIONS = 10_000
LINKED_REPLY_TOKENS = 160
# Minimum characters of the sentence that names a passage of a longer document.
MIN_QUOTED_CHARACTERS = 40
MAX_LINKED_PASSAGE_CHARACTERS = 4096
PASSAGE_WORD = re.compile(r"\bpassages?\b", re.IGNORECASE)
PASSAGE_MENTIONED = "it speaks of a passage or document, and not of what is in it"
LINKED_QUESTION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"question": {"type": "string", "maxLength": MAX_REPLY_LINE_CHARACTERS}},
    "required": ["question"],
    "additionalProperties": False,
}


@dataclass
class LinkedQuestionWriter:
    """Writer of questions about linked passages; calling it with its job returns the questions.

    A pair is two linked nodes of a corpus graph that belong to different documents. The choice of
    pairs depends on the seed alone. The result has `count` questions, or fewer if
    `MAX_PAIRS_PER_QUESTION` times as many pairs do not give them. Both passages of a pair are gold.
    As in the paper, nothing checks that both are needed. The call raises BadInput if the graph has
    no such pair or no question was written, RunCancelled, ModelUnavailable and ModelFailed.

    Parameters
    ----------
    graph : a graph of the corpus whose chunks are nodes.
    count : number of questions to write, from 1 to `MAX_LINKED_QUESTIONS`.
    role : role or name of the language model.
    saved : replies of earlier calls, so that the work can be resumed; None for the user's own.
    kind : kind of the questions, for the title of their set.
    """

    corpus: Corpus
    graph: Graph
    models: Models
    count: int
    role: str = QUESTION_WRITER_ROLE
    seed: int = 0
    saved: SavedReplies | None = None
    kind: str = "questions to two linked passages each"

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MAX_LINKED_QUESTIONS:
            raise BadInput(
                f"1 to {MAX_LINKED_QUESTIONS:,} questions to linked passages can be written, not "
                f"{self.count:,}."
            )

    def __call__(self, watch: Watch) -> WrittenQuestions:
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
        pairs = pairs[: MAX_PAIRS_PER_QUESTION * self.count]
        questions: dict[str, Question] = {}
        rejections: Counter[str] = Counter()
        asked_count = 0
        while len(questions) < self.count and asked_count < len(pairs):
            batch = pairs[asked_count : asked_count + self.count - len(questions)]
            watch.report(
                f"{len(questions):,} of {self.count:,} questions written",
                len(questions) / self.count,
            )
            for pair, reply in zip(batch, self._replies(chat, batch, watch)):
                text, fault = parse_question(reply)
                fault = fault or (DUPLICATE_QUESTION if fold(text) in questions else "")
                if fault:
                    rejections[fault] += 1
                else:
                    id = f"{LINKED_ID_PREFIX}-{len(questions) + 1}"
                    gold = tuple(gold_name(self._chunks, row) for row in pair)
                    questions[fold(text)] = Question(text, id, gold=gold, abstract=True)
            asked_count += len(batch)
        notes = tuple(self._notes(len(questions), asked_count, rejections))
        if not questions:
            raise BadInput(f"No question came of it. {' '.join(notes)}")
        return WrittenQuestions(tuple(questions.values()), "", notes)

    @property
    def _chunks(self) -> Table:
        assert self.graph.columns.chunks is not None  # a graph without chunks has no pairs
        return self.graph.columns.chunks

    def _replies(
        self, chat: CachedChat, pairs: Sequence[tuple[int, int]], watch: Watch
    ) -> list[str]:
        """Return the reply to each pair.

        There are as many concurrent requests as the model takes.
        """
        work = ConcurrentWork(lambda: chat.max_concurrent, watch)
        replies = dict(work.run_each(lambda pair: self._ask(chat, pair, work), pairs))
        return [replies[pair] for pair in pairs]

    def _ask(self, chat: CachedChat, pair: tuple[int, int], watch: Watch = NO_WATCH) -> str:
        """Return the model's reply to a request for a question.

        The question is about a pair of chunks.
        """
        first, second = (
            one_line(self._chunks.text("text", row))[:MAX_LINKED_PASSAGE_CHARACTERS] for row in pair
        )
        titles = [self._chunks.text("title", row) for row in pair]
        first_title, second_title = (f" from “{title}”" if title else "" for title in titles)
        messages = make_messages(
            "questions",
            "of-linked",
            first=first,
            second=second,
            one=first_title,
            other=second_title,
        )
        reply = chat.reply(
            messages, schema=LINKED_QUESTION_SCHEMA, max_tokens=LINKED_REPLY_TOKENS, watch=watch
        )
        return reply.text

    def _notes(self, count: int, pair_count: int, rejections: Counter[str]) -> Iterator[str]:
        for reason, times in rejections.most_common():
            yield f"{times:,} of {pair_count:,} pairs gave no question: {reason}."
        if count < self.count:
            yield f"{count:,} of {self.count:,} questions were written."


def linked_pairs(graph: Graph, seed: int = 0) -> list[tuple[int, int]]:
    """Return the pairs of chunks (rows) that are linked nodes of different documents.

    Each pair occurs once. The order depends on the seed alone.

    Parameters
    ----------
    graph : a corpus graph whose chunks are nodes.
    seed : seed of the order.

    Returns
    -------
    Rows of the two chunks of each pair; empty for other graphs.
    """
    chunks = graph.columns.chunks
    node_rows = chunk_nodes(graph, np.arange(graph.n_nodes))
    if chunks is None or not node_rows:
        return []
    documents = chunks.texts("document")
    heads, _, tails = graph.triples(np.arange(graph.n_edges))
    rows = {
        (node_rows[a], node_rows[b])
        for a, b in zip(heads.tolist(), tails.tolist())
        if a in node_rows and b in node_rows
    }
    # Of a pair that is linked in both directions, the ascending one is used.
    pairs = sorted(
        (a, b) for a, b in rows if documents[a] != documents[b] and ((b, a) not in rows or a < b)
    )
    return [pairs[index] for index in np.random.default_rng(seed).permutation(len(pairs)).tolist()]


def parse_question(reply: str) -> tuple[str, str]:
    """Return the question in a reply, and the reason why it cannot be used.

    One of the two is empty.

    >>> from core.evaluation.questions.linked_questions import parse_question
    >>> (
    ...     parse_question('{"question": "Who wrote the tool that LIDA names?"}'),
    ...     parse_question("I cannot")[1],
    ... )
    (('Who wrote the tool that LIDA names?', ''), 'the reply could not be read, or held no
    question')
    """
    json_object = json_reply(reply, ("question",))
    text = one_line(str(json_object.value["question"])) if json_object else ""
    if not QUESTION_MARK.search(text):
        return "", UNREADABLE_REPLY
    if VAGUE_REFERENCE.search(text) or PASSAGE_WORD.search(text):
        return "", PASSAGE_MENTIONED
    return text, ""


def gold_name(chunks: Table, row: int) -> str:
    """Return the name of a chunk as a gold passage.

    It quotes the first long sentence of the chunk if needed.
    """
    return gold_passage_name(chunks, row, lambda sentence: len(sentence) >= MIN_QUOTED_CHARACTERS)
