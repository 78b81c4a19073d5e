"""Runs a plan: every instance on every question, kept as it goes, taken up where it stopped."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field

from core.cluster import Workers
from core.errors import Cancelled
from core.evaluation.judge import judge
from core.evaluation.outcome import Outcome, observe
from core.evaluation.plan import Drawn, Plan, used
from core.evaluation.store import CANCELLED, DONE, RUNNING, Store
from core.instances.catalogue import Instance
from core.jobs import Job, sentence
from core.models.base import Task
from core.operators.base import GIVEN, Context, Operator
from core.run import Ask, LaneRun, Prefixes, Progress
from core.snapshot import freeze_all
from core.types import State

log = logging.getLogger(__name__)


@dataclass
class Pace:
    """How far a run is and how long the rest will take, from what each instance has taken so far, `at_once` of them at a time."""

    total: int
    left: dict[str, int]
    failed: int = 0
    at_once: int = 1
    spent: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, instance: str, seconds: float, failed: bool) -> None:
        """One more row, done or failed."""
        self.left[instance] -= 1
        self.failed += failed
        self.spent[instance].append(seconds)

    @property
    def done(self) -> int:
        return self.total - sum(self.left.values())

    def seconds_left(self) -> float | None:
        """Seconds until the end; None before the first row."""
        means = {instance: sum(seconds) / len(seconds) for instance, seconds in self.spent.items()}
        if not means:
            return None
        usual = sum(means.values()) / len(means)
        return sum(count * means.get(instance, usual) for instance, count in self.left.items()) / self.at_once

    def words(self) -> str:
        """`12 of 400 done, 1 failed, about 3 min left`."""
        left = self.seconds_left()
        parts = [f"{self.done:,} of {self.total:,} done", f"{self.failed:,} failed" if self.failed else ""]
        return ", ".join(filter(None, [*parts, f"about {duration(left)} left" if left else ""]))


@dataclass(frozen=True, eq=False)
class Finished:
    """One row as it is kept: what came of an instance on a question, or the sentence that says why it failed."""

    instance: str
    question: str
    outcome: Outcome | None = None
    error: str | None = None
    states: dict | None = None
    seconds: float = 0.0


@dataclass
class Evaluation:
    """A plan at work. `ask` makes an `Ask` of a drawn question (and may raise); calling it with its job runs what is left.

    With `workers` the questions are spread over processes; this one alone writes.
    """

    plan: Plan
    store: Store
    run: int
    models: object
    ask: Callable[[Drawn], Ask]
    workers: Workers | None = None

    def __call__(self, job: Job) -> int:
        """Run everything that is not finished; the run's number. What fails is kept with its sentence and tried again next time."""
        done = self.store.finished(self.run)
        left = {i.id: sum((i.id, one.question.id) not in done for one in self.plan.drawn) for i in self.plan.instances}
        pace = Pace(len(self.plan.drawn) * len(self.plan.instances), left)
        if any(left.values()):
            if not self.workers:  # each of which warms itself
                warm(self.plan, self.models, self.ask, job)
            self.store.mark(self.run, RUNNING)
        try:
            with closing(self._spread(job, done, pace) if self.workers else self._here(job, done, pace)) as rows:
                for row in rows:
                    self.store.keep(self.run, row.instance, row.question, row.outcome, row.error, row.states)
                    pace.add(row.instance, row.seconds, row.error is not None)
        except Cancelled:
            self.store.mark(self.run, CANCELLED)
            raise
        self.store.mark(self.run, DONE)
        job.tell(pace.words(), 1.0)
        return self.run

    def _turns(self, done: set[tuple[str, str]]) -> Iterator[tuple[int, list[Instance]]]:
        """Each question's place with the instances left for it; the first one turns with the question, so that none is always first."""
        count = len(self.plan.instances)
        for place, drawn in enumerate(self.plan.drawn):
            turned = [self.plan.instances[(place + i) % count] for i in range(count)]
            left = [instance for instance in turned if (instance.id, drawn.question.id) not in done]
            if left:
                yield place, left

    def _here(self, job: Job, done: set[tuple[str, str]], pace: Pace) -> Iterator[Finished]:
        """The rows that are left, one after the other in this process."""
        for place, instances in self._turns(done):
            prefixes = Prefixes()
            for instance in instances:
                job.check()
                job.tell(f"{pace.words()}: {instance.name}", pace.done / pace.total)
                yield one(self.plan, self.models, self.ask, place, instance, prefixes, job.check)

    def _spread(self, job: Job, done: set[tuple[str, str]], pace: Pace) -> Iterator[Finished]:
        """The rows that are left, question by question over the workers."""
        from core.evaluation.spread import spread

        pace.at_once = max(1, self.workers.count)
        job.tell("Starting the workers")
        for rows in spread(self.plan, self._turns(done), self.workers, job.check):
            yield from rows
            job.tell(f"{pace.words()}, over {self.workers.words()}", pace.done / pace.total)


