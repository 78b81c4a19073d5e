"""Spending of an evaluation on language models: amount so far, estimate of the rest, and limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.evaluation.runs.plan import Plan
from core.io.durations import range_text
from core.models.base import Models
from core.models.price import Cap, CapReached, Spending, find_prices, format_money, total_price
from core.types import Usage


def spending(
    plan: Plan, models: Models, usage: Mapping[str, Usage], cap: Cap | None, done: float = 0
) -> Spending:
    """Return the spending of a plan.

    Parameters
    ----------
    plan : the plan.
    models : the registry of models, with their prices.
    usage : usage of each model so far, by name.
    cap : the limit, None for no limit.
    done : number of rows that are done, on which the estimate of a question's cost is based.

    Returns
    -------
    The spending so far, with an estimate of a question's cost.

    Raises
    ------
    BadInput : the cap is in money, and no model of the plan has a price, or the prices are in
        several currencies.
    """
    prices = find_prices(models, plan.models, cap, "this evaluation")
    return Spending(prices, usage, cap, done / len(plan.methods))


def cap_error(run_spending: Spending, done_text: str) -> CapReached:
    """Return the error that reports that the cap stopped the run.

    Parameters
    ----------
    run_spending : the spending of the run.
    done_text : what is done, in words.

    Returns
    -------
    The error, which the caller raises.
    """
    return CapReached(
        f"Stopped before the cap: {run_spending.describe_spent()} are spent, {done_text}, "
        "and the next question may cost more than is left. What is done is saved; with "
        "a higher cap the same evaluation goes on from there."
    )


@dataclass(frozen=True)
class SpendingEstimate:
    """Estimated cost of the remaining rows of a run.

    It is based on the rows that are done.
    """

    rows_done: int
    rows_left: int
    usage: Usage  # of language models, in the remaining rows
    money: float  # 0 without prices
    currency: str
    has_price: bool  # a model of the plan has a price
    seconds: tuple[float, float] | None = None  # least and most, None if unknown

    def words(self) -> str:
        """Return the estimate as a sentence."""
        if not self.rows_left:
            return "Nothing is left to be asked."
        if not self.rows_done:
            return "Nothing can be said before the first answers are done."
        calls_text = "no calls of language models"
        if self.usage.calls:
            calls_text = (
                f"about {self.usage.calls:,} calls of language models, "
                f"{self.usage.tokens_in:,} tokens in, {self.usage.tokens_out:,} out"
            )
        parts = [calls_text]
        if self.seconds:
            parts.append(range_text(*self.seconds))
        if self.has_price:
            parts.append(format_money(self.money, self.currency))
        elif self.usage.calls:
            parts.append("no money, as no price is given in models.toml")
        return (
            f"Estimate from the {self.rows_done:,} answers that are done, for the "
            f"{self.rows_left:,} that are left: {', '.join(parts)}."
        )


def estimate_rest(
    run_spending: Spending, done: int, total: int, seconds: tuple[float, float] | None = None
) -> SpendingEstimate:
    """Return the estimated cost of the remaining rows.

    The estimate is based on the mean over the finished rows of all methods.

    Parameters
    ----------
    run_spending : the spending of the run.
    done, total : numbers of rows that are done, and of all rows.
    seconds : least and most remaining seconds; None if unknown.

    Returns
    -------
    Calls, tokens, money and time; zeros if no row is done.
    """
    usage = run_spending.account.usage
    total_usage = sum(usage.values(), Usage())
    ratio = (total - done) / done if done else 0.0  # remaining rows per finished row
    expected_usage = Usage(
        round(total_usage.calls * ratio),
        round(total_usage.tokens_in * ratio),
        round(total_usage.tokens_out * ratio),
    )
    has_price = any(price.is_known for price in run_spending.prices.values())
    return SpendingEstimate(
        done,
        total - done,
        expected_usage,
        total_price(run_spending.prices, usage) * ratio,
        run_spending.currency,
        has_price,
        seconds,
    )
