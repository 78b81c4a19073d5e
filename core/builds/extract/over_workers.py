"""Extraction by language models over worker processes, each with its own models."""

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
BATCH_CHUNKS = 8  # chunks that a worker reads before it returns their facts


@dataclass(frozen=True)
class Given:
    """Settings of a build that a worker receives.

    They are the shipped files of replies and facts, the number of parallel requests to a model, and
    the language of the texts.
    """

    replies: tuple[str, ...]
    facts: tuple[str, ...]
    lanes: int
    language: str


@dataclass(frozen=True)
class Read:
    """Facts that a worker found in a batch of chunks, with its report."""

    facts: list[Facts]
    report: BuildReport


def extracted(
    operator: Extractor, texts: Sequence[str], ctx: BuildContext
) -> Iterator[tuple[int, Facts]]:
    """Extract facts like the operator itself, by the workers of the build.

    Batches of a worker that died are read in this process. The facts are the same as by one
    process, because each chunk is asked about separately.
    """
    assert ctx.workers is not None  # without workers, the operator extracts here
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
    """Yield a collection of the facts of each run of chunks, made by the workers.

    Runs of a worker that died are collected in this process.

    Parameters
    ----------
    fresh : makes an empty collection.
    runs : the texts of each run, whose facts are saved.
    """
    assert ctx.workers is not None  # without workers, the caller collects here
    for texts, found in ctx.workers.each(
        partial(_collected, operator, fresh, _given(ctx)), runs, ctx.watch
    ):
        yield collected(operator, fresh, ctx, texts) if isinstance(found, Lost) else found


def _collected(operator: Extractor, fresh: Callable[[], C], given: Given, texts: list[str]) -> C:
    """Collect a run in a worker process."""
    return collected(operator, fresh, _context(given), texts)


def collected(
    operator: Extractor,
    fresh: Callable[[], C],
    ctx: BuildContext,
    texts: list[str],
    report: BuildReport | None = None,
) -> C:
    """Collect the facts of chunks with these texts; the first one is row 0.

    `fresh` makes an empty collection. `report` receives the number of facts extracted now.
    """
    found = fresh()
    for row, facts in enumerate(operator.found(texts, ctx, report)):
        found.add(row, facts)
    return found


def _read(operator: Extractor, given: Given, texts: Sequence[str]) -> Read:
    """Extract facts in a worker process."""
    ctx = replace(_context(given), report=BuildReport())
    return Read(
        [facts for _, facts in sorted(operator.extracted(texts, ctx), key=lambda pair: pair[0])],
        ctx.report,
    )


def _context(given: Given) -> BuildContext:
    """Return the context of a worker process, with models that stay loaded."""
    return _made(given, home())


@cache
def _made(given: Given, home: Path) -> BuildContext:
    """Return the context for a home folder.

    The same worker may later work for another one.
    """
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
