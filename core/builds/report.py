"""The report of a build: counts, notes, and what models cost."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from core.corpus.mends import pair
from core.io.plain import from_plain, to_plain
from core.models.base import Reply
from core.types import Usage

UNREADABLE = ("unread", "unread reports", "unread summaries")
"""What replies that could not be read are counted as, by what was asked for."""


GRAPH, INDEX = "graph", "index"


@dataclass(frozen=True)
class StepCost:
    """What one step of a build cost: wall-clock seconds, and what language models were asked for it, replies that were saved before
    included as they cost when they were made. `part` is the `GRAPH` or the `INDEX` over it, as the In-depth Analysis divides both (Figures
    4 and 5): communities, their reports and vectors are of the index."""

    step: str
    part: str
    seconds: float
    usage: Usage = Usage()


def step_costs(report: Mapping[str, Any]) -> tuple[StepCost, ...]:
    """The steps of a build in their order, by its report as it is saved; none of a report from before they were counted.

    >>> from core.builds.report import step_costs
    >>> step_costs({"steps": [{"step": "merged", "part": "graph", "seconds": 0.5, "calls": 0, "tokens_in": 0, "tokens_out": 0}]})
    (StepCost(step='merged', part='graph', seconds=0.5, usage=Usage(calls=0, tokens_in=0, tokens_out=0, texts=0)),)
    """
    return tuple(
        StepCost(
            one["step"],
            one["part"],
            one["seconds"],
            Usage(one["calls"], one["tokens_in"], one["tokens_out"]),
        )
        for one in report.get("steps", ())
    )


SAVED_MERGES, SAVED_NEAR = 500, 200  # rows that a report saves


@dataclass(frozen=True)
class NameMerge:
    """A name that a build made one with another: by which rule, in how many documents, and the ids of some of them."""

    name: str
    into: str
    rule: str
    times: int
    documents: tuple[str, ...]


@dataclass(frozen=True)
class NearMerge:
    """A name that may be part of several others in the same document, so that it was left as it is: in how many documents, and some."""

    name: str
    candidates: tuple[str, ...]
    times: int
    documents: tuple[str, ...]


@dataclass(frozen=True)
class NameMerges:
    """The names that a build made one, and those that it nearly did, the most frequent first, and how many of each there are in all;
    `refused` are the pairs that a person had said are not the same, `separated` those of them that it would have made one."""

    made: tuple[NameMerge, ...] = ()
    near: tuple[NearMerge, ...] = ()
    made_in_all: int = 0
    near_in_all: int = 0
    separated: tuple[tuple[str, str], ...] = ()
    refused: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls,
        made: Sequence[NameMerge],
        near: Sequence[NearMerge],
        separated: Iterable[tuple[str, str]] = (),
        refused: Iterable[tuple[str, str]] = (),
    ) -> NameMerges:
        """The rows that a report saves of all."""
        first = lambda rows, most: tuple(
            sorted(rows, key=lambda one: (-one.times, one.name))[:most]
        )
        saved = first(made, SAVED_MERGES), first(near, SAVED_NEAR)
        return cls(*saved, len(made), len(near), tuple(sorted(separated)), tuple(sorted(refused)))

    def differ_with(self, refused: Set[tuple[str, str]]) -> bool:
        """Whether the build would make other names one where these pairs are not the same: one that it made, one less of two that a name
        may be, or none any more of those that it separated.

        >>> from core.builds.report import NameMerge, NameMerges
        >>> merges = NameMerges.of([NameMerge("Hood", "Amy Hood", "part of a name", 1, ("call",))], [])
        >>> merges.differ_with({("Amy Hood", "Hood")}), merges.differ_with({("Amy", "Hood")})
        (True, False)
        """
        if (
            any(pair(one.name, one.into) in refused for one in self.made)
            or not set(self.separated) <= refused
        ):
            return True
        left = (
            sum(pair(one.name, full) not in refused for full in one.candidates) for one in self.near
        )
        unlisted = self.made_in_all > len(self.made) or self.near_in_all > len(self.near)
        return 1 in left or (unlisted and not refused <= set(self.refused))


def name_merges(report: Mapping[str, Any]) -> NameMerges:
    """The merges of names of a build, by its report as it is saved; none of a report of a line that resolves no names.

    >>> from core.builds.report import name_merges
    >>> row = {"name": "Hood", "into": "Amy Hood", "rule": "part of a name", "times": 2, "documents": ["call-1", "call-2"]}
    >>> name_merges({"joined": {"made": [row], "near": [], "made_in_all": 1, "near_in_all": 0}}).made[0].into
    'Amy Hood'
    """
    return from_plain(NameMerges, report["joined"]) if "joined" in report else NameMerges()


@dataclass(eq=False)
class BuildReport:
    """What building operators report: `counts` by what is counted (chunks, extracted, kept, unread ...), and notes for a person."""

    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    usage: Usage = Usage()
    # of replies that were saved before, as they cost when they were made
    usage_saved: Usage = Usage()
    seconds: dict[str, float] = field(default_factory=dict)  # by operator
    steps: list[StepCost] = field(default_factory=list)
    fresh: int = 0  # texts that were read or encoded now, rather than found saved
    models: tuple[str, ...] = ()  # the titles of the language models that it rests on
    joined: NameMerges | None = None  # of a line that resolves names
    shipped: dict[str, Any] | None = (
        None  # where it came with the corpus: what it took when it was made (`core.builds.shipped`)
    )
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def count(self, **more: int) -> None:
        """Add to counts, from whatever thread."""
        with self._lock:
            self.counts.update(more)

    def used(self, reply: Reply) -> None:
        """Add what a reply cost, nothing where it was saved; from whatever thread."""
        with self._lock:
            if reply.cached:
                self.counts["replies kept"] += 1
                self.usage_saved += Usage(1, reply.tokens_in, reply.tokens_out)
            else:
                self.usage += Usage(1, reply.tokens_in, reply.tokens_out)

    def include(self, part: BuildReport) -> None:
        """Add what another process reports of its part of the work."""
        with self._lock:
            self.counts.update(part.counts)
            self.usage, self.usage_saved = (
                self.usage + part.usage,
                self.usage_saved + part.usage_saved,
            )
        for note in part.notes:
            self.note(note)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def note(self, text: str) -> None:
        """Add a note, once; from whatever thread."""
        with self._lock:
            if text not in self.notes:
                self.notes.append(text)

    def plain(self) -> dict[str, Any]:
        """The report as plain data."""
        used, saved = self._counted(self.usage), self._counted(self.usage_saved)
        seconds = {name: round(took, 1) for name, took in self.seconds.items()}
        counts = dict(sorted(self.counts.items()))
        steps = [
            {
                "step": one.step,
                "part": one.part,
                "seconds": round(one.seconds, 3),
                **self._counted(one.usage),
            }
            for one in self.steps
        ]
        report = {
            "counts": counts,
            "notes": list(self.notes),
            "usage": used,
            "usage_kept": saved,
            "seconds": seconds,
            "steps": steps,
        }
        if self.joined is not None:
            report["joined"] = to_plain(self.joined)
        return (
            report
            | ({"models": list(self.models)} if self.models else {})
            | ({"shipped": self.shipped} if self.shipped else {})
        )

    @staticmethod
    def _counted(usage: Usage) -> dict[str, int]:
        return {"calls": usage.calls, "tokens_in": usage.tokens_in, "tokens_out": usage.tokens_out}
