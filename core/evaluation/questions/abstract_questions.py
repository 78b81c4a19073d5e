"""Abstract questions about a corpus, written by a language model.

They ask for an overview, and no answer to them is known. The recipe is that of GraphRAG: the model
imagines users of the corpus, tasks of each user, and questions on each task. By default there are
five of each, so 125 questions.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.corpus import Corpus
from core.corpus.sentences import sentence_spans
from core.errors import BadInput, shorten
from core.io.durations import with_time_left
from core.languages.spelling import fold
from core.models.base import Models
from core.models.chat.json_reply import json_reply
from core.models.chat.saved_replies import CachedChat, SavedReplies
from core.prompts import make_messages, one_line
from core.runtime.concurrent_work import ConcurrentWork
from core.types import Question
from core.watch import Watch

QUESTION_WRITER_ROLE = "answer"
SAMPLED_DOCUMENTS = 24  # documents that give a passage to find out what the corpus is about
PASSAGE_CHARACTERS = 260
MAX_REPLY_LINE_CHARACTERS = 240  # maximum characters of a line of a reply
MAX_RECIPE_COUNT = 20  # maximum number of users, of tasks and of questions
# Question marks: ASCII, full-width (Chinese, Japanese) and Arabic. A question must have one.
QUESTION_MARK = re.compile("[?\uff1f\u061f]")
# Beginnings of questions that ask for a single fact.
FACT_QUESTION = re.compile(
    r"\W*(who|whose|whom|when|where|how (many|much|old|long))\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Recipe:
    """Numbers of users, of tasks per user, and of questions per task.

    Raises BadInput if one of them is below 1 or above `MAX_RECIPE_COUNT`.
    """

    users: int = 5
    tasks: int = 5
    questions: int = 5

    def __post_init__(self) -> None:
        counts = (self.users, self.tasks, self.questions)
        if min(counts) < 1 or max(counts) > MAX_RECIPE_COUNT:
            raise BadInput(
                f"The recipe takes 1 to {MAX_RECIPE_COUNT} users, tasks and questions each."
            )

    @property
    def total(self) -> int:
        """Number of questions if every reply can be read."""
        return self.users * self.tasks * self.questions

    @property
    def replies(self) -> int:
        """Number of replies: the subject, the users, each user's tasks, each task's questions."""
        return 2 + self.users * (1 + self.tasks)

    def words(self) -> str:
        """Return the recipe as `5 users x 5 tasks x 5 questions`."""
        return f"{self.users} users x {self.tasks} tasks x {self.questions} questions"


@dataclass(frozen=True)
class WrittenQuestions:
    """Questions that a language model wrote.

    `about` is the subject of the corpus in a sentence; empty if it was not asked for. `notes` are
    sentences on questions that are missing or doubtful.
    """

    questions: tuple[Question, ...]
    about: str
    notes: tuple[str, ...] = ()


@dataclass
class AbstractQuestionWriter:
    """Writer of abstract questions by a recipe.

    Calling it with its job returns the questions. The call raises BadInput if no question was
    written, RunCancelled, ModelUnavailable and ModelFailed.

    Parameters
    ----------
    about : subject of the corpus; if empty, the model states it from sampled passages.
    role : role or name of the language model.
    saved : replies of earlier calls, so that the work can be resumed; None for the user's own.
    kind : kind of the questions, for the title of their set.
    """

    corpus: Corpus
    models: Models
    recipe: Recipe = field(default_factory=Recipe)
    about: str = ""
    role: str = QUESTION_WRITER_ROLE
    saved: SavedReplies | None = None
    kind: str = "questions that ask for an overview"

    def __call__(self, watch: Watch) -> WrittenQuestions:
        self._chat = CachedChat(
            lambda: self.models.chat(self.role),
            self.models.weights(self.role),
            self.saved or SavedReplies(),
        )
        self._watch = with_time_left(watch)
        self._n_replies = 0
        self._unreadable: list[str] = []
        self._lock = threading.Lock()
        about = one_line(self.about) or self._ask("about", passages=sample_passages(self.corpus))
        users = self._ask_list("users", self.recipe.users, about=about)
        work = ConcurrentWork(lambda: self._chat.max_concurrent, watch)
        # By index of the user, as concurrent replies come in any order.
        questions_by_user = dict(
            work.run_each(lambda i: self._questions_by_task(users[i], about), range(len(users)))
        )
        folded_texts: set[str] = set()
        questions: list[Question] = []
        repeated_count = 0
        no_question_count = 0
        for user_number in range(1, len(users) + 1):
            for task_number, task_questions in enumerate(questions_by_user[user_number - 1], 1):
                for number, text in enumerate(task_questions, 1):
                    if not QUESTION_MARK.search(text):
                        no_question_count += 1
                    elif fold(text) in folded_texts:
                        repeated_count += 1
                    else:
                        folded_texts.add(fold(text))
                        id = f"u{user_number}-t{task_number}-q{number}"
                        questions.append(Question(text, id, abstract=True))
        notes = tuple(self._notes(len(questions), repeated_count, no_question_count))
        if not questions:
            raise BadInput(f"No question came of it. {' '.join(notes)}")
        return WrittenQuestions(tuple(questions), about, (*notes, *_fact_question_note(questions)))

    def _questions_by_task(self, user: str, about: str) -> list[list[str]]:
        """Return one list of questions for each task of a user."""
        tasks = self._ask_list("tasks", self.recipe.tasks, about=about, user=user)
        return [
            self._ask_list("questions", self.recipe.questions, about=about, user=user, task=task)
            for task in tasks
        ]

    def _ask(
        self,
        prompt: str,
        schema: dict[str, Any] | None = None,
        max_tokens: int = 300,
        **values: str,
    ) -> str:
        """Return the model's reply to a prompt that is filled with `values`.

        A reply without a JSON schema becomes one line, without an incomplete last sentence.
        """
        total = self.recipe.replies
        self._watch.check()
        self._watch.report(f"Reply {self._n_replies + 1:,} of {total:,}", self._n_replies / total)
        messages = make_messages("questions", prompt, **values)
        reply = self._chat.reply(messages, schema=schema, max_tokens=max_tokens, watch=self._watch)
        with self._lock:
            self._n_replies += 1
        if schema:
            return reply.text
        return one_line(complete_sentences(reply.text) if reply.finish != "stop" else reply.text)

    def _ask_list(self, name: str, count: int, **values: str) -> list[str]:
        """Return the lines of a reply that lists `count` items.

        The list is empty if the reply could not be read; a note reports that.
        """
        max_tokens = 60 + 70 * count  # a line of the longest length has about 60 tokens
        reply = self._ask(name, list_schema(name, count), max_tokens, count=str(count), **values)
        lines = parse_lines(name, reply)
        if lines is None:
            self._unreadable.append(shorten(reply))
        return list(lines or ())[:count]

    def _notes(self, count: int, repeats: int, non_questions: int) -> Iterator[str]:
        if self._unreadable:
            yield (
                f"{len(self._unreadable):,} of {self._n_replies:,} replies could not be read, such as "
                f"“{self._unreadable[0]}”."
            )
        if repeats:
            yield (
                f"{repeats:,} {'question was' if repeats == 1 else 'questions were'} asked twice "
                f"and {'is' if repeats == 1 else 'are'} kept once."
            )
        if non_questions:
            yield (
                f"{non_questions:,} {'line was' if non_questions == 1 else 'lines were'} no "
                f"question and {'is' if non_questions == 1 else 'are'} left out."
            )
        if count < self.recipe.total:
            yield f"{count:,} of {self.recipe.total:,} questions were written."


def complete_sentences(text: str) -> str:
    """Return a text without its last sentence, which a token limit has cut.

    A text of one sentence is returned unchanged.

    >>> from core.evaluation.questions.abstract_questions import complete_sentences
    >>> complete_sentences("It is about a miser. He lea")
    'It is about a miser.'
    """
    spans = sentence_spans(text)
    return text[: spans[-2][1]].rstrip() if len(spans) > 1 else text


def _fact_question_note(questions: Sequence[Question]) -> Iterator[str]:
    """Yield a sentence on questions whose first words ask for a single fact."""
    fact_count = sum(bool(FACT_QUESTION.match(question.text)) for question in questions)
    if fact_count:
        yield (
            f"{fact_count:,} of {len(questions):,} questions begin with who, when, where or how many, "
            "as those do that ask for one fact and not for an overview."
        )


def list_schema(name: str, count: int) -> dict[str, Any]:
    """Return the JSON schema of a reply that lists items.

    Parameters
    ----------
    name : users, tasks or questions. A user is an object with `name` and `about`, any other item
        a text.
    count : number of items.

    Returns
    -------
    A schema with one array.
    """
    line: dict[str, Any] = {"type": "string", "maxLength": MAX_REPLY_LINE_CHARACTERS}
    if name == "users":
        user_fields = {"name": {"type": "string", "maxLength": 60}, "about": line}
        line = {
            "type": "object",
            "properties": user_fields,
            "required": list(user_fields),
            "additionalProperties": False,
        }
    items_schema = {"type": "array", "minItems": count, "maxItems": count, "items": line}
    return {
        "type": "object",
        "properties": {name: items_schema},
        "required": [name],
        "additionalProperties": False,
    }


def parse_lines(name: str, reply: str) -> tuple[str, ...] | None:
    """Return the items that a reply lists under a name.

    Each item is one line and occurs once.

    Parameters
    ----------
    name : users, tasks or questions.
    reply : the text of a language model.

    Returns
    -------
    The lines; None if the reply is no such list or lists nothing. A user becomes “name: about”.

    Examples
    --------
    >>> from core.evaluation.questions.abstract_questions import parse_lines
    >>> (
    ...     parse_lines("tasks", '{"tasks": ["Read it", "read it", " "]}'),
    ...     parse_lines("tasks", "Here are some tasks"),
    ... )
    (('Read it',), None)
    >>> parse_lines("users", '{"users": [{"name": "A teacher", "about": "teaches it"}]}')
    ('A teacher: teaches it',)
    """
    json_object = json_reply(reply, (name,))
    entries = json_object.value[name] if json_object else None
    if not isinstance(entries, list):
        return None
    lines: dict[str, str] = {}
    for entry in entries:
        if isinstance(entry, dict) and name == "users":
            entry_texts: list[Any] = [entry.get("name"), entry.get("about")]
        else:
            entry_texts = [entry]
        if all(isinstance(text, str) and any(map(str.isalnum, text)) for text in entry_texts):
            line = ": ".join(map(one_line, entry_texts))
            lines.setdefault(fold(line), line)
    return tuple(lines.values()) or None


def sample_passages(corpus: Corpus, size: int = SAMPLED_DOCUMENTS) -> str:
    """Return evenly spaced passages of a corpus, one per line.

    The sampled documents are evenly spaced in the corpus. Each gives one passage, from its
    beginning. In a corpus of fewer documents than `size`, each may give several, evenly spaced in
    its text.

    Parameters
    ----------
    corpus : the corpus, with at least one document.
    size : largest number of documents, and of passages.

    Returns
    -------
    A list in Markdown.
    """
    passages_per_document = max(1, size // len(corpus))
    document_count = min(size, len(corpus))
    lines = []
    for number in range(document_count):
        document = corpus.document_at(len(corpus) * number // document_count)
        head = f"{document.title}: " if document.title and document.title != document.id else ""
        for i in range(passages_per_document):
            start = len(document.text) * i // passages_per_document
            passage = one_line(_sentences_from(document.text, start))
            if passage:
                lines.append(f"- {head}{passage}")
    return "\n".join(dict.fromkeys(lines))


def _sentences_from(text: str, start: int) -> str:
    """Return whole sentences from a position of a text on.

    Together they are at most as long as a passage.
    """
    part = text[start : start + 2 * PASSAGE_CHARACTERS]
    spans: Sequence[tuple[int, int]] = sentence_spans(part)
    if start and len(spans) > 1:  # the first sentence may be cut
        spans = spans[1:]
    fitting = [span for span in spans if span[1] - spans[0][0] <= PASSAGE_CHARACTERS] or spans[:1]
    return part[fitting[0][0] : fitting[-1][1]] if fitting else ""
