"""Failed questions in words: how many there are, and why, with sentences of one pattern counted together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

QUOTED, NUMBER, HINT = (
    re.compile(r"“[^“”]*”"),
    re.compile(r"\d(?:[\d.,]*\d)?"),
    re.compile(r" (Did you mean|Known:) .*$", re.DOTALL),
)


def patterns(sentences: Iterable[str]) -> dict[str, int]:
    """How often each pattern of sentence occurs, the most frequent first. Sentences have one pattern if they differ only in what is
    quoted, in numbers and in hints; a pattern of several different sentences shows “…” for the names and … for the numbers.

    >>> from core.evaluation.metrics.failures import patterns
    >>> patterns(["“Ann” is not in the graph.", "“Bob” is not in the graph.", "It took too long."])
    {'“…” is not in the graph.': 2, 'It took too long.': 1}
    """
    counted: dict[str, Counter[str]] = {}
    for sentence in sentences:
        counted.setdefault(_pattern(sentence), Counter())[sentence] += 1
    totals = {
        next(iter(same)) if len(same) == 1 else pattern: same.total()
        for pattern, same in counted.items()
    }
    return dict(sorted(totals.items(), key=lambda item: (-item[1], item[0])))


def reasons(failed: Mapping[str, int]) -> str:
    """The patterns with their counts on one line; a single one without its count.

    >>> from core.evaluation.metrics.failures import reasons
    >>> reasons({"“…” is not in the graph.": 2, "It took too long.": 1})
    '2 × “…” is not in the graph. 1 × It took too long.'
    """
    if len(failed) < 2:
        return next(iter(failed), "")
    return " ".join(f"{times:,} × {pattern}" for pattern, times in failed.items())


def answered(scored: int, failed: int, why: str) -> str:
    """How many questions were answered and how many failed, and why; empty where none failed.

    >>> from core.evaluation.metrics.failures import answered
    >>> answered(2, 38, "It took too long."), answered(40, 0, "")
    ('2 of 40 answered, 38 failed: It took too long.', '')
    """
    return f"{scored:,} of {scored + failed:,} answered, {failed:,} failed: {why}" if failed else ""


def _pattern(sentence: str) -> str:
    return NUMBER.sub("…", QUOTED.sub("“…”", HINT.sub("", sentence)))
