"""Readers of a run, asked again with nothing and with the evidence alone.

It tells what is known without context, and what the same reader can reach
(`core.evaluation.reports.reading_shares`). Each answer is saved, so that a stopped job goes on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.comparison.lane import MethodComparison, MethodLane
from core.comparison.lane_run import open_lane_graph
from core.diagnosis.influence import InfluenceCost
from core.diagnosis.reading import EVIDENCE, NO_EVIDENCE_HERE, NOTHING, Reader
from core.errors import BadInput, HopscopeError, ModelUnavailable, RunCancelled
from core.evaluation.reports.reading_shares import COUNTED_ENDS, reading_shares
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.plan import DrawnQuestion
from core.evaluation.runs.question_work import QuestionWork
from core.evaluation.runs.saved_runs import load_plan, reopen_comparison
from core.evaluation.runs.servers import servers
from core.evaluation.runs.spending import cap_error, spending
from core.evaluation.runs.store import RUN_DONE, Run, Store, StoredRow
from core.models.price import Cap, Spending
from core.operators.text import parse_line
from core.runtime.jobs import Job
from core.types import ReaderAnswer
from core.watch import Watch

SET_CONTEXTS = (NOTHING, EVIDENCE)  # asked of every question of a run
AnswerKey = tuple[Any, ...]  # of answers that several methods share


@dataclass(eq=False)
class ReadingRun:
    """Asks the readers of a run again; calling it with its job returns the failures.

    Methods with the same reader and the same context share an answer. A failed answer is not saved,
    so that it is tried again. With model servers, several questions are asked at a time. What is
    spent counts with the run, and the work stops before all would exceed the cap.
    """

    engine: Any
    store: Store
    run: Run
    only_finished: bool = False  # True to ask nothing if the run did not reach its end
    cap: Cap | None = None
    max_concurrent: int = 0  # requests to each server at a time; 0 finds a number
    errors: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __call__(self, job: Job) -> list[str]:
        """Ask what is missing, and return a sentence for each kind of failure.

        Raises RunCancelled, ModelUnavailable if a model is missing, CapReached if the cap stopped
        it, and BadInput for a cap in money without suitable prices.
        """
        if self.only_finished and self.store.run(self.run.id).status != RUN_DONE:
            return []
        summary = RunSummary(self.run, self.store.rows(self.run.id))
        rows_by_question = _missing_rows(summary)
        drawn_by_id = {
            drawn.question.id: drawn for drawn in self.store.drawn_questions(self.run.id)
        }
        if not rows_by_question:
            return []
        plan, models = load_plan(self.store, self.run), self.engine.environment.models
        # Read again, a question costs about as much as before for each context.
        n_before = self.store.run(self.run.id).done / len(SET_CONTEXTS)
        usage = self.store.usage(self.run.id)
        run_spending = spending(plan, models, usage, self.cap, n_before)
        work = QuestionWork(servers(plan, models), run_spending, self.max_concurrent)
        total = len(rows_by_question)
        done: list[str] = []

        def read(question: str, watch: Watch) -> None:
            job.report(f"Reading again: {len(done):,} of {total:,} questions", len(done) / total)
            self._read_question(
                drawn_by_id[question], rows_by_question[question], run_spending, watch
            )
            done.append(question)

        try:
            work.run_each(read, rows_by_question, job)
        finally:
            self.store.save_usage(self.run.id, run_spending.account.usage)
        if len(done) < total:  # only the cap ends the work before
            raise cap_error(run_spending, f"{len(done):,} of {total:,} questions read again")
        return [f"{sentence} ({count:,})" for sentence, count in self.errors.items()]

    def _read_question(
        self,
        drawn: DrawnQuestion,
        rows: Sequence[StoredRow],
        run_spending: Spending,
        watch: Watch,
    ) -> None:
        """Ask the readers of one question, and save their answers and what the run has spent."""
        comparison = self._attempt(lambda: self._reopen(drawn))
        if comparison is None:
            return
        lanes = {lane.method.id: lane for lane in comparison.lanes}
        runs = [lane.states for lane in comparison.lanes if lane.states]
        answers: dict[AnswerKey, ReaderAnswer | None] = {}
        for row in rows:
            lane = lanes[row.method]
            found = []
            for context in SET_CONTEXTS:
                watch.check()
                if context not in row.readings:
                    found.append(self._answer(lane, context, runs, answers, watch))
            self.store.save_usage(self.run.id, run_spending.account.usage)
            saved = [answer for answer in found if answer is not None]
            if saved:
                self.store.save_readings(self.run.id, row.method, drawn.question.id, saved)

    def _reopen(self, drawn: DrawnQuestion) -> MethodComparison:
        source = drawn.open(self.engine)
        environment = self.engine.environment
        return reopen_comparison(
            self.store,
            self.run,
            drawn.question.id,
            source,
            open_build=lambda line: open_lane_graph(line, source, environment),
        )

    def _answer(
        self,
        lane: MethodLane,
        context: str,
        runs: Sequence,
        answers: dict[AnswerKey, ReaderAnswer | None],
        watch: Watch,
    ) -> ReaderAnswer | None:
        """Return the answer to a context; None if the reader failed.

        `answers` has those of other methods to the same question, and receives this one.
        """
        try:
            reader = Reader(lane)
        except BadInput as error:
            return ReaderAnswer(context, fault=str(error))
        state = reader.nothing() if context == NOTHING else reader.evidence_state(runs)
        if state is None:
            return ReaderAnswer(context, fault=NO_EVIDENCE_HERE)
        items = [(kind, ranking.items) for kind, ranking in state.ranked.items() if len(ranking)]
        key = (repr(reader.operator), lane.graph.digest, context, repr(items))
        if key not in answers:
            answers[key] = self._attempt(
                lambda: reader.ask(context, state, self.engine.environment, watch)
            )
        return answers[key]

    def _attempt(self, action: Callable[[], Any]) -> Any:
        """Return what an action returns; None if it fails, which is counted."""
        try:
            return action()
        except (RunCancelled, ModelUnavailable):
            raise
        except HopscopeError as error:
            with self._lock:
                self.errors[str(error)] = self.errors.get(str(error), 0) + 1
            return None


def _missing_rows(summary: RunSummary) -> dict[str, list[StoredRow]]:
    """Return the counted rows that lack an answer to a context, by question."""
    ends = {shares.method: shares.ends for shares in reading_shares(summary)}
    rows: dict[str, list[StoredRow]] = {}
    for row in summary.rows:
        is_counted = ends.get(row.method, {}).get(row.question.id) in COUNTED_ENDS
        if is_counted and not set(SET_CONTEXTS) <= set(row.readings):
            rows.setdefault(row.question.id, []).append(row)
    return rows


def missing_cost(summary: RunSummary) -> InfluenceCost | None:
    """Return upper bounds of the cost of the missing answers; None if none is missing.

    They follow from the answers of the run. Readers without a language model cost nothing.
    """
    rows = [row for rows in _missing_rows(summary).values() for row in rows]
    if not rows:
        return None
    readers = _model_readers(summary)
    # By question and reader, the calls, tokens and seconds of the dearest answer.
    requests: dict[tuple[str, str], tuple[float, ...]] = {}
    for row in rows:
        if row.method not in readers or row.outcome is None:
            continue
        costs = [cost for cost in row.outcome.costs if cost.stage == "generate"]
        request = (
            max(1, sum(cost.calls for cost in costs)),
            sum(cost.tokens_in for cost in costs),
            sum(cost.seconds for cost in costs),
        )
        key = (row.question.id, readers[row.method])
        requests[key] = tuple(map(max, requests.get(key, request), request))
    calls, tokens, seconds = (
        len(SET_CONTEXTS) * sum(request[i] for request in requests.values()) for i in range(3)
    )
    return InfluenceCost(int(calls), int(tokens), seconds or None)


def _model_readers(summary: RunSummary) -> dict[str, str]:
    """Return the operator that answers by a language model, as text, of each method."""
    if not summary.run.spec["model"]:
        return {}
    readers = {}
    for spec in summary.run.spec["instances"]:
        operators = [op for op in parse_line(spec["line"]) if op.stage == "generate"]
        if operators:
            readers[spec["id"]] = repr(operators[-1])
    return readers


def start_readings(
    engine: Any,
    store: Store,
    run: Run,
    only_finished: bool = False,
    cap: Cap | None = None,
    max_concurrent: int = 0,
) -> Job:
    """Start the job that asks the readers of a run again, after the jobs of evaluations.

    Parameters
    ----------
    engine : the engine that runs the job.
    store : the store with the rows and states.
    run : the run.
    only_finished : True to ask nothing if the run has not reached its end by then.
    cap : the most that the run and its readings may cost together; None for no limit.
    max_concurrent : requests to each server at a time; 0 finds a number.

    Returns
    -------
    The job, whose result is a list of sentences on failures.
    """
    work = ReadingRun(engine, store, run, only_finished, cap, max_concurrent)
    return engine.evaluations.run(readings_job_key(run), work, again=True)


def readings_job_key(run: Run) -> str:
    """Return the key of the job of `start_readings`."""
    return f"reading-{run.id}"
