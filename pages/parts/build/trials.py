"""Runs of the line on the page Build.

Cheap steps are run as soon as the line changes, compared with the line before. Steps that need a
language model or a program wait for a click on Run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import streamlit as st

from core.comparison.dear import asks
from core.comparison.lane import Comparison, Lane
from core.errors import HopscopeError
from core.evaluation.runs.plan import used
from core.instances.catalogue import Instance, named
from core.lines.difference import title_of
from core.operators.base import Line, Operator
from core.results import prompt_dict
from core.runtime.jobs import DONE, Job, nothing
from core.sources import Ask, CorpusSource, GraphSource, Source
from core.types import Question
from pages.parts.build.bench import Bench
from pages.parts.question.corpus_question import prepared_corpus
from pages.parts.question.question_bar import known_question
from pages.parts.shared.live import near
from pages.parts.shared.session import engine, graph, source, waiter
from pages.parts.shared.session_state import session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

KNOWN_LANES = 12  # finished lanes of a question that are kept for reuse
QUICK = 0.35  # seconds to wait for a run before the line is drawn


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
    done: dict[bool, Comparison] = field(default_factory=dict)

    def known(self, line: Line, ask: Ask) -> bool:
        """Return whether the line was run to its end on this question."""
        done = self.done.get(ask.model)
        return (
            done is not None
            and done.ask.same(ask)
            and any(repr(lane.instance.line) == repr(line) for lane in done.lanes)
        )

    def note(self, job: Job | None) -> None:
        """Remember the lanes of a job that are done."""
        comparison: Comparison | None = job.comparison if job is not None else None
        if comparison is None or not (
            ended := [lane for lane in comparison.lanes if lane.status == DONE]
        ):
            return
        former = self.done.get(comparison.ask.model)
        lanes: dict[str, Lane] = {}
        for lane in [
            *(former.lanes if former is not None and former.ask.same(comparison.ask) else ()),
            *ended,
        ]:
            lanes.pop(repr(lane.instance.line), None)
            lanes[repr(lane.instance.line)] = lane
        self.done[comparison.ask.model] = Comparison(
            comparison.ask, list(lanes.values())[-KNOWN_LANES:], comparison.mends
        )


def trials() -> Trials:
    """The runs of this session."""
    found = session.trials = session.trials or Trials()
    return found


def trial_job() -> Job | None:
    """Return the job that runs the line, if it is still known."""
    return engine().jobs.get(session.try_job)


def asked_text() -> str:
    return " ".join(session.try_question.split())


def ready(bench: Bench) -> bool:
    """Return whether the line is run without a click on Run.

    It is if the graph is open, or the line was changed or run on this page.
    """
    on = source()
    return engine().is_open(on.graph_name) or bool(bench.history.before) or bool(session.try_job)


def waits_for_nothing() -> bool:
    """Return whether a run can start at once.

    It can if the graph or the documents are open.
    """
    on = source()
    if not on.is_corpus:
        return engine().is_open(on.name)
    job = trial_job()
    return job is not None and job.comparison.ask.source == on


def keep_up(bench: Bench, known: Mapping[str, Instance], pressed: bool) -> bool:
    """Run the line if it has changed, or if `pressed` requests the waiting steps.

    Returns whether it was started.
    """
    runs, line, text = trials(), bench.line, asked_text()
    runs.note(trial_job())
    if line is None or not text:
        return False
    what = (repr(line), text, source(), session.try_model)
    if pressed:
        runs.whole = what
    started_for = (*what, runs.whole == what)
    if (
        started_for == runs.started_for
        and not pressed
        and (trial_job() is not None or runs.trouble or runs.waits)
    ):
        return False
    runs.started_for, runs.trouble = started_for, ""
    _remember_before(runs, line, bench.held)
    try:
        _start(runs, line, known, Question(text), runs.whole == what)
    except HopscopeError as error:
        runs.trouble = str(error)
        del session.try_job
    return True


def _remember_before(runs: Trials, line: Line, held: bool) -> None:
    """Set the line before.

    It is the last line whose run was seen to its end, or the first line. A held one stays.
    """
    job = trial_job()
    ran = job is not None and job.comparison.lanes[-1].status == DONE
    if (
        runs.now is not None
        and repr(runs.now) != repr(line)
        and not held
        and (ran or runs.before is None)
    ):
        runs.before = runs.now
    runs.now = line


def _start(
    runs: Trials, line: Line, known: Mapping[str, Instance], typed: Question, pressed: bool
) -> None:
    """Start the job of the line now and the line before.

    Each is run as far as it may be; after a click on Run (`pressed`) that is to the end. Raises
    HopscopeError if the question cannot be asked.
    """
    on = source()
    question = known_question(typed.text) or typed
    opened: Source = (
        CorpusSource.of(prepared_corpus(on.name))
        if on.is_corpus
        else GraphSource.of(near(graph(), question, nothing))
    )
    answering = session.try_model
    ask = engine().ask(opened, question, model=answering)
    whole = (
        pressed or runs.known(line, ask) or engine().at_once(line, opened, answering) == len(line)
    )
    if answering and not whole:
        ask = replace(ask, model=False)
    both = [line] if runs.before is None or repr(runs.before) == repr(line) else [runs.before, line]
    parts = [_part(runs, one, ask, pressed) for one in both]
    runs.waits = (
        len(line)
        - len(parts[-1])
        + (answering and not whole and line.operators[-1].stage == "generate")
    )
    shown = list({repr(part): named(part, known) for part in parts if len(part)}.values())
    if not len(parts[-1]):
        del session.try_job
        return
    job = engine().compare(ask, shown, waiter=waiter("build"), before=runs.done.get(ask.model))
    session.try_job = job.key
    job.wait(QUICK)


def _part(runs: Trials, line: Line, ask: Ask, pressed: bool) -> Line:
    """Return the part of a line that may be run."""
    if pressed or runs.known(line, ask):
        return line
    return Line(line.operators[: engine().at_once(line, ask.source, ask.model)])


def price(line: Line, job: Job | None) -> str:
    """Return a sentence on the steps that wait for Run.

    It has their cost, if it is known. Empty if no step waits.
    """
    runs = trials()
    if not runs.waits or runs.now is None or repr(runs.now) != repr(line):
        return ""
    lane: Lane | None = job.comparison.lanes[-1] if job is not None else None
    models, answering = engine().models, session.try_model
    waiting = [one for one in line if asks(one, models, answering)]
    if not waiting:
        return tr(
            "Its graph is not built yet: Run builds it first where that takes no language model."
        )
    first = waiting[0]
    title = tr(title_of(first))
    if not all(one.remembered for one in first.parts()):
        whom = tr("a program of your own")
    else:
        whom = _model_title(first)
    prompt = _prompt_tokens(lane) if first.stage == "generate" else None
    known = [tr("a prompt of about {tokens}", tokens=many(prompt, "token"))] if prompt else []
    known += _last_time(runs, first)
    more = ""
    if len(waiting) > 1:
        more = tr("; {steps} after it", steps=many(len(waiting) - 1, "more step"))
    return tr(
        "{title} asks {whom}{known}{more}.",
        title=title,
        whom=whom,
        known=": " + ", ".join(known) if known else "",
        more=more,
    )


def _model_title(operator: Operator) -> str:
    """Return the title of the language model that an operator asks.

    If none is named, it is a general name.
    """
    models = engine().models
    for name in used(operator):
        try:
            if models.is_chat(name):
                return models.title(name)
        except HopscopeError:
            continue
    return tr("a language model")


def _prompt_tokens(lane: Lane | None) -> int | None:
    return prompt_dict(lane.state)["prompt_tokens"] if lane is not None else None


def _last_time(runs: Trials, operator: Operator) -> list[str]:
    """Return the cost of the operator in its last run on this page."""
    lanes = [lane for done in runs.done.values() for lane in done.lanes]
    steps = [
        step
        for lane in lanes
        for step in lane.state.trace
        if step.operator == type(operator).__name__ and step.usage.calls
    ]
    if not steps:
        return [tr("what it takes here is known once it has run")]
    usage = steps[-1].usage
    return [
        tr(
            "last time {tokens} in {seconds:.1f} s",
            tokens=many(usage.tokens_in + usage.tokens_out, "token"),
            seconds=steps[-1].seconds + steps[-1].saved,
        )
    ]


def say_trouble() -> None:
    """Draw the error of asking the question, if there is one."""
    if trials().trouble:
        st.error(plain(trials().trouble))
