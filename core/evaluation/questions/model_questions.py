"""Questions with a gold passage, written and checked by a language model.

A model that is asked for a question about a passage may write one that says “he”, that its passage
does not answer, or that many passages answer. Therefore the model must also answer each question,
from one passage at a time. From the question's own passage it must give the known answer. From the
other passages that retrieval ranks nearest to the question it must not; only those that contain the
words of the answer are tried.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
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

    # Share of the time after which too low a rate of questions ends the work.
    hopeless_time_share: float = 1 / 3
    near_passages: int = 3  # passages of each search that are checked for the answer
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
    """Writer of questions about single passages; calling it with its job returns the questions.

    Every reply is saved, so that the work can be resumed. The order of the passages depends on the
    seed alone. The model is asked about several passages concurrently, and their results are
    counted in order.

    Parameters
    ----------
    chunks : the chunks of the corpus.
    facts : the entities of each chunk.
    chat : the language model, with its saved replies.
    find_nearest_chunks : returns the chunks (rows) that retrieval ranks nearest to a question.
    max_questions : largest number of questions that pass the checks.
    seconds : time after which no further passage is begun.
    min_expected : number of questions that must be expected at the current rate; else the work ends
        early.
    clock : returns the time in seconds.
    """

    corpus: Corpus
    chunks: Table
    facts: Sequence[Facts]
    chat: CachedChat
    find_nearest_chunks: Callable[[str], Sequence[int]]
    max_questions: int
    seconds: float
    seed: int = 0
    min_expected: int = 0
    clock: Callable[[], float] = time.monotonic
    _watch: Watch = field(default=NO_WATCH, compare=False)

    def __call__(self, watch: Watch) -> MadeQuestions:
        """Return questions of the kind `written`, and the number of failed passages by reason.

        Raises RunCancelled, ModelUnavailable and ModelFailed.
        """
        start = self.clock()
        question_texts: set[str] = set()
        rejections: Counter[str] = Counter()
        questions: list[Question] = []
        # Results by index that came before the result of an earlier passage.
        early_results: dict[int, Question | str] = {}
        n_begun = 0
        n_counted = 0
        processor = ProcessorLock()

        def free_slots() -> int:
            # Each open passage may give a question. Do not begin more than are still needed, so
            # that the result is that of one passage at a time.
            is_more_needed = len(questions) + n_begun - n_counted < self.max_questions
            return self.chat.max_concurrent if is_more_needed else 0

        work = ConcurrentWork(free_slots, watch)
        self._watch = work

        def rows() -> Iterator[tuple[int, int]]:
            nonlocal n_begun
            for index, row in enumerate(self._order()):
                elapsed = self.clock() - start
                if elapsed > self.seconds or self._is_hopeless(len(questions), elapsed):
                    return
                share = max(len(questions) / self.max_questions, elapsed / self.seconds)
                watch.report(
                    f"{len(questions):,} of {self.max_questions:,} questions written and checked",
                    share,
                )
                n_begun += 1
                yield index, row

        def write_question(indexed_row: tuple[int, int]) -> Question | str:
            with processor.hold():
                return self._write_question(indexed_row[1])

        watch.check()
        for (index, _), passage_result in work.run_each(write_question, rows()):
            early_results[index] = passage_result
            while n_counted in early_results:
                result = early_results.pop(n_counted)
                n_counted += 1
                if isinstance(result, str):
                    rejections[result] += 1
                elif fold(result.text) in question_texts:
                    rejections[DUPLICATE_QUESTION] += 1
                else:
                    question_texts.add(fold(result.text))
                    id = f"{WRITTEN_KIND}-{len(questions) + 1}"
                    questions.append(replace(result, id=id, hops=1))
        return MadeQuestions({WRITTEN_KIND: questions}, {WRITTEN_KIND: rejections})

    def _is_hopeless(self, count: int, elapsed: float) -> bool:
        """Return whether fewer than `min_expected` questions can be expected at the current rate.

        It is False until the share `MODEL_QUESTION_DEFAULTS.hopeless_time_share` of the time is
        over.
        """
        is_rate_known = elapsed > MODEL_QUESTION_DEFAULTS.hopeless_time_share * self.seconds
        return is_rate_known and count * self.seconds < self.min_expected * elapsed

    def _order(self) -> list[int]:
        """Return the rows of the chunks that are long enough, in random order."""
        order = np.random.default_rng(self.seed).permutation(len(self.chunks)).tolist()
        min_letters = MODEL_QUESTION_DEFAULTS.min_passage_letters
        return [row for row in order if len(self.chunks.text("text", row)) >= min_letters]

    def _write_question(self, row: int) -> Question | str:
        """Return a question on a chunk, or the reason for none.

        A question must pass the checks.
        """
        reply = self._reply(
            "of-passage", row, MODEL_QUESTION_DEFAULTS.question_reply_tokens, QUESTION_ANSWER_SCHEMA
        )
        json_object = json_reply(reply, ("question", "answer"))
        values = json_object.value if json_object else {}
        text, answer = (one_line(str(values.get(name, ""))) for name in ("question", "answer"))
        answer = answer.strip(" .,;:\"'“”‘’")
        names = [entity.name for entity in self.facts[row].entities]
        fault = question_fault(text, answer, single_line(self.chunks.text("text", row)), names)
        if fault:
            return fault
        if not contains_answer(self._answer(row, text), answer):
            return NOT_ANSWERED
        for other_row in self._nearest_others(row, text):
            other_passage = single_line(self.chunks.text("text", other_row))
            has_words = bool(spans_of(other_passage, answer))
            if has_words and contains_answer(self._answer(other_row, text), answer):
                return OTHER_PASSAGE_ANSWERS
        return Question(text, answers=(answer,), gold=(self._gold_name(row, answer),))

    def _reply(
        self,
        prompt: str,
        row: int,
        max_tokens: int,
        schema: dict[str, Any] | None = None,
        **values: str,
    ) -> str:
        title = self.chunks.text("title", row)
        messages = make_messages(
            "questions",
            prompt,
            passage=one_line(self.chunks.text("text", row)),
            title=f" from “{title}”" if title else "",
            **values,
        )
        reply = self.chat.reply(messages, schema=schema, max_tokens=max_tokens, watch=self._watch)
        return reply.text

    def _answer(self, row: int, question: str) -> str:
        """Return the model's answer to a question from one chunk alone."""
        return self._reply(
            "from-passage", row, MODEL_QUESTION_DEFAULTS.answer_reply_tokens, question=question
        )

    def _nearest_others(self, row: int, question: str) -> list[int]:
        """Return the chunks nearest to a question, without its own chunk and its neighbours.

        Neighbouring chunks of the document may contain parts of the same text.
        """
        document = self.chunks.text("document", row)
        nearest = dict.fromkeys(self.find_nearest_chunks(question))
        return [
            other
            for other in nearest
            if abs(other - row) > 1 or self.chunks.text("document", other) != document
        ]

    def _gold_name(self, row: int, answer: str) -> str:
        """Return the name of a gold passage.

        If needed, it has the sentence with the answer.
        """
        return gold_passage_name(
            self.chunks, row, lambda sentence: bool(spans_of(single_line(sentence), answer))
        )


