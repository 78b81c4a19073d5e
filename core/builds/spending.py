"""What a build spends on language models: at most, and so far, saved beside its graph until that is whole."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.errors import StoreError, damage
from core.indexes.place import keep
from core.models.price import Cap, CapReached, Spending, money, prices_of, shown
from core.runtime.account import Account, charged_to
from core.types import Usage

SPENT = "-spent.json"  # behind the name of a graph's folder


class BuildSpending:
    """The spending of a build: each piece of it, such as a chunk, is charged, and what it has come to is saved with each.

    So a build that was stopped, killed too, is held to a cap with what it spent before; what is spent is forgotten once the graph is whole.
    """

    def __init__(
        self, file: Path | None, models: Any, names: Iterable[str], cap: Cap | None = None
    ):
        """Raises BadInput for a cap in money where no model of these names has a price, or where prices differ in currency, StoreError
        where what counts against a cap cannot be read."""
        self._file, self._lock, self._at_work = file, threading.Lock(), 0
        try:
            before, self._pieces = _saved(file)
        except StoreError:
            if cap:
                raise
            before, self._pieces = {}, 0
        prices = prices_of(models, names, cap, "this build") if cap else {}
        self._spending = Spending(prices, before, cap, self._pieces)

    def may_begin(self) -> bool:
        """Whether another piece may be begun beside those at work."""
        return self._spending.may_begin(self._at_work)

    def begin(self) -> None:
        """A piece is about to begin, and is at work from now on."""
        with self._lock:
            self._at_work += 1

    @contextmanager
    def piece(self) -> Iterator[None]:
        """A piece of the build that was begun, which asks language models within and has ended then."""
        account = Account()
        try:
            with charged_to(account, self._spending.account):
                yield
        finally:
            with self._lock:
                self._at_work -= 1
                self._spending.ended(account)
                if account.usage:
                    self._pieces += 1
                    self._save()

    def reached(self, done: int, total: int) -> CapReached:
        """What is said where the cap stopped it: so many texts of a step are done."""
        return CapReached(
            f"Stopped before the cap: {self._spending.so_far()} are spent, {done:,} of {total:,} texts of this step done, and the next one "
            "may cost more than is left. What was read and replied is saved; with a higher cap the build goes on from there."
        )

    def forget(self) -> None:
        """The graph is whole: what is asked for the next one is counted anew."""
        if self._file is not None:
            self._file.unlink(missing_ok=True)

    def _save(self) -> None:
        if self._file is None:
            return
        usage = {
            name: [one.calls, one.tokens_in, one.tokens_out]
            for name, one in self._spending.account.usage.items()
        }
        text = json.dumps({"pieces": self._pieces, "usage": usage})
        keep(self._file, lambda stream: stream.write(text.encode()), durable=False)


def spent_file(folder: Path) -> Path:
    """Where it is saved what a build has spent whose graph comes into this folder."""
    return folder.with_name(f"{folder.name}{SPENT}")


def spent_words(folder: Path, models: Any, names: Iterable[str]) -> str:
    """What a build that was stopped has spent so far, or why that cannot be read, in a sentence; empty where nothing."""
    try:
        usage, _ = _saved(spent_file(folder))
    except StoreError as error:
        return str(error)
    whole = sum(usage.values(), Usage())
    if not whole.calls:
        return ""
    price = getattr(models, "price", lambda name: None)
    prices = dict(found for name in names if (found := price(name)) is not None and found[1].known)
    currencies = {one.currency for one in prices.values()}
    paid = f", {shown(money(prices, usage), currencies.pop())}" if len(currencies) == 1 else ""
    return f"Spent on it so far: {whole.calls:,} calls, {whole.tokens_in:,} tokens in, {whole.tokens_out:,} out{paid}."


def _saved(file: Path | None) -> tuple[dict[str, Usage], int]:
    """What was spent by the name of the model, and on how many pieces; nothing where no file is there. Raises StoreError for a damaged
    one, as a cap would be counted from nothing."""
    if file is None:
        return {}, 0
    try:
        saved = json.loads(file.read_text("utf-8"))
        return {
            str(name): Usage(*map(int, counts)) for name, counts in saved["usage"].items()
        }, int(saved["pieces"])
    except FileNotFoundError:
        return {}, 0
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        instead = f"remove {file} to count from nothing"
        raise damage("The count of what this build has spent is", error, instead) from None
