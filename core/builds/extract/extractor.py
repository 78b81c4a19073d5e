"""Base class of operators of stage “extract”.

They find entities and relations in chunks. Facts are saved on disk. In a large corpus they are read
from there again on each access.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from typing import TypeVar, overload

from core.builds.base import BuildContext, BuildOperator, BuildState
from core.builds.extract.worker_extraction import (
    collect_facts,
    collect_over_workers,
    extract_over_workers,
)
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

SAVE_SECONDS = 0.5  # time after which new facts are saved
HELD_CHUNKS = 2_000  # most chunks whose facts are in memory at a time
C = TypeVar("C", bound=Collector)
MAX_REPORTED_NOTES = 5  # different notes of chunks in the report, each with its number of chunks


class Extractor(BuildOperator):
    """Base class of operators that find the facts of each chunk separately.

    Facts are saved soon after they are found, so a killed process loses few of them. A chunk is
    identified by its text. Thus after documents are added, only their chunks are read.
    """

    stage = "extract"
    reads, writes = ("chunks",), ("facts",)
    # Facts are saved after so many chunks, or after `SAVE_SECONDS` if that is earlier.
    max_unsaved_chunks = 32

    @abstractmethod
    def extract_facts(self, texts: Sequence[str], ctx: BuildContext) -> Iterator[tuple[int, Facts]]:
        """Extract the facts of texts, without using saved facts.

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
        """Return an id of everything else that the facts depend on.

        The operator and the text are not part of it. An example is the weights of a model. Empty if
        there is nothing else.
        """
        return ""

    def cost(self, texts: Sequence[str], ctx: BuildContext) -> tuple[Usage, float | None]:
        """Estimate the use of language models for texts.

        Parameters
        ----------
        texts : texts of chunks without saved facts.
        ctx : the models, the replies and the settings of the build.

        Returns
        -------
        Calls and tokens, and the seconds on this computer; None if the seconds are unknown.
        """
        return Usage(), 0.0

    def is_final(self, facts: Facts) -> bool:
        """Return whether saved facts are final. Otherwise the next build reads the chunk again."""
        return True

    def has_asked_model(self, facts: Facts) -> bool:
        """Return whether a language model was asked about the chunk of these facts."""
        return bool(self.models())

    def is_unreadable(self, facts: Facts) -> bool:
        """Return whether a language model contributed nothing, as no reply could be read."""
        return bool(facts.unreadable) and not (facts.entities or facts.relations)

    def missing_texts(self, chunks: Table, ctx: BuildContext) -> list[str]:
        """Return the texts of the chunks without saved facts, without duplicates.

        Parameters
        ----------
        chunks : the chunks of a build.
        ctx : the saved facts of the build.

        Returns
        -------
        Texts in the order of the chunks.
        """
        keys = self._keys(chunks.texts("text"), ctx)
        saved_facts = ctx.fact_store.load(list(keys), self.is_final)
        return [text for key, text in keys.items() if key not in saved_facts]

    def find_facts(
        self, texts: Sequence[str], ctx: BuildContext, report: BuildReport | None = None
    ) -> list[Facts]:
        """Return the facts of each text, extracting those that are not saved.

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
        facts_of_key = ctx.fact_store.load(list(keys), self.is_final)
        missing = [key for key in keys if key not in facts_of_key]
        if report is not None:
            report.count(**{"extracted": len(missing), "kept": len(keys) - len(missing)})
            report.new_texts += len(missing)
        unsaved: dict[bytes, Facts] = {}
        saved_at = time.monotonic()
        try:
            texts_left = [keys[key] for key in missing]
            # A parser distributes its own batches to the workers.
            if ctx.workers is not None and self.chat_models():
                results = extract_over_workers(self, texts_left, ctx)
            else:
                results = self.extract_facts(texts_left, ctx)
            for done, (number, facts) in enumerate(results, 1):
                unsaved[missing[number]] = facts
                is_due = time.monotonic() - saved_at > SAVE_SECONDS
                if len(unsaved) >= self.max_unsaved_chunks or is_due:
                    ctx.fact_store.save(unsaved)
                    facts_of_key.update(unsaved)
                    unsaved = {}
                    saved_at = time.monotonic()
                ctx.watch.report(
                    f"Reading chunks: {done:,} of {len(missing):,}", done / len(missing)
                )
        finally:
            ctx.fact_store.save(unsaved)
        facts_of_key.update(unsaved)
        signature = self.signature(ctx)
        return [facts_of_key[fact_key(repr(self), signature, text)] for text in texts]

    def apply(self, state: BuildState, ctx: BuildContext) -> BuildState:
        assert state.chunks is not None  # a line without chunks is refused
        saved_facts, summary = SavedFacts(self, state.chunks, ctx), Summary(self)
        result: Sequence[Facts] = saved_facts
        # Facts of few chunks stay in memory, and so do facts that cannot be saved.
        if len(saved_facts) <= HELD_CHUNKS or save_fault():
            result = tuple(self.find_facts(state.chunks.texts("text"), ctx, ctx.report))
            for row, facts in enumerate(result):
                summary.add(row, facts)
        else:
            for _, part in saved_facts.collect_runs(partial(Summary, self), ctx.report):
                summary.include(part)
        summary.write_report(ctx)
        return state.replace(facts=result)

    def _keys(self, texts: Sequence[str], ctx: BuildContext) -> dict[bytes, str]:
        """Return the text of each key, in the order of the texts."""
        signature = self.signature(ctx)
        return {fact_key(repr(self), signature, text): text for text in texts}


@dataclass(frozen=True, eq=False)
class SavedFacts(Sequence[Facts]):
    """Facts of all chunks of a large corpus, read from disk.

    They are read on each access to save memory.
    """

    extractor: Extractor
    chunks: Table
    ctx: BuildContext

    def collect_runs(
        self, make_empty: partial[C], report: BuildReport | None = None
    ) -> Iterator[tuple[range, C]]:
        """Yield the rows of each run of chunks, with a collection of its facts.

        A run is a range of consecutive chunks. Collections are saved, unless the facts are from a
        language model. After a change of the corpus, only the changed runs are collected again.

        Parameters
        ----------
        make_empty : makes an empty collection. The first chunk of a run is row 0 of its
            collection.
        report : receives the numbers of saved and of extracted facts. If it is None, the worker
            processes of the build collect the facts, if there are any.

        Yields
        ------
        Rows of chunks, and the collection of their facts.
        """
        saved_runs = SavedRuns(self.ctx.report.note) if not self.extractor.chat_models() else None
        runs = list(chunk_runs(self._keys))
        kind = f"{make_empty.func.__name__} {make_empty.args!r} {make_empty.keywords!r}"
        keys = [run_key(kind, self._keys[run.start : run.stop]) for run in runs]
        saved_keys = saved_runs.find_saved(keys) if saved_runs is not None else set()
        missing_runs = [run for run, key in zip(runs, keys) if key not in saved_keys]
        missing_collections = self._collect(make_empty, missing_runs, report)
        for run, key in zip(runs, keys):
            collection = None
            if saved_runs is not None and key in saved_keys:
                collection = saved_runs.load(key, make_empty())
                if collection is not None and report is not None:
                    n_saved = len(set(self._keys[run.start : run.stop]))
                    report.count(**{"extracted": 0, "kept": n_saved})
            if collection is None:
                # A saved run that cannot be read is collected separately.
                is_missing = key not in saved_keys
                collection = next(
                    missing_collections if is_missing else self._collect(make_empty, [run], report)
                )
                if saved_runs is not None:
                    saved_runs.save(key, collection)
            yield run, collection
        if saved_runs is not None:
            saved_runs.remove_oldest()

    def _collect(
        self, make_empty: partial[C], runs: Sequence[range], report: BuildReport | None
    ) -> Iterator[C]:
        """Yield a new collection of each run. The workers make it if no report is given."""
        texts = (self.chunks.texts("text", run) for run in runs)
        if report is None and self.ctx.workers is not None:
            return collect_over_workers(self.extractor, make_empty, texts, self.ctx)
        return (collect_facts(self.extractor, make_empty, self.ctx, run, report) for run in texts)

    @cached_property
    def _keys(self) -> list[bytes]:
        """The key of each chunk's facts."""
        operator, signature = repr(self.extractor), self.extractor.signature(self.ctx)
        keys: list[bytes] = []
        for texts in self._text_blocks():
            keys += [fact_key(operator, signature, text) for text in texts]
        return keys

    def _text_blocks(self) -> Iterator[list[str]]:
        """Yield the texts of the chunks, `HELD_CHUNKS` at a time."""
        for first in range(0, len(self), HELD_CHUNKS):
            yield self.chunks.texts("text", range(first, min(first + HELD_CHUNKS, len(self))))

    def __len__(self) -> int:
        return len(self.chunks)

    def __iter__(self) -> Iterator[Facts]:
        for texts in self._text_blocks():
            yield from self.extractor.find_facts(texts, self.ctx)

    @overload
    def __getitem__(self, index: int) -> Facts: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Facts]: ...
    def __getitem__(self, index: int | slice) -> Facts | Sequence[Facts]:
        rows = range(len(self))[index]
        texts = self.chunks.texts("text", [rows] if isinstance(rows, int) else rows)
        facts = self.extractor.find_facts(texts, self.ctx)
        return facts[0] if isinstance(rows, int) else facts


