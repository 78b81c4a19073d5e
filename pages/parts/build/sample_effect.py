"""Effect of a change of the line on more questions.

On a click, the line before the change and the changed line are run in the background on a sample
of a question set of the graph or corpus. Their metrics are compared by paired tests.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from core.comparison.lane import MethodComparison
from core.comparison.lane_times import method_seconds
from core.errors import HopscopeError, split_command
from core.evaluation.metrics.catalogue import metric
from core.evaluation.runs.paired_run import MetricDifference, PairedRun
from core.evaluation.runs.plan import make_plan
from core.evaluation.runs.row import make_ask
from core.io.durations import rough_range_text
from core.runtime.jobs import JOB_CANCELLED, JOB_DONE, Job
from core.sources import AnswerSource
from core.types import Step
from pages.parts.build.bench import Bench
from pages.parts.build.trials import trials
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import session
from pages.parts.shared.wording import tr

SAMPLE_QUESTIONS = 40  # sampled questions on which both lines are run
SAMPLE_SEED = 0  # of the sample
Data = dict[str, Any]


def sample_job() -> Job | None:
    """Return this session's job on more questions, if still known."""
    return engine().trials.get(session.sample_job) if session.sample_job else None


def handle_sample_click(bench: Bench, comparison: MethodComparison | None) -> None:
    """Start or cancel the run on more questions if the browser asked for it.

    An error is stored as `error_text` of the trials.
    """
    action, bench.sample_request = bench.sample_request, ""
    job = sample_job()
    try:
        if action == "cancel-over" and job is not None:
            job.cancel()
        elif action == "over" and comparison is not None and len(comparison.lanes) > 1:
            _start(comparison)
    except HopscopeError as error:
        trials().error_text = str(error)


def _start(comparison: MethodComparison) -> None:
    """Start the job of a comparison's two lines.

    An older job of other lines is cancelled. Raises HopscopeError.
    """
    ask = comparison.ask
    name = question_set(ask.source, ask.question.text)
    old_job = sample_job()
    if old_job is not None and not old_job.has_ended and not old_job.cancel_refusal:
        old_job.cancel()
    plan = make_plan(
        [lane.method for lane in comparison.lanes],
        name,
        SAMPLE_QUESTIONS,
        engine().graph,
        seed=SAMPLE_SEED,
        model=ask.uses_model,
    )
    key = sample_key(comparison)
    paired_run = PairedRun(plan, engine().environment, make_ask(engine(), plan))

    def make() -> Job:
        job = Job(key, paired_run)
        job.paired_run = paired_run  # type: ignore[attr-defined]
        return job

    session.sample_job = engine().trials.start(key, make).key


def question_set(source: AnswerSource, text: str) -> str:
    """Return the name of the set that has the question.

    If none has it, return the first one. Empty if the source has no set.
    """
    for name in source.sets:
        try:
            if any(question.text == text for question in source.questions(name)):
                return name
        except HopscopeError:  # The choice of a set shows this error.
            continue
    return next(iter(source.sets), "")


def sample_key(comparison: MethodComparison) -> str:
    """Return the key of the job on more questions.

    It is equal for the same lines, source, question set and models, so that visitors share the job.
    """
    ask = comparison.ask
    lines = [repr(lane.method.line) for lane in comparison.lanes]
    parts = [
        ask.source.kind,
        ask.source.name,
        ask.source.graph.digest,
        lines,
        ask.uses_model,
        engine().models.signature(),
    ]
    return hashlib.sha256(
        json.dumps([*parts, question_set(ask.source, ask.question.text)]).encode()
    ).hexdigest()[:16]


