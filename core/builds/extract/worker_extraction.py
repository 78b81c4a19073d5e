"""Extraction and collection of facts by the worker processes of a build.

The functions `_extract_in_worker` and `_collect_in_worker` run in a worker, which has its own
models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from core.builds.base import BuildContext
from core.builds.fact_collections import Collector
from core.builds.fact_store import FactStore
from core.builds.facts import Facts
from core.builds.report import BuildReport
from core.io.home import home_folder
from core.models.chat.saved_replies import SavedReplies
from core.models.registry import Registry
from core.runtime.cluster import LostResult

if TYPE_CHECKING:
    from core.builds.extract.extractor import Extractor

C = TypeVar("C", bound=Collector)
WORKER_BATCH_CHUNKS = 8  # chunks that a worker reads before it returns their facts


@dataclass(frozen=True)
class WorkerSettings:
    """Settings of a build that a worker receives.

    They are the paths of the shipped files of replies and facts, the number of parallel requests to
    a model, and the code of the texts' language.
    """

    replies: tuple[str, ...]
    facts: tuple[str, ...]
    lanes: int
    language: str


@dataclass(frozen=True)
class WorkerFacts:
    """Facts that a worker found in a batch of chunks, with its report."""

    facts: list[Facts]
    report: BuildReport


def extract_over_workers(
    operator: Extractor, texts: Sequence[str], ctx: BuildContext
) -> Iterator[tuple[int, Facts]]:
    """Extract facts like the operator itself, by the workers of the build.

    Batches of a worker that died are read in this process. The facts are the same as by one
    process, because each chunk is asked about separately.

    Parameters
    ----------
    operator : the extractor.
    texts : texts of chunks.
    ctx : the workers, the report and the settings of the build.

    Yields
    ------
    The index of a text and its facts.
    """
    assert ctx.workers is not None  # without workers, the operator extracts in this process
    batches = [
        list(texts[first : first + WORKER_BATCH_CHUNKS])
        for first in range(0, len(texts), WORKER_BATCH_CHUNKS)
    ]
    work = partial(_extract_in_worker, operator, _worker_settings(ctx))
    for batch_number, (batch, result) in enumerate(ctx.workers.run_each(work, batches, ctx.watch)):
        if isinstance(result, LostResult):
            facts = extract_in_order(operator, batch, ctx)
        else:
            facts = result.facts
            ctx.report.include(result.report)
        yield from enumerate(facts, batch_number * WORKER_BATCH_CHUNKS)


def collect_over_workers(
    operator: Extractor, make_empty: Callable[[], C], runs: Iterable[list[str]], ctx: BuildContext
) -> Iterator[C]:
    """Yield a collection of facts for each run of chunks.

    The workers make the collections. Runs of a worker that died are collected in this process.

    Parameters
    ----------
    operator : the extractor.
    make_empty : makes an empty collection.
    runs : the texts of the chunks of each run.
    ctx : the workers, the saved facts and the watch of the build.

    Yields
    ------
    A filled collection, in the order of the runs.
    """
    assert ctx.workers is not None  # without workers, the caller collects in this process
    work = partial(_collect_in_worker, operator, make_empty, _worker_settings(ctx))
    for texts, result in ctx.workers.run_each(work, runs, ctx.watch):
        if isinstance(result, LostResult):
            result = collect_facts(operator, make_empty, ctx, texts)
        yield result


def _collect_in_worker(
    operator: Extractor, make_empty: Callable[[], C], settings: WorkerSettings, texts: list[str]
) -> C:
    """Collect the facts of a run in a worker process."""
    return collect_facts(operator, make_empty, _context(settings), texts)


def collect_facts(
    operator: Extractor,
    make_empty: Callable[[], C],
    ctx: BuildContext,
    texts: list[str],
    report: BuildReport | None = None,
) -> C:
    """Collect the facts of chunks.

    Parameters
    ----------
    operator : the extractor.
    make_empty : makes an empty collection.
    ctx : the models, the saved facts and the settings of the build.
    texts : texts of chunks; the first one is row 0.
    report : receives the number of facts extracted now; None for no numbers.

    Returns
    -------
    The filled collection.
    """
    collection = make_empty()
    for row, facts in enumerate(operator.find_facts(texts, ctx, report)):
        collection.add(row, facts)
    return collection


def _extract_in_worker(
    operator: Extractor, settings: WorkerSettings, texts: Sequence[str]
) -> WorkerFacts:
    """Extract facts in a worker process."""
    ctx = replace(_context(settings), report=BuildReport())
    return WorkerFacts(extract_in_order(operator, texts, ctx), ctx.report)


def extract_in_order(operator: Extractor, texts: Sequence[str], ctx: BuildContext) -> list[Facts]:
    """Return the facts of texts in their order, extracted by this process."""
    numbered = sorted(operator.extract_facts(texts, ctx), key=lambda pair: pair[0])
    return [facts for _, facts in numbered]


def _context(settings: WorkerSettings) -> BuildContext:
    """Return the context of a worker process, with models that stay loaded."""
    return _make_context(settings, home_folder())


@cache
def _make_context(settings: WorkerSettings, home: Path) -> BuildContext:
    """Return the context for a home folder.

    The same worker may later work for another home folder, so this is part of the cache's key.
    """
    return BuildContext(
        Registry(),
        lanes=settings.lanes,
        replies=SavedReplies(shipped=list(map(Path, settings.replies))),
        fact_store=FactStore(shipped=list(map(Path, settings.facts))),
        language=settings.language,
    )


def _worker_settings(ctx: BuildContext) -> WorkerSettings:
    return WorkerSettings(
        replies=tuple(map(str, ctx.replies.shipped)),
        facts=tuple(map(str, ctx.fact_store.shipped)),
        lanes=ctx.lanes,
        language=ctx.language,
    )
