"""Work after a comparison: the evidence of its answers, and trials of changed steps.

It runs only as long as no other comparison needs the machine.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from core.comparison.comparing import Queues
from core.comparison.lane import Comparison, Lane
from core.comparison.run import LaneRun, Prefixes
from core.diagnosis.influence import influence, measurable, with_influence
from core.diagnosis.measure import lane_by_model
from core.diagnosis.repair.offered import answers_alike, twin
from core.diagnosis.repair.repairs import repair
from core.diagnosis.verdict.explainers import explainer_of
from core.diagnosis.verdict.verdict_words import explain
from core.environment import Environment
from core.errors import BadInput, Cancelled, ModelFailed, ModelUnavailable
from core.instances.catalogue import Instance
from core.runtime.jobs import DONE, Job
from core.types import Repair
from core.watch import Watch

# Seconds that trials wait for the machine after the comparison's last lane, or since they last had
# the machine to themselves.
PATIENCE = 10.0
LOOK = 0.1  # seconds between two checks


class Repairing:
    """The work after the lanes of a comparison have ended.

    It finds the passages that answers rest on, the influence of items, and a repair for each lane.
    It is given up if the job is cancelled, no session is connected (`alive`), or other comparisons
    keep the machine busy.
    """

    def __init__(
        self,
        comparison: Comparison,
        environment: Environment,
        prefixes: Prefixes,
        queues: Queues,
        asks_chat: Callable[[Instance], bool],
        alive: Callable[[], bool],
    ):
        self._comparison, self._environment, self._prefixes = comparison, environment, prefixes
        self._queues, self._asks_chat, self._alive = queues, asks_chat, alive

    def __call__(self, job: Job, ended: float) -> None:
        """Do the work for a comparison whose last lane ended at `ended` (`time.monotonic()`).

        Each result is put on its lane as soon as it is known. Work that starts too late is given up
        at once. Work in progress ends when its session disconnects or others keep the machine busy.
        Otherwise waiting jobs would stay in memory long after their sessions are gone.
        """
        self._until = ended + PATIENCE
        try:
            self._there(job)
            self._rest(job)
            self._influence(job)
            question = self._comparison.ask.question
            if question.answers or question.gold:
                self._each(job)
        except Cancelled:
            pass
        except Exception:
            logging.getLogger(__name__).exception("Trying changes failed")
        finally:
            self._comparison.repairing = False
            job.touch()

    def _rest(self, job: Job) -> None:
        """Find the passages that the answers' sentences rest on, if an encoder is available."""
        models, go_on = self._environment.models, Watch(lambda: self._go_on(job))
        explainer = explainer_of(self._comparison.ask.source)
        for place, lane in enumerate(self._comparison.now.lanes):
            if lane.status == DONE and lane.state.answer and lane.rests is None:
                try:
                    found = explainer.rests(lane, models, go_on)
                except (ModelUnavailable, ModelFailed):
                    return
                if found is None:
                    return
                self._comparison.change(place, rests=found)
                job.touch()

    def _influence(self, job: Job) -> None:
        """Measure the influence of items on the readers' answers, which needs no language model."""
        go_on = Watch(lambda: self._go_on(job))
        for place, lane in enumerate(self._comparison.now.lanes):
            if lane.status == DONE and not lane.influences and not measurable(lane, by_model=False):
                self._wait(job)
                with suppress(BadInput):
                    found = influence(lane, self._environment, by_model=False, watch=go_on)
                    both = with_influence(lane.influences, found)
                    self._comparison.change(place, influences=both)
                    job.touch()

    def _each(self, job: Job) -> None:
        self._in_time(job)
        comparison = self._comparison.now
        verdict = explain(comparison)
        for place, (lane, one) in enumerate(zip(comparison.lanes, verdict.lanes)):
            if (
                one is None
                or one.stage is None
                or lane.tried
                or lane.state.partly
                or self._asks_chat(lane.instance)
            ):
                continue
            self._wait(job)
            found = repair(
                LaneRun.of(lane, self._environment, self._prefixes),
                one.losses,
                lane_by_model(comparison, lane),
                lane.saved_alive,
                watch=Watch(lambda: self._go_on(job)),
                known=partial(_is_known, comparison, lane),
            )
            self._comparison.change(place, repair=found, tried=True)
            if found is not None:
                job.touch()

    def _wait(self, job: Job) -> None:
        """Wait until no other lane waits or runs.

        Raises Cancelled if that takes too long or no session is connected.
        """
        self._in_time(job)
        while self._queues.others(job):
            time.sleep(LOOK)
            self._in_time(job)

    def _go_on(self, job: Job) -> None:
        """Check that work in progress may go on, for a while even if other lanes wait.

        Raises Cancelled where it may not.
        """
        if self._queues.others(job):
            self._in_time(job)
        else:
            self._there(job)
            self._until = time.monotonic() + PATIENCE

    def _in_time(self, job: Job) -> None:
        self._there(job)
        if time.monotonic() > self._until:
            raise Cancelled()

    def _there(self, job: Job) -> None:
        job.check()
        if not self._alive():
            raise Cancelled()


def _is_known(comparison: Comparison, lane: Lane, found: Repair, trial: LaneRun) -> bool:
    """Return whether another lane brings what a repair of `lane` brings in its trial run."""
    if twin(comparison, lane, found) is not None:
        return True
    return answers_alike(comparison, lane, trial)
