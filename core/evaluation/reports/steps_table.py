"""HTML table with bars of the effect of each step.

The HTML report of a run and its screen show it. Its colours are readable on light and dark backgrounds.
"""

from __future__ import annotations

from html import escape

from core.evaluation.metrics.statistics import PairedTest
from core.evaluation.reports.export import format_figure
from core.evaluation.reports.steps import StepEffect, cost_metric, counted_questions, step_effects
from core.evaluation.reports.summary import RunSummary

GREEN = "#3f9168"
RED = "#c2574b"
CELL_STYLE = "padding:.35rem .7rem;font-weight:inherit;border-bottom:1px solid rgba(128,140,152,.3)"
TEXT_CELL_STYLE = f"{CELL_STYLE};text-align:left;white-space:normal"
NUMBER_CELL_STYLE = f"{CELL_STYLE};text-align:right;white-space:nowrap"
# Styles of the columns: step, bar, difference, cost, pairs of methods, questions.
COLUMN_STYLES = (
    f"{TEXT_CELL_STYLE};min-width:11rem",
    TEXT_CELL_STYLE,
    f"{TEXT_CELL_STYLE};white-space:nowrap",
    NUMBER_CELL_STYLE,
    NUMBER_CELL_STYLE,
    NUMBER_CELL_STYLE,
)


def step_effects_html(summary: RunSummary) -> str:
    """Return the table and its explanation.

    The text is empty if no two methods differ in one step.
    """
    effects = step_effects(summary)
    if not effects:
        return ""
    bounds = [0.0]
    for effect in effects:
        bounds += [effect.test.low, effect.test.high, effect.test.difference]
    # The range of differences that the width of a bar's cell shows.
    scale = (min(bounds), max(bounds)) if any(bounds) else (-1.0, 1.0)
    name = cost_metric(summary)
    cost_title = f"{name.capitalize()} more"
    titles = ("Step", "", "Difference, 95 %", cost_title, "Pairs of methods", "Questions")
    head = _row("th scope=col", titles)
    body = "".join(_row("td", _cells(effect, scale, name)) for effect in effects)
    note = (
        f"The share of {counted_questions(effects[0].test.metric)}, with a step and without "
        "it: the mean over all pairs of methods of this run that differ only in that step, on "
        "the same questions. Not significant: a paired test shows no difference (Holm's "
        "correction over all steps)."
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


def format_signed(value: float) -> str:
    """Return a difference of shares with two digits and its sign.

    >>> from core.evaluation.reports.steps_table import format_signed
    >>> format_signed(0.07), format_signed(-0.125), format_signed(0.0), format_signed(1.0)
    ('+.07', '−.12', '.00', '+1.00')
    """
    text = f"{abs(value):.2f}".removeprefix("0")
    if not float(text):
        return text
    return f"{'+' if value > 0 else '−'}{text}"


def signed_interval(test: PairedTest) -> str:
    """Return a difference with its interval, such as `+.07 [+.02, +.12]`."""
    return test.estimate.format_with_interval(format_signed)


def _cells(effect: StepEffect, scale: tuple[float, float], name: str) -> tuple[str, ...]:
    cost = "–"
    if effect.cost is not None:
        sign = "−" if effect.cost < 0 else ""
        cost = f"{sign}{format_figure(name, abs(effect.cost))}"
    difference = signed_interval(effect.test)
    if effect.test.is_significant:
        difference = f"<b>{difference}</b>"
    else:
        difference += " <span style='opacity:.8'>not significant</span>"
    counts = (f"{len(effect.pairs):,}", f"{effect.test.n:,}")
    return (escape(effect.words), _bar(effect.test, scale), difference, cost, *counts)


def _row(tag: str, cells: tuple[str, ...]) -> str:
    elements = (
        f"<{tag} style='{style}'>{cell}</{tag.split(' ')[0]}>"
        for style, cell in zip(COLUMN_STYLES, cells)
    )
    return f"<tr>{''.join(elements)}</tr>"


def _bar(test: PairedTest, scale: tuple[float, float]) -> str:
    """Return the difference as a bar from 0.

    Its interval is a thin line. `scale` holds the differences at the left and right end. The bar is
    paler if the difference is not significant.
    """
    zero, difference, low, high = (
        100 * (value - scale[0]) / (scale[1] - scale[0])
        for value in (0.0, test.difference, test.low, test.high)
    )
    left, right = sorted((zero, difference))
    colour = GREEN if test.difference > 0 else RED
    opacity = 1 if test.is_significant else 0.45
    bar = (
        f"left:{left:.1f}%;width:{right - left:.1f}%;top:4px;height:8px;background:{colour};"
        f"opacity:{opacity}"
    )
    line = (
        f"left:{low:.1f}%;width:{high - low:.1f}%;top:7px;height:2px;"
        "background:currentColor;opacity:.6"
    )
    axis = f"left:{zero:.1f}%;width:1px;top:0;height:16px;background:currentColor;opacity:.35"
    parts = "".join(f"<i style='position:absolute;{style}'></i>" for style in (bar, line, axis))
    return f"<div aria-hidden=true style='position:relative;height:16px;width:130px'>{parts}</div>"
