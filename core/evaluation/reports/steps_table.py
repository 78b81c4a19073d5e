"""HTML table with bars of the effect of each step.

It is readable on light and dark backgrounds, in a report and on a screen.
"""

from __future__ import annotations

from html import escape

from core.evaluation.metrics.statistics import Paired
from core.evaluation.reports.export import shown
from core.evaluation.reports.steps import StepWorth, cost_of, counted, worth
from core.evaluation.reports.summary import Summary

GREEN, RED = "#3f9168", "#c2574b"
CELL = "padding:.35rem .7rem;font-weight:inherit;border-bottom:1px solid rgba(128,140,152,.3)"
WORDS, NUMBER = (
    f"{CELL};text-align:left;white-space:normal",
    f"{CELL};text-align:right;white-space:nowrap",
)
# Styles of the columns.
STYLES = (f"{WORDS};min-width:11rem", WORDS, f"{WORDS};white-space:nowrap", NUMBER, NUMBER, NUMBER)


def worth_html(summary: Summary) -> str:
    """Return the table and its explanation; empty if no two lines differ in one step."""
    found = worth(summary)
    if not found:
        return ""
    ends = [
        0.0,
        *(end for one in found for end in (one.test.low, one.test.high, one.test.difference)),
    ]
    scale = (min(ends), max(ends)) if any(ends) else (-1.0, 1.0)
    name = cost_of(summary)
    head = _row(
        "th scope=col",
        (
            "Step",
            "",
            "Difference, 95 %",
            f"{name.capitalize()} more",
            "Pairs of lines",
            "Questions",
        ),
    )
    body = "".join(_row("td", _cells(one, scale, name)) for one in found)
    note = (
        f"The share of {counted(found[0].test.metric)}, with a step and without it: the mean over "
        "all pairs of lines of this run that differ in that step alone, on the same questions. "
        "Within chance is what a paired test does not show, with Holm's correction over all "
        "steps."
    )
    table = (
        f"<table style='border-collapse:collapse;width:100%;font-size:.875rem'><thead>{head}"
        f"</thead><tbody>{body}</tbody></table>"
    )
    box = "style='overflow-x:auto' tabindex=0 role=group aria-label='What each step is worth'"
    return (
        f"<div {box}>{table}</div><p class=note style='font-size:.85rem;opacity:.85;margin:.5rem "
        f"0 1rem'>{escape(note)}</p>"
    )


def signed(value: float) -> str:
    """Return a difference of shares with two digits and its sign.

    >>> from core.evaluation.reports.steps_table import signed
    >>> signed(0.07), signed(-0.125), signed(0.0), signed(1.0)
    ('+.07', '−.12', '.00', '+1.00')
    """
    text = f"{abs(value):.2f}".removeprefix("0")
    return text if not float(text) else f"{'+' if value > 0 else '−'}{text}"


def interval(test: Paired) -> str:
    """Return a difference with its interval, such as `+.07 [+.02, +.12]`."""
    return test.estimate.text(signed)


def _cells(one: StepWorth, scale: tuple[float, float], name: str) -> tuple[str, ...]:
    cost = "–" if one.cost is None else f"{'−' if one.cost < 0 else ''}{shown(name, abs(one.cost))}"
    chance = " <span style='opacity:.8'>within chance</span>"
    difference = (
        f"<b>{interval(one.test)}</b>" if one.test.beyond_chance else interval(one.test) + chance
    )
    return (
        escape(one.words),
        _bar(one.test, scale),
        difference,
        cost,
        f"{len(one.pairs):,}",
        f"{one.test.n:,}",
    )


def _row(tag: str, cells: tuple[str, ...]) -> str:
    drawn = (
        f"<{tag} style='{style}'>{cell}</{tag.split(' ')[0]}>" for style, cell in zip(STYLES, cells)
    )
    return f"<tr>{''.join(drawn)}</tr>"


def _bar(test: Paired, scale: tuple[float, float]) -> str:
    """Return the difference as a bar from 0 and its interval as a thin line.

    The bar is paler if the difference is not significant.
    """
    at = lambda value: 100 * (value - scale[0]) / (scale[1] - scale[0])
    left, right = sorted((at(0.0), at(test.difference)))
    colour, strength = GREEN if test.difference > 0 else RED, 1 if test.beyond_chance else 0.45
    bar = (
        f"left:{left:.1f}%;width:{right - left:.1f}%;top:4px;height:8px;background:{colour};"
        f"opacity:{strength}"
    )
    line = (
        f"left:{at(test.low):.1f}%;width:{at(test.high) - at(test.low):.1f}%;top:7px;height:2px;"
        "background:currentColor;opacity:.6"
    )
    zero = f"left:{at(0.0):.1f}%;width:1px;top:0;height:16px;background:currentColor;opacity:.35"
    parts = "".join(f"<i style='position:absolute;{style}'></i>" for style in (bar, line, zero))
    return f"<div aria-hidden=true style='position:relative;height:16px;width:130px'>{parts}</div>"
