"""Summaries of failed questions: their number and their reasons."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

QUOTED_TEXT = re.compile(r"“[^“”]*”")
NUMBER_IN_TEXT = re.compile(r"\d(?:[\d.,]*\d)?")
ERROR_HINT = re.compile(r" (Did you mean|Known:) .*$", re.DOTALL)


def failure_patterns(sentences: Iterable[str]) -> dict[str, int]:
    """Count the sentences of each pattern, most frequent first.

    Sentences share a pattern if they differ only in quoted texts, numbers and hints. The pattern of
    several different sentences shows “…” for each quoted text and … for each number. A sentence
    without others of its pattern is shown as it is.

    >>> from core.evaluation.metrics.failures import failure_patterns
    >>> failure_patterns(["“Ann” is not in the graph.", "“Bob” is not in the graph.", "It took too long."])
    {'“…” is not in the graph.': 2, 'It took too long.': 1}
    """
    counters: dict[str, Counter[str]] = {}
    for sentence in sentences:
        counters.setdefault(_pattern(sentence), Counter())[sentence] += 1
    totals = {
        next(iter(counter)) if len(counter) == 1 else pattern: counter.total()
        for pattern, counter in counters.items()
    }
    return dict(sorted(totals.items(), key=lambda item: (-item[1], item[0])))


def join_reasons(counts: Mapping[str, int]) -> str:
    """Return the patterns with their counts on one line.

    A single pattern is returned without its count.

    >>> from core.evaluation.metrics.failures import join_reasons
    >>> join_reasons({"“…” is not in the graph.": 2, "It took too long.": 1})
    '2 × “…” is not in the graph. 1 × It took too long.'
    """
    if len(counts) < 2:
        return next(iter(counts), "")
    return " ".join(f"{times:,} × {pattern}" for pattern, times in counts.items())


def answered_text(answered: int, failed: int, reason: str) -> str:
    """Return a sentence on the numbers of answered and failed questions, with the reason.

    Parameters
    ----------
    answered : number of questions that were answered.
    failed : number of questions that failed.
    reason : the reason of the failures, as a sentence.

    Returns
    -------
    A sentence; empty if no question failed.

    Examples
    --------
    >>> from core.evaluation.metrics.failures import answered_text
    >>> answered_text(2, 38, "It took too long."), answered_text(40, 0, "")
    ('2 of 40 answered, 38 failed: It took too long.', '')
    """
    if not failed:
        return ""
    return f"{answered:,} of {answered + failed:,} answered, {failed:,} failed: {reason}"


def _pattern(sentence: str) -> str:
    return NUMBER_IN_TEXT.sub("…", QUOTED_TEXT.sub("“…”", ERROR_HINT.sub("", sentence)))
