"""Base class of the operators of stage “extract”, and facts that are read from disk."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeVar, overload

from core.builds.base import BuildContext, BuildOperator, BuildState
from core.builds.extract.worker_extraction import collect_facts, collect_over_workers
from core.builds.extract.worker_extraction import extract_over_workers as extracted_over
from core.builds.fact_collections import (
    Collector,
    NumberColumns,
    SavedRuns,
    TextIds,
    chunk_runs,
    run_key,
)
from core.builds.fact_store import fact_key
from core.builds.facts import Facts
from core.builds.report import BuildReport
from core.errors import UnparsedReplies
from core.graph.columns import Table
from core.io.home import save_fault
from core.types import Usage

SAVE_SECONDS = 0.5  # seconds after which new facts are saved
HELD_CHUNKS = 2_000  # chunks whose facts are in memory at a time
C = TypeVar("C", bound=Collector)
MAX_REPORTED_NOTES = 5  # different notes of chunks in the report, each with its number of chunks


class Extractor(BuildOperator):
    """Base class of operators that find the facts of each chunk separately.

    Facts are saved as they are found, so a stop loses only the chunks in progress. A chunk is
    identified by its text. After documents are added, only their chunks are read.
    """

    stage = "extract"
    reads, writes = ("chunks",), ("facts",)
    held = 32  # Most chunks lost when the process is killed, of those read within `SAVE_SECONDS`.

    @abstractmethod
    def extracted(self, texts: Sequence[str], ctx: BuildContext) -> Iterator[tuple[int, Facts]]:
        """Extract the facts of texts, without looking at saved ones.

        Parameters
        ----------
        texts : texts of chunks.
        ctx : the models, the report and the settings of the build.

        Yields
        ------
        The index of a text and its facts, in any order.

        Raises
        ------
        ModelUnavailable, ModelFailed : as a model raises.
        """

    def signature(self, ctx: BuildContext) -> str:
        """Return what the facts depend on besides operator and text, such as a model's weights."""
        return ""

    def cost(self, texts: Sequence[str], ctx: BuildContext) -> tuple[Usage, float | None]:
        """Estimate the use of language models for texts.

        Parameters
        ----------
        texts : texts of chunks without saved facts.
        ctx : the models, the replies and the settings of the build.

        Returns
        -------
        Calls and tokens, and the seconds on this computer; None if these are unknown.
        """
        return Usage(), 0.0

    def final(self, facts: Facts) -> bool:
        """Return whether saved facts are final, so that the chunk is not read again."""
        return True

    def asks(self, facts: Facts) -> bool:
        """Return whether a language model was asked for these facts."""
        return bool(self.models())

    def unreadable(self, facts: Facts) -> bool:
        """Return whether a language model contributed nothing, as no reply could be read."""
        return bool(facts.unreadable) and not (facts.entities or facts.relations)

    def missing(self, chunks: Table, ctx: BuildContext) -> list[str]:
        """Return the texts of the chunks without saved facts, without duplicates.

        Parameters
        ----------
        chunks : the chunks of a build.
        ctx : gives the saved facts.

        Returns
        -------
        Texts in the order of the chunks.
        """
        keys = self._keys(chunks.texts("text"), ctx)
        saved_facts = ctx.facts.found(list(keys), self.final)
        return [text for key, text in keys.items() if key not in saved_facts]

    def found(
        self, texts: Sequence[str], ctx: BuildContext, report: BuildReport | None = None
    ) -> list[Facts]:
        """Return the facts of each text, saved ones or extracted now.

        Parameters
        ----------
        texts : texts of chunks.
        ctx : the models, the saved facts and the settings of the build.
        report : receives the numbers of saved and of extracted facts; None for no numbers.

        Returns
        -------
        One entry for each text, in their order.

        Raises
        ------
        ModelUnavailable, ModelFailed : as a model raises.
        """
        keys = self._keys(texts, ctx)
        facts_of_key = ctx.facts.found(list(keys), self.final)
        missing = [key for key in keys if key not in facts_of_key]
        if report is not None:
            report.count(**{"extracted": len(missing), "kept": len(keys) - len(missing)})
            report.fresh += len(missing)
        fresh: dict[bytes, Facts] = {}
        last = time.monotonic()
        try:
            texts_left = [keys[key] for key in missing]
            # A parser distributes its own batches.
            remote = ctx.workers is not None and bool(self.chats())
            results = (
                extracted_over(self, texts_left, ctx) if remote else self.extracted(texts_left, ctx)
            )
            for done, (number, facts) in enumerate(results, 1):
                fresh[missing[number]] = facts
                if len(fresh) >= self.held or time.monotonic() - last > SAVE_SECONDS:
                    ctx.facts.keep(fresh)
                    facts_of_key.update(fresh)
                    fresh, last = {}, time.monotonic()
                ctx.watch.report(
                    f"Reading chunks: {done:,} of {len(missing):,}", done / len(missing)
                )
        finally:
            ctx.facts.keep(fresh)
        facts_of_key.update(fresh)
        signature = self.signature(ctx)
        return [facts_of_key[fact_key(repr(self), signature, text)] for text in texts]

    def apply(self, state: BuildState, ctx: BuildContext) -> BuildState:
        assert state.chunks is not None  # a line without chunks is refused
        saved_facts, summary, all_facts = SavedFacts(self, state.chunks, ctx), Summary(self), None
        if len(saved_facts) <= HELD_CHUNKS or save_fault():
            all_facts = tuple(self.found(state.chunks.texts("text"), ctx, ctx.report))
            for row, facts in enumerate(all_facts):
                summary.add(row, facts)
        else:
            for _, block in saved_facts.gathered(partial(Summary, self), ctx.report):
                summary.include(block)
        summary.tell(ctx)
        return state.replace(facts=saved_facts if all_facts is None else all_facts)

    def _keys(self, texts: Sequence[str], ctx: BuildContext) -> dict[bytes, str]:
        """Return the text of each key, in the order of the texts."""
        signature = self.signature(ctx)
        return {fact_key(repr(self), signature, text): text for text in texts}


