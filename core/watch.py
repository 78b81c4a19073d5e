"""Cancellation and progress of a piece of work, handed down as one value."""

from __future__ import annotations

from collections.abc import Callable


class Watch:
    """Cancellation and progress of one piece of work; by itself it never cancels and reports nowhere.

    Parameters
    ----------
    check : raises Cancelled once the work was cancelled.
    report : receives what is being done, and the share of it that is done (0 to 1), None where that is not known.

    Examples
    --------
    >>> from core.watch import Watch
    >>> half = Watch(report=lambda text, fraction: print(text, fraction)).part(0.5, 1.0, "Reading")
    >>> half.step(0.5), half.report("Sorting", 1.0)
    Reading 0.75
    Sorting 1.0
    (None, None)
    """

    def __init__(
        self,
        check: Callable[[], None] | None = None,
        report: Callable[[str, float | None], None] | None = None,
    ):
        self._check, self._report = check, report

    def check(self) -> None:
        """Raises Cancelled once the work was cancelled."""
        if self._check is not None:
            self._check()

    def report(self, text: str, fraction: float | None = None) -> None:
        """Say what is being done, and how much of it is done (0 to 1), where that is known; without a text the last one holds."""
        if self._report is not None:
            self._report(text, fraction)

    def step(self, fraction: float | None = None) -> None:
        """Say how much is done, in the words of the part; raises Cancelled once the work was cancelled."""
        self.check()
        if fraction is not None:
            self.report("", fraction)

    def part(self, start: float = 0.0, end: float = 1.0, text: str = "") -> Watch:
        """The watch of a part of the work, whose shares lie between `start` and `end` of the whole.

        `text` says what it does where it has no words of its own. Where less than the whole is done, the share of the last word holds
        while none is known.
        """
        last = None if (start, end) == (0.0, 1.0) else 0.0

        def report(said: str, fraction: float | None = None) -> None:
            nonlocal last
            last = fraction if fraction is not None or (start, end) == (0.0, 1.0) else last
            self.report(said or text, None if last is None else start + (end - start) * last)

        return Watch(self.check, report)

    @property
    def quiet(self) -> Watch:
        """The watch of work that is cancelled with this one and reports nowhere."""
        return self if self is NO_WATCH else Watch(self.check)


NO_WATCH = Watch()  # of work that nobody cancels and nobody looks at
