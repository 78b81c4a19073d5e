"""One line tried on the tuning questions: how good it is, what it costs, and when to give it up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace

from core.comparison.run import LaneRun, Progress
from core.environment import Environment
from core.errors import BadInput, Cancelled
from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.failures import answered, patterns, reasons
from core.evaluation.metrics.outcome import observe
from core.evaluation.runs.plan import Drawn, Plan
from core.evaluation.runs.servers import as_fast_as_one, in_flight, servers
from core.operators.base import Line
from core.runtime.flight import Flight, Processor
from core.runtime.jobs import Job, sentence
from core.runtime.meter import waited
from core.sources import Ask
from core.watch import Watch

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


@dataclass(frozen=True)
class _Answered:
    """One question of a trial: its quality where it has one, what it cost, the calls of language models, and why it failed."""

    score: float | None
    cost: float
    calls: int = 0
    error: str = ""


@dataclass
class _Sum:
    """The first questions of a trial, added up in their order."""

    scores: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    spent: float = 0.0
    asked: int = 0
    dearest: _Answered | None = None  # the most that a question so far cost, and asked

    def add(self, one: _Answered) -> None:
        """One more."""
        self.scores += [] if one.score is None else [one.score]
        self.errors += [one.error] if one.error else []
        self.spent, self.asked = self.spent + one.cost, self.asked + 1
        before = self.dearest or one
        self.dearest = _Answered(None, max(before.cost, one.cost), max(before.calls, one.calls))


@dataclass
class Trial:
    """A line on its way through the questions of a plan.

    `quality` and `cost` name metrics. Costs never fall, so a line that has used the budget of all questions before the last of
    them is given up, in the middle of a question where the cost is seconds; and so is one of which `dominated(quality, cost)`
    says that a known line is better even if every question that is left were answered rightly and cost nothing. A line that
    may yet come onto the front is thus never given up. Before a question it is looked at whether language models may still be asked
    (`most_calls`, None: without end); one that has begun is ended. An answer is asked for only where the quality is told from it.

    Where the line asks a server, many questions are in flight, and are judged in their order, so that the figures are those of one at a
    time. Where calls are counted, none is begun that one at a time might not have come to. Seconds are those of a question's own operators
    and replies: waiting for a place at the server, for a busy one, or to compute here is none of them. As a server that is sent much
    replies more slowly, it is sent no more at a time than it answers as fast as one alone where seconds are compared.
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
        so_far, waiting, stopped = _Sum(), dict[int, _Answered](), ""
        asked = servers(self.plan, self.environment.models, cold=True)
        flight = Flight(lambda: in_flight(asked) if self._may_begin(so_far, begun) else 0, job)
        processor, lock, begun = Processor(), threading.Lock(), 0

        def places() -> Iterator[int]:
            nonlocal begun
            for begun in range(1, len(self.plan.drawn) + 1):
                yield begun - 1

        def question(place: int) -> _Answered:
            with processor.held():
                one = self._answered(line, self.plan.drawn[place], flight, self._room(so_far.spent))
            with lock:
                self.calls += one.calls
            return one

        with (
            as_fast_as_one(asked if self.cost == "seconds" else ()),
            closing(flight.each(question, places())) as each,
        ):
            for place, one in each:
                waiting[place] = one
                while not stopped and so_far.asked in waiting:
                    so_far.add(waiting.pop(so_far.asked))
                    stopped = self._stopped(so_far)
                if stopped:
                    break
        if so_far.asked < len(self.plan.drawn) and not stopped:
            raise OutOfCalls
        return self._figures(so_far, stopped)

    def _figures(self, so_far: _Sum, stopped: str) -> TrialFigures:
        scores, errors = so_far.scores, so_far.errors
        if not (
            scores
            or stopped
            or any(
                metric(self.quality).when_failed(one.question) is not None
                for one in self.plan.drawn
            )
        ):
            raise BadInput(
                f"No question of the sample has a known answer, without which there is no {self.quality}."
            )
        cost = so_far.spent / max(1, so_far.asked - len(errors))
        stopped = stopped or (OVER_BUDGET if cost > self.budget else "")
        quality = sum(scores) / len(scores) if scores else 0.0
        return TrialFigures(
            quality, cost, so_far.asked, stopped, len(errors), reasons(patterns(errors)), self.calls
        )

    def _may_begin(self, so_far: _Sum, begun: int) -> bool:
        """Whether another question may be begun beside those that have and are not added up yet; where calls are counted these are thought
        to find nothing, and to take as much as the dearest."""
        if self.most_calls is None:
            return True
        at_work, dearest = begun - so_far.asked, so_far.dearest
        if not at_work:
            return self.calls < self.most_calls
        if dearest is None or self.calls + at_work * dearest.calls >= self.most_calls:
            return False
        least = [*so_far.scores, *[0.0] * at_work]
        return not self._stopped(
            replace(so_far, scores=least, spent=so_far.spent + at_work * dearest.cost, asked=begun)
        )

    def _room(self, spent: float) -> float:
        """What is left of the budget of all questions."""
        return self.budget * len(self.plan.drawn) - spent

    def _stopped(self, so_far: _Sum) -> str:
        """Why to go no further; empty where the line may yet come onto the front."""
        count, left = len(self.plan.drawn), len(self.plan.drawn) - so_far.asked
        if self._room(so_far.spent) < 0:
            return OVER_BUDGET
        if left and self.dominated(
            (sum(so_far.scores) + left) / (len(so_far.scores) + left), so_far.spent / count
        ):
            return DOMINATED
        return ""

    def _answered(self, line: Line, drawn: Drawn, watch: Watch, room: float) -> _Answered:
        """One question, as if it were the first that the models meet, given up once it has taken more than `room` seconds."""
        self.environment.models.forget()
        lane, start, chosen = None, time.perf_counter(), metric(self.quality)

        def own_seconds() -> float:
            before = sum(step.waiting for step in lane.state.trace) if lane is not None else 0.0
            return time.perf_counter() - start - before - waited()

        def looking() -> None:
            watch.check()
            if self.cost == "seconds" and own_seconds() > room:
                raise OverBudget

        def calls() -> int:
            return sum(step.usage.calls for step in lane.state.trace) if lane is not None else 0

        try:
            asked = self.ask(drawn)
            lane = LaneRun(asked, line, self.environment)
            lane.retrieve(Progress(watch=Watch(looking)))
            if chosen.known == "gold" or chosen.base == "context_recall":
                lane.ask = replace(asked, model=False)  # what is retrieved is known by now
            lane.answer(Progress(watch=Watch(looking)))
            outcome = observe(lane.graph, lane.state, source=asked.source)
            score, cost = chosen(outcome), metric(self.cost)(outcome)
        except Cancelled:
            raise
        except OverBudget:
            return _Answered(None, own_seconds(), calls())
        except Exception as failure:
            return _Answered(chosen.when_failed(drawn.question), 0.0, calls(), sentence(failure))
        assert cost is not None  # what a question costs is always known
        return _Answered(score, cost, calls())
