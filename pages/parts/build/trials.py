"""Runs of the line on the page Build.

Cheap steps are run as soon as the line changes, compared with the line before. Steps that need a
language model or a program wait for a click on Run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import streamlit as st

from core.comparison.consent import needs_consent
from core.comparison.lane import MethodComparison, MethodLane
from core.errors import HopscopeError
from core.evaluation.runs.plan import models_used
from core.lines.difference import title_of
from core.methods.catalogue import Method, method_of_line
from core.operators.base import Line, Operator
from core.results import prompt_dict
from core.runtime.jobs import JOB_DONE, Job, nothing
from core.sources import AnswerSource, CorpusSource, GraphSource, SourceQuestion
from core.types import Question
from pages.parts.build.bench import Bench
from pages.parts.question.corpus_question import prepared_corpus
from pages.parts.question.question_bar import known_question
from pages.parts.shared.live_graphs import question_neighbourhood
from pages.parts.shared.session import chosen_graph, engine, page_source, waiter
from pages.parts.shared.session_state import session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

MAX_RETAINED_LANES = 12  # finished lanes of a question that are kept for reuse
QUICK_RUN_SECONDS = 0.35  # seconds to wait for a run before the line is drawn


@dataclass
class Trials:
    """Runs of one session.

    They are of the line now, the line before, and lanes that can be reused. `started_for` is the
    input of the last job, so that it is started once. `whole` names the line and question whose
    expensive steps were requested.
    """

    now: Line | None = None
    before: Line | None = None
    started_for: tuple = ()
    whole: tuple = ()
    trouble: str = ""
    waits: int = 0  # operators at the end of the line that were not run yet
    # Finished lanes, by whether a language model is asked for answers.
    done: dict[bool, MethodComparison] = field(default_factory=dict)

    def known(self, line: Line, ask: SourceQuestion) -> bool:
        """Return whether the line was run to its end on this question."""
        done_lanes = self.done.get(ask.model)
        return (
            done_lanes is not None
            and done_lanes.ask.same(ask)
            and any(repr(lane.method.line) == repr(line) for lane in done_lanes.lanes)
        )

    def note(self, job: Job | None) -> None:
        """Remember the lanes of a job that are done."""
        comparison: MethodComparison | None = job.comparison if job is not None else None
        if comparison is None or not (
            done_lanes := [lane for lane in comparison.lanes if lane.status == JOB_DONE]
        ):
            return
        former = self.done.get(comparison.ask.model)
        lanes: dict[str, MethodLane] = {}
        for lane in [
            *(former.lanes if former is not None and former.ask.same(comparison.ask) else ()),
            *done_lanes,
        ]:
            lanes.pop(repr(lane.method.line), None)
            lanes[repr(lane.method.line)] = lane
        self.done[comparison.ask.model] = MethodComparison(
            comparison.ask, list(lanes.values())[-MAX_RETAINED_LANES:], comparison.mends
        )


def trials() -> Trials:
    """The runs of this session."""
    runs = session.trials = session.trials or Trials()
    return runs


def trial_job() -> Job | None:
    """Return the job that runs the line, if it is still known."""
    return engine().jobs.get(session.try_job)


def question_text() -> str:
    return " ".join(session.try_question.split())


def runs_without_click(bench: Bench) -> bool:
    """Return whether the line is run without a click on Run.

    It is if the graph is open, or the line was changed or run on this page.
    """
    on = page_source()
    return engine().is_open(on.graph_name) or bool(bench.history.before) or bool(session.try_job)


def can_start_now() -> bool:
    """Return whether a run can start at once.

    It can if the graph or the documents are open.
    """
    asked_source = page_source()
    if not asked_source.is_corpus:
        return engine().is_open(asked_source.name)
    job = trial_job()
    return job is not None and job.comparison.ask.source == asked_source


def run_if_changed(bench: Bench, catalogue: Mapping[str, Method], run_all: bool) -> bool:
    """Run the line if it has changed, or if `run_all` requests the waiting steps.

    Returns whether it was started.
    """
    runs, line, text = trials(), bench.line, question_text()
    runs.note(trial_job())
    if line is None or not text:
        return False
    run_key = (repr(line), text, page_source(), session.try_model)
    if run_all:
        runs.whole = run_key
    start_key = (*run_key, runs.whole == run_key)
    if (
        start_key == runs.started_for
        and not run_all
        and (trial_job() is not None or runs.trouble or runs.waits)
    ):
        return False
    runs.started_for, runs.trouble = start_key, ""
    _set_previous_line(runs, line, bench.held)
    try:
        _start(runs, line, catalogue, Question(text), runs.whole == run_key)
    except HopscopeError as error:
        runs.trouble = str(error)
        del session.try_job
    return True


def _set_previous_line(runs: Trials, line: Line, held: bool) -> None:
    """Set the line before.

    It is the last line whose run was seen to its end, or the first line. A held one stays.
    """
    job = trial_job()
    is_done = job is not None and job.comparison.lanes[-1].status == JOB_DONE
    if (
        runs.now is not None
        and repr(runs.now) != repr(line)
        and not held
        and (is_done or runs.before is None)
    ):
        runs.before = runs.now
    runs.now = line


def _start(
    runs: Trials,
    line: Line,
    methods: Mapping[str, Method],
    typed: Question,
    pressed: bool,
) -> None:
    """Start the job of the line now and the line before.

    Each is run as far as it may be; after a click on Run (`pressed`) that is to the end. Raises
    HopscopeError if the question cannot be asked.
    """
    asked_source = page_source()
    question = known_question(typed.text) or typed
    source: AnswerSource = (
        CorpusSource.of(prepared_corpus(asked_source.name))
        if asked_source.is_corpus
        else GraphSource.of(question_neighbourhood(chosen_graph(), question, nothing))
    )
    answering = session.try_model
    ask = engine().ask(source, question, model=answering)
    runs_whole = (
        pressed or runs.known(line, ask) or engine().at_once(line, source, answering) == len(line)
    )
    if answering and not runs_whole:
        ask = replace(ask, model=False)
    pair = [line] if runs.before is None or repr(runs.before) == repr(line) else [runs.before, line]
    parts = [_part(runs, one, ask, pressed) for one in pair]
    runs.waits = (
        len(line)
        - len(parts[-1])
        + (answering and not runs_whole and line.operators[-1].stage == "generate")
    )
    shown_methods = list(
        {repr(part): method_of_line(part, methods) for part in parts if len(part)}.values()
    )
    if not len(parts[-1]):
        del session.try_job
        return
    job = engine().compare(
        ask, shown_methods, waiter=waiter("build"), before=runs.done.get(ask.model)
    )
    session.try_job = job.key
    job.wait(QUICK_RUN_SECONDS)


def _part(runs: Trials, line: Line, ask: SourceQuestion, run_all: bool) -> Line:
    """Return the part of a line that may be run."""
    if run_all or runs.known(line, ask):
        return line
    return Line(line.operators[: engine().at_once(line, ask.source, ask.model)])


def waiting_steps_text(line: Line, job: Job | None) -> str:
    """Return a sentence on the steps that wait for Run.

    It has their cost, if it is known. Empty if no step waits.
    """
    runs = trials()
    if not runs.waits or runs.now is None or repr(runs.now) != repr(line):
        return ""
    lane: MethodLane | None = job.comparison.lanes[-1] if job is not None else None
    models, answering = engine().models, session.try_model
    waiting = [one for one in line if needs_consent(one, models, answering)]
    if not waiting:
        return tr(
            "Its graph is not built yet. Run builds it first if that takes no language model."
        )
    first_waiting = waiting[0]
    title = tr(title_of(first_waiting))
    if not all(one.remembered for one in first_waiting.parts()):
        whom = tr("a program of your own")
    else:
        whom = _model_title(first_waiting)
    prompt = _prompt_tokens(lane) if first_waiting.stage == "generate" else None
    cost_parts = [tr("a prompt of about {tokens}", tokens=many(prompt, "token"))] if prompt else []
    cost_parts += _last_cost(runs, first_waiting)
    others_text = ""
    if len(waiting) > 1:
        others_text = tr("; {steps} after it", steps=many(len(waiting) - 1, "more step"))
    return tr(
        "{title} asks {whom}{known}{more}.",
        title=title,
        whom=whom,
        known=": " + ", ".join(cost_parts) if cost_parts else "",
        more=others_text,
    )


def _model_title(operator: Operator) -> str:
    """Return the title of the language model that an operator asks.

    If none is named, it is a general name.
    """
    models = engine().models
    for name in models_used(operator):
        try:
            if models.is_chat(name):
                return models.title(name)
        except HopscopeError:
            continue
    return tr("a language model")


def _prompt_tokens(lane: MethodLane | None) -> int | None:
    return prompt_dict(lane.state)["prompt_tokens"] if lane is not None else None


def _last_cost(runs: Trials, operator: Operator) -> list[str]:
    """Return the cost of the operator in its last run on this page."""
    lanes = [lane for done in runs.done.values() for lane in done.lanes]
    steps = [
        step
        for lane in lanes
        for step in lane.state.trace
        if step.operator == type(operator).__name__ and step.usage.calls
    ]
    if not steps:
        return [tr("its cost is known after the first run")]
    usage = steps[-1].usage
    return [
        tr(
            "last time {tokens} in {seconds:.1f} s",
            tokens=many(usage.tokens_in + usage.tokens_out, "token"),
            seconds=steps[-1].seconds + steps[-1].saved,
        )
    ]


def draw_run_error() -> None:
    """Draw the error of asking the question, if there is one."""
    if trials().trouble:
        st.error(plain(trials().trouble))
