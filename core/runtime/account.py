"""Accounts of language model calls. They charge each piece of work for the calls that it makes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from core.types import Usage

_local = threading.local()


class Account:
    """Calls and tokens by the name of the model, safe between threads.

    Cached replies cost nothing. The accounts of nested blocks are all charged.

    >>> from core.runtime.account import Account, charge, charged_to
    >>> from core.types import Usage
    >>> whole, part = Account(), Account()
    >>> with charged_to(whole), charged_to(part):
    ...     charge("gpt", Usage(calls=1, tokens_in=20, tokens_out=5))
    >>> whole.usage == part.usage == {"gpt": Usage(1, 20, 5)}
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
def charged_to(*new_accounts: Account) -> Iterator[None]:
    """Charge this thread's calls within the block to these accounts too."""
    previous = accounts()
    _local.accounts = (*previous, *new_accounts)
    try:
        yield
    finally:
        _local.accounts = previous
