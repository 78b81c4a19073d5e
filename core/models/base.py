"""The protocols that operators speak to models through."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from core.errors import ModelUnavailable, shorten
from core.types import Usage
from core.watch import NO_WATCH, Watch

Messages = Sequence[Mapping[str, str]]
Preview = Callable[[np.ndarray, np.ndarray], None]  # of positions and their scores


class Encoder(Protocol):
    """Texts to unit vectors."""

    def encode(self, texts: Sequence[str], watch: Watch = NO_WATCH) -> np.ndarray:
        """float32 [n, d] with unit rows, in the order of `texts`; `watch` is called between batches and may raise."""
        ...


def question_vectors(
    encoder: Encoder, questions: Sequence[str], watch: Watch = NO_WATCH
) -> np.ndarray:
    """As `encoder.encode`, of questions: some encoders were trained with another prompt before these than before texts."""
    encode = getattr(encoder, "encode_questions", encoder.encode)
    return encode(questions, watch)


@dataclass(frozen=True, eq=False)
class Choice:
    """What a chooser picked of `n` candidates: positions in the candidate list, best first.

    `scores` is aligned with `positions` (None where the chooser gives an order without scores). `order` is every
    candidate best first with `order_scores`, where the chooser has an opinion on all of them (scorers do, a language
    model does not). `notes` tell of replies that could not be used and the fall-back taken.
    """

    positions: tuple[int, ...]
    scores: tuple[float, ...] | None = None
    order: tuple[int, ...] | None = None
    order_scores: tuple[float, ...] | None = None
    usage: Usage = Usage()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Task:
    """What a chooser is asked to do: the question, what the candidates are, a seed for those that draw lots, and the names of the entities
    that the search starts from, which some prompts show.

    `groups` int [n] says which candidates are alike, such as paths along one chain of relations: a scorer may read some of each first.
    `preview` is called by scorers on the way with the positions scored so far, ascending int64 [m], and their scores, float64 [m], maybe
    from another thread. `read` is how many distinct texts an encoder or a re-ranker reads at most, those first that it expects to score
    best; 0 is all. With a `recall` below 1 it reads no more once that share of the `best` many (all where 0) is expected among those
    that it has read. `earlier` holds the scores of other texts for the same question, such as those of the hop before, and takes those
    that are read now.
    """

    query: str
    unit: str = "path"  # relation, triple, node, path, document or sentence
    seed: int = 0
    watch: Watch = field(default=NO_WATCH, compare=False)
    entities: tuple[str, ...] = ()
    groups: np.ndarray | None = field(default=None, compare=False)
    preview: Preview | None = field(default=None, compare=False)
    read: int = 0
    recall: float = 1.0
    best: int = 0
    earlier: dict[str, float] | None = field(default=None, compare=False)

    def part(self, positions: Sequence[int]) -> Task:
        """The same of the candidates at these positions alone: their groups, and previews by their positions among all."""
        places, preview = np.asarray(positions, np.int64), self.preview
        groups = None if self.groups is None else self.groups[places]
        if preview is None:
            return replace(self, groups=groups)
        return replace(
            self,
            groups=groups,
            preview=lambda some, scores: _ascending(preview, places[some], scores),
        )


def _ascending(preview: Preview, positions: np.ndarray, scores: np.ndarray) -> None:
    order = np.argsort(positions, kind="stable")
    preview(positions[order], scores[order])


class Chooser(Protocol):
    """Anything that picks from a list: a scorer by its scores, a language model by its reading, a combinator of these."""

    def choose(self, task: Task, texts: Sequence[str], k: int) -> Choice:
        """At most `k` of `texts` (all of them, ordered, where k <= 0)."""
        ...


class Scorer(Chooser, Protocol):
    """A chooser with a number for every text."""

    def score(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        """float64 [n], larger is better."""
        ...


@dataclass(frozen=True)
class Reply:
    """A chat model's reply: its `text`, and the `thought` before it, which is no part of it.

    `finish` says how it ended, one of FINISHES; "repeat" comes after `words` words. `limit` is the number of tokens at which it was cut,
    `detail` what it asked for or how it refused. `seconds` is what it took when it was made, `waited` what it waited before that: for a
    place at the server, and for one that was busy.
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
    waited: float = field(default=0.0, compare=False)

    @property
    def usable(self) -> bool:
        """Whether it says something and is not cut, refused or unreadable. Others are asked for again."""
        return bool(self.text.strip()) and self.finish in ("stop", "repeat")

    @property
    def cut(self) -> bool:
        """Whether it says something and ends where its tokens were used up."""
        return bool(self.text.strip()) and self.finish == "length"

    @property
    def excerpt(self) -> str:
        """The beginning of its text in quotes, or why it is blank."""
        return f"“{shorten(self.text)}”." if self.text.strip() else self.fault()

    def fault(self, what: str = "reply") -> str:
        """A sentence on why it is blank, cut or of no use; empty for one that is whole."""
        blank = not self.text.strip()
        if self.cut:
            if self.limit:
                return f"The {what} was cut at {self.limit:,} tokens."
            return f"The {what} was cut."
        if self.finish == "repeat":
            after = f" after {self.words} words" if self.words else ""
            return f"The {what} repeated itself and was stopped{after}."
        detail = f"{':' * (self.finish == 'refused')} “{self.detail}”" if self.detail else ""
        reason = FINISHES[self.finish].format(
            limit=f"{self.limit:,}" if self.limit else "", detail=detail
        )
        if blank and self.finish in ("stop", "length") and self.thought:
            reason = "The model only thought, and wrote nothing behind its thought."
        if blank and self.finish == "stop" and not self.thought:
            reason = "The model sent an empty reply."
        return " ".join(reason.split())


FINISHES = {
    "stop": "",
    "length": "The model wrote nothing before its {limit} tokens were used up.",
    "repeat": "",
    "thinking": "The model was still thinking when its {limit} tokens were used up.",
    "filter": "The server's content filter held the reply back.",
    "tools": "The model asked for a tool{detail} in the place of a reply.",
    "refused": "The model refused to reply{detail}.",
    "unreadable": "The reply could not be read as the JSON that was asked for.",
}
"""How a reply may end, each with the sentence for it."""


class Chat(Protocol):
    """A language model that answers messages."""

    @property
    def context(self) -> int:
        """Tokens that prompt and reply share."""
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
    ) -> Reply:
        """The reply. `schema` is a JSON schema the text must satisfy; `on_text` is given each new piece as it comes;
        `watch` is called between pieces and may raise Cancelled. Raises ModelFailed, ModelUnavailable."""
        ...

    def count_tokens(self, messages: Messages) -> int:
        """Tokens of the messages as the model would read them (exact where it can tell, else a close estimate)."""
        ...


class NoModels:
    """In the place of models where none is asked."""

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
    """Where operators get models by name or role. `core.models.registry.Registry` is the real one."""

    def chooser(self, expression: str) -> Chooser: ...

    def encoder(self, name: str = "encoder") -> Encoder: ...

    def chat(self, role: str = "answer") -> Chat: ...

    def is_chat(self, name: str) -> bool: ...

    def signature(self, name: str | None = None) -> str: ...

    def weights(self, name: str) -> str: ...

    def title(self, name: str) -> str: ...

    def info(self, name: str) -> Any: ...

    def forget(self) -> None: ...
