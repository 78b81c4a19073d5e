"""An evaluation spread over worker processes: a question at a time, with every instance that is left for it."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from functools import cache, partial

from core.engine import Engine
from core.evaluation.runs.plan import Plan
from core.evaluation.runs.row import FinishedRow, asking, vary, warm
from core.instances.catalogue import Instance
from core.runtime.cluster import Lost, Workers
from core.runtime.jobs import Job
from core.watch import NO_WATCH, Watch

Turn = tuple[int, list[Instance]]  # a question's place, and the instances that are left for it
_warmed: set[tuple] = set()  # in a worker: what it has loaded
_engine = cache(Engine)  # in a worker: the one of its process, which is a worker for nothing else


def spread(
    plan: Plan, turns: Iterable[Turn], workers: Workers, watch: Watch = NO_WATCH
) -> Generator[Sequence[FinishedRow], None, None]:
    """The rows of each turn, in their order. Where a worker died, rows that say so, to be tried again by the next run."""
    for (place, instances), found in workers.each(partial(turn, plan), turns, watch):
        question = plan.drawn[place].question.id
        yield (
            [FinishedRow(i.id, question, error=found.error) for i in instances]
            if isinstance(found, Lost)
            else found
        )


def turn(plan: Plan, left: Turn) -> list[FinishedRow]:
    """In a worker: the instances one after the other, sharing what they have in common, by the engine of its process."""
    engine = _engine()
    ask = asking(engine, plan)
    key = (
        plan.graphs,
        plan.model,
        plan.judge,
        *(repr(instance.line) for instance in plan.instances),
    )
    if key not in _warmed:
        warm(plan, engine.environment, ask, Job("worker", lambda job: None))
        _warmed.add(key)
    return list(vary(plan, engine.environment, ask, *left))
