"""Spans of time in words, and how long a piece of work will still take."""

from __future__ import annotations

import time

from core.watch import NO_WATCH, Watch

ROUGH_FACTOR = 2.0  # by which one measurement may be off, either way
MIN_DIFFERENCE_SECONDS = 0.05  # below which a scheduler alone explains a difference
# share done and seconds spent before which nobody knows how long it will take
MIN_SHARE, MIN_SECONDS = (0.01, 2.0)


def span(seconds: float) -> str:
    """A span of time in words: 40 seconds, 12 minutes, 3.5 hours, 9 days."""
    if seconds < 90:
        return _counted(max(1, round(seconds)), "second")
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    hours = seconds / 3600
    if hours < 10:
        return f"{hours:.1f} hours"
    if hours < 48:
        return f"{hours:.0f} hours"
    return f"{hours / 24:.0f} days"


def between(low: float, high: float) -> str:
    """An estimate as a range, in words: 2 to 5 minutes, 40 seconds to 3 minutes; one span where both ends read the same."""
    first, last = span(low), span(high)
    if first == last:
        return first
    number, unit = first.split(" ")
    return (
        f"{number if last.endswith(f' {unit}') or last.endswith(f' {unit}s') else first} to {last}"
    )


def roughly(seconds: float) -> str:
    """An estimate by other work of the kind, in words: from half of it to twice as long."""
    return between(seconds / ROUGH_FACTOR, seconds * ROUGH_FACTOR)


def differ(one: float, other: float) -> bool:
    """Whether two durations, each measured once, differ by more than a machine varies.

    >>> from core.io.durations import differ
    >>> differ(42.6, 27.9), differ(42.6, 0.4), differ(0.01, 0.05)
    (False, True, False)
    """
    low, high = sorted((one, other))
    return high > low * ROUGH_FACTOR**2 and high - low > MIN_DIFFERENCE_SECONDS


def ago(seconds: float) -> str:
    """How long ago something was, in words: just now, 12 minutes ago, 3 days ago."""
    if seconds < 60:
        return "just now"
    size, unit = next(
        (size, unit)
        for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute"))
        if seconds >= size
    )
    return f"{_counted(int(seconds // size), unit)} ago"


def with_time_left(watch: Watch = NO_WATCH, of: str = "") -> Watch:
    """`watch` with the time left (`of` what) in its text, as soon as that can be guessed from the share that is done.

    What was done before the first word, as in work that is taken up again, is not counted as done in this time.
    """
    begun: list[tuple[float, float]] = []

    def with_left(text: str, share: float | None = None) -> None:
        if share is not None:
            if not begun or share < begun[0][1]:
                begun[:] = [(time.monotonic(), share)]
            start, before = begun[0]
            spent, done = time.monotonic() - start, share - before
            if text and spent >= MIN_SECONDS and done >= MIN_SHARE and share < 1:
                text = f"{text}, {span(spent / done * (1 - share))} left{of}"
        watch.report(text, share)

    return Watch(watch.check, with_left)


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}{'s' * (number != 1)}"
