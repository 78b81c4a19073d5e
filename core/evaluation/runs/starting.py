"""A plan made into a job of the engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from core.comparison.run import build_of, graph_of
from core.errors import BadInput, BadParameter, HopscopeError
from core.evaluation.runs.opening import planned
from core.evaluation.runs.plan import Plan, key
from core.evaluation.runs.row import asking
from core.evaluation.runs.runner import Evaluation
from core.evaluation.runs.store import Run, Store
from core.instances.catalogue import Instance
from core.models.price import Cap
from core.operators.base import Line
from core.prompts import digest
from core.runtime.cluster import Workers
from core.runtime.jobs import Job


def evaluate(
    engine,
    store: Store,
    plan: Plan,
    again: bool = False,
    workers: Workers | None = None,
    at_once: int = 0,
    cap: Cap | None = None,
    first: int = 0,
) -> Job:
    """A job of the engine that runs the plan and keeps every row as it goes; `job.number` is the run's number in the store.

    An unfinished run of the same plan is taken up where it stopped, unless `again`. With `workers` its questions are spread
    over processes, each with an engine of its own. Servers are sent `at_once` requests at a time, or as many as is found out where that
    is 0. The job stops before it would go over a `cap`, with a sentence as its error, and where a number is given after the `first` so many
    questions that are left; `job.evaluation` then has its estimate of the rest. Raises BadInput, StoreError.
    """
    if workers and (cap or first):
        raise BadInput(
            "What is spent is counted in one process; leave out either the workers, or --cap and --estimate."
        )
    if workers and plan.cold:
        raise BadInput(
            "The seconds of each instance alone are measured in one process; leave out either the workers or the cold run."
        )
    work = begun(engine, store, plan, again, workers, at_once)
    work.cap, work.first = cap, first
    work.spending()  # raises where the prices do not fit the cap

    def make() -> Job:
        job = Job(f"evaluation-{work.run}", work)
        job.number, job.evaluation = work.run, work
        return job

    return engine.evaluations.start(f"evaluation-{work.run}", make, again=True)


def begun(
    engine,
    store: Store,
    plan: Plan,
    again: bool = False,
    workers: Workers | None = None,
    at_once: int = 0,
) -> Evaluation:
    """The evaluation of a plan, to be called with a job: a new run, or unless `again` the unfinished one of the same plan. Raises BadInput,
    StoreError."""
    run = store.begin(plan.spec(depends(engine, plan)), plan.drawn, again)
    return Evaluation(
        plan, store, run.id, engine.environment, asking(engine, plan), workers, at_once
    )


def beside(engine, store: Store, run: Run, instances: Sequence[Instance]) -> Job:
    """A job of the engine that runs further instances on the questions of a run, in a run of its own with the rows that are there already,
    where models, prompts and graphs are still as they were. Raises BadInput, StoreError."""
    same = planned(store, run)
    plan = replace(same, instances=(*same.instances, *instances))
    if key(same.spec(depends(engine, same))) == run.key:
        begun = store.begin(plan.spec(depends(engine, plan)), plan.drawn)
        store.take_over(run.id, begun.id, [one.id for one in same.instances])
    return evaluate(engine, store, plan)


def depends(engine, plan: Plan) -> str:
    """What the results of a plan depend on beside it: its models and their settings, what its operators need, and the graphs of
    its lines."""
    models = [_signature(engine.models, name) for name in plan.models]
    return "\n".join(
        [
            *models,
            *model_facts(engine.models, plan.models, plan.model),
            *_stamps(engine, plan),
            *_builds(engine, plan),
        ]
    )


def model_facts(models, names: Iterable[str], answers: bool) -> list[str]:
    """The digest of the prompts where a language model answers or is among the models of these names; else nothing."""
    return [digest()] if answers or any(_is_chat(models, name) for name in names) else []


def _is_chat(models, name: str) -> bool:
    try:
        return models.is_chat(name)
    except BadParameter:  # not declared, as its rows will say
        return False


def _signature(models, name: str) -> str:
    """What a model is, as a text; of one that is not declared, the sentence that says so."""
    try:
        return models.signature(name)
    except BadParameter as error:
        return str(error)


def _builds(engine, plan: Plan) -> list[str]:
    """The digests of the graphs of lines on documents; one that is not built is left out, as its rows will say."""
    found = []
    firsts = dict.fromkeys(
        instance.line.operators[0] for instance in plan.instances if build_of(instance.line)
    )
    for source in dict.fromkeys(drawn.source for drawn in plan.drawn):
        for first in firsts:
            with suppress(HopscopeError):
                graph = graph_of(Line((first,)), source, engine.environment)
                found += [] if graph is None else [graph.digest]
    return found


def _stamps(engine, plan: Plan) -> list[str]:
    """What the plan's operators depend on beside graph and models, such as a person's own solved questions or retrievers."""
    operators = [operator for instance in plan.instances for operator in instance.line]
    if plan.drawn[0].source.is_corpus:
        # What depends on more than its graph there is not of the graph.
        graph, operators = None, [one for one in operators if one.on_documents]
    else:
        try:
            graph = plan.drawn[0].open(engine).graph
        except BadInput:  # the question has no graph, as its rows will say
            return []
    stamps = [operator.stamp(graph, engine.environment) for operator in operators]
    return list(filter(None, stamps))
