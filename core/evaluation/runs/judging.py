"""What is asked of an answered question beside its facts: whether it is right, whether it is supported, what its graph cost."""

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
    """The verdicts of the model of the role judge and of the second judge; None for one that is not asked for, or where there is
    nothing to judge."""
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
    """Whether the answer's sentences rest on what the prompt showed, by encoder, the model of the role judge, or both, as the plan says."""
    alike = None
    if BY_ENCODER in plan.support:
        alike = by_encoder(lane.graph, lane.state, models.encoder(), watch)
    said = by_model(lane.state, models.chat("judge"), watch) if BY_MODEL in plan.support else None
    if alike is None or said is None:
        return alike or said
    return Supported(alike.cosines, said.verdicts, said.note)


def building(lane: LaneRun) -> Built | None:
    """The cost of a lane's own graph; None where it has none of its own or its build left no report."""
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
