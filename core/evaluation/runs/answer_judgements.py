"""Judgements of an answered question: correctness, support and the cost of its graph.

They are measured after a method has run and become part of its outcome. A lane is one method's run
on one question.
"""

from __future__ import annotations

from core.builds import build_for, build_status
from core.comparison.lane_run import LaneRun, build_of
from core.errors import HopscopeError
from core.evaluation.metrics.answer_support import (
    AnswerSupport,
    support_by_encoder,
    support_by_model,
)
from core.evaluation.metrics.build_cost import ReportedBuildCost, read_build_cost
from core.evaluation.metrics.judge import judge_answer
from core.evaluation.metrics.outcome import JudgeVerdict
from core.evaluation.runs.plan import SUPPORT_BY_ENCODER, SUPPORT_BY_MODEL, Plan
from core.models.base import Models
from core.watch import NO_WATCH, Watch


def judge_lane(
    plan: Plan, models: Models, lane: LaneRun, watch: Watch = NO_WATCH
) -> list[JudgeVerdict | None]:
    """Return the verdicts of both judges on a lane's answer.

    The first judge is the model of the role “judge”, the second the plan's `second_judge`.

    Parameters
    ----------
    plan : names the judges.
    models : the registry of models.
    lane : a finished run of a method.
    watch : may raise RunCancelled.

    Returns
    -------
    Two verdicts. A verdict is None if it was not requested, or if there is no answer or no known
        answer to judge by.

    Raises
    ------
    ModelUnavailable, ModelFailed : a judge cannot be used.
    """
    question, answer = lane.state.question, lane.state.answer
    if answer is None or not question.answers:
        return [None, None]
    answer_names = []
    for name, *aliases in map(question.answer_names, question.answers):
        answer_names.append(f"{name} (or {', '.join(aliases)})" if aliases else name)
    verdicts: list[JudgeVerdict | None] = []
    for judge in ("judge" if plan.judge else "", plan.second_judge):
        verdict = None
        if judge:
            chat = models.chat(judge)
            verdict = judge_answer(chat, question.text, answer_names, answer, watch)
        verdicts.append(verdict)
    return verdicts


def measure_support(
    plan: Plan, models: Models, lane: LaneRun, watch: Watch = NO_WATCH
) -> AnswerSupport | None:
    """Return the support of the answer's sentences by the text in the prompt.

    The plan's `support` says if the encoder, the model of the role “judge”, or both measure it.

    Parameters
    ----------
    plan : says by what support is measured.
    models : the registry of models.
    lane : a finished run of a method.
    watch : may raise RunCancelled.

    Returns
    -------
    The support; None if it is not measured, or if the answer has no sentences or no context.

    Raises
    ------
    ModelUnavailable, ModelFailed : a model cannot be used.
    """
    encoder_support = model_support = None
    if SUPPORT_BY_ENCODER in plan.support:
        encoder_support = support_by_encoder(lane.graph, lane.state, models.encoder(), watch)
    if SUPPORT_BY_MODEL in plan.support:
        model_support = support_by_model(lane.state, models.chat("judge"), watch)
    if encoder_support is None or model_support is None:
        return encoder_support or model_support
    return AnswerSupport(encoder_support.cosines, model_support.verdicts, model_support.note)


def lane_build_cost(lane: LaneRun) -> ReportedBuildCost | None:
    """Return the cost of building the graph that a lane's line names.

    It is None if the line names no build, if the source is no corpus, or if the graph is not built.
    """
    build = build_of(lane.line)
    corpus = lane.ask.source.corpus
    if build is None or corpus is None:
        return None

    def read_cost() -> ReportedBuildCost | None:
        try:
            status = build_status(corpus, build_for(corpus, build))
        except HopscopeError:
            return None
        if not status.is_built:
            return None
        return read_build_cost(status.report, status.build.line.uses_chat_model)

    # Read once per graph, because every question has the same cost.
    return lane.graph.derived.get_or_make("what it cost", build, read_cost)
