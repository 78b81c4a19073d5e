"""Positions of point labels in a plot.

They are chosen so that labels of near points do not overlap.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

PlotPoint = tuple[float, float]
LABEL_SIZE = (0.28, 0.2)  # assumed width and height of a label, as shares of the plot
# Distance from a point to the middle of its label, as a share of the label's size.
LABEL_DISTANCE = 0.55
LABEL_ROWS = ("top", "bottom", "middle")


def label_positions(
    points: Mapping[str, PlotPoint], is_log: bool, axis_ends: PlotPoint | None = None
) -> dict[str, str]:
    """Return the positions of labels that do not overlap.

    A label is above its point, on the side (left or right) with more room. If that would overlap
    with another label, these positions are tried in turn: below the point, level with it, the same
    on the other side, and centred above or below. If all overlap, the first one is taken.

    Parameters
    ----------
    points : (x, y) by name.
    is_log : True if the x axis is logarithmic and begins at the least value. Other axes begin at 0.
    axis_ends : upper ends of both axes; None for the greatest values.

    Returns
    -------
    The “textposition” of plotly by name.

    Examples
    --------
    >>> from core.evaluation.reports.labels import label_positions
    >>> label_positions({"a": (1.0, 0.5), "b": (1.05, 0.5), "c": (9.0, 0.5)}, is_log=False)
    {'a': 'top right', 'b': 'bottom right', 'c': 'top left'}
    """
    if not points:
        return {}
    centres: dict[str, PlotPoint] = {}
    position_by_name: dict[str, str] = {}
    for name, share in _shares_of_axes(points, is_log, axis_ends).items():
        options = _label_options(share[0])
        row, side = next(
            (option for option in options if not _overlaps_label(_centre(share, *option), centres)),
            options[0],
        )
        centres[name] = _centre(share, row, side)
        position_by_name[name] = f"{row} {side}"
    return position_by_name


def _shares_of_axes(
    points: Mapping[str, PlotPoint], is_log: bool, axis_ends: PlotPoint | None
) -> dict[str, PlotPoint]:
    """Return each point's position on the axes, by name.

    Positions are from 0 (begin) to 1 (end).
    """
    scaled_xs = [math.log(x) if is_log else x for x, _ in points.values()]
    max_x, max_y = axis_ends or (
        max(x for x, _ in points.values()),
        max(y for _, y in points.values()) or 1.0,
    )
    low = min(scaled_xs) if is_log else 0.0
    high = max(scaled_xs) if is_log else max_x
    x_range = (high - low) or 1.0
    return {
        name: ((scaled_x - low) / x_range, y / max_y)
        for (name, (_, y)), scaled_x in zip(points.items(), scaled_xs)
    }


def _label_options(x_share: float) -> list[tuple[str, str]]:
    """Return the possible positions (row, side) of a label, best first."""
    side, other_side = ("left", "right") if x_share > 0.5 else ("right", "left")
    other_room = 1 - x_share if side == "left" else x_share
    sides = [side, other_side] if other_room >= LABEL_SIZE[0] else [side]
    options: list[tuple[str, str]] = []
    for label_side in sides:
        options += [(row, label_side) for row in LABEL_ROWS]
    if LABEL_SIZE[0] / 2 <= x_share <= 1 - LABEL_SIZE[0] / 2:
        options += [(row, "center") for row in LABEL_ROWS[:2]]
    return options


def _centre(point: PlotPoint, row: str, side: str) -> PlotPoint:
    """Return the approximate middle of a label, as shares of the axes."""
    direction_x = {"left": -1, "center": 0, "right": 1}[side]
    direction_y = {"top": 1, "bottom": -1, "middle": 0}[row]
    return (
        point[0] + direction_x * (LABEL_SIZE[0] * LABEL_DISTANCE),
        point[1] + direction_y * (LABEL_SIZE[1] * LABEL_DISTANCE),
    )


def _overlaps_label(centre: PlotPoint, centres: Mapping[str, PlotPoint]) -> bool:
    return any(
        abs(centre[0] - x) < LABEL_SIZE[0] and abs(centre[1] - y) < LABEL_SIZE[1]
        for x, y in centres.values()
    )
