"""PageRank methods as a plotly picture: the time a question takes against what is found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.evaluation.pagerank.trials import MethodRow
from core.evaluation.reports.plots import COLOURS, LINE, SYMBOLS, styled

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


@dataclass(frozen=True)
class Published:
    """A published figure: seconds a question, recall of the answers, and where they are given F1, pieces and seconds of preparation."""

    method: str
    seconds: float
    recall: float
    f1: float | None = None
    pieces: float | None = None
    before: float | None = None


ROOM = 0.2  # of the width is left free at both ends, for the names
UPWARD = (-0.05, 1.1)  # of the recall
LETTER, LINE_HIGH, GAP = (
    0.022,
    0.055,
    0.035,
)  # of a name, as shares of the picture's width and height; from a mark to its name
SIDES = {  # of a mark where its name may stand: the shift of the name's middle in name widths and lines
    "top center": (0.0, 1.0),
    "bottom center": (0.0, -1.0),
    "top left": (-0.5, 1.0),
    "top right": (0.5, 1.0),
    "bottom left": (-0.5, -1.0),
    "bottom right": (0.5, -1.0),
    "middle left": (-0.6, 0.0),
    "middle right": (0.6, 0.0),
}
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

    known = [
        (row, value)
        for row in rows
        if (value := row.answer_recall if answers else row.recall) is not None
    ]
    seconds = (
        [row.median_ms / 1e3 for row in rows]
        + [row.p95_ms / 1e3 for row in rows]
        + [one.seconds for one in PUBLISHED] * answers
    )
    low, high = math.log10(min(seconds)), math.log10(max(seconds))
    room = max(0.4, ROOM * (high - low))
    across = [low - room, high + room]
    names = [titles.get(row.method, row.method) for row, _ in known]
    points = [(row.median_ms / 1e3, value) for row, value in known]
    labels = [*zip(points, names)] + [
        ((one.seconds, one.recall), one.method.split(",")[0]) for one in PUBLISHED
    ] * answers
    sides = label_sides(
        [(_share(math.log10(x), across), _share(y, UPWARD), name) for (x, y), name in labels]
    )

    figure = go.Figure()
    for i, (row, value) in enumerate(known):
        colour, name = COLOURS[i % len(COLOURS)], names[i]
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
            textposition=sides[i],
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
            textposition=sides[len(known) :],
            hovertemplate="<b>%{text}</b>, published, Freebase<br>recall %{y:.2f}<br>%{x:.3g} s<extra></extra>",
        )
    figure.update_xaxes(
        title="Seconds a question", type="log", minorloglabels="none", tickformat="~g", range=across
    )
    what = "Recall of the known answers" if answers else "Recall of the exact best entities"
    figure.update_yaxes(title=what, range=UPWARD)
    return styled(figure, f"{what} against time", legend=False)


def label_sides(marks: Sequence[tuple[float, float, str]]) -> list[str]:
    """The side of its mark on which each name is written, as plotly calls it, so that as few as can be cover others or marks.

    A mark is (share of the width, share of the height, name); the earlier choose first.
    """
    taken = [(x, y, GAP, GAP) for x, y, _ in marks]
    found = []
    for place, (x, y, name) in enumerate(marks):
        width = LETTER * len(name)
        boxes = {
            side: (x + dx * width, y + dy * (LINE_HIGH / 2 + GAP), width, LINE_HIGH)
            for side, (dx, dy) in SIDES.items()
        }
        others = [*taken[:place], *taken[place + 1 :]]
        best = min(
            boxes,
            key=lambda side: (
                sum(_covers(boxes[side], other) for other in others) + _outside(boxes[side])
            ),
        )
        taken.append(boxes[best])
        found.append(best)
    return found


def _covers(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return all(abs(one[way] - other[way]) < (one[way + 2] + other[way + 2]) / 2 for way in (0, 1))


def _outside(box: tuple[float, ...]) -> bool:
    return any(box[way] - box[way + 2] / 2 < 0 or box[way] + box[way + 2] / 2 > 1 for way in (0, 1))


def _share(value: float, ends: Sequence[float]) -> float:
    return (value - ends[0]) / (ends[1] - ends[0])
