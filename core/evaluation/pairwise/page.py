"""Tally of pairwise judgements as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from core.evaluation.pairwise.plot import matrix
from core.evaluation.pairwise.tally import Tally
from core.evaluation.pairwise.verdicts import CRITERIA
from core.evaluation.reports.html import PAGE, plotly_script
from core.evaluation.reports.naming import Called

SETTINGS = {"displaylogo": False, "responsive": True}


def page_html(tally: Tally, names: Mapping[str, Called]) -> str:
    """Return a page with the win rates of each criterion, the judge and the doubts."""
    sentences = [
        f"{len(tally.matches):,} pairs of answers, each in both orders, judged by {tally.judge}.",
        *tally.doubts(),
    ]
    decisive = [one for one in CRITERIA if tally.decides(one)]
    mute = [one for one in CRITERIA if one not in decisive] if tally.read else []
    open_, folded = (_drawn(tally, criteria, names) for criteria in (decisive, mute))
    fit = "dispatchEvent(new Event('resize'))"  # plots in a closed element have no width
    rest = ""
    if mute:
        rest = (
            f'<details ontoggle="{fit}"><summary>Win rates that say '
            f"nothing</summary>{folded}</details>"
        )
    words = "".join(f"<p class='facts'>{escape(sentence)}</p>" for sentence in sentences)
    body = f"{words}{plotly_script()}{open_}{rest}"
    return PAGE.format(title="Answers judged in pairs", body=body)


def orders(tally: Tally, criterion: str) -> str:
    """Return how often both orders agree by a criterion, and which positions were preferred.

    The text is empty if no reply could be read.
    """
    agreement = tally.agreement(criterion)
    if agreement is None:
        return ""
    first, second, ties = tally.places(criterion)
    same = (
        f"Both orders agree in {100 * agreement:.0f} %, by chance in "
        f"{100 * tally.by_chance(criterion):.0f} %"
    )
    return f"{same} · first place {first:,}, second {second:,}, ties {ties:,}"


def _drawn(tally: Tally, criteria: Sequence[str], names: Mapping[str, Called]) -> str:
    """Return the plots of criteria, each with the agreement of the two orders."""
    drawn = []
    for criterion in criteria:
        picture = matrix(tally, criterion, names).to_html(
            full_html=False,
            include_plotlyjs=False,
            include_mathjax=False,
            div_id=f"picture-{criterion}",
            config=SETTINGS,
        )
        drawn.append(
            f"<div class='card'>{picture}<p "
            f"class='note'>{escape(orders(tally, criterion))}</p></div>"
        )
    return f"<div class='plots'>{''.join(drawn)}</div>"
