"""Lanes that tests make of runs of their own."""

from __future__ import annotations

from core.comparison.lane import MethodLane
from core.comparison.lane_run import LaneRun
from core.methods.catalogue import Method


def lane_of(run: LaneRun, name: str = "a", title: str = "A", **fields) -> MethodLane:
    """A lane with what a run came to, done where `fields` do not say otherwise."""
    given = {"method": Method(name, title, run.line), **run.lane_fields, **fields}
    return MethodLane(run.ask, **given)
