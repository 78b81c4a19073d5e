"""Rows of an evaluation: instances run on one question.

This module also loads the models before the first question.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from core.comparison import traces
from core.comparison.run import LaneRun, NoPrefixes, Prefixes, Progress
from core.diagnosis.changes.trying import until
from core.environment import Environment
from core.errors import Cancelled
from core.evaluation.metrics.outcome import Outcome, observe
from core.evaluation.runs.judging import building, judged, supported
from core.evaluation.runs.plan import Drawn, Plan, used
from core.instances.catalogue import Instance
from core.models.base import Task
from core.operators.base import GIVEN, Context, Operator
from core.runtime.jobs import sentence
from core.snapshot import freeze_all
from core.sources import Ask
from core.types import State
from core.watch import NO_WATCH, Watch

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class FinishedRow:
    """Result of an instance on a question, in the form in which it is saved.

    A failed row has an error sentence instead of an outcome.
    """

    instance: str
    question: str
    outcome: Outcome | None = None
    error: str | None = None
    states: dict | None = None
    seconds: float = 0.0


def asking(engine, plan: Plan) -> Callable[[Drawn], Ask]:
    """Return a function that prepares a drawn question for the instances of a plan.

    It opens the question's source, links its entities and applies the settings of the plan.
    """
    return lambda drawn: drawn.open(engine).ask(drawn.question, plan.seed, model=plan.model)


def vary(
    plan: Plan,
    environment: Environment,
    ask: Callable[[Drawn], Ask],
    place: int,
    instances: Sequence[Instance] | None = None,
    watch: Watch = NO_WATCH,
    seconds: float | None = None,
    with_states: bool = True,
) -> Iterator[FinishedRow]:
    """Run several instances on one question of a plan, one after the other.

    The instances share the states after common leading operators, unless the plan is cold.

    Parameters
    ----------
    plan : the questions, and how they are asked.
    environment : the models and the other resources of a run.
    ask : makes an `Ask` of a drawn question; its error becomes the error of the row.
    place : index of the question among the drawn ones.
    instances : the instances; by default all of the plan, in an order that rotates with the
        question.
    watch : checked before each instance, and by what runs.
    seconds : time limit for one instance; one that exceeds it has no outcome.
    with_states : whether the rows have states and are sent as spans (`core.comparison.traces`).

    Yields
    ------
    A row for each instance, as soon as it has run.
    """
    asked = plan.turned(place) if instances is None else instances
    prefixes = Prefixes() if len(asked) > 1 else NoPrefixes()
    for instance in asked:
        watch.check()
        limited = watch if seconds is None else until(watch, time.monotonic() + seconds)
        yield one(plan, environment, ask, place, instance, prefixes, limited, with_states)


def one(
    plan: Plan,
    environment: Environment,
    ask: Callable[[Drawn], Ask],
    place: int,
    instance: Instance,
    prefixes: Prefixes,
    watch: Watch = NO_WATCH,
    with_states: bool = True,
) -> FinishedRow:
    """Run an instance on the question at index `place`.

    Raises Cancelled if `watch` does. Any other failure becomes the error of the row.
    """
    drawn, models, start = plan.drawn[place], environment.models, time.perf_counter()
    if plan.cold:
        models.forget()
    outcome, states, error, lane = None, None, None, None
    try:
        asked = ask(drawn)
        lane = LaneRun(asked, instance.line, environment, Prefixes() if plan.cold else prefixes)
        progress = Progress(watch=watch.quiet, reached=lambda state: watch.check())
        lane.retrieve(progress)
        lane.answer(progress)
        first, second = judged(plan, models, lane, watch)
        opinions = first, asked.source, supported(plan, models, lane, watch)
        state = as_if_new(lane.state) if plan.cold else lane.state
        outcome = observe(lane.graph, state, *opinions, building(lane), second)
        states = freeze_all(lane.states, lane.graph) if with_states else None
    except Cancelled:
        raise
    except Exception as failure:
        outcome, error = None, sentence(failure)
    if lane is not None and with_states:
        traces.send([traces.Traced(instance.name, lane, error or "")])
    return FinishedRow(
        instance.id, drawn.question.id, outcome, error, states, time.perf_counter() - start
    )


def as_if_new(state: State) -> State:
    """Return a state whose steps took the time that they would have taken without caches.

    Replies that were cached on disk count with the time in which they were made.
    """
    steps = (replace(step, seconds=step.seconds + step.saved, saved=0.0) for step in state.trace)
    return replace(state, trace=tuple(steps))


def warm(plan: Plan, environment: Environment, ask: Callable[[Drawn], Ask], watch: Watch) -> None:
    """Load the models before the first question, so that no question pays for it.

    Raises ModelUnavailable if a model that answers or judges is missing; rows report others.
    """
    watch.report("Loading the models")
    needed = [
        name
        for i in plan.instances
        for o in i.line
        if o.stage == "generate" and plan.model
        for name in used(o)
    ]
    needed += plan.judges
    for role in dict.fromkeys(needed):
        load = getattr(environment.models.chat(role), "load", None)
        if load:
            load()
    asked = plan.drawn[0]
    extractors = dict.fromkeys(
        operator for i in plan.instances for operator in i.line if starts(operator)
    )
    for work in [
        *(
            lambda operator=operator: _start(operator, ask(asked), environment, watch)
            for operator in extractors
        ),
        *(
            lambda name=name: _score(environment.models, name)
            for name in plan.models
            if name not in needed
        ),
    ]:
        watch.check()
        try:
            work()
        except Cancelled:
            raise
        except Exception as error:
            log.info("Warming up: %s", error)  # the affected rows report it


def _start(operator: Operator, asked: Ask, environment: Environment, watch: Watch) -> None:
    """Run an operator once, so that its compiled code is loaded or compiled."""
    operator(
        State(asked.question, asked.seeds),
        Context(asked.source.graph, environment, asked.seed, watch.quiet),
    )


def _score(models, name: str) -> None:
    """Load a scorer's weights.

    A language model that picks candidates is loaded when it is first asked.
    """
    chooser = models.chooser(name)
    if hasattr(chooser, "score"):
        chooser.score(Task("warm"), ["warm"])


def starts(operator: Operator) -> bool:
    """Return whether an operator works on the question alone.

    Such operators load or prepare things when they are first called. Operators that call a program
    of the user are excluded.
    """
    return (
        operator.remembered
        and operator.stage in ("convert", "extract", "retrieve")
        and set(operator.reads) <= set(GIVEN)
    )
