"""What all calls of a process share: one engine, with its graphs and models, and how work is watched."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from core.errors import HopscopeError
from core.watch import Watch

if TYPE_CHECKING:
    from core.engine import Engine

LOOK = 0.1  # seconds between two looks at how far work is


@lru_cache(maxsize=1)
def engine() -> Engine:
    """The engine of this process, made at the first call."""
    from core.engine import Engine

    return Engine()


class Bar:
    """A progress bar for work that takes long: `with Bar("Reading") as watch: watch.report(text, share)`. It is drawn in notebooks and
    terminals, unless `shown` is off."""

    def __init__(self, text: str, shown: bool = True):
        from tqdm.auto import tqdm

        self._shown: tuple[str, float | None] = ("", None)
        drawn = shown and (sys.stderr.isatty() or "ipykernel" in sys.modules)
        self._bar = tqdm(
            total=1.0,
            desc=text,
            leave=False,
            disable=not drawn,
            delay=1.0,
            bar_format="{desc} {bar} {percentage:3.0f}%",
        )

    def __enter__(self) -> Watch:
        return Watch(report=self._advanced)

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def _advanced(self, text: str, share: float | None = None) -> None:
        if self._bar.disable or (text, share) == self._shown:
            return
        self._shown = text, share
        self._bar.set_description_str(text[:60], refresh=False)
        self._bar.n = share or 0.0
        self._bar.refresh()


def finished(job: Any, text: str, progress: bool) -> Any:
    """The job, once it has ended; an interruption cancels it. Raises HopscopeError where it failed."""
    with Bar(text, progress) as watch:
        try:
            while not job.wait(LOOK):
                watch.report(job.text or text, job.fraction)
        except BaseException:
            job.cancel()
            job.wait(10)
            raise
    if job.error:
        raise HopscopeError(job.error)
    return job
