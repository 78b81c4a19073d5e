"""Trial of one line on the tuning questions: quality, cost and early stopping."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace

from core.comparison.lane_run import LaneListener, LaneRun
from core.environment import Environment
from core.errors import BadInput, RunCancelled
from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.failures import answered_text, failure_patterns, join_reasons
from core.evaluation.metrics.outcome import observe
from core.evaluation.runs.plan import DrawnQuestion, Plan
from core.evaluation.runs.servers import limit_to_single_speed, question_slots, servers
from core.operators.base import Line
from core.runtime.concurrent_work import ConcurrentWork, ProcessorLock
from core.runtime.jobs import Job, error_sentence
from core.runtime.meter import waited_seconds
from core.sources import SourceQuestion
from core.watch import Watch

# Reasons why a trial stops early, as shown on screens.
OVER_BUDGET = "over the budget"
DOMINATED = "already beaten"


@dataclass(frozen=True)
class TrialFigures:
    """Figures of a line on the first `asked` questions.

    They are defined as in an evaluation (`RunSummary`).

    Parameters
    ----------
    quality : mean quality, with 0 for failed questions.
    cost : mean cost of the questions that did not fail, in seconds or tokens. It is a lower bound
        if the line exceeded the budget.
    asked : number of questions that were asked.
    stopped : why the trial ended early, `OVER_BUDGET` or `DOMINATED`; empty if it did not.
    failed : number of questions that failed.
    error : reasons of the failures, similar ones counted together.
    calls : number of language-model calls.
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
        """Number of questions that were asked and did not fail."""
        return self.asked - self.failed

    def words(self) -> str:
        """Return `2 of 40 answered, 38 failed: ...` with the reasons, empty if no question failed."""
        return answered_text(self.answered, self.failed, self.error)


class BudgetExceeded(Exception):
    """Error of a line that has used the budget of all questions."""


class CallLimitReached(Exception):
    """Error of a trial that would need more language-model calls than are allowed."""


@dataclass(frozen=True)
class _QuestionFigures:
    """Figures of one question of a trial.

    `score` is its quality, None if it has none. `cost` is in seconds or tokens. `error` is empty if
    the question did not fail.
    """

    score: float | None
    cost: float
    calls: int = 0
    error: str = ""


@dataclass
class _RunningSum:
    """Running sum over the first questions of a trial, in their order.

    `spent` is the sum of their costs, and `asked` their number.
    """

    scores: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    spent: float = 0.0
    asked: int = 0
    # Highest cost and most calls of a question so far, which may be two questions.
    maxima: _QuestionFigures | None = None

    def add(self, question: _QuestionFigures) -> None:
        """Add one more question."""
        if question.score is not None:
            self.scores.append(question.score)
        if question.error:
            self.errors.append(question.error)
        self.spent += question.cost
        self.asked += 1
        earlier = self.maxima or question
        max_cost = max(earlier.cost, question.cost)
        self.maxima = _QuestionFigures(None, max_cost, max(earlier.calls, question.calls))


