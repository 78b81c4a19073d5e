"""Collection of a reply while a model writes it."""

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
MAX_TOKEN_CHARACTERS = 64
EXTRA_REPLY_CHARACTERS = 4096  # accepted in addition to those of the requested tokens
# Values of `ChatReply.finish` by the protocol's finish reasons.
FINISH_REASONS = {
    "length": "length",
    "content_filter": "filter",
    "tool_calls": "tools",
    "function_call": "tools",
}


class ReplyCollector:
    """A reply while it is written: answer and reasoning so far, token counts and finish reason.

    Replies under a schema end by the schema, and are not checked for repetition.

    Parameters
    ----------
    room : token limit of reasoning and answer.
    max_answer : token limit of the answer, if a part of `room` is for reasoning.
    schema : JSON schema of the answer.
    on_text : receives the text by which the answer grows.
    begun : true if replies of this model begin inside their reasoning.
    """

    def __init__(
        self,
        room: int,
        max_answer: int | None,
        schema: dict[str, Any] | None,
        on_text: Callable[[str], None] | None,
        begun: bool = False,
    ):
        self._on_text = on_text
        self._schema = schema
        self._repeats = RepeatDetector() if schema is None else None
        self._thought_repeats = RepeatDetector()
        self._room = room
        self._max_answer = max_answer
        self._characters_left = room * MAX_TOKEN_CHARACTERS + EXTRA_REPLY_CHARACTERS
        self._thoughts = ThoughtSeparator(begun)
        self._thought_field = ""  # reasoning from a separate field of the protocol
        self.pieces: list[str] = []
        self.finish: str | None = None
        self.tool = self.refusal = ""
        self.tokens_in = self.tokens_out = 0
        self.wait_seconds = 0.0  # seconds before the model began, which do not count for the reply

    @property
    def text(self) -> str:
        """The answer so far."""
        return self._thoughts.answer

    @property
    def starts_in_reasoning(self) -> bool | None:
        """True if the reply began inside its reasoning; None if that is not known."""
        return self._thoughts.starts_in_reasoning

    def add(self, piece: str) -> bool:
        """Add a piece of text; return whether the reply is to be stopped.

        It is stopped if it repeats itself or has used up its tokens. Raises ModelFailed for a lone
        surrogate, and for more text than the requested tokens can contain.
        """
        self._check_piece(piece)
        thought_length, answer_length = len(self._thoughts.thought), len(self.text)
        added_text = self._thoughts.add(piece)
        if len(self.text) != answer_length + len(added_text):
            self._restart()
        stop = self._thought_repeats.add(self._thoughts.thought[thought_length:])
        if (
            added_text
            and self._max_answer is not None
            and estimate_text_tokens(self.text) > self._max_answer
        ):
            self.finish = "length"
            stop = True
        return self._grow(added_text) or stop

    def add_thought(self, piece: str) -> bool:
        """Add reasoning from a separate field; return whether the reply is to be stopped."""
        self._check_piece(piece)
        self._thought_field += piece
        return self._thought_repeats.add(piece)

    def make_reply(self, seconds: float) -> ChatReply:
        """Return the complete reply, with repeated text only once."""
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
            limit = self._max_answer if is_answer_cut else None
            reply = replace(reply, limit=limit or self._room)
        return clean_reply(reply, self._schema)

    def _restart(self) -> None:
        """Start again with an empty answer, after the text so far turned out to be reasoning."""
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
        """Record a piece. Raises ModelFailed if it is invalid or the reply is too long."""
        self._characters_left -= len(piece)
        if self._characters_left < 0:
            raise ModelFailed(
                f"The model sent more text than {self._room:,} tokens can be, and was cut off."
            )
        try:
            piece.encode("utf-8")
        except UnicodeEncodeError:
            raise ModelFailed(
                "The model sent half a letter (a lone surrogate), which is no text."
            ) from None
        self.pieces.append(piece)

    def _grow(self, text: str) -> bool:
        """Report new text of the answer; return whether the answer repeats itself."""
        if not text:
            return False
        if self._on_text:
            self._on_text(text)
        return self._repeats is not None and self._repeats.add(text)


def clean_reply(reply: ChatReply, schema: dict[str, Any] | None) -> ChatReply:
    """Separate the reasoning of a reply, and remove an enclosing code fence.

    Parameters
    ----------
    reply : a reply as the model wrote it.
    schema : JSON schema of the request; None for free text.

    Returns
    -------
    The reply. Under a schema its `finish` is "unreadable" if it has no such JSON.
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
    """Return whether a text is a JSON object with one of the fields, and nothing else."""
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
