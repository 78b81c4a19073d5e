"""Rows of an evaluation: methods run on one question, after the models are loaded.

A row is the result of one method on one question.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain

from core.comparison import lane_traces
from core.comparison.lane_run import LaneListener, LaneRun, NoPrefixCache, PrefixCache
from core.diagnosis.changes.trials import watch_until
from core.environment import Environment
from core.errors import RunCancelled
from core.evaluation.metrics.outcome import Outcome, observe
from core.evaluation.runs.answer_judgements import judge_lane, lane_build_cost, measure_support
from core.evaluation.runs.plan import DrawnQuestion, Plan, models_used
from core.methods.catalogue import Method
from core.models.base import Models, Task
from core.operators.base import INITIAL_FIELDS, Context, Operator
from core.runtime.jobs import error_sentence
from core.snapshot import freeze_all
from core.sources import SourceQuestion
from core.types import State
from core.watch import NO_WATCH, Watch

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class FinishedRow:
    """Result of a method on a question, as it is saved.

    The method and the question are ids. A failed row has an error sentence instead of an outcome.
    `states` are the frozen states of the method (`core.snapshot`). `seconds` is the wall-clock time
    of the row, including judging.
    """

    method: str
    question: str
    outcome: Outcome | None = None
    error: str | None = None
    states: dict | None = None
    seconds: float = 0.0


def make_ask(engine, plan: Plan) -> Callable[[DrawnQuestion], SourceQuestion]:
    """Return a function that prepares a drawn question for the methods of a plan.

    The function opens the question's source, links the question's entities to its nodes and applies
    the settings of the plan.

    Parameters
    ----------
    engine : opens the sources.
    plan : its settings are applied.

    Returns
    -------
    The function, which raises the errors of opening and asking.
    """
    return lambda drawn: drawn.open(engine).ask(drawn.question, plan.seed, uses_model=plan.model)


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
    ask : the result of `make_ask`; its error becomes the error of the row.
    index : index of the question among the drawn ones.
    methods : the methods; by default all of the plan, in an order that rotates with the
        question.
    watch : checked before each method and while it runs.
    seconds : time limit for one method, None for no limit; a method that exceeds it has no outcome.
    with_states : True if the rows have states and are sent as spans
        (`core.comparison.lane_traces`).

    Yields
    ------
    A row for each method, as soon as it has run.
    """
    methods = plan.rotated_methods(index) if methods is None else methods
    prefixes = PrefixCache() if len(methods) > 1 else NoPrefixCache()
    for method in methods:
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
    prefixes : cache of the states after common leading operators, which methods share.
    watch : may raise RunCancelled, which ends the run.
    with_states : True if the row has states and is sent as a span.

    Returns
    -------
    The row.

    Raises
    ------
    RunCancelled : `watch` cancelled the run.
    """
    start = time.perf_counter()
    models = environment.models
    if plan.cold:
        models.forget()
        prefixes = PrefixCache()
    outcome = states = error = lane = None
    try:
        lane = LaneRun(ask(plan.drawn[index]), method.line, environment, prefixes)
        progress = LaneListener(watch=watch.without_reports, on_state=lambda state: watch.check())
        lane.retrieve(progress)
        lane.answer(progress)
        outcome = _observe_lane(plan, models, lane, watch)
        states = freeze_all(lane.states, lane.graph) if with_states else None
    except RunCancelled:
        raise
    except Exception as failure:
        outcome = None
        error = error_sentence(failure)
    if lane is not None and with_states:
        lane_traces.send_spans([lane_traces.TracedLane(method.name, lane, error or "")])
    question_id = plan.drawn[index].question.id
    seconds = time.perf_counter() - start
    return FinishedRow(method.id, question_id, outcome, error, states, seconds)


def _observe_lane(plan: Plan, models: Models, lane: LaneRun, watch: Watch) -> Outcome:
    """Return the outcome of a finished lane, with the verdicts that the plan requests."""
    first, second = judge_lane(plan, models, lane, watch)
    return observe(
        lane.graph,
        without_caches(lane.state) if plan.cold else lane.state,
        judged=first,
        source=lane.ask.source,
        supported=measure_support(plan, models, lane, watch),
        built=lane_build_cost(lane),
        second=second,
    )


def without_caches(state: State) -> State:
    """Return a state with the seconds that its steps take without caches.

    A cached reply or vector counts with the seconds of the request that produced it.
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
    ModelUnavailable : a model that answers or judges is missing. Other missing models raise nothing
        here; the rows report them.
    """
    watch.report("Loading the models")
    needed_roles = [*_answering_models(plan), *plan.judges]
    _load_weights(environment.models, needed_roles)
    operators = chain.from_iterable(method.line for method in plan.methods)
    for operator in dict.fromkeys(filter(needs_warm_up, operators)):
        with _failures_left_to_rows(watch):
            _warm_up_operator(operator, ask(plan.drawn[0]), environment, watch)
    for name in plan.models:
        if name not in needed_roles:
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
    """Load the language models of some roles, if they run in this process."""
    for role in dict.fromkeys(roles):
        load_weights = getattr(models.chat(role), "load", None)
        if load_weights:
            load_weights()


@contextmanager
def _failures_left_to_rows(watch: Watch) -> Iterator[None]:
    """Log a failure within the context and go on.

    The affected rows report the failure. RunCancelled is raised before and within the context if
    the run was cancelled.
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
        Context(request.source.graph, environment, request.seed, watch.without_reports),
    )


def _warm_up_scorer(models, name: str) -> None:
    """Load a scorer's weights.

    A language model that picks candidates is loaded when it is first asked.
    """
    chooser = models.chooser(name)
    if hasattr(chooser, "score"):
        chooser.score(Task("warm"), ["warm"])


def needs_warm_up(operator: Operator) -> bool:
    """Return whether an operator can run first in a line.

    Such an operator reads only the question, and may load things at its first call. Operators that
    call a program of the user are excluded.
    """
    is_first_stage = operator.stage in ("convert", "extract", "retrieve")
    return operator.is_reusable and is_first_stage and set(operator.reads) <= set(INITIAL_FIELDS)