def one(plan: Plan, models, ask: Callable[[Drawn], Ask], place: int, instance: Instance, prefixes: Prefixes, check) -> Finished:
    """An instance run on the question at `place`. Raises what `check` raises; what else fails is told in the row."""
    drawn, start = plan.drawn[place], time.perf_counter()
    if plan.cold:
        models.forget()
    outcome, states, error = None, None, None
    try:
        asked = ask(drawn)
        lane = LaneRun(asked, instance.line, models, Prefixes() if plan.cold else prefixes)
        progress = Progress(check=check)
        lane.retrieve(progress)
        lane.answer(progress)
        outcome = observe(asked.graph, lane.state, _judged(plan, models, lane, check))
        states = freeze_all(lane.states, asked.graph)
    except Cancelled:
        raise
    except Exception as failure:
        outcome, error = None, sentence(failure)
    return Finished(instance.id, drawn.question.id, outcome, error, states, time.perf_counter() - start)


def _judged(plan: Plan, models, lane: LaneRun, check):
    question, answer = lane.state.question, lane.state.answer
    if not plan.judge or answer is None or not question.answers:
        return None
    return judge(models.chat("judge"), question.text, question.answers, answer, check)


def warm(plan: Plan, models, ask: Callable[[Drawn], Ask], job: Job) -> None:
    """Load what will be needed, so that no question pays for it. Raises ModelUnavailable where a language model that is to
    answer or judge is not here; what only some instances rank by is told of in their rows."""
    job.tell("Loading the models")
    needed = [name for i in plan.instances for o in i.line if o.stage == "generate" and plan.model for name in used(o)]
    needed += ["judge"] if plan.judge else []
    for role in dict.fromkeys(needed):
        load = getattr(models.chat(role), "load", None)
        if load:
            load()
    asked = plan.drawn[0]
    extractors = dict.fromkeys(operator for i in plan.instances for operator in i.line if starts(operator))
    for work in [
        *(lambda operator=operator: _start(operator, ask(asked), models, job) for operator in extractors),
        *(lambda name=name: _score(models, name) for name in plan.models if name not in needed),
    ]:
        job.check()
        try:
            work()
        except Cancelled:
            raise
        except Exception as error:
            log.info("Warming up: %s", error)  # every row that meets it keeps it


def _start(operator: Operator, asked: Ask, models, job: Job) -> None:
    """Have an operator's compiled code loaded, or compiled where it never was."""
    operator(State(asked.question, asked.seeds), Context(asked.graph, models, asked.seed, job.check))


def _score(models, name: str) -> None:
    """Have a scorer's weights loaded; a language model that picks is loaded when it is first asked."""
    chooser = models.chooser(name)
    if hasattr(chooser, "score"):
        chooser.score(Task("warm"), ["warm"])


def starts(operator: Operator) -> bool:
    """Whether an operator works on the bare question: such ones load or prepare things when they are first called. One that asks a
    program of the person's own is left alone."""
    return operator.remembered and operator.stage in ("convert", "extract", "retrieve") and set(operator.reads) <= set(GIVEN)


def duration(seconds: float) -> str:
    """`40 s`, `3 min`, `1 h 20 min`."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
