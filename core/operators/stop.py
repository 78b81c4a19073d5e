"""Early stopping: a language model says whether the paths suffice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from core.errors import shorten
from core.models.base import Chat, Messages, Task
from core.models.chat.json_reply import json_reply
from core.prompts import messages, plain
from core.types import Usage

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"sufficient": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["sufficient"],
    "additionalProperties": False,
}
REPLY_TOKENS = 16
YES_OR_NO = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)


def sufficient(chat: Chat, task: Task, texts: Sequence[str]) -> tuple[bool, Usage, str]:
    """Ask a language model whether the paths answer the question.

    A reply that is neither yes nor no counts as no. If the texts do not fit into the context, only
    the first of them are shown.

    Returns
    -------
    True for a yes, the cost of the reply, and a sentence on it.
    """
    shown = list(map(plain, texts))
    asked = _asked(task, shown)
    while shown and chat.count_tokens(asked) > chat.context - REPLY_TOKENS:
        shown = shown[: len(shown) // 2]
        asked = _asked(task, shown)
    reply = chat.reply(
        asked, schema=SCHEMA, max_tokens=REPLY_TOKENS, seed=task.seed, watch=task.watch
    )
    said = _read(reply.text)
    if said is None and not reply.text.strip():
        sentence = (
            f"the language model said nothing, which counts as no: "
            f"{reply.fault()[:1].lower()}{reply.fault().rstrip('.')[1:]}"
        )
    elif said is None:
        sentence = (
            f"the language model's reply (“{shorten(reply.text)}”) is neither yes nor no and "
            f"counts as no"
        )
    else:
        sentence = "the language model wanted more paths"
        if said:
            sentence = "the language model found the paths sufficient"
    if len(shown) < len(texts):
        sentence += f" (shown {len(shown)} of {len(texts)})"
    return said is True, Usage(1, reply.tokens_in, reply.tokens_out), sentence


def _asked(task: Task, paths: Sequence[str]) -> Messages:
    return messages("stop", "sufficient", paths="\n".join(paths), question=plain(task.query))


def _read(reply: str) -> bool | None:
    """Return the yes or no of a reply as true or false.

    It is the JSON value, else a yes or no at the beginning of the reply. Returns None if the reply
    says neither.
    """
    found = json_reply(reply, ("sufficient",))
    said = reply if found is None else str(found.value["sufficient"])
    match = YES_OR_NO.match(said)
    return None if match is None else match[1].lower() == "yes"
