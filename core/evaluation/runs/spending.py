"""What an evaluation spends on language models: so far, about in all, and at most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.evaluation.runs.plan import Plan
from core.io.durations import between
from core.models.base import Models
from core.models.price import Cap, CapReached, Spending, money, prices_of, shown
from core.types import Usage


def spending(
    plan: Plan, models: Models, before: Mapping[str, Usage], cap: Cap | None, done: int = 0
) -> Spending:
    """The spending of a plan of which so many rows are done. Raises BadInput for a cap in money where no model of it has a price, or where
    prices differ in currency."""
    return Spending(
        prices_of(models, plan.models, cap, "this evaluation"),
        before,
        cap,
        done / len(plan.instances),
    )


def reached(spent: Spending, done: int, total: int) -> CapReached:
    """What is said where the cap stopped the run."""
    return CapReached(
        f"Stopped before the cap: {spent.so_far()} are spent, {done:,} of {total:,} rows done, and the next question may cost more than is "
        "left. What is done is saved; with a higher cap (--cap) the same evaluation goes on from there."
    )


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
            shown(self.money, self.currency)
            if self.priced
            else "no money, as no price is given in models.toml"
            if used.calls
            else "",
        ]
        return f"Estimate by the {self.rows:,} rows that are done, for the {self.left:,} that are left: {', '.join(filter(None, parts))}."


def estimate(
    spent: Spending, done: int, total: int, seconds: tuple[float, float] | None = None
) -> Estimate:
    """What the rows that are left will take, as those that are done did on average, whoever asked them."""
    usage, left = spent.account.usage, total - done
    whole = sum(usage.values(), Usage())
    share = left / done if done else 0.0
    mean = Usage(
        round(whole.calls * share), round(whole.tokens_in * share), round(whole.tokens_out * share)
    )
    priced = any(price.known for price in spent.prices.values())
    return Estimate(
        done, left, mean, money(spent.prices, usage) * share, spent.currency, priced, seconds
    )
