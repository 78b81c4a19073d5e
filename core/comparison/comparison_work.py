"""A running comparison: its lanes retrieve and answer in queues, and report their progress.

If a viewer displays the comparison, a lane first shows the result of a quick pass, which ranks only
a part of the candidates (`core.comparison.quick_pass`). The exact pass follows.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable

from core.comparison import lane_traces
from core.comparison.lane import ENDED_STATUSES, MethodComparison
from core.comparison.lane_pauses import LanePauses
from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache, ShowPreview, answer_role
from core.comparison.previews import Preview, PreviewScheduler
from core.comparison.queues import FairQueue, QueueWait
from core.comparison.quick_pass import QuickRun, has_quick_form, quick_share
from core.environment import Environment
from core.errors import HopscopeError, RunCancelled
from core.methods.catalogue import Method
from core.operators.base import Line
from core.runtime.jobs import (
    JOB_CANCELLED,
    JOB_DONE,
    JOB_FAILED,
    JOB_RUNNING,
    JOB_WAITING,
    Job,
    do_nothing,
    error_sentence,
)
from core.runtime.meter import ProgressReport
from core.types import State
from core.watch import Watch

ANSWERING_STATUS = "answering"
REPORT_SECONDS = 0.3  # seconds between two reports of a lane's progress
DEFAULT_OPERATOR_SECONDS = 0.5  # seconds assumed for each operator of a method that was never run
# Shown beside a quick result until the exact pass begins.
POSTPONED_TEXT = "The exact result follows"
MAX_SERVER_ANSWERS = 8  # concurrent answers of a model behind a server


def load_libraries() -> None:
    """Load the libraries that retrieval needs, if they are not loaded yet."""
    import core.graph.algorithms.local_adjacency
    import core.graph.algorithms.traversal  # noqa: F401


def answers_in_parallel(models, role: str) -> bool:
    """Return whether the model of a role gives several answers at the same time.

    Models behind servers do, embedded ones do not. The result is False if the model is not
    available.
    """
    try:
        return getattr(models.chat(role), "side_by_side", False)
    except HopscopeError:
        return False


class LaneQueues:
    """The queues of all lanes.

    One is for retrieval, one for retrieval with a language model or a user's program, one for the
    answers of each model, and one for the work after a comparison has ended. A question without a
    model never waits for one with a model, and an answer waits only for answers of the same model.
    """

    def __init__(self) -> None:
        self.retrieving = FairQueue("retrieval", max(2, min(8, os.cpu_count() or 2)))
        self.asking = FairQueue("asking", 2)
        self.repairing = FairQueue("repairing", 1)
        # Seconds of each method's last run, so that quick methods go first.
        self.seconds_by_line: dict[str, float] = {}
        self._answering: dict[str, FairQueue] = {}
        self._lock = threading.Lock()

    def expected_seconds(self, line: Line) -> float:
        """Return the expected duration of a method in seconds."""
        return self.seconds_by_line.get(repr(line), DEFAULT_OPERATOR_SECONDS * len(line))

    def answer_queue(self, models, role: str) -> FairQueue:
        """Return the queue of the model with that role or name."""
        try:
            name = models.signature(role)
        except HopscopeError:  # the lane reports it when it asks the model
            name = ""
        parallel = answers_in_parallel(models, role)
        with self._lock:
            if name not in self._answering:
                self._answering[name] = FairQueue(
                    "answering", MAX_SERVER_ANSWERS if parallel else 1, one_per_owner=not parallel
                )
            return self._answering[name]

    def is_busy(self) -> bool:
        """Return whether any lane waits or runs."""
        return self.has_other_lanes(None)

    def has_other_lanes(self, job: Job | None) -> bool:
        """Return whether lanes of another job wait or run."""
        return any(queue.count_ahead(job) for queue in self._lane_queues())

    def count_begun(self) -> int:
        """Return how many retrievals and answers of lanes have begun so far."""
        return sum(queue.n_begun for queue in self._lane_queues())

    def _lane_queues(self) -> tuple[FairQueue, ...]:
        with self._lock:
            return (self.retrieving, self.asking, *self._answering.values())

    def expected_wait(self, job: Job) -> QueueWait | None:
        """Return how long a job waits for its first lane to retrieve.

        The result is None if a lane retrieves already or none has to.
        """
        waits = [queue.expected_wait(job) for queue in (self.retrieving, self.asking)]
        return next((wait for wait in waits if wait is not None), None)

    def drop(self, job: Job) -> None:
        """Remove the pieces of work of a job that have not begun."""
        with self._lock:
            queues = (self.retrieving, self.asking, self.repairing, *self._answering.values())
        for queue in queues:
            queue.drop(job)


class ComparisonWork:
    """The work of one comparison's job: each lane's retrieval, then its answer."""

    def __init__(
        self,
        comparison: MethodComparison,
        environment: Environment,
        prefixes: PrefixCache,
        queues: LaneQueues,
        is_slow_lane: Callable[[Method], bool],
        on_end: Callable[[Job, float], None] | None = None,
        is_watched: Callable[[Job], bool] = lambda job: False,
    ):
        """Prepare a run for each lane.

        Each run continues from the states that the lane has.

        Parameters
        ----------
        comparison : the comparison whose lanes are run.
        environment : the models and stores.
        prefixes : the cache of states that runs share.
        queues : the queues of all lanes.
        is_slow_lane : returns whether a method may take long, since it asks a language model to
            retrieve or starts a user's program.
        on_end : is called with the job and the `time.monotonic` at which the last lane ended,
            unless the job was cancelled. It waits in a queue of its own, so that it delays no lane.
        is_watched : returns whether a viewer displays the job, and so needs previews.
        """
        self.comparison, self._queues, self._is_slow_lane = comparison, queues, is_slow_lane
        self._models = environment.models
        self._runs = [
            LaneRun.continue_lane(lane, environment, prefixes) for lane in comparison.lanes
        ]
        self._on_end, self._is_watched = on_end, is_watched
        self._environment, self._prefixes = environment, prefixes
        # Lanes at work. A lane is listed twice while its answer begins and its retrieval ends.
        self._at_work: list[int] = []
        self._lock = threading.RLock()

    def start(self, job: Job) -> None:
        """Put the lanes into their queues; the job ends with the last lane."""
        self._job = job
        job.on_cancel = self._cancel_waiting
        # The functions below capture these values, since capturing `self` would make a cycle.
        queues, lanes, is_slow_lane = self._queues, self.comparison.lanes, self._is_slow_lane

        def unfinished_lanes() -> list[int]:
            return [
                index
                for index, lane in enumerate(lanes)
                if not lane.retrieved
                and not lane.has_quick_result
                and lane.status not in ENDED_STATUSES
                and not is_slow_lane(lane.method)
            ]

        self._pauses = LanePauses(unfinished_lanes, lambda: queues.has_other_lanes(job))
        waiting_lanes = [
            index for index, lane in enumerate(lanes) if lane.status not in ENDED_STATUSES
        ]
        for index in sorted(
            waiting_lanes, key=lambda index: queues.expected_seconds(lanes[index].line)
        ):
            queue = queues.asking if is_slow_lane(lanes[index].method) else queues.retrieving
            self._put(queue, index, JOB_RUNNING, self._retrieve)
        if not waiting_lanes:
            self._end_if_done()

    def _put(
        self,
        queue: FairQueue,
        index: int,
        status: str,
        work: Callable[[int], None],
        postponed: bool = False,
    ) -> None:
        """Queue `work(index)` on a lane.

        The lane has `status` from the beginning of the work on.
        """
        queued_at = time.perf_counter()

        def run_lane() -> None:
            with self._lock:
                lane = self.comparison.lanes[index]
                if lane.status in ENDED_STATUSES:
                    return
                self._at_work.append(index)
                waited = dict(lane.waited)
                waited[status] = waited.get(status, 0.0) + time.perf_counter() - queued_at
                self.comparison.change_lane(index, status=status, text="", waited=waited)
            if self._job.status == JOB_WAITING:
                self._job.begin()
            try:
                work(index)
            except Exception as error:  # raised outside of the operators; the lane shows it
                self._fail(index, error)
            finally:
                with self._lock:
                    self._at_work.remove(index)
                self._end_if_done()

        queue.put(self._job, run_lane, postponed)

    def _retrieve(self, index: int) -> None:
        start = time.perf_counter()
        load_libraries()
        loading = time.perf_counter() - start
        self.comparison.change_lane(index, prepared={"Loading the program": loading})
        if self._show_quick_result(index):
            self._put(
                self._queues.retrieving, index, JOB_RUNNING, self._retrieve_exactly, postponed=True
            )
        else:
            self._retrieve_exactly(index)

    def _show_quick_result(self, index: int) -> bool:
        """Show the result of a quick pass if a viewer displays the job.

        The return value is True if it was shown. Nothing is shown if the exact result is cached, or
        the line has no quick form. A failure of the quick pass is left to the exact one.
        """
        lane = self.comparison.lanes[index]
        if (
            not self._is_watched(self._job)
            or self._is_slow_lane(lane.method)
            or not has_quick_form(lane.line, self._models)
        ):
            return False
        share = quick_share(self._queues.retrieving.count_others(self._job))
        run = QuickRun(lane.ask, lane.line, self._environment, self._prefixes, share=share)
        listener = self._make_listener(index, self._pausing_watch, run)
        try:
            with self._queues.retrieving.hold_back_postponed():
                run.retrieve(listener)
            states = (*run.states, *run.continue_without_model())
        except HopscopeError:  # a cancelled job or a failed model, with which the exact pass ends
            return False
        except Exception:  # the exact pass still gives a result, or reports the fault on the lane
            logging.getLogger(__name__).exception("A quick pass failed")
            return False
        if not run.is_shortened:
            return False
        text = f"{100 * share:.0f} % of the best expected"
        preview = Preview(self._next_preview_number(index), text, states, is_quick=True)
        self.comparison.change_lane(
            index, preview=preview, progress=None, text=POSTPONED_TEXT, own_graph=run.own_graph
        )
        self._job.touch()
        return True

    @property
    def _pausing_watch(self) -> Watch:
        return Watch(lambda: self._pauses.wait_while_reading(self._job))

    def _next_preview_number(self, index: int) -> int:
        preview = self.comparison.lanes[index].preview
        return 1 if preview is None else preview.number + 1

    def _retrieve_exactly(self, index: int) -> None:
        """Run the retrieval of a lane, then answer at once or queue the answer.

        The answer is queued only if it needs a model and is not cached.
        """
        if not self._run_part(index, LaneRun.retrieve, self._pausing_watch):
            return
        lane = self.comparison.change_lane(index, retrieved=True, preview=None)
        self._queues.seconds_by_line[repr(lane.line)] = sum(
            step.seconds + step.saved for step in lane.state.trace
        )
        role = answer_role(lane.line)
        if (
            role is None
            or not self.comparison.ask.uses_model
            or self._runs[index].is_answer_cached()
        ):
            self.comparison.change_lane(index, status=ANSWERING_STATUS)
            self._answer(index)
            return
        self.comparison.change_lane(index, text=f"Retrieved; waiting for {lane.model}")
        self._job.touch()
        self._put(
            self._queues.answer_queue(self._models, role),
            index,
            ANSWERING_STATUS,
            lambda index: self._ask(index, role),
        )

    def _answer(self, index: int) -> None:
        if self._run_part(index, LaneRun.answer, self._job):
            lane = self.comparison.lanes[index]
            final_answer = lane.state.answer  # without the model's thoughts and repetitions
            answer = lane.answer if final_answer is None else final_answer
            self.comparison.change_lane(index, answer=answer, text="", status=JOB_DONE)
            self._job.touch()

    def _ask(self, index: int, role: str) -> None:
        if not answers_in_parallel(self._models, role):  # the model runs on the same cores
            self._pauses.begin_reading()
        try:
            self._answer(index)
        finally:
            self._pauses.end_reading()

    def _run_part(
        self, index: int, part: Callable[[LaneRun, LaneListener], None], watch: Watch
    ) -> bool:
        """Run one part of a lane and return whether it succeeded.

        A failure is noted on the lane and not raised.
        """
        run = self._runs[index]
        try:
            watch.check()
            part(run, self._make_listener(index, watch, run))
            return True
        except RunCancelled:
            self.comparison.change_lane(index, status=JOB_CANCELLED, text="Cancelled")
        except Exception as error:  # the lane shows it, and the other lanes go on
            self._fail(index, error)
        finally:
            self.comparison.change_lane(index, progress=None, **run.lane_fields)
        self._job.touch()
        return False

    def _make_listener(self, index: int, watch: Watch, run: LaneRun) -> LaneListener:
        """Return the listener that writes the progress of a run on its lane."""
        job, comparison = self._job, self.comparison
        name = comparison.lanes[index].method.name

        def report_activity(text: str, fraction: float | None = None) -> None:
            progress = None if fraction is None else ProgressReport(text, fraction)
            comparison.change_lane(index, text=text, progress=progress)
            job.report(f"{name}: {text}", fraction)

        def append_answer(text: str) -> None:
            answer = comparison.lanes[index].answer + text
            comparison.change_lane(index, answer=answer, progress=None)
            self._pauses.end_reading()
            job.touch()

        reported_at = 0.0

        def report_progress(progress: ProgressReport) -> None:
            nonlocal reported_at
            lane = comparison.change_lane(index, text=progress.text, progress=progress)
            if lane.status == ANSWERING_STATUS:
                self._pauses.end_long_reading(progress.left)
            if time.monotonic() - reported_at >= REPORT_SECONDS:
                reported_at = time.monotonic()
                job.report(f"{name}: {progress.text}", progress.fraction)

        def record_state(state: State) -> None:
            comparison.change_lane(index, progress=None, **run.lane_fields)
            job.touch()

        lane = comparison.lanes[index]
        has_result = lane.retrieved or lane.has_quick_result
        return LaneListener(
            Watch(watch.check, report_activity),
            on_state=record_state,
            on_text=append_answer,
            on_progress=report_progress,
            show_preview=None if has_result else self._make_preview(index, watch, run),
        )

    def _make_preview(self, index: int, watch: Watch, run: LaneRun) -> ShowPreview:
        """Return the function that shows a preview on a lane."""
        job, queues, is_watched = self._job, self._queues, self._is_watched

        def show(preview: Preview) -> None:
            self.comparison.change_lane(index, preview=preview, **run.lane_fields)
            job.touch()

        lane_thread = threading.get_ident()
        previews = PreviewScheduler(
            show, lambda: is_watched(job), has_waiting_jobs=lambda: queues.has_other_lanes(job)
        )

        def preview(text: str, make_states: Callable[[], tuple[State, ...]]) -> None:
            # Only the thread of the lane pauses. A preview may also be made in a thread that feeds
            # a model on a server, which must not wait.
            if previews.show_if_due(text, make_states) and threading.get_ident() == lane_thread:
                self._pauses.wait_for_previews(index, watch)

        return preview

    def _fail(self, index: int, error: Exception) -> None:
        """End a lane with the sentence of an error."""
        self.comparison.change_lane(index, status=JOB_FAILED, text="", error=error_sentence(error))
        self._job.touch()

    def _cancel_waiting(self) -> None:
        """End the waiting lanes of a cancelled job.

        Lanes at work end at their next check.
        """
        self._queues.drop(self._job)
        self.comparison.is_repairing = False
        with self._lock:
            for index, lane in enumerate(self.comparison.lanes):
                if lane.status not in ENDED_STATUSES and index not in self._at_work:
                    self.comparison.change_lane(index, status=JOB_CANCELLED, text="Cancelled")
        self._end_if_done()

    def _end_if_done(self) -> None:
        """End the job once all lanes have ended, and queue `on_end`."""
        with self._lock:
            job, on_end, lanes = self._job, self._on_end, self.comparison.lanes
            if job.has_ended or not all(lane.status in ENDED_STATUSES for lane in lanes):
                return
            job.result = self.comparison
            if on_end is None or job.is_cancelled:
                job.on_cancel = do_nothing
            else:
                self.comparison.is_repairing = True
                end_time = time.monotonic()
                self._queues.repairing.put(job, lambda: self._run_on_end(on_end, end_time))
            lane_traces.send_spans(
                [
                    lane_traces.TracedLane(lane.method.name, run, lane.error or "")
                    for lane, run in zip(lanes, self._runs)
                    if not lane.is_taken_over
                ]
            )
            job.end(JOB_CANCELLED if job.is_cancelled else JOB_DONE)

    def _run_on_end(self, on_end: Callable[[Job, float], None], end_time: float) -> None:
        try:
            on_end(self._job, end_time)
        finally:
            # Break the reference cycle with the job, which keeps all results in memory.
            self._job.on_cancel = do_nothing
