"""Stage “extract”: the facts of each chunk, found once and saved."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar, overload

from core.builds.base import BuildContext, BuildOperator, Made
from core.builds.extract.over_workers import Collector, blocks_over
from core.builds.extract.over_workers import extracted as extracted_over
from core.builds.fact_store import key_of
from core.builds.facts import Facts
from core.builds.report import BuildReport
from core.errors import NothingRead
from core.graph.columns import Table
from core.io.home import cannot_save
from core.types import Usage

SOON = 0.5  # seconds
HELD_CHUNKS = 2_000  # whose facts are in memory at a time
C = TypeVar("C", bound=Collector)
NOTES = 5  # kinds of notes of chunks that are given, each with how many chunks have it


class Extractor(BuildOperator):
    """Finds the facts of each chunk by itself; what was found is kept as it comes, so that a stop costs only what is under way.

    A chunk is known by its text: adding documents extracts from their chunks alone.
    """

    stage = "extract"
    reads, writes = ("chunks",), ("facts",)
    held = 32  # chunks that may be lost where the process is killed, of those that were read within `SOON`

    @abstractmethod
    def extracted(self, texts: Sequence[str], ctx: BuildContext) -> Iterator[tuple[int, Facts]]:
        """For each text its number and facts, in whatever order."""

    def signature(self, ctx: BuildContext) -> str:
        """What the facts depend on beside the operator and the text, as the weights of a model."""
        return ""

    def cost(self, texts: Sequence[str], ctx: BuildContext) -> tuple[Usage, float | None]:
        """What language models would be asked for these texts, and the seconds that it takes here where that is known."""
        return Usage(), 0.0

    def final(self, facts: Facts) -> bool:
        """Whether facts that were saved are final, so that nobody is asked for them again."""
        return True

    def asks(self, facts: Facts) -> bool:
        """Whether a language model was asked for these facts."""
        return bool(self.models())

    def unreadable(self, facts: Facts) -> bool:
        """Whether nothing of these facts is by a language model, as its replies could not be read."""
        return bool(facts.unreadable) and not (facts.entities or facts.relations)

    def missing(self, chunks: Table, ctx: BuildContext) -> list[str]:
        """The texts of the chunks that nothing is kept of, each once."""
        keys = self._keys(chunks.texts("text"), ctx)
        known = ctx.facts.found(list(keys), self.final)
        return [text for key, text in keys.items() if key not in known]

    def found(self, texts: Sequence[str], ctx: BuildContext, report: BuildReport | None = None) -> list[Facts]:
        """The facts of each text, as they are kept or extracted now; `report` hears how many of each."""
        keys = self._keys(texts, ctx)
        known = ctx.facts.found(list(keys), self.final)
        missing = [key for key in keys if key not in known]
        if report is not None:
            report.count(**{"extracted": len(missing), "kept": len(keys) - len(missing)})
            report.fresh += len(missing)
        fresh: dict[bytes, Facts] = {}
        last = time.monotonic()
        try:
            texts_left = [keys[key] for key in missing]
            spread = ctx.workers is not None and bool(self.chats())  # a parser is spread by its batches
            found = extracted_over(self, texts_left, ctx) if spread else self.extracted(texts_left, ctx)
            for done, (number, facts) in enumerate(found, 1):
                fresh[missing[number]] = facts
                if len(fresh) >= self.held or time.monotonic() - last > SOON:
                    ctx.facts.keep(fresh)
                    known.update(fresh)
                    fresh, last = {}, time.monotonic()
                ctx.progress(f"Reading chunks: {done:,} of {len(missing):,}", done / len(missing))
        finally:
            ctx.facts.keep(fresh)
        known.update(fresh)
        signature = self.signature(ctx)
        return [known[key_of(repr(self), signature, text)] for text in texts]

    def apply(self, made: Made, ctx: BuildContext) -> Made:
        assert made.chunks is not None  # a line without chunks is refused
        saved, counted, asked, unreadable = SavedFacts(self, made.chunks, ctx), list[Facts](), list[Facts](), 0
        held = None
        if len(saved) <= HELD_CHUNKS or cannot_save():
            held = tuple(self.found(made.chunks.texts("text"), ctx, ctx.report))
        for one in saved.read(ctx.report) if held is None else held:
            counted.append(one.without_content)
            if self.asks(one):
                asked.append(one.without_content)
                unreadable += self.unreadable(one)
        _tell(counted, ctx)
        ctx.report.count(asked=len(asked), **{"unread chunks": unreadable})
        if asked and unreadable == len(asked):
            raise NothingRead(_nothing_read(asked))
        return made.replace(facts=saved if held is None else held)

    def _keys(self, texts: Sequence[str], ctx: BuildContext) -> dict[bytes, str]:
        """The text of each key, in the order of the texts."""
        signature = self.signature(ctx)
        return {key_of(repr(self), signature, text): text for text in texts}


@dataclass(frozen=True, eq=False)
class SavedFacts(Sequence[Facts]):
    """The facts of very many chunks, read from where they are saved each time, so that few are in memory."""

    extractor: Extractor
    chunks: Table
    ctx: BuildContext

    def read(self, report: BuildReport | None = None) -> Iterator[Facts]:
        """All facts in the order of the chunks, extracted where they are not saved yet, of which `report` hears."""
        for _, rows in self._blocks():
            yield from self.extractor.found(self.chunks.texts("text", rows), self.ctx, report)

    def over_workers(self, fresh: Callable[[], C]) -> Iterator[tuple[int, C]]:
        """What a `fresh()` collects of each block of chunks in a worker of the build, block after block, with how many chunks are done."""
        blocks = ((first, self.chunks.texts("text", rows)) for first, rows in self._blocks())
        return blocks_over(self.extractor, fresh, blocks, self.ctx)

    def _blocks(self) -> Iterator[tuple[int, range]]:
        return ((first, range(first, min(first + HELD_CHUNKS, len(self)))) for first in range(0, len(self), HELD_CHUNKS))

    def __len__(self) -> int:
        return len(self.chunks)

    def __iter__(self) -> Iterator[Facts]:
        return self.read()

    @overload
    def __getitem__(self, place: int) -> Facts: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Facts]: ...
    def __getitem__(self, place: int | slice) -> Facts | Sequence[Facts]:
        rows = range(len(self))[place]
        found = self.extractor.found(self.chunks.texts("text", [rows] if isinstance(rows, int) else rows), self.ctx)
        return found[0] if isinstance(rows, int) else found


def _nothing_read(facts: Sequence[Facts]) -> str:
    """That of no chunk a reply could be read, and why, most often."""
    notes = Counter(note for one in facts for note in one.notes)
    why = f" {_counted(*notes.most_common(1)[0])}." if notes else ""
    chunks = "The only chunk" if len(facts) == 1 else f"None of the {len(facts):,} chunks"
    return (
        f"{chunks} gave {'no' if len(facts) == 1 else 'a'} reply that could be read, so nothing was built.{why} Build it again to ask anew."
    )


def _tell(facts: Sequence[Facts], ctx: BuildContext) -> None:
    """Report what could not be read or used, and what chunks' notes say."""
    ctx.report.count(**{"unread": sum(one.unreadable for one in facts), "dropped": sum(one.dropped for one in facts)})
    notes: dict[str, int] = {}
    for one in facts:
        for note in one.notes:
            notes[note] = notes.get(note, 0) + 1
    for note, times in sorted(notes.items(), key=lambda pair: (-pair[1], pair[0]))[:NOTES]:
        ctx.report.note(_counted(note, times))


def _counted(note: str, times: int) -> str:
    return f"{times:,} {'chunk' if times == 1 else 'chunks'}: {note}"
