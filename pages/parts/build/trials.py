"""Runs of the edited line on the page Build.

A line is the sequence of operators (steps) of a method. As soon as it changes, it is run together
with the line before the change, as two lanes of one comparison, up to the first step that needs a
language model or a program. That step and the steps after it wait for a click on Run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple

import streamlit as st

from core.comparison.consent import needs_consent
from core.comparison.lane import MethodComparison, MethodLane
from core.errors import HopscopeError
from core.evaluation.runs.plan import models_used
from core.io.durations import ROUGH_FACTOR
from core.lines.difference import title_of
from core.methods.catalogue import Method, method_of_line
from core.operators.base import Line, Operator
from core.results import prompt_dict
from core.runtime.jobs import JOB_DONE, Job, do_nothing
from core.sources import AnswerSource, CorpusSource, GraphSource, SourceQuestion
from core.types import Question
from pages.parts.build.bench import Bench
from pages.parts.question.corpus_question import prepared_corpus
from pages.parts.question.question_bar import known_question
from pages.parts.shared.live_graphs import question_neighbourhood
from pages.parts.shared.session import chosen_graph, chosen_source, engine, waiter
from pages.parts.shared.session_state import session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

MAX_RETAINED_LANES = 12  # finished lanes of a question that can be reused
QUICK_RUN_SECONDS = 0.35  # seconds to wait for a run before the line is drawn


class TrialInput(NamedTuple):
    """Input of a run.

    Attributes
    ----------
    line : the text of the line.
    with_model : whether a language model answers.
    run_all : whether waiting steps are run.
    """

    line: str
    question: str
    source: AnswerSource
    with_model: bool
    run_all: bool


@dataclass
class Trials:
    """Runs of one session.

    Attributes
    ----------
    line, line_before : the present line, and the line before the last change.
    started_for : input of the last run, which is not started twice; None before the first run.
    full_run_for : the first four fields of the input, when Run was clicked last.
    error_text : the error of asking the question; empty if there is none.
    n_waiting : number of steps at the end of the line that wait for a click on Run.
    done_comparisons : finished lanes that can be reused, by whether a language model answers.
    estimate_seconds : the last estimate of a run on more questions; 0 if there is none.
    """

    line: Line | None = None
    line_before: Line | None = None
    started_for: TrialInput | None = None
    full_run_for: tuple = ()
    error_text: str = ""
    n_waiting: int = 0
    done_comparisons: dict[bool, MethodComparison] = field(default_factory=dict)
    estimate_seconds: float = 0.0

    def steady_estimate(self, seconds: float) -> float:
        """Return the last estimate while a new one lies within its range.

        Estimates are based on single measurements, so a small change of them is noise.
        """
        low, high = sorted((self.estimate_seconds, seconds))
        if high > low * ROUGH_FACTOR:
            self.estimate_seconds = seconds
        return self.estimate_seconds

    def has_run(self, line: Line, ask: SourceQuestion) -> bool:
        """Return whether the line was run to its end on this question."""
        done_lanes = self.done_comparisons.get(ask.uses_model)
        return (
            done_lanes is not None
            and done_lanes.ask.has_same_results(ask)
            and any(repr(lane.method.line) == repr(line) for lane in done_lanes.lanes)
        )

    def store_done_lanes(self, job: Job | None) -> None:
        """Store the lanes of a job that are done, for reuse."""
        if job is None:
            return
        comparison: MethodComparison = job.comparison
        done_lanes = [lane for lane in comparison.lanes if lane.status == JOB_DONE]
        if not done_lanes:
            return
        ask = comparison.ask
        earlier = self.done_comparisons.get(ask.uses_model)
        if earlier is not None and earlier.ask.has_same_results(ask):
            done_lanes = [*earlier.lanes, *done_lanes]
        lanes: dict[str, MethodLane] = {}
        for lane in done_lanes:
            # The latest run of a line moves to the end.
            lanes.pop(repr(lane.method.line), None)
            lanes[repr(lane.method.line)] = lane
        latest = list(lanes.values())[-MAX_RETAINED_LANES:]
        self.done_comparisons[ask.uses_model] = MethodComparison(
            ask, latest, comparison.merges_digest
        )


def trials() -> Trials:
    """The runs of this session, an empty record at first."""
    runs = session.trials = session.trials or Trials()
    return runs


def trial_job() -> Job | None:
    """Return the job that runs the line.

    None if there is none, or the engine has dropped it.
    """
    return engine().jobs.get(session.try_job)


def question_text() -> str:
    """Return the question on Build, with single spaces between the words."""
    return " ".join(session.try_question.split())


def runs_without_click(bench: Bench) -> bool:
    """Return whether cheap steps run without a click on Run.

    They do if the graph is open, or if the line was changed or run on this page. A mere visit of
    the page thus opens no graph.
    """
    is_open = engine().is_open(chosen_source().graph_name)
    return is_open or bool(bench.history.earlier) or bool(session.try_job)


def can_start_now() -> bool:
    """Return whether the graph or corpus is open already.

    If so, a run starts at once.
    """
    source = chosen_source()
    if not source.is_corpus:
        return engine().is_open(source.name)
    job = trial_job()
    return job is not None and job.comparison.ask.source == source


def run_if_changed(bench: Bench, catalogue: Mapping[str, Method], run_all: bool) -> bool:
    """Run the line if its input has changed.

    If Run was clicked (`run_all`), all of its steps are run. Return whether a run was started or
    failed to start.
    """
    runs, line, text = trials(), bench.line, question_text()
    runs.store_done_lanes(trial_job())
    if line is None or not text:
        return False
    run_key = (repr(line), text, chosen_source(), session.try_model)
    if run_all:
        runs.full_run_for = run_key
    start_key = TrialInput(*run_key, run_all=runs.full_run_for == run_key)
    # The same input is run again only if its job was dropped although there was no error.
    if (
        start_key == runs.started_for
        and not run_all
        and (trial_job() is not None or runs.error_text or runs.n_waiting)
    ):
        return False
    runs.started_for, runs.error_text = start_key, ""
    _set_previous_line(runs, line, bench.holds_baseline)
    try:
        _start(runs, line, catalogue, Question(text), runs.full_run_for == run_key)
    except HopscopeError as error:
        runs.error_text = str(error)
        del session.try_job
    return True


def _set_previous_line(runs: Trials, line: Line, is_held: bool) -> None:
    """Store the present line and the line before.

    The line before is the one that was run last. A line whose run was not finished is skipped,
    unless there is no earlier line. If `is_held`, the user compares all changes with the same line,
    which stays.
    """
    job = trial_job()
    is_done = job is not None and job.comparison.lanes[-1].status == JOB_DONE
    is_changed = runs.line is not None and repr(runs.line) != repr(line)
    if is_changed and not is_held and (is_done or runs.line_before is None):
        runs.line_before = runs.line
    runs.line = line


def _start(
    runs: Trials, line: Line, methods: Mapping[str, Method], typed: Question, run_all: bool
) -> None:
    """Start the job of the present line and the line before.

    Each is run up to the first step that waits for Run, or with `run_all` to its end. Raises
    HopscopeError if the question cannot be asked.
    """
    question = known_question(typed.text) or typed
    source = _opened_source(question)
    with_model = session.try_model
    ask = engine().prepare_question(source, question, uses_model=with_model)
    runs_whole = (
        run_all
        or runs.has_run(line, ask)
        or engine().free_prefix_length(line, source, with_model) == len(line)
    )
    # A language model is asked for the answer only if the whole line is run.
    lacks_answer = with_model and not runs_whole
    if lacks_answer:
        ask = replace(ask, uses_model=False)
    lines = {repr(part): part for part in (runs.line_before, line) if part is not None}
    parts = [_runnable_part(runs, part, ask, run_all) for part in lines.values()]
    runs.n_waiting = len(line) - len(parts[-1])
    if lacks_answer and line.operators[-1].stage == "generate":
        runs.n_waiting += 1  # The last step is run, but only writes the prompt.
    if not len(parts[-1]):
        del session.try_job
        return
    distinct = {repr(part): method_of_line(part, methods) for part in parts if len(part)}
    job = engine().compare(
        ask,
        list(distinct.values()),
        waiter=waiter("build"),
        earlier=runs.done_comparisons.get(ask.uses_model),
    )
    session.try_job = job.key
    job.wait(QUICK_RUN_SECONDS)


def _opened_source(question: Question) -> AnswerSource:
    """Return the corpus or graph to ask, opened.

    Documents are split into passages, and the part of a live database that the question needs is
    fetched.
    """
    if chosen_source().is_corpus:
        return CorpusSource.of(prepared_corpus(chosen_source().name))
    return GraphSource.of(question_neighbourhood(chosen_graph(), question, do_nothing))


def _runnable_part(runs: Trials, line: Line, ask: SourceQuestion, run_all: bool) -> Line:
    """Return the beginning of a line that may be run now."""
    if run_all or runs.has_run(line, ask):
        return line
    return Line(line.operators[: engine().free_prefix_length(line, ask.source, ask.uses_model)])


def waiting_steps_text(line: Line, job: Job | None) -> str:
    """Return a sentence on the first step that waits for Run.

    It tells the cost, and the steps after it. Empty if no step waits.
    """
    runs = trials()
    if not runs.n_waiting or runs.line is None or repr(runs.line) != repr(line):
        return ""
    lane: MethodLane | None = job.comparison.lanes[-1] if job is not None else None
    waiting = [step for step in line if needs_consent(step, engine().models, session.try_model)]
    if not waiting:
        return tr(
            "Its graph is not built yet. Run builds it first if that takes no language model."
        )
    first = waiting[0]
    if all(part.is_reusable for part in first.parts()):
        asked_title = _model_title(first)
    else:  # Only results of programs cannot be reused.
        asked_title = tr("a program of your own")
    costs = []
    if first.stage == "generate" and lane is not None:
        n_tokens = prompt_dict(lane.state)["prompt_tokens"]
        if n_tokens:
            costs.append(tr("a prompt of about {tokens}", tokens=many(n_tokens, "token")))
    costs.append(_last_cost(runs, first))
    others_text = ""
    if len(waiting) > 1:
        others_text = tr("; {steps} after it", steps=many(len(waiting) - 1, "more step"))
    return tr(
        "{title} asks {whom}{known}{more}.",
        title=tr(title_of(first)),
        whom=asked_title,
        known=": " + ", ".join(costs),
        more=others_text,
    )


def _model_title(operator: Operator) -> str:
    """Return the title of the model that an operator asks.

    If it is unknown, return “a language model”.
    """
    models = engine().models
    for name in models_used(operator):
        try:
            if models.is_chat(name):
                return models.title(name)
        except HopscopeError:
            continue
    return tr("a language model")


def _last_cost(runs: Trials, operator: Operator) -> str:
    """Return the cost of the operator's last run, in words."""
    last_step = None
    for lane in chain.from_iterable(
        comparison.lanes for comparison in runs.done_comparisons.values()
    ):
        for step in lane.state.trace:
            if step.operator == type(operator).__name__ and step.usage.calls:
                last_step = step
    if last_step is None:
        return tr("its cost is known after the first run")
    usage = last_step.usage
    return tr(
        "last time {tokens} in {seconds:.1f} s",
        tokens=many(usage.tokens_in + usage.tokens_out, "token"),
        seconds=last_step.seconds + last_step.saved,
    )


def draw_run_error() -> None:
    """Draw the error of asking the question, if there is one."""
    if trials().error_text:
        st.error(plain(trials().error_text))
