"""Tally of pairwise judgements as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from core.evaluation.pairwise.plot import win_rate_plot
from core.evaluation.pairwise.tally import PairwiseTally
from core.evaluation.pairwise.verdicts import CRITERIA
from core.evaluation.reports.html import PAGE_TEMPLATE, plot_html, plotly_script
from core.evaluation.reports.method_names import MethodName


def tally_html(tally: PairwiseTally, names: Mapping[str, MethodName]) -> str:
    """Return a page with the win rates of each criterion.

    The page also shows the judge and the doubts. The win rates of criteria by which the judge's
    verdicts are not informative are folded away.

    Parameters
    ----------
    tally : the tally of all judgements.
    names : names of the methods by id.

    Returns
    -------
    A whole HTML document that needs no network.
    """
    sentences = [
        f"{len(tally.matches):,} pairs of answers, each in both orders, judged by {tally.judge}.",
        *tally.doubts(),
    ]
    informative = [criterion for criterion in CRITERIA if tally.is_informative(criterion)]
    uninformative = [criterion for criterion in CRITERIA if criterion not in informative]
    informative_html = _criterion_plots(tally, informative, names)
    uninformative_html = ""
    # If no reply could be read there are no win rates; the sentences say so.
    if uninformative and tally.readable_matches:
        fit = "dispatchEvent(new Event('resize'))"  # plots in a closed element have no width
        uninformative_html = (
            f'<details ontoggle="{fit}"><summary>Win rates that say nothing</summary>'
            f"{_criterion_plots(tally, uninformative, names)}</details>"
        )
    facts = "".join(f"<p class='facts'>{escape(sentence)}</p>" for sentence in sentences)
    body = f"{facts}{plotly_script()}{informative_html}{uninformative_html}"
    return PAGE_TEMPLATE.format(title="Answers judged in pairs", body=body)


def order_agreement_text(tally: PairwiseTally, criterion: str) -> str:
    """Return how often both orders agree by a criterion, and which positions were preferred.

    Parameters
    ----------
    tally : the tally of all judgements.
    criterion : one of `CRITERIA`.

    Returns
    -------
    A few words; empty if no reply could be read.
    """
    agreement = tally.agreement(criterion)
    if agreement is None:
        return ""
    first, second, ties = tally.position_counts(criterion)
    agreement_text = (
        f"Both orders agree in {100 * agreement:.0f} %, by chance in "
        f"{100 * tally.chance_agreement(criterion):.0f} %"
    )
    return f"{agreement_text} · first position {first:,}, second {second:,}, ties {ties:,}"


def _criterion_plots(
    tally: PairwiseTally, criteria: Sequence[str], names: Mapping[str, MethodName]
) -> str:
    """Return the plots of criteria, each with the agreement of the two orders."""
    plot_cards = []
    for criterion in criteria:
        plot = plot_html(win_rate_plot(tally, criterion, names), f"picture-{criterion}")
        note = escape(order_agreement_text(tally, criterion))
        plot_cards.append(f"<div class='card'>{plot}<p class='note'>{note}</p></div>")
    return f"<div class='plots'>{''.join(plot_cards)}</div>"
