"""One line tried on the tuning questions: how good it is, what it costs, and when to give it up."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from core.comparison.run import LaneRun, Progress
from core.environment import Environment
from core.errors import BadInput, Cancelled
from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.failures import answered, patterns, reasons
from core.evaluation.metrics.outcome import Outcome, observe
from core.evaluation.runs.plan import Drawn, Plan
from core.operators.base import Line
from core.runtime.jobs import Job, sentence
from core.sources import Ask

OVER_BUDGET = "over the budget"
DOMINATED = "beaten already"


@dataclass(frozen=True)
class TrialFigures:
    """The figures of a line on the first `asked` questions: mean quality, to which `failed` ones add 0, and mean cost of the others.

    `stopped` says why no more were asked; then the cost is at least this where it is over the budget. `error` says why
    questions failed, sentences of one kind counted together. These are the readings of an evaluation's `Summary`. `calls` of language
    models were made.
    """

    quality: float
    cost: float
    asked: int
    stopped: str = ""
    failed: int = 0
    error: str = ""
    calls: int = field(default=0, compare=False)

    @property
    def answered(self) -> int:
        """The questions asked that did not fail."""
        return self.asked - self.failed

    def words(self) -> str:
        """`2 of 40 answered, 38 failed: ...` with the reasons; empty where no question failed."""
        return answered(self.answered, self.failed, self.error)


class OverBudget(Exception):
    """The line has used what all questions together may cost."""


class OutOfCalls(Exception):
    """Language models were asked as often as they may be."""


@dataclass
class Trial:
    """A line on its way through the questions of a plan.

    `quality` and `cost` name metrics. Costs never fall, so a line that has used the budget of all questions before the last of
    them is given up, in the middle of a question where the cost is seconds; and so is one of which `dominated(quality, cost)`
    says that a known line is better even if every question that is left were answered rightly and cost nothing. A line that
    may yet come onto the front is thus never given up. Before a question it is looked at whether language models may still be asked
    (`most_calls`, None: without end); one that has begun is ended. An answer is asked for only where the quality is told from it.
    """

    plan: Plan
    quality: str
    cost: str
    budget: float
    environment: Environment
    ask: Callable[[Drawn], Ask]
    dominated: Callable[[float, float], bool] = lambda quality, cost: False
    most_calls: int | None = None
    calls: int = 0

    def __call__(self, line: Line, job: Job) -> TrialFigures:
        """Try a line; one that brings nothing to measure, such as no passage, has a quality of 0. Raises Cancelled,
        OutOfCalls, and BadInput where no question has a known answer."""
        scores: list[float] = []
        errors: list[str] = []
        spent, asked, stopped = 0.0, 0, ""
        for place, drawn in enumerate(self.plan.drawn, 1):
            asked, start = place, time.perf_counter()
            if self.most_calls is not None and self.calls >= self.most_calls:
                raise OutOfCalls
            try:
                outcome = self._one(line, drawn, job, self._room(spent))
                score, more = metric(self.quality)(outcome), metric(self.cost)(outcome)
            except Cancelled:
                raise
            except OverBudget:
                score, more = None, time.perf_counter() - start
            except Exception as failure:
                errors.append(sentence(failure))
                score, more = metric(self.quality).when_failed(drawn.question), 0.0
            assert more is not None  # what a question costs is always known
            scores += [] if score is None else [score]
            spent, left = spent + more, len(self.plan.drawn) - place
            stopped = self._stopped(sum(scores), len(scores), spent, left)
            if stopped:
                break
        if not (scores or stopped or any(metric(self.quality).when_failed(one.question) is not None for one in self.plan.drawn)):
            raise BadInput(f"No question of the sample has a known answer, without which there is no {self.quality}.")
        cost = spent / max(1, asked - len(errors))
        stopped = stopped or (OVER_BUDGET if cost > self.budget else "")
        return TrialFigures(
            sum(scores) / len(scores) if scores else 0.0, cost, asked, stopped, len(errors), reasons(patterns(errors)), self.calls
        )

    def _room(self, spent: float) -> float:
        """What is left of the budget of all questions."""
        return self.budget * len(self.plan.drawn) - spent

    def _stopped(self, found: float, scored: int, spent: float, left: int) -> str:
        """Why to go no further; empty where the line may yet come onto the front."""
        if self._room(spent) < 0:
            return OVER_BUDGET
        if left and self.dominated((found + left) / (scored + left), spent / len(self.plan.drawn)):
            return DOMINATED
        return ""

    def _one(self, line: Line, drawn: Drawn, job: Job, room: float) -> Outcome:
        """One question, as if it were the first that the models meet. Raises OverBudget once it has taken more than `room` seconds."""
        self.environment.models.forget()
        asked = self.ask(drawn)
        start = time.perf_counter()

        def check() -> None:
            job.check()
            if self.cost == "seconds" and time.perf_counter() - start > room:
                raise OverBudget

        lane, chosen = LaneRun(asked, line, self.environment), metric(self.quality)
        try:
            lane.retrieve(Progress(check=check))
            if chosen.known == "gold" or chosen.base == "context_recall":
                lane.ask = replace(asked, model=False)  # what is retrieved is known by now
            lane.answer(Progress(check=check))
        finally:
            self.calls += sum(step.usage.calls for step in lane.state.trace)
        return observe(lane.graph, lane.state, source=asked.source)