@dataclass(frozen=True, eq=False)
class SavedFacts(Sequence[Facts]):
    """Facts of very many chunks, read from disk on each access to save memory."""

    extractor: Extractor
    chunks: Table
    ctx: BuildContext

    def read(self) -> Iterator[Facts]:
        """Yield all facts in the order of the chunks."""
        for first in range(0, len(self), HELD_CHUNKS):
            yield from self.extractor.found(
                self.chunks.texts("text", range(first, min(first + HELD_CHUNKS, len(self)))),
                self.ctx,
            )

    def gathered(
        self, fresh: partial[C], report: BuildReport | None = None
    ) -> Iterator[tuple[range, C]]:
        """Yield the rows of each run of chunks, with a collection of its facts.

        A run is a range of consecutive chunks. The collections of a parser's facts are saved. After
        a change of the corpus, only the changed runs are collected again.

        Parameters
        ----------
        fresh : makes an empty collection. The first chunk of the run is its row 0.
        report : receives the number of facts that are extracted now. Without it, the worker
            processes of the build do the work, where there are any.

        Yields
        ------
        Rows of chunks, and the collection of their facts.
        """
        runs = SavedRuns(self.ctx.report.note) if not self.extractor.chats() else None
        rows = list(chunk_runs(self._keys))
        keys = [
            run_key(
                f"{fresh.func.__name__} {fresh.args!r} {fresh.keywords!r}",
                self._keys[run.start : run.stop],
            )
            for run in rows
        ]
        saved_keys = runs.known(keys) if runs is not None else set()
        collections = self._collect(
            fresh, [run for run, key in zip(rows, keys) if key not in saved_keys], report
        )
        for run, key in zip(rows, keys):
            block = runs.found(key, fresh()) if runs is not None and key in saved_keys else None
            if block is not None and report is not None:
                report.count(**{"extracted": 0, "kept": len({*self._keys[run.start : run.stop]})})
            if block is None:
                block = next(
                    collections if key not in saved_keys else self._collect(fresh, [run], report)
                )
                if runs is not None:
                    runs.keep(key, block)
            yield run, block
        if runs is not None:
            runs.tidy()

    def _collect(
        self, fresh: partial[C], runs: Sequence[range], report: BuildReport | None
    ) -> Iterator[C]:
        texts = (self.chunks.texts("text", run) for run in runs)
        if report is None and self.ctx.workers is not None:
            return collect_over_workers(self.extractor, fresh, texts, self.ctx)
        return (collect_facts(self.extractor, fresh, self.ctx, one, report) for one in texts)

    @cached_property
    def _keys(self) -> list[bytes]:
        """The key of each chunk's facts."""
        operator, signature = repr(self.extractor), self.extractor.signature(self.ctx)
        return [
            fact_key(operator, signature, text)
            for first in range(0, len(self), HELD_CHUNKS)
            for text in self.chunks.texts("text", range(first, min(first + HELD_CHUNKS, len(self))))
        ]

    def __len__(self) -> int:
        return len(self.chunks)

    def __iter__(self) -> Iterator[Facts]:
        return self.read()

    @overload
    def __getitem__(self, index: int) -> Facts: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Facts]: ...
    def __getitem__(self, index: int | slice) -> Facts | Sequence[Facts]:
        rows = range(len(self))[index]
        found = self.extractor.found(
            self.chunks.texts("text", [rows] if isinstance(rows, int) else rows), self.ctx
        )
        return found[0] if isinstance(rows, int) else found


