"""Prices of language models, and caps on what work may spend on them."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import BadInput, HopscopeError
from core.runtime.account import Account
from core.types import Usage

MILLION = 1_000_000
CAP_PATTERN = re.compile(r"\s*(\d[\d_,]*(?:\.\d+)?|\.\d+)\s*([A-Za-z]*|[$€£])\s*")
TOKEN_UNITS = ("token", "tokens")
CURRENCY_CODE_LETTERS = 3
CURRENCY_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP"}


@dataclass(frozen=True)
class TokenPrice:
    """Price of a million prompt tokens (`read`) and of a million reply tokens (`written`).

    Both are 0 if the price is unknown.

    >>> from core.models.price import TokenPrice
    >>> from core.types import Usage
    >>> TokenPrice(2.5, 10.0).compute(Usage(1, 1_000_000, 100_000))
    3.5
    """

    read: float = 0.0
    written: float = 0.0
    currency: str = "USD"

    def compute(self, usage: Usage) -> float:
        """Return the price of this usage."""
        return (self.read * usage.tokens_in + self.written * usage.tokens_out) / MILLION

    @property
    def is_known(self) -> bool:
        """True if a price is declared for the model."""
        return bool(self.read or self.written)


def total_price(prices: Mapping[str, TokenPrice], usage: Mapping[str, Usage]) -> float:
    """Return the price of the usage of several models.

    Parameters
    ----------
    prices : prices by model; models without one cost nothing.
    usage : calls and tokens by model.

    Returns
    -------
    Money, in the currency of the prices.
    """
    return sum(prices[name].compute(used) for name, used in usage.items() if name in prices)


def format_money(amount: float, currency: str) -> str:
    """Format an amount of money.

    Parameters
    ----------
    amount : the amount.
    currency : its code, which is written after it.

    Returns
    -------
    The amount with three decimals below 0.1, else with two, and the currency.

    Examples
    --------
    >>> from core.models.price import format_money
    >>> format_money(1234.5, "USD"), format_money(0.0421, "EUR"), format_money(0.00002, "EUR"), format_money(0.0, "USD")
    ('1,234.50 USD', '0.042 EUR', 'less than 0.001 EUR', '0 USD')
    """
    if not amount:
        return f"0 {currency}"
    if amount < 0.001:
        return f"less than 0.001 {currency}"
    return f"{amount:,.2f} {currency}" if amount >= 0.1 else f"{amount:.3f} {currency}"


class CapReached(HopscopeError):
    """Error of work that was stopped at its cap."""


@dataclass(frozen=True)
class Cap:
    """Limit of the total cost of an evaluation or a build.

    Parameters
    ----------
    most : the limit, in tokens or in money.
    tokens : true if the limit is in tokens.
    currency : code of the currency of the limit; empty for the currency of the prices.
    """

    most: float
    tokens: bool = False
    currency: str = ""

    def words(self, currency: str) -> str:
        """Format the limit; `currency` is the currency of the prices."""
        return f"{self.most:,.0f} tokens" if self.tokens else format_money(self.most, currency)


def parse_cap(text: str) -> Cap | None:
    """Parse a cap such as `5`, `2.50 USD` or `200000 tokens`.

    An empty text gives None. A number without a unit is money in the currency of the prices. A
    currency is a code of three letters or a sign. Raises BadInput.

    >>> from core.models.price import parse_cap
    >>> parse_cap("2.50 eur").currency, parse_cap("2 $").currency, parse_cap("200_000 tokens").most
    ('EUR', 'USD', 200000.0)
    """
    if not text.strip():
        return None
    match = CAP_PATTERN.fullmatch(text)
    amount = float(match[1].replace("_", "").replace(",", "")) if match else 0.0
    unit = match[2] if match else ""
    is_in_tokens = unit.lower() in TOKEN_UNITS
    currency = "" if is_in_tokens else _currency_code(unit)
    if amount <= 0 or len(currency) not in (0, CURRENCY_CODE_LETTERS):
        raise BadInput(
            f"“{text}” is no cap; write money, as 2.50 or 2.50 EUR, or tokens, as 200000tokens."
        )
    return Cap(amount, is_in_tokens, currency)


def _currency_code(unit: str) -> str:
    """Return a currency's code in capitals, from its code or sign."""
    return CURRENCY_SIGNS.get(unit, unit.upper())


