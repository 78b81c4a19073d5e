"""Requests of operators to a language model, and prompts that fit into its context."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from core.errors import BadInput
from core.models.base import Chat, ChatReply, Messages
from core.operators.base import Context, Recorder

NO_MODEL_NOTE = "No language model is asked"  # begins the note on a substitute
T = TypeVar("T")
CHAT_TEMPLATE_TOKENS = 8  # tokens that a chat template may add to the counted ones


def skips_model_call(ctx: Context, recorder: Recorder, substitute: str) -> bool:
    """Return whether no language model may be asked; if so, note what replaces it.

    `substitute` is a clause for the note, without a full stop.
    """
    if not ctx.answering:
        recorder.notes.append(f"{NO_MODEL_NOTE}: {substitute}.")
    return not ctx.answering


def request_reply(
    chat: Chat,
    messages: Messages,
    ctx: Context,
    recorder: Recorder,
    max_tokens: int,
    what: str = "reply",
    **options: Any,
) -> ChatReply:
    """Return the reply of a language model, and record its cost and faults.

    Any error of the model is passed on.

    Parameters
    ----------
    max_tokens : the largest length of the reply.
    what : word for the reply in notes. The text of an "answer" is shown while it is written.
    options : further arguments of `Chat.reply`, which take precedence over those of the context.
    """
    defaults: dict[str, Any] = dict(max_tokens=max_tokens, seed=ctx.seed, watch=ctx.watch)
    if what == "answer":
        defaults["on_text"] = ctx.on_text
    return recorder.record_reply(chat.reply(messages, **(defaults | options)), what)


def reduce_count(count: int, share: float) -> int:
    """Return about a share of a number, but at most the number minus one."""
    return min(count - 1, int(count * share))


def fit_prompt(
    chat: Chat,
    prompt: Callable[[T], Messages],
    items: T,
    max_tokens: int,
    shrink: Callable[[T, float], T] = reduce_count,  # type: ignore[assignment]
    alone: str = "question alone needs",
) -> tuple[Messages, T, int]:
    """Return a prompt with as many items as fit the context.

    The model's context must also hold the reply. The items are reduced until the prompt fits. The
    result may have fewer items than would fit. As few prompts are too long, the exact limit is not
    worth a search.

    Parameters
    ----------
    prompt : a function that makes the messages from the shown items.
    items : the items to show, or their number.
    max_tokens : largest length of the reply.
    shrink : a function that reduces the shown items to about a share, above 0 and below 1.
    alone : subject and verb for a prompt without items, for the error message.

    Returns
    -------
    The messages, the items that they show, and the tokens of the messages.

    Raises
    ------
    BadInput
        If not even the prompt without items fits.
    """
    max_prompt_tokens = chat.context - max_tokens - CHAT_TEMPLATE_TOKENS
    while True:
        messages = prompt(items)
        tokens = chat.count_tokens(messages)
        if tokens <= max_prompt_tokens:
            return messages, items, tokens
        if not items:
            raise BadInput(
                f"The {alone} {tokens:,} tokens; the model has room for {max_prompt_tokens:,}."
            )
        items = shrink(items, max_prompt_tokens / tokens)
