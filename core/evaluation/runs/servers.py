"""Model servers of an evaluation, and the number of questions that keep them busy.

A server answers several requests at a time; a model in this process answers one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from core.errors import HopscopeError
from core.evaluation.runs.plan import Plan
from core.models.base import Models
from core.models.chat.window import Window


def servers(plan: Plan, models: Models, cold: bool = False) -> list[Any]:
    """Return the models of a plan that take several requests at a time (servers).

    Parameters
    ----------
    plan : the plan.
    models : the registry of models.
    cold : True to return the servers of a cold plan too. By default a cold plan has none, so that
        it asks one question at a time.

    Returns
    -------
    The models, one for each address. Unavailable models are left out; the rows report them.
    """
    servers_by_window: dict[int, Any] = {}
    for name in plan.models if cold or not plan.cold else ():
        with suppress(HopscopeError):  # a missing model is reported in the rows
            model = models.chat(name) if name in plan.chats else models.chooser(name)
            # A chooser wraps the chat model or the encoder that it asks.
            model = getattr(model, "chat", getattr(model, "encoder", model))
            if request_slots(model) > 1:
                # Models at the same address share a window.
                servers_by_window[id(getattr(model, "window", model))] = model
    return list(servers_by_window.values())


def request_slots(model: Any) -> int:
    """Return how many requests a model takes at a time.

    It is 1 unless the model is a server.
    """
    return getattr(model, "max_concurrent", 1)


def question_slots(models: Sequence[Any]) -> int:
    """Return how many questions keep these servers busy; 1 without servers."""
    return max(1, sum(map(request_slots, models)))


@contextmanager
def fix_concurrency(models: Sequence[Any], number: int) -> Iterator[None]:
    """Limit each server to a fixed number of concurrent requests within the context.

    Parameters
    ----------
    models : models, as `servers` returns them.
    number : concurrent requests to each; 0 determines it automatically.
    """
    with ExitStack() as stack:
        for window in _windows(models):
            stack.enter_context(window.fixed_at(number))
        yield


@contextmanager
def limit_to_single_speed(models: Sequence[Any]) -> Iterator[None]:
    """Limit the concurrency of each server so that requests are fast.

    The limit is the concurrency at which a request is as fast as a single one.
    """
    with ExitStack() as stack:
        for window in _windows(models):
            stack.enter_context(window.limit_to_single_speed())
        yield


def _windows(models: Sequence[Any]) -> list[Window]:
    """Return the windows (slots for concurrent requests) of the models that have one."""
    windows = (getattr(model, "window", None) for model in models)
    return [window for window in windows if window]
