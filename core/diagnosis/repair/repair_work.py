"""Background work after a comparison: support for its answers, influences, and repairs.

It runs only as long as no other comparison needs the machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from core.comparison.comparison_work import LaneQueues
from core.comparison.lane import MethodComparison, MethodLane
from core.comparison.lane_run import LaneRun, PrefixCache
from core.diagnosis.influence import influence_fault, measure_influence, with_influence
from core.diagnosis.measure import lane_counts_by_model
from core.diagnosis.repair.repair_offers import find_equal_lane, is_answer_known
from core.diagnosis.repair.repair_trials import find_repair
from core.diagnosis.verdict.explainers import explainer_of
from core.diagnosis.verdict.verdict_words import explain_comparison
from core.environment import Environment
from core.errors import BadInput, ModelFailed, ModelUnavailable, RunCancelled
from core.methods.catalogue import Method
from core.runtime.jobs import JOB_DONE, Job, error_sentence
from core.types import Repair
from core.watch import Watch

# Seconds that trials wait for the machine after the comparison's last lane, or since they last had
# the machine to themselves.
PATIENCE_SECONDS = 10.0
IDLE_CHECK_SECONDS = 0.1  # seconds between two checks


class RepairWork:
    """The work after the lanes of a comparison have ended.

    It is called once with their job. It finds the passages that answers rest on, the influence of
    items, and a repair for each lane. It ends early if the job is cancelled, no browser session is
    connected, or other comparisons keep the machine busy.

    Parameters
    ----------
    prefixes : the cache of states, from which the trials begin.
    queues : the queues of the lanes of all comparisons.
    is_slow_lane : returns True for a method whose lanes wait in the queue of slow lanes; no repairs
        are tried for them.
    is_alive : returns True while a browser session shows the comparison.
    """

    def __init__(
        self,
        comparison: MethodComparison,
        environment: Environment,
        prefixes: PrefixCache,
        queues: LaneQueues,
        is_slow_lane: Callable[[Method], bool],
        is_alive: Callable[[], bool],
    ):
        self._comparison, self._environment, self._prefixes = comparison, environment, prefixes
        self._queues, self._is_slow_lane, self._is_alive = queues, is_slow_lane, is_alive

    def __call__(self, job: Job, end_time: float) -> None:
        """Do the work for a comparison whose last lane ended at `end_time` (`time.monotonic()`).

        Each result is put on its lane as soon as it is known. Work that cannot start in time is
        given up. Work in progress ends when its session disconnects or others keep the machine
        busy, since otherwise waiting jobs would stay in memory long after their sessions ended.
        """
        self._deadline = end_time + PATIENCE_SECONDS
        question = self._comparison.ask.question
        try:
            self._check_alive(job)
            self._run_part("The search for supporting sentences", self._find_support, job)
            self._run_part("The measurement of influences", self._measure_influences, job)
            if question.answers or question.gold:
                self._run_part("The search for repairs", self._try_repairs, job)
        except RunCancelled:
            pass
        finally:
            self._comparison.is_repairing = False
            job.touch()

    def _run_part(self, title: str, run: Callable[[Job], None], job: Job) -> None:
        """Run a part of the work.

        If it fails, its error is put on the comparison. The error is not raised, as the other parts
        may still succeed. Raises RunCancelled.
        """
        try:
            run(job)
        except RunCancelled:
            raise
        except Exception as error:
            self._comparison.follow_up_errors += (f"{title} failed. {error_sentence(error)}",)

    def _find_support(self, job: Job) -> None:
        """Find the passages that the answers' sentences rest on, if an encoder is available."""
        models = self._environment.models
        watch = Watch(lambda: self._check_progress(job))
        explainer = explainer_of(self._comparison.ask.source)
        for index, lane in enumerate(self._comparison.snapshot.lanes):
            if lane.status == JOB_DONE and lane.state.answer and lane.rests is None:
                try:
                    lane_rests = explainer.find_supporting_sentences(lane, models, watch)
                except (ModelUnavailable, ModelFailed):
                    return
                if lane_rests is None:
                    return
                self._comparison.change_lane(index, rests=lane_rests)
                job.touch()

    def _measure_influences(self, job: Job) -> None:
        """Measure the influence of items on the readers' answers, which needs no language model."""
        watch = Watch(lambda: self._check_progress(job))
        for index, lane in enumerate(self._comparison.snapshot.lanes):
            if (
                lane.status == JOB_DONE
                and not lane.influences
                and not influence_fault(lane, by_model=False)
            ):
                self._wait(job)
                with suppress(BadInput):
                    reader_influence = measure_influence(
                        lane, self._environment, by_model=False, watch=watch
                    )
                    influences = with_influence(lane.influences, reader_influence)
                    self._comparison.change_lane(index, influences=influences)
                    job.touch()

    def _try_repairs(self, job: Job) -> None:
        """Find a repair for each lane that lost a target.

        A lane is left out if its method is slow.
        """
        self._check_time(job)
        comparison = self._comparison.snapshot
        verdict = explain_comparison(comparison)
        for index, (lane, explanation) in enumerate(zip(comparison.lanes, verdict.lanes)):
            if (
                explanation is None
                or explanation.stage is None
                or lane.repairs_tried
                or lane.state.partly
                or self._is_slow_lane(lane.method)
            ):
                continue
            self._wait(job)
            best_repair = find_repair(
                LaneRun.continue_lane(lane, self._environment, self._prefixes),
                explanation.losses,
                lane_counts_by_model(comparison, lane),
                lane.saved_alive,
                watch=Watch(lambda: self._check_progress(job)),
                is_known=partial(_is_known, comparison, lane),
            )
            self._comparison.change_lane(index, repair=best_repair, repairs_tried=True)
            if best_repair is not None:
                job.touch()

    def _wait(self, job: Job) -> None:
        """Wait until no other lane waits or runs.

        Raises RunCancelled if that takes too long or no session is connected.
        """
        self._check_time(job)
        while self._queues.has_other_lanes(job):
            time.sleep(IDLE_CHECK_SECONDS)
            self._check_time(job)

    def _check_progress(self, job: Job) -> None:
        """Check that work in progress may go on.

        Other lanes let it go on until the deadline. Without other lanes the deadline is put off.
        Raises RunCancelled if work may not go on.
        """
        if self._queues.has_other_lanes(job):
            self._check_time(job)
        else:
            self._check_alive(job)
            self._deadline = time.monotonic() + PATIENCE_SECONDS

    def _check_time(self, job: Job) -> None:
        """Raise RunCancelled after the deadline, or if `_check_alive` does."""
        self._check_alive(job)
        if time.monotonic() > self._deadline:
            raise RunCancelled()

    def _check_alive(self, job: Job) -> None:
        """Raise RunCancelled if the job is cancelled or no session shows the comparison."""
        job.check()
        if not self._is_alive():
            raise RunCancelled()


def _is_known(
    comparison: MethodComparison, lane: MethodLane, repair: Repair, trial: LaneRun
) -> bool:
    """Return whether another lane shows the effect of a repair.

    The lane may also show the result of the trial.
    """
    if find_equal_lane(comparison, lane, repair) is not None:
        return True
    return is_answer_known(comparison, lane, trial)
