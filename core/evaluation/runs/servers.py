"""The servers that an evaluation asks, and how many of its questions they keep busy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from core.evaluation.runs.plan import Plan
from core.models.base import Models
from core.models.chat.window import Window


def servers(plan: Plan, models: Models, cold: bool = False) -> list[Any]:
    """The models of a plan that take several requests at a time, each once; of a `cold` run, which shares nothing, only where that is
    wanted."""
    found: dict[int, Any] = {}
    for name in plan.models if cold or not plan.cold else ():
        with suppress(Exception):  # of one that is not here, as its rows will say
            one = models.chat(name) if name in plan.chats else models.chooser(name)
            one = getattr(one, "chat", getattr(one, "encoder", one))  # what a chooser asks
            if at_once(one) > 1:
                found[id(getattr(one, "window", one))] = (
                    one  # models of one address share its window
                )
    return list(found.values())


def at_once(model: Any) -> int:
    """How many pieces of work may ask a model at a time."""
    return getattr(model, "at_once", 1)


def in_flight(asked: Sequence[Any]) -> int:
    """How many questions keep these servers busy; one where there is none."""
    return max(1, sum(map(at_once, asked)))


@contextmanager
def fixed(asked: Sequence[Any], number: int) -> Iterator[None]:
    """Within, each of these servers is sent so many requests at a time, or as many as is found out where that is 0."""
    with ExitStack() as entered:
        for window in _windows(asked):
            entered.enter_context(window.fixed_at(number))
        yield


@contextmanager
def as_fast_as_one(asked: Sequence[Any]) -> Iterator[None]:
    """Within, each of these servers is sent no more requests at a time than it answers as fast as one alone."""
    with ExitStack() as entered:
        for window in _windows(asked):
            entered.enter_context(window.no_slower())
        yield


def _windows(asked: Sequence[Any]) -> list[Window]:
    return [window for one in asked if (window := getattr(one, "window", None))]
