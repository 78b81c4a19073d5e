"""Early stopping of a path search: a language model says if the paths suffice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from core.errors import shorten
from core.models.base import Chat, Messages, Task
from core.models.chat.json_reply import json_reply
from core.prompts import make_messages, one_line
from core.types import Usage

STOP_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"sufficient": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["sufficient"],
    "additionalProperties": False,
}
MAX_STOP_REPLY_TOKENS = 16
YES_NO_PATTERN = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)


def are_paths_sufficient(chat: Chat, task: Task, texts: Sequence[str]) -> tuple[bool, Usage, str]:
    """Ask a language model whether the paths answer the question.

    A reply that is neither yes nor no counts as no. If the texts do not fit into the context, the
    last half of them is left out, and again until the rest fits.

    Parameters
    ----------
    task : gives the question, the seed and the watch.
    texts : the paths as texts, best first.

    Returns
    -------
    True for a yes, the cost of the reply, and a clause on the reply for a note.
    """
    path_texts = list(map(one_line, texts))
    stop_prompt = _stop_prompt(task, path_texts)
    while path_texts and chat.count_tokens(stop_prompt) > chat.context - MAX_STOP_REPLY_TOKENS:
        path_texts = path_texts[: len(path_texts) // 2]
        stop_prompt = _stop_prompt(task, path_texts)
    reply = chat.reply(
        stop_prompt,
        schema=STOP_SCHEMA,
        max_tokens=MAX_STOP_REPLY_TOKENS,
        seed=task.seed,
        watch=task.watch,
    )
    verdict = _read_yes_no(reply.text)
    if verdict:
        clause = "the language model found the paths sufficient"
    elif verdict is False:
        clause = "the language model wanted more paths"
    elif reply.text.strip():
        clause = (
            f"the language model's reply (“{shorten(reply.text)}”) is neither yes nor no and "
            "counts as no"
        )
    else:
        fault = reply.describe_fault()
        clause = (
            "the language model said nothing, which counts as no: "
            f"{fault[:1].lower()}{fault.rstrip('.')[1:]}"
        )
    if len(path_texts) < len(texts):
        clause += f" (shown {len(path_texts)} of {len(texts)})"
    return verdict is True, Usage(1, reply.tokens_in, reply.tokens_out), clause


def _stop_prompt(task: Task, paths: Sequence[str]) -> Messages:
    return make_messages(
        "stop", "sufficient", paths="\n".join(paths), question=one_line(task.query)
    )


def _read_yes_no(reply: str) -> bool | None:
    """Return the yes or no of a reply as a bool.

    It is the JSON value, else a yes or no at the beginning of the reply. The result is None if
    there is neither.
    """
    parsed = json_reply(reply, ("sufficient",))
    text = reply if parsed is None else str(parsed.value["sufficient"])
    match = YES_NO_PATTERN.match(text)
    return None if match is None else match[1].lower() == "yes"
