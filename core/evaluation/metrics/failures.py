"""Failed questions in words: how many there are, and why, with sentences of one kind counted together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

QUOTED, NUMBER, HINT = re.compile(r"“[^”]*”"), re.compile(r"\d(?:[\d.,]*\d)?"), re.compile(r" (Did you mean|Known:) .*$", re.DOTALL)


def kinds(sentences: Iterable[str]) -> dict[str, int]:
    """How often each kind of sentence was said, most often first: what is quoted, numbers and hints aside. A kind of which all
    sentences are the same is that sentence; else it has “…” for the names and … for the numbers."""
    counted: dict[str, Counter[str]] = {}
    for sentence in sentences:
        counted.setdefault(_kind(sentence), Counter())[sentence] += 1
    told = {next(iter(said)) if len(said) == 1 else kind: said.total() for kind, said in counted.items()}
    return dict(sorted(told.items(), key=lambda item: (-item[1], item[0])))


def reasons(failed: Mapping[str, int]) -> str:
    """The kinds with their counts on one line; of one kind the sentence alone."""
    return next(iter(failed), "") if len(failed) < 2 else " ".join(f"{times:,} × {kind}" for kind, times in failed.items())


def answered(scored: int, failed: int, why: str) -> str:
    """`2 of 40 answered, 38 failed: 30 × “…” is not in the graph. 8 × …`; empty where no question failed."""
    return f"{scored:,} of {scored + failed:,} answered, {failed:,} failed: {why}" if failed else ""


def _kind(sentence: str) -> str:
    return NUMBER.sub("…", QUOTED.sub("“…”", HINT.sub("", sentence)))
