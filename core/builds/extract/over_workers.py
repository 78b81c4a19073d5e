"""Chunks read by language models over worker processes, each with models of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from core.builds.base import BuildContext
from core.builds.fact_store import FactStore
from core.builds.facts import Facts
from core.builds.gathered import Collector
from core.builds.report import BuildReport
from core.io.home import home
from core.models.chat.saved_replies import SavedReplies
from core.models.registry import Registry
from core.runtime.cluster import Lost

if TYPE_CHECKING:
    from core.builds.extract.extracting import Extractor

C = TypeVar("C", bound=Collector)
BATCH_CHUNKS = 8  # chunks that a worker reads before it hands out what it found


@dataclass(frozen=True)
class Given:
    """What a worker is given of a build's context: the files of replies and of facts that came with the corpus, how many questions are
    asked at a time, and the language of the texts."""

    replies: tuple[str, ...]
    facts: tuple[str, ...]
    lanes: int
    language: str


@dataclass(frozen=True)
class Read:
    """What a worker found in a batch of chunks, and what it reports of it."""

    facts: list[Facts]
    report: BuildReport


def extracted(
    operator: Extractor, texts: Sequence[str], ctx: BuildContext
) -> Iterator[tuple[int, Facts]]:
    """As the extractor does it, by the workers of the build; what a worker that dies leaves is read here. The same facts as by one process,
    as each chunk is asked about by itself."""
    assert ctx.workers is not None  # who has none reads here
    batches = [
        list(texts[first : first + BATCH_CHUNKS]) for first in range(0, len(texts), BATCH_CHUNKS)
    ]
    work = partial(_read, operator, _given(ctx))
    for at, (batch, found) in enumerate(ctx.workers.each(work, batches, ctx.watch)):
        if isinstance(found, Lost):
            facts = [
                one for _, one in sorted(operator.extracted(batch, ctx), key=lambda pair: pair[0])
            ]
        else:
            facts = found.facts
            ctx.report.include(found.report)
        yield from enumerate(facts, at * BATCH_CHUNKS)


def gathered_over(
    operator: Extractor, fresh: Callable[[], C], runs: Iterable[list[str]], ctx: BuildContext
) -> Iterator[C]:
    """What a `fresh()` collects of the facts of each run of chunks, by their texts, which are saved, by the workers of the build. What a
    worker that dies leaves is collected here."""
    assert ctx.workers is not None  # who has none collects here
    for texts, found in ctx.workers.each(
        partial(_collected, operator, fresh, _given(ctx)), runs, ctx.watch
    ):
        yield collected(operator, fresh, ctx, texts) if isinstance(found, Lost) else found


def _collected(operator: Extractor, fresh: Callable[[], C], given: Given, texts: list[str]) -> C:
    """In a worker: what is collected of a run."""
    return collected(operator, fresh, _context(given), texts)


def collected(
    operator: Extractor,
    fresh: Callable[[], C],
    ctx: BuildContext,
    texts: list[str],
    report: BuildReport | None = None,
) -> C:
    """What a `fresh()` collects of the facts of chunks with these texts, row 0 the first; `report` hears of those that are extracted."""
    found = fresh()
    for row, facts in enumerate(operator.found(texts, ctx, report)):
        found.add(row, facts)
    return found


def _read(operator: Extractor, given: Given, texts: Sequence[str]) -> Read:
    """In a worker: what the extractor finds."""
    ctx = replace(_context(given), report=BuildReport())
    return Read(
        [facts for _, facts in sorted(operator.extracted(texts, ctx), key=lambda pair: pair[0])],
        ctx.report,
    )


def _context(given: Given) -> BuildContext:
    """In a worker: that of its process, with models that stay."""
    return _made(given, home())


@cache
def _made(given: Given, home: Path) -> BuildContext:
    """The context of a home, as the same worker may work for another one later."""
    replies, facts = ([Path(file) for file in files] for files in (given.replies, given.facts))
    saved, found = SavedReplies(shipped=replies), FactStore(shipped=facts)
    return BuildContext(
        Registry(), lanes=given.lanes, replies=saved, facts=found, language=given.language
    )


def _given(ctx: BuildContext) -> Given:
    return Given(
        tuple(map(str, ctx.replies.shipped)),
        tuple(map(str, ctx.facts.shipped)),
        ctx.lanes,
        ctx.language,
    )
