"""Where the names of the points of a picture are written, so that those of near points do not lie on one another."""

from __future__ import annotations

import math
from collections.abc import Mapping

Point = tuple[float, float]
NEAR = (0.28, 0.2)  # the width and height of a name, as shares of the picture
CLEAR = 0.55  # of its size that the middle of a name is away from its point
ROWS = ("top", "bottom", "middle")


def positions(
    points: Mapping[str, Point], ratios: bool, ends: Point | None = None
) -> dict[str, str]:
    """For each point plotly's `textposition` of its name: on the side where there is more room, above it, or where a name that was placed
    before is near, below it or beside it, then on the other side, then right above or below it. x lies from 0 on, or in `ratios` from the
    least to the most; y from 0 on; `ends` are those of the axes, where they go beyond the points.

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
        # whether there is room on the other side as well
        other = {"left": 1 - at[0], "right": at[0]}[side] >= NEAR[0]
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
    """About where the middle of a name is."""
    across, up = (
        NEAR[0] * CLEAR,
        {"top": NEAR[1] * CLEAR, "bottom": -NEAR[1] * CLEAR, "middle": 0.0}[row],
    )
    return at[0] + {"left": -across, "center": 0.0, "right": across}[side], at[1] + up


def _taken(centre: Point, placed: Mapping[str, Point]) -> bool:
    return any(
        abs(centre[0] - x) < NEAR[0] and abs(centre[1] - y) < NEAR[1] for x, y in placed.values()
    )
