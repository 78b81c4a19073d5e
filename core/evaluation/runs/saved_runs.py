"""Loading of saved runs: their plans, or the rows of one question as a finished comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.comparison.lane import MethodComparison, MethodLane
from core.comparison.lane_run import answer_role
from core.errors import BadInput
from core.evaluation.runs.plan import DrawnQuestion, Plan, make_plan, shared_graph
from core.evaluation.runs.store import Run, Store
from core.graph.protocol import KnowledgeGraph
from core.io.plain_data import from_plain
from core.methods.catalogue import Method, catalogue
from core.operators.base import Line
from core.operators.text import parse_line
from core.runtime.jobs import JOB_DONE, JOB_FAILED
from core.snapshot import thaw_all
from core.sources import AnswerSource, SourceQuestion
from core.types import State


@dataclass(frozen=True)
class ReopenedRow:
    """A saved row with its states and its graph.

    The graph is the one that the row's line names, None if it names none. `states` is empty if none
    were saved. `error` is the sentence of a failed row.
    """

    method: Method
    states: tuple[State, ...]
    graph: KnowledgeGraph | None
    error: str | None


def reopen_comparison(
    store: Store,
    run: Run,
    question: str,
    source: AnswerSource,
    methods: tuple[str, ...] = (),
    open_build: Callable[[Line], Any] = lambda line: None,
) -> MethodComparison:
    """Return the saved rows of one question as a finished comparison.

    The comparison is on an opened source. A comparison shows several methods on one question; each
    method is a lane.

    Parameters
    ----------
    store : the store with the run.
    run : the run.
    question : id of the question.
    source : the source, already opened.
    methods : ids of the methods; empty for all.
    open_build : opens the graph that a line names; None if the line names no graph.

    Returns
    -------
    One lane for each method with a row, also for failed rows without states.

    Raises
    ------
    BadInput : the run has no such question or no saved states of it, or a graph has changed.
    """
    specs = [spec for spec in run.spec["instances"] if not methods or spec["id"] in methods]
    errors = {row.method: row.error for row in store.rows(run.id) if row.question.id == question}
    rows = []
    for spec in specs:
        if spec["id"] in errors:
            states = store.states(run.id, spec["id"], question)
            row = ReopenedRow(_method(spec), (), None, errors[spec["id"]])
            rows.append(_thaw_row(row, states, source, open_build) if states else row)
    last_state = next((row.states[-1] for row in rows if row.states), None)
    if last_state is None:
        raise BadInput(
            f"Nothing that could be opened is kept of question “{question}” in evaluation {run.id}."
        )
    ask = SourceQuestion(
        source,
        last_state.question,
        last_state.seeds,
        run.spec["seed"],
        uses_model=run.spec["model"],
    )
    return MethodComparison(ask, [_finished_lane(ask, row) for row in rows])


def _thaw_row(
    row: ReopenedRow, states, source: AnswerSource, open_build: Callable[[Line], Any]
) -> ReopenedRow:
    """Return a row with its saved states.

    They are on the graph of its line or of the source.
    """
    graph = open_build(row.method.line)
    return replace(row, states=thaw_all(states, graph or source.graph), graph=graph)


def _finished_lane(ask: SourceQuestion, row: ReopenedRow) -> MethodLane:
    answer = row.states[-1].answer if row.states else None
    return MethodLane(
        ask,
        row.method,
        row.states,
        row.graph,
        status=JOB_FAILED if row.error else JOB_DONE,
        error=row.error,
        answer=answer or "",
        model=answer_role(row.method.line) if ask.uses_model else None,
        repairs_tried=True,  # no repairs are tried on a saved row
    )


def load_plan(store: Store, run: Run) -> Plan:
    """Return the plan of a run, so that the run can be resumed.

    Parameters
    ----------
    store : the store with the run.
    run : the run.

    Returns
    -------
    The plan, with the same questions.

    Raises
    ------
    BadInput, StoreError : a method no longer exists, or the store is damaged.
    """
    return plan_of(run.spec, store.drawn_questions(run.id))


def plan_of(spec: Mapping[str, Any], drawn: Sequence[DrawnQuestion]) -> Plan:
    """Return the plan of a specification and its questions. Raises BadInput."""
    methods = tuple(map(_method, spec["instances"]))
    return from_plain(Plan, spec, methods=methods, drawn=tuple(drawn))


def enlarge_plan(store: Store, run: Run, count: int, open_graph: Callable[[str], Any]) -> Plan:
    """Return the plan of a run, enlarged by further questions of its set.

    The sample of the enlarged plan begins with the questions of the run. Further ones are abstract
    if all of the run are.

    Parameters
    ----------
    store : the store with the run.
    run : the run.
    count : number of further questions.
    open_graph : opens a graph by its name.

    Returns
    -------
    The plan of a new run.

    Raises
    ------
    BadInput, StoreError : the set or a method no longer exists, the set has other questions than
        it had, or the store is damaged.
    """
    saved_plan = load_plan(store, run)
    asked = [drawn.question for drawn in saved_plan.drawn]
    settings = {
        name: getattr(saved_plan, name)
        for name in (
            *("seed", "model", "judge", "cold", "support", "second_judge"),
            *("repeats", "varied", "rebuilt"),
        )
    }
    plan = make_plan(
        saved_plan.methods,
        saved_plan.set,
        len(asked) + count,
        open_graph,
        graph=shared_graph(saved_plan.drawn),
        abstract=all(question.abstract for question in asked),
        **settings,
    )
    if [drawn.question for drawn in plan.drawn[: len(asked)]] != asked:
        raise BadInput(
            f"The questions of “{run.spec['set']}” have changed since this evaluation. Start a new one."
        )
    return plan


def _method(spec: dict[str, str]) -> Method:
    """Return the catalogue's method if its line is still the saved one.

    Otherwise return a method with the saved line and name.
    """
    method = catalogue().get(spec["id"])
    if method is not None and repr(method.line) == spec["line"]:
        return method
    return Method(spec["id"], spec["title"], parse_line(spec["line"]), short=spec["name"])
