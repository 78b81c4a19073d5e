"""Start of an evaluation: a plan becomes a run in the store and a job of the engine.

A run is resumed, not repeated, if nothing has changed that its results depend on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from core.comparison.lane_run import build_of, open_lane_graph
from core.errors import BadInput, BadParameter, HopscopeError
from core.evaluation.runs.plan import Plan, evaluation_key
from core.evaluation.runs.rebuilt_graphs import asks_model_again
from core.evaluation.runs.repeats import with_repeats
from core.evaluation.runs.row import make_ask
from core.evaluation.runs.runner import EvaluationRunner
from core.evaluation.runs.saved_runs import load_plan
from core.evaluation.runs.store import Run, Store
from core.methods.catalogue import Method
from core.models.price import Cap
from core.operators.base import Line
from core.prompts import prompts_digest
from core.runtime.cluster import Workers
from core.runtime.jobs import Job


def evaluate(
    engine,
    store: Store,
    plan: Plan,
    again: bool = False,
    workers: Workers | None = None,
    max_concurrent: int = 0,
    cap: Cap | None = None,
    max_questions: int = 0,
) -> Job:
    """Start a job that runs a plan.

    Every row is saved as soon as it is done.

    Parameters
    ----------
    engine : the engine that runs the job.
    store : receives the rows.
    plan : the plan.
    again : True to begin a new run; False resumes an unfinished run of the same plan.
    workers : processes that share the questions; None for this process alone. They cannot be
        combined with a cap, an estimate or a cold plan.
    max_concurrent : concurrent requests to a server; 0 finds a number automatically.
    cap : the job stops with an error before it would exceed this amount; None for no limit.
    max_questions : number of remaining questions to run; `job.evaluation` then has an estimate of
        the cost of the rest. 0 runs all.

    Returns
    -------
    The job, whose `number` is the number of the run in the store.

    Raises
    ------
    BadInput : workers are combined with a cap, an estimate or a cold plan, or a graph or build of
        the plan cannot be used.
    StoreError : the store cannot be used.
    """
    if workers and (cap or max_questions):
        raise BadInput(
            "What is spent is counted in one process; leave out either the workers, or the cap "
            "and the estimate."
        )
    if workers and plan.cold:
        raise BadInput(
            "The seconds of each method alone are measured in one process; leave out either "
            "the workers or the cold run."
        )
    if plan.rebuilt and (max_questions or (cap and asks_model_again(plan))):
        raise BadInput(
            "What building graphs again costs is not counted; leave out either that, or the cap "
            "and the estimate."
        )
    evaluation = begin_evaluation(engine, store, plan, again, workers, max_concurrent)
    evaluation.cap = cap
    evaluation.max_questions = max_questions
    evaluation.spending()  # raises BadInput at once if the prices do not fit the cap

    def make_job() -> Job:
        job = Job(f"evaluation-{evaluation.run}", evaluation)
        job.number = evaluation.run
        job.evaluation = evaluation
        return job

    return engine.evaluations.start(f"evaluation-{evaluation.run}", make_job, again=True)


def begin_evaluation(
    engine,
    store: Store,
    plan: Plan,
    again: bool = False,
    workers: Workers | None = None,
    max_concurrent: int = 0,
) -> EvaluationRunner:
    """Begin or resume a run of a plan.

    The result is a runner, which a job calls.

    Parameters
    ----------
    engine : opens the graphs.
    store : receives the rows.
    plan : the plan.
    again : True to begin a new run; False resumes an unfinished run of the same plan.
    workers : processes that share the questions; None for this process alone.
    max_concurrent : concurrent requests to a server; 0 finds a number automatically.

    Returns
    -------
    The runner, which runs the remaining rows when it is called with its job.

    Raises
    ------
    BadInput : a graph or build of the plan cannot be used.
    StoreError : the store cannot be used.
    """
    run = store.begin_run(plan.spec(dependency_text(engine, plan)), plan.drawn, again)
    return EvaluationRunner(
        plan, store, run.id, engine.environment, make_ask(engine, plan), workers, max_concurrent
    )


def add_methods(engine, store: Store, run: Run, methods: Sequence[Method]) -> Job:
    """Start a job that runs further methods on the questions of a run.

    The further methods make a new run, which has the earlier methods too. Their rows are copied
    from the earlier run if models, prompts and graphs have not changed, and run again otherwise.

    Parameters
    ----------
    engine : the engine that runs the job.
    store : the store with the run.
    run : the run.
    methods : the further methods.

    Returns
    -------
    The job of the new run.

    Raises
    ------
    BadInput : a graph or build of the plan cannot be used.
    StoreError : the store cannot be used.
    """
    earlier_plan = load_plan(store, run)
    first_plan = replace(earlier_plan, repeats=1, varied=(), rebuilt=(), notes=())
    plan = replace(first_plan, methods=(*earlier_plan.methods, *methods))
    rebuild = bool(earlier_plan.rebuilt)
    plan = with_repeats(plan, earlier_plan.repeats, engine.models, rebuild)
    if evaluation_key(earlier_plan.spec(dependency_text(engine, earlier_plan))) == run.key:
        new_run = store.begin_run(plan.spec(dependency_text(engine, plan)), plan.drawn)
        store.copy_rows(run.id, new_run.id, [method.id for method in earlier_plan.methods])
    return evaluate(engine, store, plan)


def dependency_text(engine, plan: Plan) -> str:
    """Return a text of everything that a plan's results depend on.

    The plan itself is not in the text. The text has the models with their settings, the prompts,
    resources of the operators (`_stamps`), and the graphs that the methods' lines name.

    Parameters
    ----------
    engine : opens the graphs and models.
    plan : the plan.

    Returns
    -------
    Lines of text; they change if the results may change.
    """
    lines = [_signature(engine.models, name) for name in plan.models]
    lines += model_facts(engine.models, plan.models, plan.model)
    lines += _stamps(engine, plan)
    lines += _build_digests(engine, plan)
    return "\n".join(lines)


def model_facts(models, names: Iterable[str], answers: bool) -> list[str]:
    """Return the digest of the prompts if a language model is used.

    A language model is used if answers are requested, or if a named model is a language model.

    Parameters
    ----------
    models : the registry of models.
    names : names or roles of models.
    answers : True if a language model answers.

    Returns
    -------
    A list of the digest; empty if no language model is used.
    """
    return [prompts_digest()] if answers or any(_is_chat(models, name) for name in names) else []


def _is_chat(models, name: str) -> bool:
    try:
        return models.is_chat(name)
    except BadParameter:  # an undeclared model is reported in the rows
        return False


def _signature(models, name: str) -> str:
    """Return a model's signature, or for an undeclared model the error's text."""
    try:
        return models.signature(name)
    except BadParameter as error:
        return str(error)


def _build_digests(engine, plan: Plan) -> list[str]:
    """Return the digests of the built graphs that lines name.

    A graph that is not built is left out; the rows report it.
    """
    digests = []
    built_graphs = dict.fromkeys(
        method.line.operators[0] for method in plan.methods if build_of(method.line)
    )
    for source in dict.fromkeys(drawn.source for drawn in plan.drawn):
        for operator in built_graphs:
            with suppress(HopscopeError):
                graph = open_lane_graph(Line((operator,)), source, engine.environment)
                if graph is not None:
                    digests.append(graph.digest)
    return digests


def _stamps(engine, plan: Plan) -> list[str]:
    """Return the stamps (versions) of resources of the operators, besides graph and models.

    Such resources are, for example, a user's own solved questions and retrievers.
    """
    operators = [operator for method in plan.methods for operator in method.line]
    if plan.drawn[0].source.is_corpus:
        # On documents, stamps of operators do not depend on the question's graph.
        graph = None
        operators = [operator for operator in operators if operator.on_documents]
    else:
        try:
            graph = plan.drawn[0].open(engine).graph
        except BadInput:  # a question without a graph is reported in the rows
            return []
    stamps = [operator.stamp(graph, engine.environment) for operator in operators]
    return list(filter(None, stamps))
