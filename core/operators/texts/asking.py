"""What operators on texts share that ask a language model: a reply with its cost, and prompts that have room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.errors import BadInput
from core.models.base import Chat, Messages, Reply
from core.operators.base import Context, Recorder

UNASKED = "No language model is asked"  # how the note begins that says so
SPARE = 8  # tokens that a chat template may need more than was counted


def unasked(ctx: Context, recorder: Recorder, instead: str) -> bool:
    """Whether no language model may be asked, which a note then says with what is done `instead`."""
    if not ctx.answering:
        recorder.notes.append(f"{UNASKED}: {instead}.")
    return not ctx.answering


def asked(
    chat: Chat,
    messages: Messages,
    ctx: Context,
    recorder: Recorder,
    max_tokens: int = 256,
    schema: dict[str, Any] | None = None,
    on_text: Callable[[str], None] | None = None,
) -> Reply:
    """The reply of a language model; the recorder hears what it cost, and where it was cut. Raises what the model raises."""
    how: dict[str, Any] = dict(schema=schema, max_tokens=max_tokens, seed=ctx.seed, check=ctx.check)
    reply = chat.reply(messages, **(how | ({"on_text": on_text} if on_text else {})))
    return recorder.replied(reply, "answer" if on_text else "reply")


def with_room(chat: Chat, told: Callable[[int], Messages], count: int, max_tokens: int) -> tuple[Messages, int, int]:
    """`told(n)` for the most of `count` things that leave the model room for a reply, that n, and the tokens of the prompt.

    Raises BadInput where not even the prompt with none of them fits.
    """
    room, shown = chat.context - max_tokens - SPARE, count
    while True:
        messages = told(shown)
        tokens = chat.count_tokens(messages)
        if tokens <= room:
            return messages, shown, tokens
        if not shown:
            raise BadInput(f"The question alone needs {tokens:,} tokens; the model has room for {room:,}.")
        shown = min(shown - 1, int(shown * room / tokens))