def sample_data(comparison: MethodComparison) -> Data | None:
    """Return the data of the run on more questions.

    Its `state` is `offer` before the run, then `running` and `done`; `rows` are the differences of
    the metrics so far. None without an earlier line or without a question set.
    """
    if len(comparison.lanes) < 2 or not comparison.ask.source.sets:
        return None
    job = sample_job()
    if job is None or job.key != sample_key(comparison):
        job = engine().trials.get(sample_key(comparison))  # started earlier, or by another visitor
    if job is None:
        return {
            "state": "offer",
            "text": tr(
                "Try it on {count} questions ({price})",
                count=SAMPLE_QUESTIONS,
                price=_price(comparison),
            ),
            "rows": [],
        }
    paired_run: PairedRun = job.paired_run  # type: ignore[attr-defined]
    rows = [_row(pair) for pair in paired_run.differences() if pair.before or pair.now]
    sample_fields: Data = {"rows": rows, "text": job.text, "fraction": job.fraction or 0.0}
    if not job.has_ended:
        return {**sample_fields, "state": "running", "mine": not job.cancel_refusal}
    questions_text = tr(
        "{outcomes:,} questions of {set}",
        outcomes=len(paired_run.outcomes),
        set=paired_run.plan.set,
    )
    end_texts = {
        JOB_DONE: tr("Over {asked}", asked=questions_text),
        JOB_CANCELLED: tr("Cancelled after {asked}", asked=questions_text),
    }
    return {
        **sample_fields,
        "state": "done",
        "text": end_texts.get(job.status, split_command(job.error or "")[0]),
        "failed": paired_run.reasons(),
        "again": job.status != JOB_DONE,
    }


def _price(comparison: MethodComparison) -> str:
    """Return the expected seconds, and tokens, in words."""
    steps, seconds = _steps_and_seconds(comparison)
    text = rough_range_text(trials().steady_estimate(seconds))
    tokens = SAMPLE_QUESTIONS * sum(step.usage.tokens_in + step.usage.tokens_out for step in steps)
    if tokens:
        text += tr(", about {tokens:,} tokens", tokens=tokens)
    return text


def _steps_and_seconds(comparison: MethodComparison) -> tuple[list[Step], float]:
    """Return the steps that each question needs, and the expected seconds of all questions.

    They are estimated from the cost of the present question. The steps at the beginning that both
    lines share (the same objects in both traces) are run once per question.
    """
    old_trace, new_trace = (lane.state.trace for lane in comparison.lanes)
    n_shared = 0
    for old_step, new_step in zip(old_trace, new_trace):
        if old_step is not new_step:
            break
        n_shared += 1
    before, now = old_trace[n_shared:], new_trace[n_shared:]
    steps = [*new_trace, *before]
    # Seconds of results that one line reuses from the other. `method_seconds` counts them for both,
    # although they are spent once, and they cannot exceed the seconds of either line.
    reused = min(
        sum(step.saved for step in (*before, *now)), method_seconds(before), method_seconds(now)
    )
    # Each question takes at least 0.05 seconds, for work outside the steps.
    return steps, SAMPLE_QUESTIONS * max(0.05, method_seconds(steps) - reused)


def _row(pair: MetricDifference) -> Data:
    """Return the means of a metric before and now, and the interval of their difference.

    `tone` is good or bad only if the difference is significant.
    """
    info, test = metric(pair.metric), pair.test
    is_share = info.unit == "share"
    percent = " %" if is_share else ""
    if test.is_significant:
        is_better = (test.difference > 0) == (info.better == "higher")
        tone, chance = ("good" if is_better else "bad"), ""
    else:
        tone = "same"
        chance = tr("may be chance") if test.difference else tr("no difference")
    return {
        "label": tr(info.describe()["title"]),
        "before": _format_value(pair.before, info.unit) + percent,
        "now": _format_value(pair.now, info.unit) + percent,
        "difference": tr(
            "{difference}, 95 % interval {low} to {high}{share}",
            difference=_with_sign(_format_value(test.difference, info.unit)),
            low=_with_sign(_format_value(test.low, info.unit)),
            high=_with_sign(_format_value(test.high, info.unit)),
            share=tr(" points") if is_share else "",
        ),
        "tone": tone,
        "chance": chance,
        "n": test.n,
    }


def _format_value(value: float, unit: str) -> str:
    """Return a value of a metric as text.

    A share is in percent, without the percent sign.
    """
    if unit == "share":
        return f"{100 * value:.0f}"
    return f"{value:,.2f}" if unit == "seconds" else f"{value:,.0f}"


def _with_sign(number: str) -> str:
    """Return a formatted number with its sign; zero has none."""
    if not number.strip("-0.,"):
        return number.lstrip("-")
    return number if number.startswith("-") else f"+{number}"
