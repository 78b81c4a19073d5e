"""Instances on one drawn question: the rows that are kept, and what is loaded before the first."""

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
    """One row as it is kept: what came of an instance on a question, or the sentence that says why it failed."""

    instance: str
    question: str
    outcome: Outcome | None = None
    error: str | None = None
    states: dict | None = None
    seconds: float = 0.0


def asking(engine, plan: Plan) -> Callable[[Drawn], Ask]:
    """How a drawn question is asked: its source opened, its entities linked, with the settings of the plan."""
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
    """Ask one question of a plan with several instances, one after the other.

    The states after operators that the lines begin with are shared between them, unless the plan is cold.

    Parameters
    ----------
    plan : the questions, and how they are asked.
    environment : the models, and what else a run works with.
    ask : makes an `Ask` of a drawn question; what it raises is a sentence in the row.
    place : the index of the question among those drawn.
    instances : all of the plan by default, the first one turning with the question.
    watch : is checked before each instance, and by what runs.
    seconds : of one instance; one that takes longer has no outcome.
    with_states : whether the rows have states, and are told of as spans (`core.comparison.traces`).

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
    """An instance run on the question at `place`. Raises Cancelled where `watch` does; what else fails is a sentence in the row."""
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
    """A state whose operators took what they would have taken had nothing been kept: replies that outlived the process count with the
    time in which they were made."""
    steps = (replace(step, seconds=step.seconds + step.saved, saved=0.0) for step in state.trace)
    return replace(state, trace=tuple(steps))


def warm(plan: Plan, environment: Environment, ask: Callable[[Drawn], Ask], watch: Watch) -> None:
    """Load what will be needed, so that no question pays for it. Raises ModelUnavailable where a language model that is to
    answer or judge is not here; what only some instances rank by is told of in their rows."""
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
            log.info("Warming up: %s", error)  # every row that meets it keeps it


def _start(operator: Operator, asked: Ask, environment: Environment, watch: Watch) -> None:
    """Have an operator's compiled code loaded, or compiled where it never was."""
    operator(
        State(asked.question, asked.seeds),
        Context(asked.source.graph, environment, asked.seed, watch.quiet),
    )


def _score(models, name: str) -> None:
    """Have a scorer's weights loaded; a language model that picks is loaded when it is first asked."""
    chooser = models.chooser(name)
    if hasattr(chooser, "score"):
        chooser.score(Task("warm"), ["warm"])


def starts(operator: Operator) -> bool:
    """Whether an operator works on the bare question: such ones load or prepare things when they are first called. One that asks a
    program of the person's own is left alone."""
    return (
        operator.remembered
        and operator.stage in ("convert", "extract", "retrieve")
        and set(operator.reads) <= set(GIVEN)
    )