def gold_passage_name(chunks: Table, row: int, is_quotable: Callable[[str], bool]) -> str:
    """Return the name of a chunk as a gold passage.

    Parameters
    ----------
    chunks : the chunks of a graph.
    row : row of the chunk.
    is_quotable : returns True for a sentence that may identify the chunk.

    Returns
    -------
    The id of the document, if it has no other chunk. Else the id with a quotation, which
    `core.corpus.quotations` reads: the first quotable sentence, or the text if there is none.
    """
    document = chunks.text("document", row)
    if chunks.text("id", row) == document:
        return document
    text = chunks.text("text", row)
    sentences = (text[start:end] for start, end in sentence_spans(text))
    return passage_name(document, next(filter(is_quotable, sentences), text))


def question_fault(question: str, answer: str, passage: str, names: Sequence[str]) -> str:
    """Return why a question is rejected before the model is asked to answer it.

    Parameters
    ----------
    question, answer : as the model wrote them.
    passage : the passage that they are about, on one line.
    names : names in the passage; the question must contain one.

    Returns
    -------
    The reason in a few words; empty if the question is not rejected.

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
    is_long = len(answer.split()) > MODEL_QUESTION_DEFAULTS.max_answer_words
    if is_long or not spans_of(passage, answer):
        return NOT_IN_PASSAGE
    if spans_of(question, answer):
        return ANSWER_IN_QUESTION
    if VAGUE_REFERENCE.search(question) or not any(spans_of(question, name) for name in names):
        return NO_NAME_IN_QUESTION
    return ""
