"""A language model in this process that answers several requests at a time.

It is used for building graphs from texts, which takes very many requests.
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
# A reply is stopped at this many objects with the same first two values.
MAX_EQUAL_OBJECTS = 3


def make_concurrent_chat(chat: Chat, lanes: int) -> Chat:
    """Return a chat of the same weights that answers several requests at a time.

    Replies may differ slightly from those to single requests.

    Parameters
    ----------
    chat : any language model.
    lanes : largest number of concurrent requests.

    Returns
    -------
    A new chat for a `LlamaChat`; any other chat is returned unchanged.
    """
    if isinstance(chat, LlamaChat):
        return LlamaLanes(chat.path, chat.name, chat.context, lanes)
    return chat


class ObjectRepeatCollector(ReplyCollector):
    """A collector that stops a reply once it repeats JSON objects; see `LlamaLanes`."""

    def __init__(self, *args: Any):
        super().__init__(*args)
        self._is_stopped = False
        self._restart()

    def make_reply(self, seconds: float) -> ChatReply:
        reply = super().make_reply(seconds)
        return replace(reply, finish="repeat") if self._is_stopped else reply

    def _restart(self) -> None:
        super()._restart()
        self._object_counts: dict[tuple[Any, ...], int] = {}  # by the first two values
        self._open_positions: list[int] = []  # at which unfinished objects begin
        self._in_string = self._escaped = False  # the state after the last character
        self._length = 0  # characters of the answer that were read

    def _grow(self, text: str) -> bool:
        stop = super()._grow(text)
        if self._repeats is None:  # only under a schema, where words are not checked
            for character in text:
                self._is_stopped = self._read_character(character) or self._is_stopped
        return stop or self._is_stopped

    def _read_character(self, character: str) -> bool:
        """Process a character of the answer; return whether it ends a too frequent object."""
        position = self._length
        self._length += 1
        if self._in_string:
            self._in_string = self._escaped or character != '"'
            self._escaped = character == "\\" and not self._escaped
        elif character == '"':
            self._in_string = True
        elif character == "{":
            self._open_positions.append(position)
        elif character == "}" and self._open_positions:
            return self._count_object(self.text[self._open_positions.pop() : position + 1])
        return False

    def _count_object(self, text: str) -> bool:
        """Count an object by its first two values; return whether these occur too often."""
        try:
            values = tuple(map(repr, list(json.loads(text).values())[:2]))
        except (ValueError, AttributeError):
            return False
        self._object_counts[values] = self._object_counts.get(values, 0) + 1
        return self._object_counts[values] >= MAX_EQUAL_OBJECTS


class LlamaLanes(LlamaChat):
    """A LlamaChat with an engine of its own that decodes several replies together.

    Common beginnings of prompts are computed once. Small models sometimes write the same object
    again and again. A reply under a schema is therefore stopped at `MAX_EQUAL_OBJECTS` objects with
    the same first two values, and its `finish` is then "repeat".

    Parameters
    ----------
    path : the GGUF file.
    name : name of the model.
    context : size of the context window of each request, in tokens.
    lanes : largest number of concurrent requests.
    """

    side_by_side = True  # true if several requests may run at the same time
    has_prompt_cache = True
    collector_class = ObjectRepeatCollector

    def __init__(self, path: Path, name: str, context: int, lanes: int):
        super().__init__(path, name, context)
        self._slots = Slots(lanes)

    @property
    def max_concurrent(self) -> int:
        return self._slots.limit

    def _start(self) -> Any:
        return open_engine(
            self.path,
            self.name,
            self.context,
            LANES_BATCH_TOKENS,
            key=self.key,
            max_requests=self.max_concurrent,
            cache_prompt=self.has_prompt_cache,
        )
