"""Judgements of an answered question: correctness, support and the cost of its graph."""

from __future__ import annotations

from core.builds import build_for, status
from core.comparison.run import LaneRun, build_of
from core.errors import HopscopeError
from core.evaluation.metrics.built import Built, built
from core.evaluation.metrics.judge import judge
from core.evaluation.metrics.outcome import Judged
from core.evaluation.metrics.supported import Supported, by_encoder, by_model
from core.evaluation.runs.plan import BY_ENCODER, BY_MODEL, Plan
from core.models.base import Models
from core.watch import NO_WATCH, Watch


def judged(
    plan: Plan, models: Models, lane: LaneRun, watch: Watch = NO_WATCH
) -> list[Judged | None]:
    """Return the verdicts of the judge and of the second judge.

    A verdict is None if it was not requested or if there is nothing to judge. The first judge is
    the model of the role “judge”.
    """
    question, answer = lane.state.question, lane.state.answer
    if answer is None or not question.answers:
        return [None, None]
    known = [
        one if not others else f"{one} (or {', '.join(others)})"
        for one, *others in map(question.names, question.answers)
    ]
    judges = ["judge" if plan.judge else "", plan.second_judge]
    return [
        judge(models.chat(name), question.text, known, answer, watch) if name else None
        for name in judges
    ]


def supported(
    plan: Plan, models: Models, lane: LaneRun, watch: Watch = NO_WATCH
) -> Supported | None:
    """Return the support of the answer's sentences by the text in the prompt.

    Support is measured by the encoder, by the model of the role “judge”, or by both, as the plan
    says.
    """
    alike = None
    if BY_ENCODER in plan.support:
        alike = by_encoder(lane.graph, lane.state, models.encoder(), watch)
    said = by_model(lane.state, models.chat("judge"), watch) if BY_MODEL in plan.support else None
    if alike is None or said is None:
        return alike or said
    return Supported(alike.cosines, said.verdicts, said.note)


def building(lane: LaneRun) -> Built | None:
    """Return the cost of a lane's own graph.

    It is None if the lane has no graph of its own or if the build left no report.
    """
    build, corpus = build_of(lane.line), lane.ask.source.corpus
    if build is None or corpus is None:
        return None

    def report() -> Built | None:
        try:
            now = status(corpus, build_for(corpus, build))
        except HopscopeError:
            return None
        return built(now.report, now.build.line.asks_chat) if now.built else None

    return lane.graph.derived.once("what it cost", build, report)
