"""What operators share that ask a language model: a reply with its cost, and prompts that have room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from core.errors import BadInput
from core.models.base import Chat, Messages, Reply
from core.operators.base import Context, Recorder

UNASKED = "No language model is asked"  # how the note begins that says so
T = TypeVar("T")
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
    max_tokens: int,
    what: str = "reply",
    **how: Any,
) -> Reply:
    """The reply of a language model, of which the recorder takes the cost, and a note where it was blank or cut; the text of an “answer” is
    shown as it comes. `how` are other settings of a reply than these. Raises what the model raises."""
    given: dict[str, Any] = dict(max_tokens=max_tokens, seed=ctx.seed, watch=ctx.watch)
    shown = {"on_text": ctx.on_text} if what == "answer" else {}
    return recorder.replied(chat.reply(messages, **(given | shown | how)), what)


def fewer(count: int, share: float) -> int:
    """About that share of a number of things, and at least one fewer."""
    return min(count - 1, int(count * share))


def with_room(
    chat: Chat,
    prompt: Callable[[T], Messages],
    shown: T,
    max_tokens: int,
    less: Callable[[T, float], T] = fewer,  # type: ignore[assignment]
    alone: str = "question alone needs",
) -> tuple[Messages, T, int]:
    """The prompt that shows as much as leaves the model room for a reply, what it shows, and the tokens of the prompt. `less` makes
    what is shown smaller, to about a share of it.

    Counting tokens needs no exact search, as few prompts are long. Raises BadInput where not even the prompt that shows nothing fits.
    """
    room = chat.context - max_tokens - SPARE
    while True:
        messages = prompt(shown)
        tokens = chat.count_tokens(messages)
        if tokens <= room:
            return messages, shown, tokens
        if not shown:
            raise BadInput(f"The {alone} {tokens:,} tokens; the model has room for {room:,}.")
        shown = less(shown, room / tokens)
