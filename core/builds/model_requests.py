"""Requests to language models during a build: single ones with a retry, and many in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from core.builds.base import BuildContext
from core.languages import is_english
from core.languages.language import name_of
from core.models.base import Chat, ChatReply, Messages
from core.prompts import add_instruction
from core.runtime.concurrent_work import ConcurrentWork

T = TypeVar("T")
W = TypeVar("W")


def reply_to(
    prompt: Messages, chat: Chat, ctx: BuildContext, accept_cut: bool = False, **options: Any
) -> ChatReply:
    """Return a language model's reply.

    The model is asked once more if a new reply is unusable. A saved reply is returned even if it is
    unusable. The report counts each reply. An instruction to write in the language of the documents
    is added to the prompt.

    Parameters
    ----------
    prompt : the messages to the model.
    chat : the language model.
    ctx : the watch, the report and the language of the build.
    accept_cut : accept a reply that was cut off, for texts that are usable without their end.
    options : further arguments of `Chat.reply`.

    Returns
    -------
    The first reply, or the second if the first was new and unusable.
    """
    prompt = in_language(prompt, ctx)
    reply = chat.reply(prompt, watch=ctx.watch, **options)
    ctx.report.add_usage(reply)
    if reply.is_usable or reply.cached or (accept_cut and reply.is_cut):
        return reply
    ctx.report.count(**{"asked again": 1})
    # The request is the same, but a server may reply differently the second time.
    second = chat.reply(prompt, watch=ctx.watch, **options)
    ctx.report.add_usage(second)
    return second


def in_language(prompt: Messages, ctx: BuildContext) -> Messages:
    """Add an instruction to write in the documents' language, unless it is English.

    Parameters
    ----------
    prompt : the messages to the model.
    ctx : the language of the documents.

    Returns
    -------
    The prompt with one more instruction; unchanged for English.
    """
    if is_english(ctx.language):
        return prompt
    name = name_of(ctx.language)
    return add_instruction(
        prompt, f"The text is in {name}: write in {name}, and names as they are in it."
    )


def mean_reply_tokens(model: str, expected: float, ctx: BuildContext) -> float:
    """Return the mean length of a language model's replies on this computer.

    Parameters
    ----------
    model : the name or role of the language model.
    expected : tokens of a reply by estimate.
    ctx : the saved replies of the build.

    Returns
    -------
    Tokens of a reply; `expected` if no reply is saved.
    """
    means = ctx.replies.mean_cost(ctx.models.weights(model))
    if means is None:
        return expected
    _, _, reply_tokens = means
    return reply_tokens


def map_in_parallel(
    work: Callable[[W], T], items: Sequence[W], model: str, ctx: BuildContext
) -> Iterator[tuple[int, T]]:
    """Apply a function that asks a language model to items, in parallel.

    As many items are worked on at a time as the language model accepts. If `work` or `ctx.watch`
    raises, the items already running are finished and yielded before the error is raised.

    Parameters
    ----------
    work : asks the language model about one item.
    items : the items.
    model : the name or role of the language model.
    ctx : the account of the build's spending, the saved replies and the watch.

    Yields
    ------
    Index of an item and its result, as they finish.

    Raises
    ------
    CapReached : items are left that the build may not spend on.
    Exception : as `work` or `ctx.watch` raises.
    """
    spending = ctx.spending
    done = 0

    def begin_items() -> Iterator[int]:
        for number in range(len(items)):
            spending.begin()  # from now on, its cost is reserved under the cap
            yield number

    def work_on(number: int) -> T:
        with spending.charge_piece():
            return work(items[number])

    def parallel_requests() -> int:
        return ctx.max_concurrent(model) if spending.may_begin() else 0  # 0: start no more

    with ctx.replies.hold_open():
        for result in ConcurrentWork(parallel_requests, ctx.watch).run_each(work_on, begin_items()):
            done += 1
            yield result
    if done < len(items):
        raise spending.cap_error(done, len(items))
