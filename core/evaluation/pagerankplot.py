"""PageRank methods as a plotly picture: the time a question takes against what is found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.evaluation.pageranks import MethodRow
from core.evaluation.plots import COLOURS, LINE, SYMBOLS, styled

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


@dataclass(frozen=True)
class Published:
    """A published figure: seconds a question, recall of the answers, and where they are told F1, pieces and seconds of preparation."""

    method: str
    seconds: float
    recall: float
    f1: float | None = None
    pieces: float | None = None
    before: float | None = None


ROOM = 0.2  # of the width is left free at both ends, for the names
SOURCE = "LEGO-GraphRAG, technical report, tables 5 and 6: Freebase, about 100 M entities and 300 M triples"
PUBLISHED = (
    Published("Standard PageRank", 75.29, 0.96, 0.0038, 1, 0),
    Published("RBS", 0.51, 0.31),
    Published("FORA", 7.61, 0.18),
    Published("TopPPR", 42.08, 0.44),
    Published("Leiden clusters, precomputed", 19.02, 0.52, 0.0021, 1, 19_373),
    Published("Vector database", 0.85, 0.65, 0.0023, 12.86, 14_570),
)


def method_figure(rows: Sequence[MethodRow], titles: Mapping[str, str], answers: bool) -> Figure:
    """Seconds a question (median, up to the 95th percentile; tenfold a step) against recall, of the exact best nodes or of the
    known answers; with the answers, the published figures as well."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for i, row in enumerate(rows):
        value = row.answer_recall if answers else row.recall
        if value is None:
            continue
        colour, name = COLOURS[i % len(COLOURS)], titles.get(row.method, row.method)
        figure.add_scatter(
            x=[row.median_ms / 1e3],
            y=[value],
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [(row.p95_ms - row.median_ms) / 1e3],
                "arrayminus": [0.0],
                "color": colour,
            },
            mode="markers+text",
            marker={"color": colour, "symbol": SYMBOLS[i % len(SYMBOLS)], "size": 12},
            text=[name],
            textposition="top center",
            hovertemplate=f"<b>{name}</b><br>recall {value:.3f}<br>{row.median_ms:.3g} ms, 95 % within {row.p95_ms:.3g} ms<extra></extra>",
        )
    if answers:
        figure.add_scatter(
            x=[one.seconds for one in PUBLISHED],
            y=[one.recall for one in PUBLISHED],
            mode="markers+text",
            marker={"color": LINE, "symbol": "circle-open", "size": 10},
            text=[one.method.split(",")[0] for one in PUBLISHED],
            textfont={"color": LINE, "size": 11},
            textposition="bottom center",
            hovertemplate="<b>%{text}</b>, published, Freebase<br>recall %{y:.2f}<br>%{x:.3g} s<extra></extra>",
        )
    seconds = [row.median_ms / 1e3 for row in rows] + [row.p95_ms / 1e3 for row in rows] + [one.seconds for one in PUBLISHED] * answers
    low, high = math.log10(min(seconds)), math.log10(max(seconds))
    room = max(0.4, ROOM * (high - low))
    figure.update_xaxes(title="Seconds a question", type="log", minorloglabels="none", range=[low - room, high + room])
    what = "Recall of the known answers" if answers else "Recall of the exact best entities"
    figure.update_yaxes(title=what, range=[-0.05, 1.1])
    return styled(figure, f"{what} against time", legend=False)
