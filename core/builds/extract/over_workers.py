"""Chunks read by language models over worker processes, each with models of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from core.builds.base import BuildContext
from core.builds.facts import Facts
from core.builds.report import BuildReport
from core.models.chat.saved_replies import SavedReplies
from core.models.registry import Registry
from core.runtime.cluster import Lost

if TYPE_CHECKING:
    from core.builds.extract.extracting import Extractor

BATCH_CHUNKS = 8  # chunks that a worker reads before it hands out what it found


@dataclass(frozen=True)
class Read:
    """What a worker found in a batch of chunks, and what it reports of it."""

    facts: list[Facts]
    report: BuildReport


def extracted(operator: Extractor, texts: Sequence[str], ctx: BuildContext) -> Iterator[tuple[int, Facts]]:
    """As the extractor does it, by the workers of the build; what a worker that dies leaves is read here. The same facts as by one process,
    as each chunk is asked about by itself."""
    assert ctx.workers is not None  # who has none reads here
    batches = [list(texts[first : first + BATCH_CHUNKS]) for first in range(0, len(texts), BATCH_CHUNKS)]
    work = partial(_read, operator, tuple(map(str, ctx.replies.shipped)), ctx.lanes)
    for at, (batch, found) in enumerate(ctx.workers.each(work, batches, ctx.check)):
        if isinstance(found, Lost):
            facts = [one for _, one in sorted(operator.extracted(batch, ctx), key=lambda pair: pair[0])]
        else:
            facts = found.facts
            ctx.report.include(found.report)
        yield from enumerate(facts, at * BATCH_CHUNKS)


def _read(operator: Extractor, shipped: tuple[str, ...], lanes: int, texts: Sequence[str]) -> Read:
    """In a worker: what the extractor finds."""
    ctx = replace(_context(shipped, lanes), report=BuildReport())
    return Read([facts for _, facts in sorted(operator.extracted(texts, ctx), key=lambda pair: pair[0])], ctx.report)


@cache
def _context(shipped: tuple[str, ...], lanes: int) -> BuildContext:
    """In a worker: that of its process, with models that stay."""
    return BuildContext(Registry(), lanes=lanes, replies=SavedReplies(shipped=[Path(file) for file in shipped]))
