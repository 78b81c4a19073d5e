"""After a comparison: what the answers rest on, and changes of one step tried on each lane that lost an answer, as long as nobody else
needs the machine."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from core.comparison.comparing import Comparison, Lane, Queues
from core.comparison.run import LaneRun
from core.diagnosis.influence import influence, measurable, with_influence
from core.diagnosis.measure import lane_by_model
from core.diagnosis.repair.offered import answers_alike, twin
from core.diagnosis.repair.repairs import repair
from core.diagnosis.support import rests
from core.diagnosis.verdict.verdict_words import explain
from core.errors import BadInput, Cancelled, ModelFailed, ModelUnavailable
from core.instances.catalogue import Instance
from core.runtime.jobs import DONE, Job
from core.types import Repair
from core.watch import Watch

PATIENCE = 10.0  # seconds, of what waits after its comparison's last lane, and of what is at work since it last had the machine to itself
LOOK = 0.1


class Repairing:
    """Finds `lane.repair` for the lanes of an ended comparison. Given up where the job is cancelled, nobody is there any more
    (`alive`), or other comparisons keep the machine busy."""

    def __init__(
        self,
        comparison: Comparison,
        queues: Queues,
        asks_chat: Callable[[Instance], bool],
        alive: Callable[[], bool],
    ):
        self._comparison, self._queues, self._asks_chat, self._alive = (
            comparison,
            queues,
            asks_chat,
            alive,
        )

    def __call__(self, job: Job, ended: float) -> None:
        """Try the changes of a comparison whose last lane ended then (`time.monotonic()`); a lane's repair is there as soon as it is known.

        What comes too late is given up before anything is looked at, and what is at work ends where its person left or others have kept the
        machine busy: where many ask, those that wait behind it would else be held in memory long after everybody went."""
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
        """Look up what the sentences of the answers rest on, as soon as there are any; not where no encoder is there."""
        for lane in self._comparison.lanes if self._comparison.ask.source.documents else ():
            if lane.status == DONE and lane.state.answer and lane.rests is None:
                try:
                    lane.rests = rests(
                        lane.graph,
                        lane.state,
                        lane.run.environment.models.encoder(),
                        Watch(lambda: self._go_on(job)),
                    )
                except (ModelUnavailable, ModelFailed):
                    return
                job.touch()

    def _influence(self, job: Job) -> None:
        """Measure what the readers' answers rest on, which asks no language model, as long as nobody else needs the machine."""
        for lane in self._comparison.lanes:
            if lane.status == DONE and not lane.influences and not measurable(lane, by_model=False):
                self._wait(job)
                with suppress(BadInput):
                    lane.influences = with_influence(
                        lane.influences,
                        influence(lane, by_model=False, watch=Watch(lambda: self._go_on(job))),
                    )
                    job.touch()

    def _each(self, job: Job) -> None:
        self._in_time(job)
        verdict = explain(self._comparison)
        for lane, one in zip(self._comparison.lanes, verdict.lanes):
            if (
                one is None
                or one.stage is None
                or lane.tried
                or lane.state.partly
                or self._asks_chat(lane.instance)
            ):
                continue
            self._wait(job)
            by_model = lane_by_model(self._comparison, lane)
            lane.repair = repair(
                lane.run,
                one.losses,
                by_model,
                lane.saved_alive,
                watch=Watch(lambda: self._go_on(job)),
                known=partial(self._is_known, lane),
            )
            lane.tried = True
            if lane.repair is not None:
                job.touch()

    def _is_known(self, lane: Lane, found: Repair, trial: LaneRun) -> bool:
        """Whether another lane has what a repair of `lane` brings, by its trial run."""
        comparison = self._comparison
        if twin(comparison, lane, found) is not None:
            return True
        return answers_alike(comparison, lane, trial)

    def _wait(self, job: Job) -> None:
        """Until no other lane waits or works. Raises Cancelled where that takes too long or nobody is there."""
        self._in_time(job)
        while self._queues.others(job):
            time.sleep(LOOK)
            self._in_time(job)

    def _go_on(self, job: Job) -> None:
        """What is at work may go on, beside lanes of others for so long as one waits for them. Raises Cancelled where it may not."""
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
