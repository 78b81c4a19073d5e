"""Evaluation over several worker processes.

Each worker process takes one question at a time, with every method that remains for it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from functools import cache, partial

from core.engine import Engine
from core.evaluation.runs.plan import Plan
from core.evaluation.runs.row import FinishedRow, load_models, make_ask, run_methods
from core.methods.catalogue import Method
from core.runtime.cluster import LostResult, Workers
from core.runtime.jobs import Job
from core.watch import NO_WATCH, Watch

Turn = tuple[int, list[Method]]  # index of a question, and the methods that remain for it
# State of a worker process: the keys of the plans whose models it has loaded, and its engine.
_warmed_plans: set[tuple] = set()
_engine = cache(Engine)


def spread_turns(
    plan: Plan, turns: Iterable[Turn], workers: Workers, watch: Watch = NO_WATCH
) -> Generator[Sequence[FinishedRow], None, None]:
    """Yield the rows of each turn, in the order of the turns.

    If a worker dies, the rows of its turn have an error, so that they run again when the evaluation
    is resumed.

    Parameters
    ----------
    plan : the plan.
    turns : index of a question, and the methods that remain for it.
    workers : the processes.
    watch : may raise RunCancelled.

    Yields
    ------
    One row for each method of a turn.
    """
    for (index, methods), result in workers.run_each(partial(run_turn, plan), turns, watch):
        if isinstance(result, LostResult):
            question = plan.drawn[index].question.id
            result = [FinishedRow(each.id, question, error=result.error) for each in methods]
        yield result


def run_turn(plan: Plan, turn: Turn) -> list[FinishedRow]:
    """Run one question with its remaining methods, inside a worker process.

    The methods run one after the other and share the states after common leading operators. The
    first call for a plan in a process loads the plan's models.

    Parameters
    ----------
    plan : the plan.
    turn : index of a question, and the methods that remain for it.

    Returns
    -------
    One row for each of these methods.
    """
    engine = _engine()
    ask = make_ask(engine, plan)
    models = (plan.model, plan.judge, plan.second_judge, plan.support)
    key = (plan.graphs, *models, *(repr(method.line) for method in plan.methods))
    if key not in _warmed_plans:
        load_models(plan, engine.environment, ask, Job("worker", lambda job: None))
        _warmed_plans.add(key)
    return list(run_methods(plan, engine.environment, ask, *turn))
