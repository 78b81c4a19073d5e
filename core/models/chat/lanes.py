"""An embedded language model that answers several requests at a time.

Builds use it, which send thousands of similar requests.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.models.base import Chat, ChatReply
from core.models.chat.llama import LlamaChat, open_engine
from core.models.chat.reply_collector import ReplyCollector
from core.runtime.slots import Slots

LANES_BATCH_TOKENS = 512  # prompt tokens in a batch
# Objects with the same first two values, after which a reply is stopped.
MAX_EQUAL_OBJECTS = 3


def several_at_once(chat: Chat, lanes: int) -> Chat:
    """Return a chat of the same weights that answers several requests at a time.

    Replies may differ slightly from those to single requests.

    Parameters
    ----------
    chat : any language model.
    lanes : largest number of concurrent requests.

    Returns
    -------
    A new chat; a model that cannot do this is returned as it is.
    """
    if isinstance(chat, LlamaChat):
        return LlamaLanes(chat.path, chat.name, chat.context, lanes)
    return chat


class ObjectRepeatCollector(ReplyCollector):
    """A reply that is stopped once it repeats objects; see `LlamaLanes`."""

    def __init__(self, *args: Any):
        super().__init__(*args)
        self._stopped = False
        self._restart()

    def ended(self, seconds: float) -> ChatReply:
        reply = super().ended(seconds)
        return replace(reply, finish="repeat") if self._stopped else reply

    def _restart(self) -> None:
        super()._restart()
        self._counts: dict[tuple[Any, ...], int] = {}
        self._open: list[int] = []  # positions at which unfinished objects begin
        self._in_string = self._escaped = False
        self._length = 0

    def _grow(self, text: str) -> bool:
        stop = super()._grow(text)
        if self._repeats is None:
            for character in text:
                self._stopped = self._read(character) or self._stopped
        return stop or self._stopped

    def _read(self, character: str) -> bool:
        """Return whether this character ends an object that was written too often."""
        position, self._length = self._length, self._length + 1
        if self._in_string:
            self._in_string = self._escaped or character != '"'
            self._escaped = character == "\\" and not self._escaped
        elif character == '"':
            self._in_string = True
        elif character == "{":
            self._open.append(position)
        elif character == "}" and self._open:
            return self._judge(self.text[self._open.pop() : position + 1])
        return False

    def _judge(self, text: str) -> bool:
        try:
            values = tuple(map(repr, list(json.loads(text).values())[:2]))
        except (ValueError, AttributeError):
            return False
        self._counts[values] = self._counts.get(values, 0) + 1
        return self._counts[values] >= MAX_EQUAL_OBJECTS


class LlamaLanes(LlamaChat):
    """A LlamaChat with an engine of its own that decodes several replies together.

    Common beginnings of prompts are computed once. A reply under a schema is stopped if it keeps
    writing an object with the same first two values, as small models do. Its text is then cut
    short, and its `finish` is "repeat".

    Parameters
    ----------
    path : the GGUF file.
    name : name of the model.
    context : size of the context window in tokens.
    lanes : largest number of concurrent requests.
    """

    side_by_side = True
    cached = True
    gathers = ObjectRepeatCollector

    def __init__(self, path: Path, name: str, context: int, lanes: int):
        super().__init__(path, name, context)
        self._running = Slots(lanes)

    @property
    def at_once(self) -> int:
        return self._running.limit

    def _start(self) -> Any:
        return open_engine(
            self.path,
            self.name,
            self.context,
            LANES_BATCH_TOKENS,
            key=self.key,
            lanes=self.at_once,
            cache_prompt=True,
        )