@dataclass
class Trial:
    """Trial of lines on the questions of a plan.

    A line is abandoned as soon as it has used the budget of all questions, since costs never fall.
    If the cost is seconds, it is abandoned even within a question; else a question that has begun
    is finished. A line is also abandoned if it can no longer reach the Pareto front. An answer is
    requested only if the quality depends on it.

    If the line asks a server, many questions run concurrently. Their results are added in the order
    of the questions, so that the figures are the same as for one question at a time. If calls are
    limited, a question begins only if it would also begin in a run of one question at a time.

    Seconds are those of a question's own operators and replies. They exclude waiting for a slot at
    the server, for a busy server, or for a processor of this computer. A server under load replies
    more slowly. If the cost is seconds, a server therefore receives only as many concurrent
    requests as it answers at the speed of a single one.

    Parameters
    ----------
    plan : the tuning questions and the settings.
    quality, cost : names of metrics.
    budget : largest mean cost of a question, in the unit of the cost.
    environment : the models, stores and settings.
    ask : prepares a drawn question.
    is_dominated : returns True for a quality and a cost that are not on the front. It is called
        with the figures that a line would have if all remaining questions were right and free.
    max_calls : largest number of calls of language models, checked before each question; None for
        no limit.
    calls : number of calls so far, of all lines that this object has tried.
    """

    plan: Plan
    quality: str
    cost: str
    budget: float
    environment: Environment
    ask: Callable[[DrawnQuestion], SourceQuestion]
    is_dominated: Callable[[float, float], bool] = lambda quality, cost: False
    max_calls: int | None = None
    calls: int = 0

    def __call__(self, line: Line, job: Job) -> TrialFigures:
        """Try a line.

        The quality is 0 if the metric is undefined for every question, for example because the line
        retrieves no passages.

        Parameters
        ----------
        line : the line.
        job : receives the progress and may raise RunCancelled.

        Returns
        -------
        Mean quality and cost, and why the line was abandoned, if it was.

        Raises
        ------
        CallLimitReached : no more calls of language models are allowed.
        BadInput : no question has a known answer.
        """
        running_sum = _RunningSum()
        early_results: dict[int, _QuestionFigures] = {}  # by index, until earlier ones are added
        stopped = ""
        server_list = servers(self.plan, self.environment.models, cold=True)
        processor = ProcessorLock()
        lock = threading.Lock()
        started = 0

        work = ConcurrentWork(
            lambda: question_slots(server_list) if self._may_begin(running_sum, started) else 0, job
        )

        def indices() -> Iterator[int]:  # counts a question as started when its index is taken
            nonlocal started
            for started in range(1, len(self.plan.drawn) + 1):
                yield started - 1

        def run_question(index: int) -> _QuestionFigures:
            drawn = self.plan.drawn[index]
            with processor.hold():
                figures = self._run_question(line, drawn, work, running_sum.spent)
            with lock:
                self.calls += figures.calls
            return figures

        with (
            limit_to_single_speed(server_list if self.cost == "seconds" else ()),
            closing(work.run_each(run_question, indices())) as results,
        ):
            for index, figures in results:
                early_results[index] = figures
                while not stopped and running_sum.asked in early_results:
                    running_sum.add(early_results.pop(running_sum.asked))
                    stopped = self._stop_reason(running_sum)
                if stopped:
                    break
        if running_sum.asked < len(self.plan.drawn) and not stopped:
            raise CallLimitReached  # `_may_begin` refused a question
        return self._figures(running_sum, stopped)

    def _figures(self, sums: _RunningSum, stopped: str) -> TrialFigures:
        scores, errors = sums.scores, sums.errors
        quality_metric = metric(self.quality)
        has_answers = any(
            quality_metric.value_if_failed(one.question) is not None for one in self.plan.drawn
        )
        if not (scores or stopped or has_answers):
            raise BadInput(
                f"No question of the sample has a correct answer, so there is no {self.quality}."
            )
        cost = sums.spent / max(1, sums.asked - len(errors))
        stopped = stopped or (OVER_BUDGET if cost > self.budget else "")
        quality = sum(scores) / len(scores) if scores else 0.0
        return TrialFigures(
            quality,
            cost,
            sums.asked,
            stopped,
            len(errors),
            join_reasons(failure_patterns(errors)),
            self.calls,
        )

    def _may_begin(self, sums: _RunningSum, started: int) -> bool:
        """Return whether another question may begin while others are open.

        If calls are limited, the open questions are assumed to score 0 and to cost as much as the
        most expensive one so far.
        """
        if self.max_calls is None:
            return True
        open_count = started - sums.asked
        if not open_count:
            return self.calls < self.max_calls
        maxima = sums.maxima
        if maxima is None or self.calls + open_count * maxima.calls >= self.max_calls:
            return False
        scores = [*sums.scores, *[0.0] * open_count]
        spent = sums.spent + open_count * maxima.cost
        return not self._stop_reason(replace(sums, scores=scores, spent=spent, asked=started))

    def _budget_left(self, spent: float) -> float:
        """Return the rest of the budget of all questions; negative if it is exceeded."""
        return self.budget * len(self.plan.drawn) - spent

    def _stop_reason(self, sums: _RunningSum) -> str:
        """Return why the trial must stop.

        The text is empty if the line may still reach the front.
        """
        if self._budget_left(sums.spent) < 0:
            return OVER_BUDGET
        questions_left = len(self.plan.drawn) - sums.asked
        if not questions_left:
            return ""
        # At best all other questions have the quality 1 and cost nothing.
        max_quality = (sum(sums.scores) + questions_left) / (len(sums.scores) + questions_left)
        min_cost = sums.spent / len(self.plan.drawn)
        return DOMINATED if self.is_dominated(max_quality, min_cost) else ""

    def _run_question(
        self, line: Line, drawn: DrawnQuestion, watch: Watch, spent: float
    ) -> _QuestionFigures:
        """Run one question as if it were the first, without the models' caches.

        `spent` is the cost of the questions before. If the cost is seconds, the question is
        abandoned as soon as the budget of all questions is exceeded.
        """
        self.environment.models.forget()
        lane = None
        start = time.perf_counter()
        quality_metric = metric(self.quality)

        def own_seconds() -> float:  # since the start, without waiting for others
            waited = sum(step.waiting for step in lane.state.trace) if lane is not None else 0.0
            return time.perf_counter() - start - waited - waited_seconds()

        def check_budget() -> None:
            watch.check()
            if self.cost == "seconds" and own_seconds() > self._budget_left(spent):
                raise BudgetExceeded

        def calls() -> int:
            return sum(step.usage.calls for step in lane.state.trace) if lane is not None else 0

        try:
            request = self.ask(drawn)
            lane = LaneRun(request, line, self.environment)
            lane.retrieve(LaneListener(watch=Watch(check_budget)))
            if quality_metric.required_field == "gold" or quality_metric.base == "context_recall":
                # The metric needs no generated answer.
                lane.ask = replace(request, uses_model=False)
            lane.answer(LaneListener(watch=Watch(check_budget)))
            outcome = observe(lane.graph, lane.state, source=request.source)
            score = quality_metric(outcome)
            cost = metric(self.cost)(outcome)
        except RunCancelled:
            raise
        except BudgetExceeded:
            return _QuestionFigures(None, own_seconds(), calls())
        except Exception as failure:
            score = quality_metric.value_if_failed(drawn.question)
            return _QuestionFigures(score, 0.0, calls(), error_sentence(failure))
        assert cost is not None  # the cost of a question is always known
        return _QuestionFigures(score, cost, calls())
