"""Language models asked about many items, several at a time where the model can."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from core.builds.base import BuildContext
from core.languages import is_english
from core.languages.language import name_of
from core.models.base import Chat, Messages, Reply
from core.prompts import instructed
from core.runtime.flight import Flight

T = TypeVar("T")
W = TypeVar("W")


def reply_to(
    asked: Messages, chat: Chat, ctx: BuildContext, cut: bool = False, **how: Any
) -> Reply:
    """A language model's reply, asked for once more where the first is of no use; the report counts both. With `cut` one that was cut is
    of use, as a text is without its end. It is asked to write in the language of the documents."""
    asked = in_language(asked, ctx)
    reply = chat.reply(asked, watch=ctx.watch, **how)
    ctx.report.used(reply)
    if reply.usable or reply.cached or (cut and reply.cut):
        return reply
    ctx.report.count(**{"asked again": 1})
    again = chat.reply(asked, watch=ctx.watch, **how)
    ctx.report.used(again)
    return again


def in_language(asked: Messages, ctx: BuildContext) -> Messages:
    """The messages with the language to write in, where the documents are in another than English."""
    if is_english(ctx.language):
        return asked
    name = name_of(ctx.language)
    return instructed(
        asked, f"The text is in {name}: write in {name}, and names as they are in it."
    )


def side_by_side(
    work: Callable[[W], T], items: Sequence[W], model: str, ctx: BuildContext
) -> Iterator[tuple[int, T]]:
    """For each item its number and `work(item)`, as they come, as many at a time as the language model of that name or role takes.

    What `work` or `ctx.watch` raises is raised once those that run have ended, of which what came is handed out first. Raises CapReached
    where the build may spend no more.
    """
    spending, done = ctx.spending, 0

    def numbers() -> Iterator[int]:
        for number in range(len(items)):
            spending.begin()
            yield number

    def piece(number: int) -> T:
        with spending.piece():
            return work(items[number])

    with ctx.replies.held():
        for found in Flight(
            lambda: ctx.at_once(model) if spending.may_begin() else 0, ctx.watch
        ).each(piece, numbers()):
            done += 1
            yield found
    if done < len(items):
        raise spending.reached(done, len(items))
