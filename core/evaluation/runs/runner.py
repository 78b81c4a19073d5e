"""Runner of a plan: every method on every question, saved as it goes and resumable."""

from __future__ import annotations

import math
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from operator import attrgetter
from statistics import fmean, stdev

from core.environment import Environment
from core.errors import RunCancelled
from core.evaluation.runs.chance import repeat_seed
from core.evaluation.runs.plan import DrawnQuestion, Plan
from core.evaluation.runs.question_work import QuestionWork
from core.evaluation.runs.rebuilt_graphs import build_again
from core.evaluation.runs.repeats import repeat_plan
from core.evaluation.runs.row import FinishedRow, load_models, run_methods
from core.evaluation.runs.servers import limit_to_single_speed, servers
from core.evaluation.runs.spending import SpendingEstimate, cap_error, estimate_rest, spending
from core.evaluation.runs.store import RUN_CANCELLED, RUN_DONE, RUN_RUNNING, Store
from core.evaluation.runs.worker_runs import spread_turns
from core.io.durations import range_text
from core.methods.catalogue import Method
from core.models.price import Cap, Spending
from core.runtime.cluster import Workers
from core.sources import SourceQuestion
from core.watch import Watch


@dataclass
class Pace:
    """Progress of a run and an estimate of the remaining time.

    `total` is the number of all rows, and `rows_left` the number of remaining rows of each method.
    The estimate uses the seconds that each method has taken so far, with `concurrency` rows running
    at a time on average. There is no estimate until every method with remaining rows has run once,
    because the times of methods differ too much.
    """

    total: int
    rows_left: dict[str, int]
    failed: int = 0
    concurrency: float = 1
    seconds_by_method: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, method: str, seconds: float, failed: bool) -> None:
        """Record one more row.

        Parameters
        ----------
        method : id of its method.
        seconds : wall-clock seconds that it took.
        failed : True if the row has an error.
        """
        self.rows_left[method] -= 1
        self.failed += failed
        self.seconds_by_method[method].append(seconds)

    def derive_concurrency(self, seconds: float) -> None:
        """Derive the concurrency from the wall-clock seconds in which the recorded rows ran."""
        total = sum(map(sum, self.seconds_by_method.values()))
        self.concurrency = max(1.0, total / seconds) if seconds else 1.0

    @property
    def done(self) -> int:
        """Number of rows that have run."""
        return self.total - sum(self.rows_left.values())

    def seconds_left(self) -> tuple[float, float] | None:
        """Return the least and most estimated seconds until the end.

        The result is None if nothing remains, or if a method with remaining rows has not run yet.
        """
        rows_left = {method: count for method, count in self.rows_left.items() if count}
        if not rows_left or not rows_left.keys() <= self.seconds_by_method.keys():
            return None
        low = high = 0.0
        for method, count in rows_left.items():
            method_low, method_high = mean_interval(self.seconds_by_method[method])
            low += count * method_low
            high += count * method_high
        return low / self.concurrency, high / self.concurrency

    def words(self) -> str:
        """Return the progress as a text.

        Examples are `12 of 400 done, 1 failed, 3 to 4 minutes left` and `time left not known yet`.
        """
        remaining = self.seconds_left()
        parts = [f"{self.done:,} of {self.total:,} done"]
        if self.failed:
            parts.append(f"{self.failed:,} failed")
        if remaining:
            parts.append(f"{range_text(*remaining)} left")
        elif self.done < self.total:
            parts.append("time left not known yet")
        return ", ".join(parts)


def mean_interval(seconds: Sequence[float]) -> tuple[float, float]:
    """Return a rough interval of the mean duration, from n measurements in seconds.

    The interval runs from mean / factor to mean * factor, with factor = 1 + d / sqrt(n). d is twice
    the standard deviation over the mean, and at least 1, because few measurements say little about
    the spread. One measurement thus gives an interval from half to twice its value.
    """
    mean = fmean(seconds)
    deviation = 2 * stdev(seconds) / mean if len(seconds) > 1 and mean else 0.0
    factor = 1 + max(1.0, deviation) / math.sqrt(len(seconds))
    return mean / factor, mean * factor


@dataclass(frozen=True)
class RepeatTurn:
    """A question of a run with the methods that have no row for it.

    `number` is that of the repeat, 0 for the first run. `index` is the question's in the plan.
    """

    number: int
    index: int
    methods: list[Method]


