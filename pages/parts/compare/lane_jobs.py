"""Work on single lanes in the background that a button starts and stops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from core.engine import MethodLane
from core.errors import split_command
from core.runtime.jobs import Job
from core.watch import Watch
from pages.parts.compare.screen_state import ScreenComparison
from pages.parts.shared.session import engine


@dataclass(frozen=True)
class LaneJobs:
    """One kind of work on lanes, with at most one job for each lane.

    Parameters
    ----------
    kind : begins the keys of the jobs.
    """

    kind: str

    def of_lane(self, on_screen: ScreenComparison, lane: MethodLane) -> Job | None:
        """Return the job of a lane, None if it has none. A case has no jobs."""
        if on_screen.job is None:
            return None
        return engine().background_jobs.get(self._key(on_screen, lane))

    def of_lanes(self, on_screen: ScreenComparison) -> list[Job | None]:
        """Return the job of each lane, or None; empty for a case."""
        if on_screen.job is None:
            return []
        return [self.of_lane(on_screen, lane) for lane in on_screen.comparison.lanes]

    def start(
        self, on_screen: ScreenComparison, lane: MethodLane, work: Callable[[Watch], Any]
    ) -> None:
        """Start the work on a lane; the board is drawn again as it reports and ends.

        Raises NotAllowed if another person started it.
        """
        screen_job = on_screen.job

        def redraw() -> None:
            if screen_job is not None:
                screen_job.touch()

        def run(job: Job) -> None:
            def report(text: str, share: float | None = None) -> None:
                job.report(text, share)
                redraw()

            try:
                work(Watch(job.check, report))
            finally:
                redraw()

        engine().background_jobs.run(self._key(on_screen, lane), run, again=True)

    def stop(self, on_screen: ScreenComparison, lane: MethodLane) -> None:
        """Cancel the job of a lane, if it has one."""
        job = self.of_lane(on_screen, lane)
        if job is not None:
            job.cancel()

    def progress(self, on_screen: ScreenComparison, lane: MethodLane) -> dict[str, Any] | None:
        """Return the board's data of a running job; None if none runs."""
        job = self.of_lane(on_screen, lane)
        if job is None or job.has_ended:
            return None
        return {"running": True, "text": job.text, "share": job.fraction}

    def offer(
        self, on_screen: ScreenComparison, lane: MethodLane, label: str, cost: str
    ) -> dict[str, Any]:
        """Return the board's data of the button, with the error of the last job."""
        job = self.of_lane(on_screen, lane)
        error = split_command(job.error)[0] if job is not None and job.error else None
        return {"running": False, "label": label, "cost": cost, "error": error}

    def _key(self, on_screen: ScreenComparison, lane: MethodLane) -> str:
        return f"{self.kind}-{on_screen.key}-{lane.method.line!r}"
