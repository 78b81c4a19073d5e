"""Rows of an evaluation: methods run on one question.

This module also loads the models before the first question.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from core.comparison import lane_traces
from core.comparison.lane_run import LaneListener, LaneRun, NoPrefixCache, PrefixCache
from core.diagnosis.changes.trials import watch_until
from core.environment import Environment
from core.errors import RunCancelled
from core.evaluation.metrics.outcome import Outcome, observe
from core.evaluation.runs.answer_judgements import judge_lane, lane_build_cost, measure_support
from core.evaluation.runs.plan import DrawnQuestion, Plan, models_used
from core.methods.catalogue import Method
from core.models.base import Task
from core.operators.base import INITIAL_FIELDS, Context, Operator
from core.runtime.jobs import error_sentence
from core.snapshot import freeze_all
from core.sources import SourceQuestion
from core.types import State
from core.watch import NO_WATCH, Watch

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class FinishedRow:
    """Result of a method on a question, in the form in which it is saved.

    A failed row has an error sentence instead of an outcome.
    """

    method: str
    question: str
    outcome: Outcome | None = None
    error: str | None = None
    states: dict | None = None
    seconds: float = 0.0


def make_ask(engine, plan: Plan) -> Callable[[DrawnQuestion], SourceQuestion]:
    """Return a function that prepares a drawn question for the methods of a plan.

    It opens the question's source, links its entities and applies the settings of the plan.

    Parameters
    ----------
    engine : opens the sources.
    plan : its settings are applied.

    Returns
    -------
    A function of a drawn question. It raises the errors of opening and asking.
    """
    return lambda drawn: drawn.open(engine).ask(drawn.question, plan.seed, model=plan.model)


def run_methods(
    plan: Plan,
    environment: Environment,
    ask: Callable[[DrawnQuestion], SourceQuestion],
    index: int,
    methods: Sequence[Method] | None = None,
    watch: Watch = NO_WATCH,
    seconds: float | None = None,
    with_states: bool = True,
) -> Iterator[FinishedRow]:
    """Run several methods on one question of a plan, one after the other.

    The methods share the states after common leading operators, unless the plan is cold.

    Parameters
    ----------
    plan : the questions, and how they are asked.
    environment : the models and the other resources of a run.
    ask : makes an `SourceQuestion` of a drawn question; its error becomes the error of the row.
    index : index of the question among the drawn ones.
    methods : the methods; by default all of the plan, in an order that rotates with the
        question.
    watch : checked before each method, and by what runs.
    seconds : time limit for one method; one that exceeds it has no outcome.
    with_states : whether the rows have states and are sent as spans (`core.comparison.lane_traces`).

    Yields
    ------
    A row for each method, as soon as it has run.
    """
    turn_methods = plan.turned(index) if methods is None else methods
    prefixes = PrefixCache() if len(turn_methods) > 1 else NoPrefixCache()
    for method in turn_methods:
        watch.check()
        limited = watch if seconds is None else watch_until(watch, time.monotonic() + seconds)
        yield run_method(plan, environment, ask, index, method, prefixes, limited, with_states)


def run_method(
    plan: Plan,
    environment: Environment,
    ask: Callable[[DrawnQuestion], SourceQuestion],
    index: int,
    method: Method,
    prefixes: PrefixCache,
    watch: Watch = NO_WATCH,
    with_states: bool = True,
) -> FinishedRow:
    """Run a method on one question.

    Any failure becomes the error of the row.

    Parameters
    ----------
    plan : the plan.
    environment : the models, stores and settings.
    ask : the result of `make_ask`.
    index : index of the question in the plan.
    method : the method.
    prefixes : states of common beginnings of lines, which methods share.
    watch : may raise RunCancelled, which ends the run.
    with_states : keeps the states for the store.

    Returns
    -------
    The row.

    Raises
    ------
    RunCancelled : as `watch` raises.
    """
    drawn_question, models, start = plan.drawn[index], environment.models, time.perf_counter()
    if plan.cold:
        models.forget()
    outcome, states, error, lane = None, None, None, None
    try:
        request = ask(drawn_question)
        lane = LaneRun(request, method.line, environment, PrefixCache() if plan.cold else prefixes)
        progress = LaneListener(watch=watch.quiet, reached=lambda state: watch.check())
        lane.retrieve(progress)
        lane.answer(progress)
        first, second = judge_lane(plan, models, lane, watch)
        opinions = first, request.source, measure_support(plan, models, lane, watch)
        state = without_caches(lane.state) if plan.cold else lane.state
        outcome = observe(lane.graph, state, *opinions, lane_build_cost(lane), second)
        states = freeze_all(lane.states, lane.graph) if with_states else None
    except RunCancelled:
        raise
    except Exception as failure:
        outcome, error = None, error_sentence(failure)
    if lane is not None and with_states:
        lane_traces.send_spans([lane_traces.TracedLane(method.name, lane, error or "")])
    return FinishedRow(
        method.id, drawn_question.question.id, outcome, error, states, time.perf_counter() - start
    )


def without_caches(state: State) -> State:
    """Return a state whose steps took the time that they would have taken without caches.

    Replies that were cached on disk count with the time in which they were made.
    """
    steps = (replace(step, seconds=step.seconds + step.saved, saved=0.0) for step in state.trace)
    return replace(state, trace=tuple(steps))


def load_models(
    plan: Plan,
    environment: Environment,
    ask: Callable[[DrawnQuestion], SourceQuestion],
    watch: Watch,
) -> None:
    """Load the models before the first question, so that no question pays for it.

    Parameters
    ----------
    plan : the plan.
    environment : the models, stores and settings.
    ask : the result of `make_ask`.
    watch : receives the progress and may raise RunCancelled.

    Raises
    ------
    ModelUnavailable : a model that answers or judges is missing. Rows report others.
    """
    watch.report("Loading the models")
    needed_roles = [*_answering_models(plan), *plan.judges]
    _load_weights(environment.models, needed_roles)
    first_question = plan.drawn[0]
    operators = [operator for i in plan.methods for operator in i.line]
    scorers = [name for name in plan.models if name not in needed_roles]
    for operator in dict.fromkeys(filter(needs_warm_up, operators)):
        with _failures_left_to_rows(watch):
            _warm_up_operator(operator, ask(first_question), environment, watch)
    for name in scorers:
        with _failures_left_to_rows(watch):
            _warm_up_scorer(environment.models, name)


def _answering_models(plan: Plan) -> list[str]:
    """Return the models and roles that answer, if the plan asks for answers."""
    names: list[str] = []
    if plan.model:
        for method in plan.methods:
            for operator in method.line:
                if operator.stage == "generate":
                    names += models_used(operator)
    return names


def _load_weights(models, roles: Sequence[str]) -> None:
    """Load language models that run on this computer."""
    for role in dict.fromkeys(roles):
        load_weights = getattr(models.chat(role), "load", None)
        if load_weights:
            load_weights()


@contextmanager
def _failures_left_to_rows(watch: Watch) -> Iterator[None]:
    """Log a failure of a step and go on, as the affected rows report it.

    Before the step it checks whether the run was cancelled.
    """
    watch.check()
    try:
        yield
    except RunCancelled:
        raise
    except Exception as error:
        log.info("Warming up: %s", error)


def _warm_up_operator(
    operator: Operator, request: SourceQuestion, environment: Environment, watch: Watch
) -> None:
    """Run an operator once, so that its compiled code is loaded or compiled."""
    operator(
        State(request.question, request.seeds),
        Context(request.source.graph, environment, request.seed, watch.quiet),
    )


def _warm_up_scorer(models, name: str) -> None:
    """Load a scorer's weights.

    A language model that picks candidates is loaded when it is first asked.
    """
    chooser = models.chooser(name)
    if hasattr(chooser, "score"):
        chooser.score(Task("warm"), ["warm"])


def needs_warm_up(operator: Operator) -> bool:
    """Return whether an operator works on the question alone.

    Such operators load or prepare things when they are first called. Operators that call a program
    of the user are excluded.
    """
    return (
        operator.remembered
        and operator.stage in ("convert", "extract", "retrieve")
        and set(operator.reads) <= set(INITIAL_FIELDS)
    )
