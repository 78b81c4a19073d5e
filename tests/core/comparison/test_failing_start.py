"""A failure before the first operator ends the lane with a readable error."""

from __future__ import annotations

from core.comparison import comparison_work
from core.engine import Engine
from core.methods.catalogue import Method
from core.operators.text import parse_line
from core.sources import GraphSource
from core.types import Question


def test_failure_before_the_first_operator_ends_the_lane(kit, monkeypatch):
    def broken():
        raise RuntimeError("no locator available")

    monkeypatch.setattr(comparison_work, "load_libraries", broken)
    engine = Engine(kit.Written(encoder=kit.Table({})))
    ask = engine.prepare_question(
        GraphSource.of(kit.graph), Question("q", entities=("One",)), uses_model=False
    )
    line = parse_line("EgoNetwork() >> ShortestPaths()")
    job = engine.compare(ask, [Method("a", "A", line)])
    assert job.wait(60)
    (lane,) = job.comparison.lanes
    assert lane.status == "failed" and "no locator available" in lane.error
    engine.jobs.stop()
