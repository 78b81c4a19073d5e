"""A reply while a model writes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from core.errors import ModelFailed
from core.models.base import Reply
from core.models.chat.json_reply import json_reply
from core.models.chat.repeats import Repeats
from core.models.chat.replies import estimate
from core.models.chat.thoughts import Thoughts, separated

LONGEST_TOKEN, BESIDE = 64, 4096  # characters of a token, and of what a reply may hold beside the tokens that were asked for
ENDS = {"length": "length", "content_filter": "filter", "tool_calls": "tools", "function_call": "tools"}  # by the protocol's word


class Writing:
    """A reply while it is written: answer and thought so far, and what the client learns of tokens and of how it ended.

    The model may use `room` tokens; where a part of them is for thoughts, the answer is cut at `most` of them. Replies under a schema have
    an end of their own and are not guarded against repetition.
    """

    def __init__(self, room: int, most: int | None, schema: dict[str, Any] | None, on_text: Callable[[str], None] | None):
        self._on_text, self._schema = on_text, schema
        self._repeats, self._thought_repeats = (Repeats() if schema is None else None), Repeats()
        self._room, self._most, self._left = room, most, room * LONGEST_TOKEN + BESIDE
        self._thoughts, self._field = Thoughts(), ""
        self.pieces: list[str] = []
        self.finish: str | None = None
        self.tool = self.refusal = ""
        self.tokens_in = self.tokens_out = 0

    @property
    def text(self) -> str:
        """The answer so far."""
        return self._thoughts.answer

    def add(self, piece: str) -> bool:
        """Take a piece of the text. Whether the reply is to be stopped, since it repeats itself or has used up its room.

        Raises ModelFailed for half a letter, and for more text than the tokens that were asked for can be.
        """
        self._check(piece)
        thought, answer = len(self._thoughts.thought), len(self.text)
        grown = self._thoughts.add(piece)
        if len(self.text) != answer + len(grown):
            self._restart()
        stop = self._thought_repeats.add(self._thoughts.thought[thought:])
        return self._grow(grown) or stop

    def think(self, piece: str) -> bool:
        """Take a piece of a thought that comes in a field of its own. Whether the reply is to be stopped."""
        self._check(piece)
        self._field += piece
        return self._thought_repeats.add(piece)

    def ended(self, seconds: float) -> Reply:
        """The reply, with what repeats in it once."""
        self._grow(self._thoughts.end())
        thought = "\n".join(filter(None, (self._field.strip(), self._thoughts.thought.strip())))
        reply = Reply(self.text, self.tokens_in, self.tokens_out, self._finish(), thought=thought, seconds=seconds)
        if self._repeats is not None and self._repeats.end() and self._repeats.found is not None:
            return replace(reply, text=self._repeats.kept, finish="repeat", words=self._repeats.found[1])
        if self._thought_repeats.found is not None and not self.text.strip():
            return replace(reply, text="", finish="repeat", words=self._thought_repeats.found[1])
        if self.finish == "length":
            answer_cut = self._most is not None and not self._thoughts.thinking and reply.text.strip()
            reply = replace(reply, limit=self._most if answer_cut and self._most else self._room)
        return read_again(replace(reply, detail=self.tool or self.refusal), self._schema)

    def _restart(self) -> None:
        """Begin anew with the answer: what was taken for it was a thought."""
        self._repeats = None if self._repeats is None else Repeats()

    def _finish(self) -> str:
        thinking = self._thoughts.thinking or (self.finish == "length" and self._field and not self.text.strip())
        if self.finish == "length" and thinking:
            return "thinking"
        found = ENDS.get(self.finish or "", "stop")
        if found == "stop" and self.refusal and not self.text.strip():
            return "refused"
        return "stop" if found == "tools" and self.text.strip() else found

    def _check(self, piece: str) -> None:
        self._left -= len(piece)
        if self._left < 0:
            raise ModelFailed(f"The model sent more text than {self._room:,} tokens can be, and was cut off.")
        try:
            piece.encode("utf-8")
        except UnicodeEncodeError:
            raise ModelFailed("The model sent half a letter (a lone surrogate), which is no text.") from None
        self.pieces.append(piece)

    def _grow(self, text: str) -> bool:
        if not text:
            return False
        if self._on_text:
            self._on_text(text)
        if self._repeats is not None and self._repeats.add(text):
            return True
        if self._most is not None and estimate(self.text) > self._most:
            self.finish = "length"
            return True
        return False


def read_again(reply: Reply, schema: dict[str, Any] | None) -> Reply:
    """A reply with its thought separated, said to be unreadable where a schema was asked for and no such JSON is in it."""
    if not reply.thought and "<" in reply.text:
        thought, text, open_end = separated(reply.text)
        if thought:
            reply = replace(reply, text=text, thought=thought, finish="thinking" if open_end and reply.finish == "length" else reply.finish)
    fields = (schema or {}).get("properties")
    if fields and reply.finish == "stop" and reply.text.strip() and json_reply(reply.text, fields) is None:
        return replace(reply, finish="unreadable")
    return reply