@dataclass
class EvaluationRunner:
    """Runner of a plan; calling it with its job runs the remaining rows.

    With model servers, many questions run concurrently: one computes while the others wait for
    replies. Their number is `max_concurrent`, or is determined during the run
    (`core.models.chat.window`). Cold runs, and runs whose models are all in this process, have one
    question at a time. If `limits_to_single_speed` is set, a cold run too may ask several questions
    at a time, with only so many requests to a server that each is as fast as a single one.

    Rows are saved as they come. The run stops before it would exceed the cap, and after
    `max_questions` of the remaining questions if that is not 0. With `workers` the questions are
    spread over processes, and only this process writes to the store. `ask` prepares a question
    (`core.evaluation.runs.row.make_ask`), and `run` is the number of the run in the store.
    """

    plan: Plan
    store: Store
    run: int
    environment: Environment
    ask: Callable[[DrawnQuestion], SourceQuestion]
    workers: Workers | None = None
    max_concurrent: int = 0
    cap: Cap | None = None
    max_questions: int = 0
    limits_to_single_speed: bool = False
    # Estimated cost of the remaining rows, set when the run has ended.
    estimate: SpendingEstimate | None = field(default=None, init=False)

    def __call__(self, watch: Watch) -> int:
        """Run everything that is not finished, and return the number of the run.

        A failed row is saved with its error and tried again when the run is resumed. Raises
        RunCancelled, and CapReached if the cap stopped the run.
        """
        turns = [turn for number in range(self.plan.repeats) for turn in self._turns(number)]
        rows_left = {method.id: 0 for method in self.plan.methods}
        for turn in turns:
            for method in turn.methods:
                rows_left[method.id] += 1
        pace = Pace(self.store.run(self.run).total, rows_left)
        if any(rows_left.values()):
            if not self.workers:  # a worker loads its own models
                load_models(self.plan, self.environment, self.ask, watch)
            self.store.set_status(self.run, RUN_RUNNING)
        try:
            if self.plan.rebuilt:
                numbers = dict.fromkeys(turn.number for turn in turns)
                build_again(self.plan, numbers, self.environment.models, watch)
            if self.workers:
                self._run_on_workers(watch, turns, pace, self.workers)
            else:
                self._run_in_process(watch, turns, pace)
        except RunCancelled:
            self.store.set_status(self.run, RUN_CANCELLED)
            raise
        if pace.done == pace.total:
            self.store.set_status(self.run, RUN_DONE)
        watch.report(pace.words(), pace.done / pace.total)
        return self.run

    def _turns(self, number: int) -> Iterator[RepeatTurn]:
        """Yield a turn per question for its methods without a row.

        `number` is that of the repeat, 0 for the first run. Finished questions are left out.
        """
        plan = self.plan
        done = self.store.finished_pairs(self.run)
        if number:
            plan = repeat_plan(plan, number)
            done = self.store.finished_repeats(self.run).get(number, set())
        for index, drawn_question in enumerate(plan.drawn):
            methods_left = [
                method
                for method in plan.rotated_methods(index)
                if (method.id, drawn_question.question.id) not in done
            ]
            if methods_left:
                yield RepeatTurn(number, index, methods_left)

    def _rows_of(self, turn: RepeatTurn, watch: Watch) -> Iterator[FinishedRow]:
        """Return the rows of a turn, which are computed one by one."""
        seed = repeat_seed(self.plan.seed, turn.number)

        def ask(drawn: DrawnQuestion) -> SourceQuestion:
            return replace(self.ask(drawn), seed=seed) if turn.number else self.ask(drawn)

        place = (self.plan, self.environment, ask, turn.index)
        return run_methods(*place, methods=turn.methods, watch=watch)

    def _save_row(self, row: FinishedRow, number: int) -> None:
        states = None if number else row.states
        values = (self.run, row.method, row.question, row.outcome, row.error, states)
        self.store.save_row(*values, number)

    def _run_in_process(self, watch: Watch, turns_left: Sequence[RepeatTurn], pace: Pace) -> None:
        """Run the remaining rows in this process.

        The methods of a question run one after the other; several questions may run at a time. One
        of them computes (`ProcessorLock`) while the others wait for model servers.
        """
        server_list = servers(self.plan, self.environment.models, self.limits_to_single_speed)
        clock = self.environment.clock
        run_spending = self.spending()
        work = QuestionWork(server_list, run_spending, self.max_concurrent)
        lock = threading.Lock()
        run_start = clock()

        def report_progress(method: Method) -> None:
            with lock:
                load = f"{work.n_open:,} questions at a time" if work.n_open > 1 else ""
                parts = (pace.words(), load, run_spending.words(pace.done, pace.total))
                progress = ", ".join(filter(None, parts))
                watch.report(f"{progress}: {method.label}", pace.done / pace.total)

        def save_row(row: FinishedRow, number: int, row_start: float) -> None:
            self._save_row(row, number)
            self.store.save_usage(self.run, run_spending.account.usage)
            with lock:
                pace.add(row.method, clock() - row_start, row.error is not None)
                pace.derive_concurrency(clock() - run_start)

        def run_question(turn: RepeatTurn, piece_watch: Watch) -> None:
            # A generator: each `next` below runs one more method.
            rows = self._rows_of(turn, piece_watch)
            for method in turn.methods:
                piece_watch.check()
                report_progress(method)
                row_start = clock()
                save_row(next(rows), turn.number, row_start)

        try:
            with limit_to_single_speed(server_list if self.limits_to_single_speed else ()):
                work.run_each(run_question, islice(turns_left, self.max_questions or None), watch)
        finally:
            self.store.save_usage(self.run, run_spending.account.usage)
        self.estimate = estimate_rest(run_spending, pace.done, pace.total, pace.seconds_left())
        if pace.done < pace.total:
            self.store.set_status(self.run, RUN_CANCELLED)
            if not run_spending.can_begin(0):
                raise cap_error(run_spending, f"{pace.done:,} of {pace.total:,} answers done")

    def spending(self) -> Spending:
        """Return what the run has spent so far and may spend.

        Raises BadInput for a cap in money without suitable prices.
        """
        done = self.store.run(self.run).done
        usage = self.store.usage(self.run)
        return spending(self.plan, self.environment.models, usage, self.cap, done)

    def _run_on_workers(
        self, watch: Watch, turns: Sequence[RepeatTurn], pace: Pace, workers: Workers
    ) -> None:
        """Run the remaining rows over the workers, question by question."""
        pace.concurrency = max(1, workers.count)
        watch.report("Starting the workers")
        for number, group in groupby(turns, key=attrgetter("number")):
            plan = repeat_plan(self.plan, number) if number else self.plan
            left = [(turn.index, turn.methods) for turn in group]
            with closing(spread_turns(plan, left, workers, watch)) as batches:
                for rows in batches:
                    for row in rows:
                        self._save_row(row, number)
                        pace.add(row.method, row.seconds, row.error is not None)
                    watch.report(
                        f"{pace.words()}, over {workers.description()}", pace.done / pace.total
                    )
