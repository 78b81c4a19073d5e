"""What is asked of language models, charged to the piece of work that asks."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from core.types import Usage

_here = threading.local()


class Account:
    """Calls, tokens read and tokens written by the name of the model; what was remembered costs nothing. Safe between threads.

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
        """What was charged so far."""
        with self._lock:
            return dict(self._usage)

    def add(self, model: str, usage: Usage) -> None:
        """Charge this."""
        with self._lock:
            self._usage[model] = self._usage.get(model, Usage()) + usage


def accounts() -> tuple[Account, ...]:
    """The accounts of this thread's work."""
    return getattr(_here, "accounts", ())


def charge(model: str, usage: Usage) -> None:
    """A model was asked by this thread's work."""
    for account in accounts():
        account.add(model, usage)


@contextmanager
def charged_to(*more: Account) -> Iterator[None]:
    """What this thread asks of language models within is charged to these accounts too."""
    before = accounts()
    _here.accounts = (*before, *more)
    try:
        yield
    finally:
        _here.accounts = before
