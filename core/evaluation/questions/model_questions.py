"""Questions with a gold passage, written and checked by a language model.

A model that is asked for a question about a passage may write one that says “he”, that its passage
does not answer, or that many passages answer. So each question is checked: the model is asked it
with one passage at a time and without the answer. From its own passage it must give the answer, and
from the nearest other passages in retrieval it must not. A passage without the words of the answer
cannot give it, and is not read.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.builds.facts import Facts
from core.corpus import Corpus
from core.corpus.quotations import passage_name, single_line
from core.corpus.sentences import sentence_spans
from core.diagnosis.answer_match import contains_answer
from core.evaluation.questions.abstract_questions import MAX_REPLY_LINE_CHARACTERS, QUESTION_MARK
from core.evaluation.questions.name_questions import MadeQuestions
from core.evaluation.questions.named_sentences import spans_of
from core.graph.columns import Table
from core.languages.spelling import fold
from core.models.chat.json_reply import json_reply
from core.models.chat.saved_replies import CachedChat
from core.prompts import make_messages, one_line
from core.runtime.concurrent_work import ConcurrentWork, ProcessorLock
from core.types import Question
from core.watch import NO_WATCH, Watch

WRITTEN_KIND = "written"


@dataclass(frozen=True)
class ModelQuestionDefaults:
    """Limits of questions that a language model writes from one passage."""

    hopeless_time_share: float = 1 / 3
    near_passages: int = 3  # from each search, that may also answer a question
    min_passage_letters: int = 200
    max_answer_words: int = 10
    question_reply_tokens: int = 160
    answer_reply_tokens: int = 40


MODEL_QUESTION_DEFAULTS = ModelQuestionDefaults()
VAGUE_REFERENCE = re.compile(
    r"\b(this|the|the given|the above) (passage|text|document|author|excerpt|article)\b",
    re.IGNORECASE,
)
QUESTION_ANSWER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "question": {"type": "string", "maxLength": MAX_REPLY_LINE_CHARACTERS},
        "answer": {"type": "string", "maxLength": 80},
    },
    "required": ["question", "answer"],
    "additionalProperties": False,
}

UNREADABLE_REPLY = "the reply could not be read, or held no question"
NOT_IN_PASSAGE = "the answer is not in the passage in those words, or is too long"
ANSWER_IN_QUESTION = "the question holds its answer"
NO_NAME_IN_QUESTION = "it names nothing that the passage names"
NOT_ANSWERED = "from its passage alone the model did not give the answer"
OTHER_PASSAGE_ANSWERS = "another passage answers it too"
DUPLICATE_QUESTION = "the question was made already"


@dataclass
class ModelQuestionWriter:
    """Writer of questions with a language model; calling it with its job returns the questions.

    The result has at most `wanted` questions that passed the checks. The work ends after `seconds`.
    It ends earlier if, at the rate of the first part, fewer than `least` questions can be expected
    in all. Every reply is saved, so that the work can be resumed. The order of the passages depends
    on the seed alone. Several passages are asked about concurrently, and their results are counted
    in order.

    Parameters
    ----------
    chunks : the chunks of the corpus.
    facts : the entities of each chunk.
    near : returns the chunks (rows) that retrieval ranks nearest to a question.
    """

    corpus: Corpus
    chunks: Table
    facts: Sequence[Facts]
    chat: CachedChat
    near: Callable[[str], Sequence[int]]
    wanted: int
    seconds: float
    seed: int = 0
    least: int = 0
    clock: Callable[[], float] = time.monotonic
    _watch: Watch = field(default=NO_WATCH, compare=False)

    def __call__(self, watch: Watch) -> MadeQuestions:
        """Return questions of the kind `written`, and how many passages failed for which reason.

        Raises RunCancelled, ModelUnavailable and ModelFailed.
        """
        start = self.clock()
        question_texts = set[str]()
        rejections = Counter[str]()
        questions = list[Question]()
        begun, ended, waiting, processor = 0, 0, dict[int, Question | str](), ProcessorLock()
        # Each passage in flight may give a question. Do not begin more than are still needed, so
        # that the result is that of one passage at a time.
        flight = ConcurrentWork(
            lambda: self.chat.at_once if len(questions) + begun - ended < self.wanted else 0, watch
        )
        self._watch = flight

        def rows() -> Iterator[tuple[int, int]]:
            nonlocal begun
            for index, row in enumerate(self._order()):
                elapsed = self.clock() - start
                if elapsed > self.seconds or self._is_hopeless(len(questions), elapsed):
                    return
                share = max(len(questions) / self.wanted, elapsed / self.seconds)
                watch.report(
                    f"{len(questions):,} of {self.wanted:,} questions written and checked", share
                )
                begun += 1
                yield index, row

        def of_passage(indexed_row: tuple[int, int]) -> Question | str:
            with processor.held():
                return self._write_question(indexed_row[1])

        watch.check()
        for (index, _), passage_result in flight.each(of_passage, rows()):
            waiting[index] = passage_result
            while ended in waiting:  # results are counted in the order of the passages
                result, ended = waiting.pop(ended), ended + 1
                if isinstance(result, str):
                    rejections[result] += 1
                elif fold(result.text) in question_texts:
                    rejections[DUPLICATE_QUESTION] += 1
                else:
                    question_texts.add(fold(result.text))
                    questions.append(
                        Question(
                            result.text,
                            f"{WRITTEN_KIND}-{len(questions) + 1}",
                            answers=result.answers,
                            hops=1,
                            gold=result.gold,
                        )
                    )
        return MadeQuestions({WRITTEN_KIND: questions}, {WRITTEN_KIND: rejections})

    def _is_hopeless(self, count: int, elapsed: float) -> bool:
        """Return whether fewer than `least` questions can be expected at the current rate.

        This is judged once the share `MODEL_QUESTION_DEFAULTS.hopeless_time_share` of the time is
        over.
        """
        return (
            elapsed > MODEL_QUESTION_DEFAULTS.hopeless_time_share * self.seconds
            and count * self.seconds < self.least * elapsed
        )

    def _order(self) -> list[int]:
        """Return the rows of the chunks that are long enough, in the order of the work."""
        order = np.random.default_rng(self.seed).permutation(len(self.chunks)).tolist()
        return [
            row
            for row in order
            if len(self.chunks.text("text", row)) >= MODEL_QUESTION_DEFAULTS.min_passage_letters
        ]

    def _write_question(self, row: int) -> Question | str:
        reply = self._reply(
            "of-passage", row, MODEL_QUESTION_DEFAULTS.question_reply_tokens, QUESTION_ANSWER_SCHEMA
        )
        json_object = json_reply(reply, ("question", "answer"))
        text, answer = (
            one_line(str(json_object.value.get(name, ""))) if json_object else ""
            for name in ("question", "answer")
        )
        answer = answer.strip(" .,;:\"'“”‘’")
        passage = single_line(self.chunks.text("text", row))
        if fault := question_fault(
            text, answer, passage, [entity.name for entity in self.facts[row].entities]
        ):
            return fault
        if not contains_answer(self._answer(row, text), answer):
            return NOT_ANSWERED
        for other_row in self._others(row, text):
            if spans_of(
                single_line(self.chunks.text("text", other_row)), answer
            ) and contains_answer(self._answer(other_row, text), answer):
                return OTHER_PASSAGE_ANSWERS
        return Question(text, answers=(answer,), gold=(self._gold(row, answer),))

    def _reply(
        self, prompt: str, row: int, cap: int, schema: dict[str, Any] | None = None, **values: str
    ) -> str:
        title = self.chunks.text("title", row)
        prompt_messages = make_messages(
            "questions",
            prompt,
            passage=one_line(self.chunks.text("text", row)),
            title=f" from “{title}”" if title else "",
            **values,
        )
        return self.chat.reply(
            prompt_messages, schema=schema, max_tokens=cap, watch=self._watch
        ).text

    def _answer(self, row: int, question: str) -> str:
        return self._reply(
            "from-passage", row, MODEL_QUESTION_DEFAULTS.answer_reply_tokens, question=question
        )

    def _others(self, row: int, question: str) -> list[int]:
        """Return the chunks nearest to a question, without its own chunk and its neighbours.

        Neighbouring chunks of the document may contain parts of the same text.
        """
        document = self.chunks.text("document", row)
        neighbours = {
            one
            for one in (row - 1, row, row + 1)
            if 0 <= one < len(self.chunks) and self.chunks.text("document", one) == document
        }
        return [one for one in dict.fromkeys(self.near(question)) if one not in neighbours]

    def _gold(self, row: int, answer: str) -> str:
        """Return the name of a passage.

        It is the name of its document. If the document has several chunks, the sentence with the
        answer is added.
        """
        document, text = self.chunks.text("document", row), self.chunks.text("text", row)
        if self.chunks.text("id", row) == document:
            return document
        said = [text[start:end] for start, end in sentence_spans(text)]
        return passage_name(
            document, next((one for one in said if spans_of(single_line(one), answer)), text)
        )


def question_fault(question: str, answer: str, passage: str, names: Sequence[str]) -> str:
    """Return why a question and its answer are refused without asking a model.

    Parameters
    ----------
    question, answer : as the model wrote them.
    passage : the passage that they are about.
    names : names in the passage; the question must contain one.

    Returns
    -------
    A few words; empty if they are not refused.

    Examples
    --------
    >>> from core.evaluation.questions.model_questions import question_fault
    >>> passage, names = "Ann Lee built the harbour of Oban in 1881.", ["Ann Lee", "Oban"]
    >>> question_fault("Who built the harbour of Oban?", "Ann Lee", passage, names)
    ''
    >>> (
    ...     question_fault("Who built it?", "Ann Lee", passage, names),
    ...     question_fault("When did Ann Lee build?", "1882", passage, names),
    ... )
    ('it names nothing that the passage names', 'the answer is not in the passage in those words, or
    is too long')
    """
    if not question or not answer or not QUESTION_MARK.search(question):
        return UNREADABLE_REPLY
    if len(answer.split()) > MODEL_QUESTION_DEFAULTS.max_answer_words or not spans_of(
        passage, answer
    ):
        return NOT_IN_PASSAGE
    if spans_of(question, answer):
        return ANSWER_IN_QUESTION
    if VAGUE_REFERENCE.search(question) or not any(spans_of(question, name) for name in names):
        return NO_NAME_IN_QUESTION
    return ""