class Summary:
    """Summary of the facts of all chunks for the report, without their content."""

    def __init__(self, extractor: Extractor):
        self.extractor = extractor
        self.said = TextIds()  # distinct facts without their content, as JSON
        # Row of the facts in `said`, whether a model was asked, whether no reply could be read.
        self.chunks = NumberColumns("iii")

    def add(self, row: int, facts: Facts) -> None:
        """Add the facts of the chunk in a row.

        Parameters
        ----------
        row : row of the chunk.
        facts : its facts.
        """
        said = self.said.of(facts.without_content.to_json())
        self.chunks.add(said, self.extractor.asks(facts), self.extractor.unreadable(facts))

    def include(self, other: Summary) -> None:
        """Add the summary of the chunks that follow."""
        self.chunks.include(other.chunks, self.said.include(other.said), None, None)

    def tell(self, ctx: BuildContext) -> None:
        """Report the notes of chunks, and what could not be read or used.

        Raises NothingRead where no reply of a language model could be read.
        """
        distinct_facts, (numbers, asked, unreadable) = (
            [Facts.from_json(one) for one in self.said],
            self.chunks.arrays(),
        )
        _report_notes([distinct_facts[one] for one in numbers.tolist()], ctx)
        n_asked, n_unreadable = int(asked.sum()), int(unreadable[asked > 0].sum())
        ctx.report.count(asked=n_asked, **{"unread chunks": n_unreadable})
        if n_asked and n_unreadable == n_asked:
            raise UnparsedReplies(
                _nothing_read([distinct_facts[one] for one in numbers[asked > 0].tolist()])
            )


def _nothing_read(facts: Sequence[Facts]) -> str:
    """Return a message that no reply could be read, with the most frequent reason."""
    notes = Counter(note for one in facts for note in one.notes)
    reason = f" {_note_text(*notes.most_common(1)[0])}." if notes else ""
    chunks = "The only chunk" if len(facts) == 1 else f"None of the {len(facts):,} chunks"
    return (
        f"{chunks} gave {'no' if len(facts) == 1 else 'a'} reply that could be read, "
        f"so nothing was built.{reason} Build it again to ask once more."
    )


def _report_notes(facts: Sequence[Facts], ctx: BuildContext) -> None:
    """Report the notes of chunks, and what could not be read or used."""
    ctx.report.count(
        **{
            "unread": sum(one.unreadable for one in facts),
            "dropped": sum(one.dropped for one in facts),
        }
    )
    notes: dict[str, int] = {}
    for one in facts:
        for note in one.notes:
            notes[note] = notes.get(note, 0) + 1
    for note, times in sorted(notes.items(), key=lambda pair: (-pair[1], pair[0]))[
        :MAX_REPORTED_NOTES
    ]:
        ctx.report.note(_note_text(note, times))


def _note_text(note: str, times: int) -> str:
    return f"{times:,} {'chunk' if times == 1 else 'chunks'}: {note}"
