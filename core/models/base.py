"""Interfaces between retrieval operators and models.

Operators rank candidates with an `Encoder`, `Scorer` or `Chooser`, and write answers with a `Chat`.
They get these from a `Models` object, usually `core.models.registry.Registry`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from core.errors import ModelUnavailable, shorten
from core.types import Usage
from core.watch import NO_WATCH, Watch

Messages = Sequence[Mapping[str, str]]
# Called with positions of candidates, int64 [m], and their scores, float64 [m].
Preview = Callable[[np.ndarray, np.ndarray], None]


class Encoder(Protocol):
    """Model that maps texts to unit vectors."""

    def encode(self, texts: Sequence[str], watch: Watch = NO_WATCH) -> np.ndarray:
        """Return the vectors of texts.

        Parameters
        ----------
        texts : any number of texts, n.
        watch : checked between batches; it may raise RunCancelled.

        Returns
        -------
        float32 [n, d] with unit rows, in the order of `texts`.
        """
        ...


@runtime_checkable
class QuestionEncoder(Encoder, Protocol):
    """Encoder that treats questions and texts differently, for example by a prompt for each."""

    def encode_questions(self, questions: Sequence[str], watch: Watch = NO_WATCH) -> np.ndarray:
        """Return the vectors of questions, float32 [n, d] with unit rows."""
        ...


def question_vectors(
    encoder: Encoder, questions: Sequence[str], watch: Watch = NO_WATCH
) -> np.ndarray:
    """Return the vectors of questions, encoded as questions if the encoder makes a difference.

    Parameters
    ----------
    encoder : any encoder; a `QuestionEncoder` encodes them as questions.
    questions : any number of questions, n.
    watch : checked between batches; it may raise RunCancelled.

    Returns
    -------
    float32 [n, d] with unit rows, in the order of `questions`.
    """
    if isinstance(encoder, QuestionEncoder):
        return encoder.encode_questions(questions, watch)
    return encoder.encode(questions, watch)


@dataclass(frozen=True, eq=False)
class Choice:
    """Candidates that a chooser picked.

    Parameters
    ----------
    positions : positions in the candidate list, best first.
    scores : scores aligned with `positions`; None if the chooser gives an order without scores.
    order : positions of all candidates, best first; None if the chooser ranks only its picks, as
        language models do.
    order_scores : scores aligned with `order`; None without an order.
    usage : calls and tokens of language models.
    notes : sentences for the user on unusable replies, and on what was done instead.
    """

    positions: tuple[int, ...]
    scores: tuple[float, ...] | None = None
    order: tuple[int, ...] | None = None
    order_scores: tuple[float, ...] | None = None
    usage: Usage = Usage()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Task:
    """Task of a chooser: the question, the kind of candidates, and limits on reading.

    Parameters
    ----------
    query : the question.
    unit : kind of the candidates: relation, triple, node, path, document, sentence, chunk or
        community.
    seed : number that determines random choices.
    watch : cancellation and progress.
    entities : names of the question entities, which some prompts show.
    groups : int [n]; candidates with equal numbers are alike, such as paths along the same
        relations. A scorer may read some of each group first.
    preview : called by scorers while they read, perhaps from another thread, with the positions
        scored so far (ascending int64 [m]) and their scores (float64 [m]).
    max_read : largest number of distinct texts that a scorer reads, in order of expected score;
        0 for all.
    recall : below 1, reading stops once this fraction of the `n_best` best candidates has probably
        been read.
    n_best : number of best candidates that `recall` refers to; 0 for all.
    earlier_scores : scores by text for the same question, such as those of the previous hop. The
        scorer adds the texts that it reads.
    """

    query: str
    unit: str = "path"
    seed: int = 0
    watch: Watch = field(default=NO_WATCH, compare=False)
    entities: tuple[str, ...] = ()
    groups: np.ndarray | None = field(default=None, compare=False)
    preview: Preview | None = field(default=None, compare=False)
    max_read: int = 0
    recall: float = 1.0
    n_best: int = 0
    earlier_scores: dict[str, float] | None = field(default=None, compare=False)

    def select(self, positions: Sequence[int]) -> Task:
        """Return the task for the candidates at these positions alone.

        A scorer of the new task counts positions in the selection. Its previews are translated to
        ascending positions among all candidates of this task.
        """
        selected = np.asarray(positions, np.int64)
        preview = self.preview
        groups = None if self.groups is None else self.groups[selected]
        if preview is None:
            return replace(self, groups=groups)

        def preview_ascending(scored: np.ndarray, scores: np.ndarray) -> None:
            all_positions = selected[scored]
            order = np.argsort(all_positions, kind="stable")
            preview(all_positions[order], scores[order])

        return replace(self, groups=groups, preview=preview_ascending)


class Chooser(Protocol):
    """Model that picks from a list: a scorer, a language model, or a combination of these."""

    def choose(self, task: Task, texts: Sequence[str], k: int) -> Choice:
        """Pick texts for a task.

        Parameters
        ----------
        task : the question and limits on reading.
        texts : the candidates.
        k : largest number of texts; no limit if k <= 0, so that a scorer returns all of them.

        Returns
        -------
        The picked positions, best first, with scores if the chooser has any.
        """
        ...


class Scorer(Chooser, Protocol):
    """A chooser with a score for every text."""

    def score(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        """Return a score for every text.

        Parameters
        ----------
        task : the question and limits on reading.
        texts : the candidates, n.

        Returns
        -------
        float64 [n]; larger is better.
        """
        ...


@dataclass(frozen=True)
class ChatReply:
    """Reply of a chat model.

    Parameters
    ----------
    text : the reply, without its reasoning.
    tokens_in : tokens of the prompt.
    tokens_out : tokens of the reply.
    finish : how it ended, a key of `FINISHES`.
    cached : true if it was found in memory or on disk, and not generated now.
    words : for the finish "repeat", the number of words until the repetition was detected.
    thought : the reasoning before the reply, which is no part of it.
    limit : number of tokens at which it was cut off; 0 if it was not.
    detail : the tool that it called, or the text of its refusal; empty without either.
    seconds : time that generating it took.
    wait_seconds : seconds of waiting for a slot or a busy server, which `seconds` does not include.
    """

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    finish: str = "stop"
    cached: bool = False
    words: int = 0
    thought: str = ""
    limit: int = field(default=0, compare=False)
    detail: str = field(default="", compare=False)
    seconds: float = field(default=0.0, compare=False)
    wait_seconds: float = field(default=0.0, compare=False)

    @property
    def is_usable(self) -> bool:
        """True if the reply has text and an acceptable end.

        It must have ended by itself or been stopped for repeating itself. `CachedChat` requests a
        reply again if the saved one is not usable.
        """
        return bool(self.text.strip()) and self.finish in ("stop", "repeat")

    @property
    def is_cut(self) -> bool:
        """True if the reply has text but ends at its token limit."""
        return bool(self.text.strip()) and self.finish == "length"

    @property
    def excerpt(self) -> str:
        """The beginning of the text in quotes, or the reason why it is blank."""
        return f"“{shorten(self.text)}”." if self.text.strip() else self.describe_fault()

    def describe_fault(self, noun: str = "reply") -> str:
        """Return a sentence on the fault of the reply; empty if it has none.

        A reply that was stopped because it repeated itself is usable, but has a sentence, too.
        `noun` names the reply in the sentence.
        """
        if self.is_cut:
            if self.limit:
                return f"The {noun} was cut at {self.limit:,} tokens."
            return f"The {noun} was cut."
        if self.finish == "repeat":
            after = f" after {self.words} words" if self.words else ""
            return f"The {noun} repeated itself and was stopped{after}."
        if not self.text.strip():
            if self.finish in ("stop", "length") and self.thought:
                return "The model only thought, and wrote nothing behind its thought."
            if self.finish == "stop":
                return "The model sent an empty reply."
        colon = ":" if self.finish == "refused" else ""
        detail = f"{colon} “{self.detail}”" if self.detail else ""
        limit = f"{self.limit:,}" if self.limit else ""
        return " ".join(FINISHES[self.finish].format(limit=limit, detail=detail).split())


# Finish reasons of replies, each with a sentence for the user. A reply that ended by itself needs
# none, and `describe_fault` has its own for one that repeated itself.
FINISHES = {
    "stop": "",
    "length": "The model wrote nothing before its {limit} tokens were used up.",
    "repeat": "",
    "thinking": "The model was still thinking when its {limit} tokens were used up.",
    "filter": "The server's content filter held the reply back.",
    "tools": "The model asked for a tool{detail} instead of replying.",
    "refused": "The model refused to reply{detail}.",
    "unreadable": "The reply could not be read as the JSON that was asked for.",
}


class Chat(Protocol):
    """A language model that replies to chat messages."""

    @property
    def context(self) -> int:
        """Size of the context window in tokens, shared by prompt and reply."""
        ...

    def reply(
        self,
        messages: Messages,
        *,
        schema: dict[str, Any] | None = None,
        max_tokens: int = 256,
        seed: int = 0,
        temperature: float = 0.0,
        on_text: Callable[[str], None] | None = None,
        watch: Watch = NO_WATCH,
    ) -> ChatReply:
        """Return the reply to messages.

        Parameters
        ----------
        messages : the prompt.
        schema : JSON schema that the text must satisfy; None for free text.
        max_tokens : token limit of the reply.
        seed : seed of the sampling.
        temperature : sampling temperature.
        on_text : called with each new piece of text as it arrives.
        watch : checked between pieces; it may raise RunCancelled.

        Returns
        -------
        The reply, with its cost and how it ended.

        Raises
        ------
        ModelFailed, ModelUnavailable
        """
        ...

    def count_tokens(self, messages: Messages) -> int:
        """Return the number of tokens of the messages.

        Parameters
        ----------
        messages : dicts with role and content.

        Returns
        -------
        An exact number or a close estimate.
        """
        ...


class NoModels:
    """A `Models` object without any model, for runs that may use none."""

    def chooser(self, expression: str) -> Chooser:
        raise ModelUnavailable("No model is here.")

    def encoder(self, name: str = "encoder") -> Encoder:
        raise ModelUnavailable("No model is here.")

    def chat(self, role: str = "answer") -> Chat:
        raise ModelUnavailable("No model is here.")

    def signature(self, name: str | None = None) -> str:
        return "none"

    def weights(self, name: str) -> str:
        return "none"

    def is_chat(self, name: str) -> bool:
        return False

    def title(self, name: str) -> str:
        return name

    def info(self, name: str) -> Any:
        raise ModelUnavailable("No model is here.")

    def forget(self) -> None:
        pass


class Models(Protocol):
    """Access to models by name or role, for operators.

    The implementation is `core.models.registry.Registry`.

    Methods
    -------
    chooser(expression) : the scorer, language model or combination that an expression names.
    encoder(name) : the encoder of that name or role.
    chat(role) : the language model of that name or role.
    is_chat(name) : True if the name is that of a language model.
    signature(name) : text for cache keys that changes whenever the results of a model may change;
        without a name, those of any model.
    weights(name) : text that identifies the weights of a model.
    title(name) : title of a model for a person.
    info(name) : name, title, roles and state of a model.
    forget() : drop the vectors and replies that models cache in memory.

    Raises
    ------
    BadParameter : a name or an expression is unknown.
    ModelUnavailable : the model of `chooser`, `encoder` or `chat` is not installed.
    """

    def chooser(self, expression: str) -> Chooser: ...

    def encoder(self, name: str = "encoder") -> Encoder: ...

    def chat(self, role: str = "answer") -> Chat: ...

    def is_chat(self, name: str) -> bool: ...

    def signature(self, name: str | None = None) -> str: ...

    def weights(self, name: str) -> str: ...

    def title(self, name: str) -> str: ...

    def info(self, name: str) -> Any: ...

    def forget(self) -> None: ...
