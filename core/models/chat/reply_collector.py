"""Collection of a reply while a model writes it.

Clients add pieces of text as they arrive. The collector separates reasoning from the answer, stops
a reply that repeats itself or is too long, and makes the final `ChatReply`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from core.errors import ModelFailed
from core.models.base import ChatReply
from core.models.chat.json_reply import json_reply
from core.models.chat.repeats import RepeatDetector
from core.models.chat.thoughts import ThoughtSeparator, separate_thought
from core.models.chat.token_estimates import estimate_text_tokens

CODE_FENCE = re.compile(
    r"\s*(```++|~~~++)(?:[\w+.-]*[ \t]*\r?\n)?(?P<inside>(?:(?!\1).)*)(?:\1\s*)?", re.DOTALL
)
# A server that sends more than this for the requested tokens is cut off as faulty.
MAX_TOKEN_CHARACTERS = 64
EXTRA_REPLY_CHARACTERS = 4096
# Values of `ChatReply.finish` by the protocol's finish reasons; all others mean "stop".
FINISH_REASONS = {
    "length": "length",
    "content_filter": "filter",
    "tool_calls": "tools",
    "function_call": "tools",
}


class ReplyCollector:
    """A reply while it is written: answer and reasoning so far, token counts and finish reason.

    Replies under a schema are not checked for repetition, as the schema makes them end.

    Parameters
    ----------
    max_tokens : token limit of reasoning and answer together.
    max_answer_tokens : token limit of the answer, if a part of `max_tokens` is for reasoning; else
        None.
    schema : JSON schema of the answer; None for free text.
    on_text : called with the text by which the answer grows.
    starts_in_reasoning : true if replies of this model are expected to begin inside reasoning.

    Attributes
    ----------
    pieces : all pieces of text and reasoning.
    finish : finish reason of the protocol; None before the end.
    tool : name of a tool that the model called; empty without one.
    refusal : text of a refusal; empty without one.
    tokens_in : tokens of the prompt.
    tokens_out : tokens of reasoning and answer.
    wait_seconds : time before the model began, which does not count for the reply.
    """

    def __init__(
        self,
        max_tokens: int,
        max_answer_tokens: int | None,
        schema: dict[str, Any] | None,
        on_text: Callable[[str], None] | None,
        starts_in_reasoning: bool = False,
    ):
        self._on_text = on_text
        self._schema = schema
        self._repeats = RepeatDetector() if schema is None else None
        self._thought_repeats = RepeatDetector()
        self._max_tokens = max_tokens
        self._max_answer_tokens = max_answer_tokens
        self._characters_left = max_tokens * MAX_TOKEN_CHARACTERS + EXTRA_REPLY_CHARACTERS
        self._thoughts = ThoughtSeparator(starts_in_reasoning)
        self._thought_field = ""  # reasoning from a separate field of the protocol
        self.pieces: list[str] = []
        self.finish: str | None = None
        self.tool = self.refusal = ""
        self.tokens_in = self.tokens_out = 0
        self.wait_seconds = 0.0

    @property
    def text(self) -> str:
        """The answer so far."""
        return self._thoughts.answer

    @property
    def starts_in_reasoning(self) -> bool | None:
        """True if the reply began inside its reasoning; None if that is not known."""
        return self._thoughts.starts_in_reasoning

    def add(self, piece: str) -> bool:
        """Add a piece of text; return whether to stop the reply.

        The piece may contain reasoning. The reply is stopped if it repeats itself or has used up
        its tokens. Raises ModelFailed for a lone surrogate, and for more text than the requested
        tokens can contain.
        """
        self._check_piece(piece)
        thought_length = len(self._thoughts.thought)
        answer_length = len(self.text)
        added_text = self._thoughts.add(piece)
        # The answer also changes if the text before turns out to have been reasoning.
        if len(self.text) != answer_length + len(added_text):
            self._restart()
        stop = self._thought_repeats.add(self._thoughts.thought[thought_length:])
        if (
            added_text
            and self._max_answer_tokens is not None
            and estimate_text_tokens(self.text) > self._max_answer_tokens
        ):
            self.finish = "length"
            stop = True
        return self._grow(added_text) or stop

    def add_thought(self, piece: str) -> bool:
        """Add a piece of reasoning; return whether to stop the reply.

        It comes from a separate field of the protocol.
        """
        self._check_piece(piece)
        self._thought_field += piece
        return self._thought_repeats.add(piece)

    def make_reply(self, seconds: float) -> ChatReply:
        """Return the complete reply; text that repeats itself is kept once.

        `seconds` is the time that the model took.
        """
        is_whole = self.finish in (None, "stop") and self._thought_repeats.repetition is None
        self._grow(self._thoughts.end(complete=is_whole))
        thoughts = (self._thought_field.strip(), self._thoughts.thought.strip())
        reply = ChatReply(
            self.text,
            self.tokens_in,
            self.tokens_out,
            self._finish_reason(),
            thought="\n".join(filter(None, thoughts)),
            seconds=seconds,
            detail=self.tool or self.refusal,
        )
        if (
            self._repeats is not None
            and self._repeats.end()
            and self._repeats.repetition is not None
        ):
            reply = replace(
                reply,
                text=self._repeats.text_once,
                finish="repeat",
                words=self._repeats.repetition[1],
            )
        elif self._thought_repeats.repetition is not None and not self.text.strip():
            reply = replace(
                reply, text="", finish="repeat", words=self._thought_repeats.repetition[1]
            )
        elif self.finish == "length":
            is_answer_cut = not self._thoughts.is_in_reasoning and bool(reply.text.strip())
            limit = self._max_answer_tokens if is_answer_cut else None
            reply = replace(reply, limit=limit or self._max_tokens)
        return clean_reply(reply, self._schema)

    def _restart(self) -> None:
        """Check the answer from its beginning, after earlier text turned out to be reasoning."""
        if self._repeats is not None:
            self._repeats = RepeatDetector()

    def _finish_reason(self) -> str:
        """Return how the reply ended, a key of `core.models.base.FINISHES`."""
        is_thought_cut = self._thoughts.is_in_reasoning or (
            self._thought_field and not self.text.strip()
        )
        if self.finish == "length" and is_thought_cut:
            return "thinking"
        finish = FINISH_REASONS.get(self.finish or "", "stop")
        if finish == "stop" and self.refusal and not self.text.strip():
            return "refused"
        return "stop" if finish == "tools" and self.text.strip() else finish

    def _check_piece(self, piece: str) -> None:
        """Record a piece of text or reasoning. Raises ModelFailed as `add` does."""
        self._characters_left -= len(piece)
        if self._characters_left < 0:
            raise ModelFailed(
                f"The model sent more text than {self._max_tokens:,} tokens can be, and was cut off."
            )
        try:
            piece.encode("utf-8")
        except UnicodeEncodeError:
            raise ModelFailed(
                "The model sent half a letter (a lone surrogate), which is no text."
            ) from None
        self.pieces.append(piece)

    def _grow(self, text: str) -> bool:
        """Pass on new text of the answer; return whether to stop it."""
        if not text:
            return False
        if self._on_text:
            self._on_text(text)
        return self._repeats is not None and self._repeats.add(text)


def clean_reply(reply: ChatReply, schema: dict[str, Any] | None) -> ChatReply:
    """Separate the reasoning of a reply, and check its JSON.

    A code fence that encloses the text is removed.

    Parameters
    ----------
    reply : a reply as the model wrote it.
    schema : JSON schema of the request; None for free text.

    Returns
    -------
    The cleaned reply. Under a schema, its `finish` is "unreadable" if it ended by itself without a
    JSON object that has a property of the schema.
    """
    if not reply.thought:
        is_cut = reply.finish == "length"
        thought, text, ends_in_thought = separate_thought(reply.text, complete=not is_cut)
        finish = "thinking" if thought and ends_in_thought and is_cut else reply.finish
        reply = replace(reply, text=text, thought=thought, finish=finish)
    if schema is None:
        return replace(reply, text=strip_code_fence(reply.text))
    fields = schema.get("properties")
    if not fields or reply.finish != "stop":
        return reply
    if not reply.text.strip() and _is_json(reply.thought, fields):
        # The prompt ended inside reasoning, so the JSON under the schema arrived as reasoning.
        return replace(reply, text=reply.thought, thought="")
    if reply.text.strip() and json_reply(reply.text, fields) is None:
        return replace(reply, finish="unreadable")
    return reply


def _is_json(text: str, fields: Collection[str]) -> bool:
    """Return whether a whole text is a JSON object with one of the fields."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and not set(fields).isdisjoint(value)


def strip_code_fence(text: str) -> str:
    """Strip a code fence that encloses the whole text.

    The fence may be unclosed or cut off. A text with anything before or after the fence is returned
    unchanged.

    >>> from core.models.chat.reply_collector import strip_code_fence
    >>> strip_code_fence("```text\\nNils built it.\\n```"), strip_code_fence("In SQL:\\n```\\nselect 1\\n```")
    ('Nils built it.', 'In SQL:\\n```\\nselect 1\\n```')
    """
    fence_match = CODE_FENCE.fullmatch(text)
    return fence_match["inside"].strip() if fence_match else text
