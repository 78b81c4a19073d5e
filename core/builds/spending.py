"""Spending of a build on language models: the amount so far, and the cap.

The amount is saved next to the folder of the graph until the graph is complete.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.errors import StoreError, damage_error
from core.indexes.index_storage import write_atomically
from core.models.price import Cap, CapReached, Spending, find_prices, format_money, total_price
from core.runtime.account import Account, charged_to
from core.types import Usage

SPENT_SUFFIX = "-spent.json"  # suffix to the name of a graph's folder


class BuildSpending:
    """Spending of a build, charged and saved piece by piece.

    A piece is the work on one item, for example the requests about one chunk. If a build was
    stopped or killed, its earlier spending counts against the cap. The record is removed once the
    graph is complete.
    """

    def __init__(
        self, file: Path | None, models: Any, names: Iterable[str], cap: Cap | None = None
    ):
        """Load the earlier spending.

        Parameters
        ----------
        file : record of the spending; None for no record.
        models : the registry of models, with their prices.
        names : roles or names of the models of the build.
        cap : the most that the build may spend; None for no cap.

        Raises
        ------
        BadInput : the cap is in money, and none of the models has a price, or their currencies
            differ.
        StoreError : the earlier spending cannot be read, and there is a cap that it counts against.
        """
        self._file = file
        self._lock = threading.Lock()
        self._n_running = 0  # pieces in progress
        earlier_usage, self._n_charged = dict[str, Usage](), 0  # pieces that asked a model
        try:
            earlier_usage, self._n_charged = _read_spending(file)
        except StoreError:
            if cap:
                raise
        prices = find_prices(models, names, cap, "this build") if cap else {}
        self._spending = Spending(prices, earlier_usage, cap, self._n_charged)

    def may_begin(self) -> bool:
        """Return whether the cap allows another piece in addition to those in progress."""
        return self._spending.can_begin(self._n_running)

    def begin(self) -> None:
        """Record that a piece begins and is in progress from now on."""
        with self._lock:
            self._n_running += 1

    @contextmanager
    def charge_piece(self) -> Iterator[None]:
        """Charge the use of language models in this context to a piece.

        The piece was begun before and ends with the context. A piece that used saved replies alone
        costs nothing.
        """
        account = Account()
        try:
            with charged_to(account, self._spending.account):
                yield
        finally:
            with self._lock:
                self._n_running -= 1
                self._spending.record_piece(account)
                if account.usage:
                    self._n_charged += 1
                    self._save()

    def cap_error(self, done: int, total: int) -> CapReached:
        """Return the error for a step that the cap stopped.

        Parameters
        ----------
        done, total : number of finished items of the step, and of all.

        Returns
        -------
        The error, which the caller raises.
        """
        return CapReached(
            f"Stopped before the cap: {self._spending.describe_spent()} are spent, {done:,} of {total:,} "
            "texts of this step done, and the next one may cost more than is left. Replies are "
            "saved; with a higher cap the build goes on from there."
        )

    def remove_record(self) -> None:
        """Remove the record of a complete build. The next build then counts from zero."""
        if self._file is not None:
            self._file.unlink(missing_ok=True)

    def _save(self) -> None:
        """Write the record, unless there is no file for it."""
        if self._file is None:
            return
        usage = {
            name: [used.calls, used.tokens_in, used.tokens_out]
            for name, used in self._spending.account.usage.items()
        }
        text = json.dumps({"pieces": self._n_charged, "usage": usage})
        write_atomically(self._file, lambda stream: stream.write(text.encode()), durable=False)


def spent_file(folder: Path) -> Path:
    """Return the file that records the spending of a build with this graph folder."""
    return folder.with_name(f"{folder.name}{SPENT_SUFFIX}")


def spent_words(folder: Path, models: Any, names: Iterable[str]) -> str:
    """Return a sentence on what a stopped build has spent so far.

    Parameters
    ----------
    folder : folder of the build.
    models : the registry of models, with their prices.
    names : roles or names of the models of the build.

    Returns
    -------
    A sentence; empty if nothing was spent. If the record cannot be read, it says why.
    """
    try:
        usage, _ = _read_spending(spent_file(folder))
    except StoreError as error:
        return str(error)
    total = sum(usage.values(), Usage())
    if not total.calls:
        return ""
    find_price = getattr(models, "price", lambda name: None)
    prices = {name: price for name, price in filter(None, map(find_price, names)) if price.is_known}
    currencies = {price.currency for price in prices.values()}
    paid = ""
    if len(currencies) == 1:
        paid = f", {format_money(total_price(prices, usage), currencies.pop())}"
    return (
        f"Spent on it so far: {total.calls:,} calls, {total.tokens_in:,} tokens in, "
        f"{total.tokens_out:,} out{paid}."
    )


def _read_spending(file: Path | None) -> tuple[dict[str, Usage], int]:
    """Return the spending by model name, and the number of charged pieces.

    Empty if the file is missing. Raises StoreError if it is damaged, because the cap would
    otherwise count from zero.
    """
    if file is None:
        return {}, 0
    try:
        data = json.loads(file.read_text("utf-8"))
        usage = {str(name): Usage(*map(int, counts)) for name, counts in data["usage"].items()}
        return usage, int(data["pieces"])
    except FileNotFoundError:
        return {}, 0
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        instead = f"remove {file} to count from nothing"
        raise damage_error("The count of what this build has spent is", error, instead) from None
