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
# Most characters of a token, and margin in characters beyond the requested tokens.
MAX_TOKEN_CHARACTERS, EXTRA_REPLY_CHARACTERS = (64, 4096)
# Ends of a reply, by the terms of the protocol.
FINISH_REASONS = {
    "length": "length",
    "content_filter": "filter",
    "tool_calls": "tools",
    "function_call": "tools",
}


class ReplyCollector:
    """A reply while it is written: answer and reasoning so far, token counts and ending.

    Replies under a schema have an end of their own, and are not checked for repetition.

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
        self._on_text, self._schema = on_text, schema
        self._repeats, self._thought_repeats = (
            (RepeatDetector() if schema is None else None),
            RepeatDetector(),
        )
        self._room, self._max_answer, self._characters_left = (
            room,
            max_answer,
            room * MAX_TOKEN_CHARACTERS + EXTRA_REPLY_CHARACTERS,
        )
        self._thoughts, self._field = ThoughtSeparator(begun), ""
        self.pieces: list[str] = []
        self.finish: str | None = None
        self.tool = self.refusal = ""
        self.tokens_in = self.tokens_out = 0
        self.waited = 0.0  # seconds before the model began, which do not count for the reply

    @property
    def text(self) -> str:
        """The answer so far."""
        return self._thoughts.answer

    @property
    def begun(self) -> bool | None:
        """True if the reply began inside its reasoning; None if that is not known."""
        return self._thoughts.begun

    def add(self, piece: str) -> bool:
        """Add a piece of text; return whether the reply is to be stopped.

        It is stopped if it repeats itself or has used up its tokens. Raises ModelFailed for half a
        letter, and for more text than the requested tokens can contain.
        """
        self._check(piece)
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
            self.finish, stop = "length", True
        return self._grow(added_text) or stop

    def think(self, piece: str) -> bool:
        """Add reasoning from a separate field; return whether the reply is to be stopped."""
        self._check(piece)
        self._field += piece
        return self._thought_repeats.add(piece)

    def ended(self, seconds: float) -> ChatReply:
        """Return the complete reply, with repeated text only once."""
        self._grow(
            self._thoughts.end(
                complete=self.finish in (None, "stop") and self._thought_repeats.found is None
            )
        )
        thought = "\n".join(filter(None, (self._field.strip(), self._thoughts.thought.strip())))
        fields: dict[str, Any] = dict(
            thought=thought, seconds=seconds, detail=self.tool or self.refusal
        )
        reply = ChatReply(self.text, self.tokens_in, self.tokens_out, self._finish(), **fields)
        if self._repeats is not None and self._repeats.end() and self._repeats.found is not None:
            reply = replace(
                reply, text=self._repeats.once, finish="repeat", words=self._repeats.found[1]
            )
        elif self._thought_repeats.found is not None and not self.text.strip():
            reply = replace(reply, text="", finish="repeat", words=self._thought_repeats.found[1])
        elif self.finish == "length":
            answer_cut = (
                self._max_answer is not None and not self._thoughts.thinking and reply.text.strip()
            )
            reply = replace(
                reply, limit=self._max_answer if answer_cut and self._max_answer else self._room
            )
        return clean_reply(reply, self._schema)

    def _restart(self) -> None:
        """Start again with an empty answer, after the text so far turned out to be reasoning."""
        self._repeats = None if self._repeats is None else RepeatDetector()

    def _finish(self) -> str:
        thinking = self._thoughts.thinking or (
            self.finish == "length" and self._field and not self.text.strip()
        )
        if self.finish == "length" and thinking:
            return "thinking"
        finish = FINISH_REASONS.get(self.finish or "", "stop")
        if finish == "stop" and self.refusal and not self.text.strip():
            return "refused"
        return "stop" if finish == "tools" and self.text.strip() else finish

    def _check(self, piece: str) -> None:
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
        if not text:
            return False
        if self._on_text:
            self._on_text(text)
        return self._repeats is not None and self._repeats.add(text)


def clean_reply(reply: ChatReply, schema: dict[str, Any] | None) -> ChatReply:
    """Return a reply with its reasoning separated and an enclosing code fence removed.

    Parameters
    ----------
    reply : a reply as the model wrote it.
    schema : JSON schema of the request; None for free text.

    Returns
    -------
    The reply. With a schema, one without such JSON is marked as unreadable.
    """
    if not reply.thought:
        cut = reply.finish == "length"
        thought, text, open_end = separate_thought(reply.text, complete=not cut)
        finish = "thinking" if thought and open_end and cut else reply.finish
        reply = replace(reply, text=text, thought=thought, finish=finish)
    if schema is None:
        return replace(reply, text=strip_code_fence(reply.text))
    fields = schema.get("properties")
    if (
        fields
        and reply.finish == "stop"
        and not reply.text.strip()
        and _is_json(reply.thought, fields)
    ):
        # The prompt ended inside reasoning, so the JSON under the schema arrived as reasoning.
        return replace(reply, text=reply.thought, thought="")
    if (
        fields
        and reply.finish == "stop"
        and reply.text.strip()
        and json_reply(reply.text, fields) is None
    ):
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
