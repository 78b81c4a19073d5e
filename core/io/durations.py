"""Durations in words, and estimates of the time that work will still take."""

from __future__ import annotations

import time

from core.watch import NO_WATCH, Watch

ROUGH_FACTOR = 2.0  # factor by which one measurement may be off, either way
MIN_DIFFERENCE_SECONDS = 0.05  # a smaller difference may come from the scheduler alone
MIN_DONE_SHARE = 0.01  # share of the work done before the time left is estimated
MIN_SPENT_SECONDS = 2.0  # before the time left is estimated


def duration_text(seconds: float) -> str:
    """Return a duration in words: 40 seconds, 12 minutes, 3.5 hours, 9 days."""
    if seconds < 90:
        return _count_unit(max(1, round(seconds)), "second")
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    hours = seconds / 3600
    if hours < 10:
        return f"{hours:.1f} hours"
    if hours < 48:
        return f"{hours:.0f} hours"
    return f"{hours / 24:.0f} days"


def range_text(low: float, high: float) -> str:
    """Return a range of durations, in seconds, in words: 2 to 5 minutes.

    If both ends read the same, one duration is returned.
    """
    low_text, high_text = duration_text(low), duration_text(high)
    if low_text == high_text:
        return low_text
    number, unit = low_text.split(" ")
    has_same_unit = high_text.endswith((f" {unit}", f" {unit}s"))
    return f"{number if has_same_unit else low_text} to {high_text}"


def rough_range_text(seconds: float) -> str:
    """Return the range from half of a duration to twice as long, in words.

    Used for estimates that are based on other work of the same kind.
    """
    return range_text(seconds / ROUGH_FACTOR, seconds * ROUGH_FACTOR)


def durations_differ(one: float, other: float) -> bool:
    """Return whether two durations in seconds differ by more than the noise of measuring.

    Each was measured once, so both may be off by `ROUGH_FACTOR`.

    >>> from core.io.durations import durations_differ
    >>> durations_differ(42.6, 27.9), durations_differ(42.6, 0.4), durations_differ(0.01, 0.05)
    (False, True, False)
    """
    low, high = sorted((one, other))
    return high > low * ROUGH_FACTOR**2 and high - low > MIN_DIFFERENCE_SECONDS


def ago_text(seconds: float) -> str:
    """Return the time since an event in words: just now, 3 days ago."""
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{_count_unit(int(seconds // 60), 'minute')} ago"
    if seconds < 86400:
        return f"{_count_unit(int(seconds // 3600), 'hour')} ago"
    return f"{_count_unit(int(seconds // 86400), 'day')} ago"


def with_time_left(watch: Watch = NO_WATCH, suffix: str = "") -> Watch:
    """Return a watch that adds the time left to the texts for `watch`.

    The time is estimated from the share that is done, once `MIN_DONE_SHARE` and `MIN_SPENT_SECONDS`
    are reached. The share with which resumed work begins was not done in the measured time, so it
    is not counted. `suffix` is appended to “left”.
    """
    first_report: list[tuple[float, float]] = []  # time and share; empty before any report

    def report_with_time_left(text: str, share: float | None = None) -> None:
        if share is not None:
            # A smaller share than the first means that other work has begun.
            if not first_report or share < first_report[0][1]:
                first_report[:] = [(time.monotonic(), share)]
            start, start_share = first_report[0]
            seconds, done = time.monotonic() - start, share - start_share
            if text and seconds >= MIN_SPENT_SECONDS and done >= MIN_DONE_SHARE and share < 1:
                text = f"{text}, {duration_text(seconds / done * (1 - share))} left{suffix}"
        watch.report(text, share)

    return Watch(watch.check, report_with_time_left)


def _count_unit(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"
