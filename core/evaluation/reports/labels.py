"""Positions of point labels in a plot, chosen so that labels of near points do not overlap."""

from __future__ import annotations

import math
from collections.abc import Mapping

Point = tuple[float, float]
NEAR = (0.28, 0.2)  # assumed width and height of a label, as shares of the plot
CLEAR = 0.55  # distance from a point to the middle of its label, as a share of the label's size
ROWS = ("top", "bottom", "middle")


def positions(
    points: Mapping[str, Point], ratios: bool, ends: Point | None = None
) -> dict[str, str]:
    """Return plotly's `textposition` of each point's label.

    It is above the point on the side with more room. If a placed label is near, it is below the
    point or at its side, then on the other side, then right above or below. With `ratios`, x is
    logarithmic from its least to its greatest value, else from 0 on, as y is. `ends` are the ends
    of the axes.

    >>> from core.evaluation.reports.labels import positions
    >>> positions({"a": (1.0, 0.5), "b": (1.05, 0.5), "c": (9.0, 0.5)}, ratios=False)
    {'a': 'top right', 'b': 'bottom right', 'c': 'top left'}
    """
    if not points:
        return {}
    costs = [math.log(x) if ratios else x for x, _ in points.values()]
    far, tall = ends or (
        max(x for x, _ in points.values()),
        max(y for _, y in points.values()) or 1.0,
    )
    low, high = (min(costs), max(costs)) if ratios else (0.0, far)
    wide = (high - low) or 1.0
    placed: dict[str, Point] = {}
    found: dict[str, str] = {}
    for (name, (_, y)), cost in zip(points.items(), costs):
        at = ((cost - low) / wide, y / tall)
        side = "left" if at[0] > 0.5 else "right"
        other = {"left": 1 - at[0], "right": at[0]}[side] >= NEAR[0]  # room on the other side
        options = [
            (row, way)
            for way in (side, *(["right" if side == "left" else "left"] if other else []))
            for row in ROWS
        ]
        options += [(row, "center") for row in ROWS[:2] if NEAR[0] / 2 <= at[0] <= 1 - NEAR[0] / 2]
        row, way = next(
            (option for option in options if not _taken(_centre(at, *option), placed)), options[0]
        )
        placed[name], found[name] = _centre(at, row, way), f"{row} {way}"
    return found


def _centre(at: Point, row: str, side: str) -> Point:
    """Return the approximate middle of a label."""
    across, up = (
        NEAR[0] * CLEAR,
        {"top": NEAR[1] * CLEAR, "bottom": -NEAR[1] * CLEAR, "middle": 0.0}[row],
    )
    return at[0] + {"left": -across, "center": 0.0, "right": across}[side], at[1] + up


def _taken(centre: Point, placed: Mapping[str, Point]) -> bool:
    return any(
        abs(centre[0] - x) < NEAR[0] and abs(centre[1] - y) < NEAR[1] for x, y in placed.values()
    )
