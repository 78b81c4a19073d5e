"""What language models cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.types import Usage

MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """Money for a million tokens that a model reads, and for a million that it writes.

    >>> from core.models.price import Price
    >>> from core.types import Usage
    >>> Price(2.5, 10.0).of(Usage(1, 1_000_000, 100_000))
    3.5
    """

    read: float = 0.0
    written: float = 0.0
    currency: str = "USD"

    def of(self, usage: Usage) -> float:
        """The money for so many tokens."""
        return (self.read * usage.tokens_in + self.written * usage.tokens_out) / MILLION

    @property
    def known(self) -> bool:
        """Whether a price was given."""
        return bool(self.read or self.written)


def money(prices: Mapping[str, Price], usage: Mapping[str, Usage]) -> float:
    """The money for what was asked of models by name; those without a price cost none."""
    return sum(prices[name].of(used) for name, used in usage.items() if name in prices)


def shown(amount: float, currency: str) -> str:
    """An amount of money in words.

    >>> from core.models.price import shown
    >>> shown(1234.5, "USD"), shown(0.0421, "EUR"), shown(0.00002, "EUR"), shown(0.0, "USD")
    ('1,234.50 USD', '0.042 EUR', 'less than 0.001 EUR', '0 USD')
    """
    if not amount:
        return f"0 {currency}"
    if amount < 0.001:
        return f"less than 0.001 {currency}"
    return f"{amount:,.2f} {currency}" if amount >= 0.1 else f"{amount:.3f} {currency}"
