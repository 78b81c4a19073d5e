"""The engine that all calls of a process share, and progress bars for its jobs."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from core.errors import HopscopeError
from core.watch import Watch

if TYPE_CHECKING:
    from core.engine import Engine

BAR_UPDATE_SECONDS = 0.1  # between two updates of a progress bar
CANCEL_WAIT_SECONDS = 10  # longest wait for the end of a cancelled job


@lru_cache(maxsize=1)
def engine() -> Engine:
    """The engine of this process, made at the first call."""
    from core.engine import Engine

    return Engine()


class WorkProgress:
    """Context manager that shows the progress of long work in a notebook or terminal.

    Its `with` block gets a `Watch`, to which the work reports. A bar appears after one second.

    Parameters
    ----------
    text : str
        The words before the bar, until the work reports others.
    visible : bool
        False shows no bar.
    """

    def __init__(self, text: str, visible: bool = True):
        from tqdm.auto import tqdm

        self._last_report: tuple[str, float | None] = ("", None)
        is_drawn = visible and (sys.stderr.isatty() or "ipykernel" in sys.modules)
        self._bar = tqdm(
            total=1.0,
            desc=text,
            leave=False,
            disable=not is_drawn,
            delay=1.0,  # seconds, so that short work shows no bar
            bar_format="{desc} {bar} {percentage:3.0f}%",
        )

    def __enter__(self) -> Watch:
        return Watch(report=self._advance)

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def _advance(self, text: str, fraction: float | None = None) -> None:
        if self._bar.disable or (text, fraction) == self._last_report:
            return
        self._last_report = text, fraction
        self._bar.set_description_str(text[:60], refresh=False)
        self._bar.n = fraction or 0.0
        self._bar.refresh()


def warn_user(sentences: Iterable[str]) -> None:
    """Warn with each sentence, at the line that called the function of the package."""
    for sentence in sentences:
        warnings.warn(sentence, stacklevel=3)


def wait_for_job(job: Any, text: str, progress: bool) -> Any:
    """Wait until a job has ended, with a progress bar.

    An interruption cancels the job.

    Parameters
    ----------
    job : Job
        A job of the engine or of an evaluation.
    text : str
        The words before the bar, until the job reports others.
    progress : bool
        Whether to draw the bar.

    Returns
    -------
    Job
        The same job.

    Raises
    ------
    HopscopeError
        If the job failed.
    """
    with WorkProgress(text, progress) as watch:
        try:
            while not job.wait(BAR_UPDATE_SECONDS):
                watch.report(job.text or text, job.fraction)
        except BaseException:
            job.cancel()
            job.wait(CANCEL_WAIT_SECONDS)
            raise
    if job.error:
        raise HopscopeError(job.error)
    return job
