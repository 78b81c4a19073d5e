"""A tally as one self-contained HTML file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from core.evaluation.pairwise.plot import matrix
from core.evaluation.pairwise.tally import Tally
from core.evaluation.pairwise.verdicts import CRITERIA
from core.evaluation.reports.html import PAGE
from core.evaluation.reports.naming import Called

SETTINGS = {"displaylogo": False, "responsive": True}


def page_html(tally: Tally, names: Mapping[str, Called]) -> str:
    """The win rates of each criterion as a picture, who judged, and what to doubt."""
    from plotly.offline import get_plotlyjs

    script = re.sub(r"</(script)", r"<\\/\1", get_plotlyjs(), flags=re.IGNORECASE)
    told = [f"{len(tally.matches):,} pairs of answers, each in both orders, judged by {tally.judge}.", *tally.doubts()]
    drawn = []
    for number, criterion in enumerate(CRITERIA):
        agreement = tally.agreement(criterion)
        note = "" if agreement is None else f"<p class='note'>Both orders agree in {agreement:.0%}.</p>"
        picture = matrix(tally, criterion, names).to_html(
            full_html=False, include_plotlyjs=False, include_mathjax=False, div_id=f"picture-{number}", config=SETTINGS
        )
        drawn.append(f"<div class='card'>{picture}{note}</div>")
    words = "".join(f"<p class='facts'>{escape(sentence)}</p>" for sentence in told)
    body = f"{words}<script>{script}</script><div class='plots'>{''.join(drawn)}</div>"
    return PAGE.format(title="Answers judged in pairs", body=body)
