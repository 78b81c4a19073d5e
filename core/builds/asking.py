"""Language models asked about many items, several at a time where the model can."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from core.builds.base import BuildContext
from core.models.base import Chat, Messages, Reply

LOOK = 0.2  # seconds between two looks at whether somebody cancelled
T = TypeVar("T")
W = TypeVar("W")


def reply_to(asked: Messages, chat: Chat, ctx: BuildContext, cut: bool = False, **how: Any) -> Reply:
    """A language model's reply, asked for once more where the first is of no use; the report counts both. With `cut` one that was cut is
    of use, as a text is without its end."""
    reply = chat.reply(asked, check=ctx.check, **how)
    ctx.report.used(reply)
    if reply.usable or reply.cached or (cut and reply.cut):
        return reply
    ctx.report.count(**{"asked again": 1})
    again = chat.reply(asked, check=ctx.check, **how)
    ctx.report.used(again)
    return again


def side_by_side(work: Callable[[W], T], items: Sequence[W], ctx: BuildContext) -> Iterator[tuple[int, T]]:
    """For each item its number and `work(item)`, as they come, `ctx.lanes` at a time.

    What `work` or `ctx.check` raises is raised once those that run have ended, of which what came is handed out first.
    """
    waiting: dict[Future[T], int] = {}
    numbers = iter(range(len(items)))
    fault: BaseException | None = None
    with ThreadPoolExecutor(ctx.lanes, "extract") as pool:
        while True:
            while fault is None and len(waiting) < ctx.lanes and (number := next(numbers, None)) is not None:
                waiting[pool.submit(work, items[number])] = number
            if not waiting:
                break
            done, _ = wait(waiting, LOOK, FIRST_COMPLETED)
            for future in sorted(done, key=waiting.__getitem__):
                number = waiting.pop(future)
                if future.exception() is None:
                    yield number, future.result()
                else:
                    fault = fault or future.exception()
            try:
                ctx.check()
            except BaseException as error:
                fault = fault or error
    if fault is not None:
        raise fault
