"""Cancellation and progress of a piece of work, passed down as one object."""

from __future__ import annotations

from collections.abc import Callable


class Watch:
    """Cancellation and progress of one piece of work.

    Without arguments it never cancels and reports to nobody.

    Parameters
    ----------
    check : raises RunCancelled once the work was cancelled.
    report : receives the current activity as text, and the fraction done (0 to 1) or None if the
        fraction is unknown.

    Examples
    --------
    >>> from core.watch import Watch
    >>> whole = Watch(report=lambda text, fraction: print(text, fraction))
    >>> second_half = whole.part(0.5, 1.0, "Reading")
    >>> second_half.step(0.5), second_half.report("Sorting", 1.0)
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
        """Raise RunCancelled once the work was cancelled."""
        if self._check is not None:
            self._check()

    def report(self, text: str, fraction: float | None = None) -> None:
        """Report the current activity and, if known, the fraction done (0 to 1).

        Without a text, the last text stays.
        """
        if self._report is not None:
            self._report(text, fraction)

    def step(self, fraction: float | None = None) -> None:
        """Report the fraction done, with the last text. Raises RunCancelled once cancelled."""
        self.check()
        if fraction is not None:
            self.report("", fraction)

    def part(self, start: float = 0.0, end: float = 1.0, text: str = "") -> Watch:
        """Return the watch of a part of the work.

        Fractions of the part, 0 to 1, are reported as `start` to `end` of the whole. `text` is
        reported if the part reports no text itself. If a part without a known fraction reports, its
        last one is repeated (at first 0), unless the part is the whole work.
        """
        is_whole = (start, end) == (0.0, 1.0)
        last_fraction = None if is_whole else 0.0

        def report(part_text: str, fraction: float | None = None) -> None:
            nonlocal last_fraction
            if fraction is not None or is_whole:
                last_fraction = fraction
            done = None if last_fraction is None else start + (end - start) * last_fraction
            self.report(part_text or text, done)

        return Watch(self.check, report)

    def titled(self, title: str) -> Watch:
        """Return a watch that puts a title and a colon before the texts that it reports."""
        return Watch(self.check, lambda text, fraction: self.report(f"{title}: {text}", fraction))

    @property
    def without_reports(self) -> Watch:
        """A watch that is cancelled together with this one and reports to nobody."""
        return self if self is NO_WATCH else Watch(self.check)


NO_WATCH = Watch()  # for work that is never cancelled and whose progress nobody sees