class Summary:
    """Counts and notes of all chunks' facts, for the build report.

    The names of its attributes are part of saved runs (see `Collector`).
    """

    def __init__(self, extractor: Extractor):
        self.extractor = extractor
        self.said = TextIds()  # distinct facts without their content, as JSON
        # For each chunk: number of its facts in `said`, and 1 or 0 for `has_asked_model` and
        # `is_unreadable`.
        self.chunks = NumberColumns("iii")

    def add(self, row: int, facts: Facts) -> None:
        """Add the facts of the chunk in a row.

        Parameters
        ----------
        row : row of the chunk.
        facts : its facts.
        """
        number = self.said.id_of(facts.without_content.to_json())
        self.chunks.add(
            number, self.extractor.has_asked_model(facts), self.extractor.is_unreadable(facts)
        )

    def include(self, other: Summary) -> None:
        """Add the summary of the chunks that follow."""
        self.chunks.include(other.chunks, self.said.include(other.said), None, None)

    def write_report(self, ctx: BuildContext) -> None:
        """Report the notes of chunks, and how many replies and items were unusable.

        Raises UnparsedReplies if no reply of a language model could be read.
        """
        distinct_facts = [Facts.from_json(text) for text in self.said]
        numbers, asked, unreadable = self.chunks.arrays()
        _report_notes([distinct_facts[number] for number in numbers.tolist()], ctx)
        n_asked, n_unreadable = int(asked.sum()), int(unreadable[asked > 0].sum())
        ctx.report.count(asked=n_asked, **{"unread chunks": n_unreadable})
        if n_asked and n_unreadable == n_asked:
            asked_facts = [distinct_facts[number] for number in numbers[asked > 0].tolist()]
            raise UnparsedReplies(_no_reply_message(asked_facts))


