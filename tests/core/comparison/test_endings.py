"""Descriptions of where a lane was cancelled or failed, on five nodes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.comparison.endings import ending_sentence, retrieval_ending
from core.comparison.lane_run import LaneListener, LaneRun
from core.engine import MethodLane
from core.environment import Environment
from core.errors import RunCancelled
from core.operators.text import parse_line
from core.runtime.jobs import JOB_CANCELLED, JOB_DONE, JOB_FAILED
from core.sources import GraphSource, SourceQuestion
from core.types import Question
from tests.lanes import lane_of

LINE = "EgoNetwork(hops=2) >> ShortestPaths() >> Rank(keep=1) >> Answer()"


def stopped_lane(kit, after: int, status: str = JOB_CANCELLED) -> MethodLane:
    """A lane that was stopped after `after` steps."""
    ask = SourceQuestion(
        GraphSource.of(kit.graph), Question("genre of One"), (kit.node("One"),), uses_model=False
    )
    run = LaneRun(ask, parse_line(LINE), Environment(kit.Written(encoder=kit.Table({}))))

    def reached(state) -> None:
        if len(run.states) == after:
            raise RunCancelled()

    if after:
        with pytest.raises(RunCancelled):
            run.retrieve(LaneListener(on_state=reached))
    error = "No memory." if status == JOB_FAILED else None
    return lane_of(run, "l", "No. 1", status=status, error=error, retrieved=False)


@pytest.mark.parametrize(
    "after, words",
    [
        (0, "Cancelled at step 1 of 3, neighbourhood"),
        (1, "Cancelled at step 2 of 3, shortest paths"),
        (2, "Cancelled at step 3 of 3, rank"),
        (3, "Cancelled at its last step"),
    ],
)
def test_cancelled_lane_names_its_step(kit, after, words):
    lane = stopped_lane(kit, after)
    assert ending_sentence(lane) == words and retrieval_ending(lane) == "was cancelled"


def test_failed_and_complete_lanes_are_described(kit):
    assert (
        ending_sentence(stopped_lane(kit, 1, JOB_FAILED)) == "Failed at step 2 of 3, shortest paths"
        and retrieval_ending(stopped_lane(kit, 1, JOB_FAILED)) == "failed"
    )
    assert (
        ending_sentence(stopped_lane(kit, 1, JOB_DONE))
        == ""
        == retrieval_ending(stopped_lane(kit, 1, JOB_DONE))
    )
    lane = replace(stopped_lane(kit, 3), retrieved=True)
    assert (
        ending_sentence(lane) == "Cancelled before its language model had answered"
        and retrieval_ending(lane) == ""
    )