class Spending:
    """Account of the cost of work that is limited by a cap.

    It decides if another piece may begin. The cost of a piece, such as a question, is unknown
    before it is done. It is assumed to be the cost of the most expensive piece so far. Another
    piece begins only if the rest of the cap covers it and all running pieces. Until a piece with a
    cost has ended, only one piece runs at a time.

    Parameters
    ----------
    prices : prices by model.
    previous : usage of earlier pieces, for work that is resumed.
    cap : the limit, if any.
    pieces : number of earlier pieces; their average cost is the first estimate.
    """

    def __init__(
        self,
        prices: Mapping[str, TokenPrice],
        previous: Mapping[str, Usage] | None = None,
        cap: Cap | None = None,
        pieces: float = 0,
    ):
        self.prices = dict(prices)
        self.cap = cap
        self.account = Account(previous)
        self._max_piece_cost = 0.0  # 0 until a piece with a cost has ended
        if pieces:
            self._max_piece_cost = self.amount(previous or {}) / pieces
        self._lock = threading.Lock()

    @property
    def currency(self) -> str:
        """Currency of the prices."""
        currencies = (price.currency for price in self.prices.values() if price.is_known)
        return next(currencies, TokenPrice().currency)

    def amount(self, usage: Mapping[str, Usage]) -> float:
        """Return the usage in the unit of the cap, tokens or money."""
        if self.cap is not None and self.cap.tokens:
            return sum(used.tokens_in + used.tokens_out for used in usage.values())
        return total_price(self.prices, usage)

    def record_piece(self, piece: Account) -> None:
        """Record the cost of a piece that has ended.

        A piece whose replies were all read from disk costs nothing and does not change the assumed
        cost of a piece.
        """
        with self._lock:
            self._max_piece_cost = max(self._max_piece_cost, self.amount(piece.usage))

    def can_begin(self, at_work: int) -> bool:
        """Return whether another piece may begin while `at_work` pieces are running."""
        if self.cap is None:
            return True
        cost = self.amount(self.account.usage)
        piece_cost = self._max_piece_cost
        if not piece_cost:
            return not at_work and cost < self.cap.most
        return cost + (at_work + 1) * piece_cost <= self.cap.most

    def words(self, done: int, total: int) -> str:
        """Describe the money spent so far, and the money expected in total.

        Parameters
        ----------
        done : number of pieces that are done.
        total : number of all pieces.

        Returns
        -------
        A few words; empty if no piece is done or no model has a price.
        """
        if not done or not any(price.is_known for price in self.prices.values()):
            return ""
        cost = total_price(self.prices, self.account.usage)
        total_cost = format_money(cost * total / done, self.currency)
        return f"{format_money(cost, self.currency)} spent, about {total_cost} in all"

    def describe_spent(self) -> str:
        """Describe the part of the cap that is spent: `0.12 of 1.30 USD`, `700 of 714 tokens`."""
        assert self.cap is not None  # only called with a cap
        cost = self.amount(self.account.usage)
        amount = f"{cost:,.0f}" if self.cap.tokens else format_money(cost, "").strip()
        return f"{amount} of {self.cap.words(self.currency)}"


def find_prices(
    models: Any, names: Iterable[str], cap: Cap | None, what: str
) -> dict[str, TokenPrice]:
    """Return the prices of language models by model name.

    Parameters
    ----------
    models : the registry of models.
    names : names or roles of models; others than language models are left out.
    cap : the cap on the work, if any.
    what : words for the work, for errors.

    Returns
    -------
    Prices by model.

    Raises
    ------
    BadInput : the prices are in several currencies and the cap is not in tokens. Or the cap is in
        money, but no model has a price or the prices are in another currency.
    """
    get_price = getattr(models, "price", lambda name: None)
    pairs = (get_price(name) for name in names)
    prices: dict[str, TokenPrice] = dict(pair for pair in pairs if pair is not None)
    currencies = {price.currency for price in prices.values() if price.is_known}
    if len(currencies) > 1 and (cap is None or not cap.tokens):
        raise BadInput(
            "The prices of the models are in several currencies; give all of them in one in "
            "models.toml, or a cap in tokens."
        )
    if cap is None or cap.tokens:
        return prices
    if not currencies:
        raise BadInput(
            f"No model of {what} has a price; give price_in and price_out in its row of "
            "models.toml, or a cap in tokens."
        )
    (currency,) = currencies
    if cap.currency and cap.currency != _currency_code(currency):
        raise BadInput(
            f"The cap is in {cap.currency}, but the prices of {what} are in {currency}; "
            f"give the cap in {currency} or in tokens."
        )
    return prices