def _no_reply_message(facts: Sequence[Facts]) -> str:
    """Return the error message that no reply could be read. It has the most frequent reason."""
    notes = Counter(chain.from_iterable(one.notes for one in facts))
    reason = f" {_note_text(*notes.most_common(1)[0])}." if notes else ""
    chunks = "The only chunk" if len(facts) == 1 else f"None of the {len(facts):,} chunks"
    return (
        f"{chunks} gave {'no' if len(facts) == 1 else 'a'} reply that could be read, "
        f"so nothing was built.{reason} Build it again to ask once more."
    )


def _report_notes(facts: Sequence[Facts], ctx: BuildContext) -> None:
    """Report the most frequent notes, and counts of unusable data.

    The counts are those of replies and items.
    """
    ctx.report.count(
        **{
            "unread": sum(one.unreadable for one in facts),
            "dropped": sum(one.dropped for one in facts),
        }
    )
    notes = Counter(chain.from_iterable(one.notes for one in facts))
    most_frequent = sorted(notes.items(), key=lambda pair: (-pair[1], pair[0]))
    for note, times in most_frequent[:MAX_REPORTED_NOTES]:
        ctx.report.note(_note_text(note, times))


def _note_text(note: str, times: int) -> str:
    return f"{times:,} {'chunk' if times == 1 else 'chunks'}: {note}"
