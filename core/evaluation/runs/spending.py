"""What an evaluation spends on language models: so far, about in all, and at most."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import BadInput, HopscopeError
from core.evaluation.runs.plan import Plan
from core.io.durations import between
from core.models.base import Models
from core.models.price import Price, money, shown
from core.runtime.account import Account
from core.types import Usage

CAP = re.compile(r"\s*(\d[\d_,]*(?:\.\d+)?|\.\d+)\s*([A-Za-z]*|[$€£])\s*")
TOKENS = ("token", "tokens")


class CapReached(HopscopeError):
    """An evaluation stopped before it would have gone over its cap."""


@dataclass(frozen=True)
class Cap:
    """The most that an evaluation may spend in all: tokens, or money where no unit or a currency is given."""

    most: float
    tokens: bool = False

    def words(self, currency: str) -> str:
        return f"{self.most:,.0f} tokens" if self.tokens else shown(self.most, currency)


def cap_of(text: str) -> Cap | None:
    """The cap that a text such as `5`, `2.50 USD` or `200000 tokens` names; None for an empty one. Raises BadInput.

    >>> from core.evaluation.runs.spending import cap_of
    >>> cap_of("2.50"), cap_of("200_000 tokens")
    (Cap(most=2.5, tokens=False), Cap(most=200000.0, tokens=True))
    """
    if not text.strip():
        return None
    found = CAP.fullmatch(text)
    most = float(found[1].replace("_", "").replace(",", "")) if found else 0.0
    if not found or most <= 0:
        raise BadInput(f"“{text}” is no cap; write money, as 2.50, or tokens, as 200000tokens.")
    return Cap(most, found[2].lower() in TOKENS)


class Spending:
    """What a run has spent, by the prices of its models, and whether another question may be begun under its cap.

    What a question costs is not known before it was asked. So none is begun unless as much is left as the dearest one so far took, for it
    and for each at work; until one has ended, one is at work. Of a run that is taken up again, what its `questions` took on average counts
    at first.
    """

    def __init__(
        self, prices: Mapping[str, Price], before: Mapping[str, Usage] | None = None, cap: Cap | None = None, questions: float = 0
    ):
        self.prices, self.cap, self.account = dict(prices), cap, Account(before)
        self._dearest = self.amount(before or {}) / questions if questions else None
        self._lock = threading.Lock()

    @property
    def currency(self) -> str:
        """That of the prices."""
        return next((price.currency for price in self.prices.values() if price.known), Price().currency)

    def amount(self, usage: Mapping[str, Usage]) -> float:
        """Tokens, or money, as the cap counts."""
        if self.cap is not None and self.cap.tokens:
            return sum(used.tokens_in + used.tokens_out for used in usage.values())
        return money(self.prices, usage)

    def ended(self, question: Account) -> None:
        """A question has ended that cost this."""
        with self._lock:
            self._dearest = max(self._dearest or 0.0, self.amount(question.usage))

    def may_begin(self, at_work: int) -> bool:
        """Whether another question may be begun beside those at work."""
        if self.cap is None:
            return True
        spent, dearest = self.amount(self.account.usage), self._dearest
        if dearest is None:
            return not at_work and spent < self.cap.most
        return spent + (at_work + 1) * dearest <= self.cap.most

    def words(self, done: int, total: int) -> str:
        """`0.12 of about 1.30 USD`, by the rows that are done; empty where no model has a price."""
        if not done or not any(price.known for price in self.prices.values()):
            return ""
        spent = money(self.prices, self.account.usage)
        return f"{shown(spent, self.currency)} spent, about {shown(spent * total / done, self.currency)} in all"

    def reached(self, done: int, total: int) -> CapReached:
        """What is said where the cap stopped the run."""
        assert self.cap is not None  # else nothing stops it
        spent = self.amount(self.account.usage)
        said = f"{spent:,.0f}" if self.cap.tokens else shown(spent, "").strip()
        return CapReached(
            f"Stopped before the cap: {said} of {self.cap.words(self.currency)} are spent, {done:,} of {total:,} rows done, and the next "
            "question may cost more than is left. What is done is saved; the same command with a higher --cap goes on from there."
        )


def spending(plan: Plan, models: Models, before: Mapping[str, Usage], cap: Cap | None, done: int = 0) -> Spending:
    """The spending of a plan of which so many rows are done. Raises BadInput for a cap in money where no model of it has a price, or where
    prices differ in currency."""
    price = getattr(models, "price", lambda name: None)
    prices = dict(found for name in plan.models if (found := price(name)) is not None)
    known = [one for one in prices.values() if one.known]
    if len({one.currency for one in known}) > 1 and (cap is None or not cap.tokens):
        raise BadInput("The prices of the models are in several currencies; give all of them in one in models.toml, or a cap in tokens.")
    if cap is not None and not cap.tokens and not known:
        raise BadInput(
            "No model of this evaluation has a price; give price_in and price_out in its row of models.toml, or a cap in tokens."
        )
    return Spending(prices, before, cap, done / len(plan.instances))


@dataclass(frozen=True)
class Estimate:
    """What the rest of a run will take, by the rows that are done: an estimate, and said to be one."""

    rows: int  # done so far, which it is made from
    left: int
    usage: Usage
    money: float
    currency: str
    priced: bool
    seconds: tuple[float, float] | None = None

    def words(self) -> str:
        """The estimate in a sentence."""
        if not self.left:
            return "Nothing is left to be asked."
        if not self.rows:
            return "Nothing can be said before the first rows are done."
        used = self.usage
        parts = [
            f"about {used.calls:,} calls of language models, {used.tokens_in:,} tokens in, {used.tokens_out:,} out"
            if used.calls
            else "no calls of language models",
            between(*self.seconds) if self.seconds else "",
            shown(self.money, self.currency) if self.priced else "no money, as no price is given in models.toml" if used.calls else "",
        ]
        return f"Estimate by the {self.rows:,} rows that are done, for the {self.left:,} that are left: {', '.join(filter(None, parts))}."


def estimate(spent: Spending, done: int, total: int, seconds: tuple[float, float] | None = None) -> Estimate:
    """What the rows that are left will take, as those that are done did on average, whoever asked them."""
    usage, left = spent.account.usage, total - done
    whole = sum(usage.values(), Usage())
    share = left / done if done else 0.0
    mean = Usage(round(whole.calls * share), round(whole.tokens_in * share), round(whole.tokens_out * share))
    priced = any(price.known for price in spent.prices.values())
    return Estimate(done, left, mean, money(spent.prices, usage) * share, spent.currency, priced, seconds)
