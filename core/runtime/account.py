"""Accounts of language model calls, by the work that makes them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from core.types import Usage

_local = threading.local()


class Account:
    """Calls and tokens by the name of the model. Cached replies cost nothing.

    Safe between threads.

    >>> from core.runtime.account import Account, charge, charged_to
    >>> from core.types import Usage
    >>> whole, part = Account(), Account()
    >>> with charged_to(whole), charged_to(part):
    ...     charge("far", Usage(1, 20, 5))
    >>> whole.usage == part.usage == {"far": Usage(1, 20, 5)}
    True
    """

    def __init__(self, usage: Mapping[str, Usage] | None = None):
        self._lock, self._usage = threading.Lock(), dict(usage or {})

    @property
    def usage(self) -> dict[str, Usage]:
        """Usage charged so far, by model."""
        with self._lock:
            return dict(self._usage)

    def add(self, model: str, usage: Usage) -> None:
        """Charge usage to a model."""
        with self._lock:
            self._usage[model] = self._usage.get(model, Usage()) + usage


def accounts() -> tuple[Account, ...]:
    """Return the accounts of this thread's work."""
    return getattr(_local, "accounts", ())


def charge(model: str, usage: Usage) -> None:
    """Charge a model's usage to all accounts of this thread's work."""
    for account in accounts():
        account.add(model, usage)


@contextmanager
def charged_to(*more: Account) -> Iterator[None]:
    """Charge this thread's calls to these accounts too, within the block."""
    previous = accounts()
    _local.accounts = (*previous, *more)
    try:
        yield
    finally:
        _local.accounts = previous
