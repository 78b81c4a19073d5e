"""Report of a build: counts, notes, merged names, and the costs of models and steps.

It is saved as plain data in the record of the build, and shown to the person.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, TypeVar

from core.corpus.entity_merges import ordered_pair
from core.io.plain_data import from_plain, to_plain
from core.models.base import ChatReply
from core.types import Usage

UNREADABLE_COUNTS = ("unread", "unread reports", "unread summaries")
"""Names of the counts of unreadable replies: extraction, reports, summaries."""
# Values of `StepCost.part`.
GRAPH_STEPS, INDEX_STEPS = "graph", "index"
MAX_SAVED_MERGES = 500  # of `NameMerges.made`, in a saved report
MAX_SAVED_NEAR_MERGES = 200  # of `NameMerges.near`
R = TypeVar("R", "NameMerge", "NearMerge")


@dataclass(frozen=True)
class StepCost:
    """Cost of one step of a build.

    `seconds` is wall-clock time. `usage` is the use of language models; saved replies count with
    their original cost. `part` is `GRAPH_STEPS` or `INDEX_STEPS`, as the In-depth Analysis divides
    them (Figures 4 and 5). Communities, their reports and vectors belong to the index.
    """

    step: str
    part: str
    seconds: float
    usage: Usage = Usage()


def step_costs(report: Mapping[str, Any]) -> tuple[StepCost, ...]:
    """Return the costs of the steps in order, from a saved report.

    Empty for a report of a version that did not count them.

    >>> from core.builds.report import step_costs
    >>> row = {"step": "merged", "part": "graph", "seconds": 0.5}
    >>> row |= {"calls": 0, "tokens_in": 0, "tokens_out": 0}
    >>> step_costs({"steps": [row]})  # doctest: +NORMALIZE_WHITESPACE
    (StepCost(step='merged', part='graph', seconds=0.5,
     usage=Usage(calls=0, tokens_in=0, tokens_out=0, texts=0)),)
    """
    costs = []
    for row in report.get("steps", ()):
        usage = Usage(row["calls"], row["tokens_in"], row["tokens_out"])
        costs.append(StepCost(row["step"], row["part"], row["seconds"], usage))
    return tuple(costs)


@dataclass(frozen=True)
class NameMerge:
    """A name that a build merged into another.

    `rule` is the reason. `times` is the number of documents in which the names were merged, and
    `documents` holds the ids of some of them.
    """

    name: str
    into: str
    rule: str
    times: int
    documents: tuple[str, ...]


@dataclass(frozen=True)
class NearMerge:
    """A name not merged because it may be part of several others.

    The others are in the same document. `times` is the number of documents, and `documents` holds
    the ids of some of them.
    """

    name: str
    candidates: tuple[str, ...]
    times: int
    documents: tuple[str, ...]


@dataclass(frozen=True)
class NameMerges:
    """Names that a build merged, and names that it nearly merged, most frequent first.

    `made` and `near` hold the most frequent rows, `made_in_all` and `near_in_all` the numbers of
    all. `refused` holds the pairs of names that a person marked as different. `separated` holds
    those refused pairs that the build would otherwise have merged.
    """

    made: tuple[NameMerge, ...] = ()
    near: tuple[NearMerge, ...] = ()
    made_in_all: int = 0
    near_in_all: int = 0
    separated: tuple[tuple[str, str], ...] = ()
    refused: tuple[tuple[str, str], ...] = ()

    @classmethod
    def from_merges(
        cls,
        merges: Sequence[NameMerge],
        near: Sequence[NearMerge],
        separated: Iterable[tuple[str, str]] = (),
        refused: Iterable[tuple[str, str]] = (),
    ) -> NameMerges:
        """Select the rows that a report saves.

        Parameters
        ----------
        merges : all merges of names.
        near : all pairs that were nearly merged.
        separated : pairs that a person marked as different and that the build would have merged.
        refused : pairs that a person marked as different.

        Returns
        -------
        The most frequent merges, with the number of all.
        """
        return cls(
            _most_frequent(merges, MAX_SAVED_MERGES),
            _most_frequent(near, MAX_SAVED_NEAR_MERGES),
            len(merges),
            len(near),
            tuple(sorted(separated)),
            tuple(sorted(refused)),
        )

    def would_differ(self, refused: Set[tuple[str, str]]) -> bool:
        """Return whether the build would merge other names if exactly these pairs were refused.

        True if a refused pair was merged, if the refusals leave a nearly merged name with a single
        candidate, or if a separated pair is no longer refused. If not all rows are saved, any newly
        refused pair counts as a difference, because it may be among the rows that are missing.

        Parameters
        ----------
        refused : pairs of names that a person marks as different, by `ordered_pair`.

        Examples
        --------
        >>> from core.builds.report import NameMerge, NameMerges
        >>> merge = NameMerge("Hood", "Amy Hood", "part of a name", 1, ("call",))
        >>> merges = NameMerges.from_merges([merge], [])
        >>> merges.would_differ({("Amy Hood", "Hood")}), merges.would_differ({("Amy", "Hood")})
        (True, False)
        """
        if any(ordered_pair(merge.name, merge.into) in refused for merge in self.made):
            return True
        if not set(self.separated) <= refused:
            return True
        for merge in self.near:
            pairs = [ordered_pair(merge.name, candidate) for candidate in merge.candidates]
            if sum(pair not in refused for pair in pairs) == 1:
                return True
        is_partial = self.made_in_all > len(self.made) or self.near_in_all > len(self.near)
        return is_partial and not refused <= set(self.refused)


def _most_frequent(rows: Sequence[R], limit: int) -> tuple[R, ...]:
    return tuple(sorted(rows, key=lambda one: (-one.times, one.name))[:limit])


def name_merges(report: Mapping[str, Any]) -> NameMerges:
    """Return the name merges of a build, from its saved report.

    Empty for a line that resolves no names.

    >>> from core.builds.report import name_merges
    >>> row = {"name": "Hood", "into": "Amy Hood", "rule": "part of a name", "times": 2}
    >>> row["documents"] = ["call-1", "call-2"]
    >>> joined = {"made": [row], "near": [], "made_in_all": 1, "near_in_all": 0}
    >>> name_merges({"joined": joined}).made[0].into
    'Amy Hood'
    """
    return from_plain(NameMerges, report["joined"]) if "joined" in report else NameMerges()


@dataclass(eq=False)
class BuildReport:
    """Collected results of building operators.

    `counts` has a key for each thing that is counted: “chunks”, “extracted” and “kept” (chunks
    whose facts were found now, or were saved), “unread” (unreadable replies), and so on. `notes`
    are messages for the person.
    """

    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    usage: Usage = Usage()
    usage_saved: Usage = Usage()  # original usage of saved replies
    seconds: dict[str, float] = field(default_factory=dict)  # by operator
    steps: list[StepCost] = field(default_factory=list)
    new_texts: int = 0  # texts without a saved result, which were read or encoded now
    models: tuple[str, ...] = ()  # titles of the language models that the build rests on
    joined: NameMerges | None = None  # set by a line that resolves names
    shipped: dict[str, Any] | None = None  # cost of a build that ships with its corpus
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def count(self, **more: int) -> None:
        """Add to the counts, from any thread."""
        with self._lock:
            self.counts.update(more)

    def add_usage(self, reply: ChatReply) -> None:
        """Add the cost of a reply, from any thread. A saved reply costs nothing now."""
        with self._lock:
            if reply.cached:
                self.counts["replies kept"] += 1
                self.usage_saved += Usage(1, reply.tokens_in, reply.tokens_out)
            else:
                self.usage += Usage(1, reply.tokens_in, reply.tokens_out)

    def include(self, part: BuildReport) -> None:
        """Add the report of another process about its part of the work."""
        with self._lock:
            self.counts.update(part.counts)
            self.usage += part.usage
            self.usage_saved += part.usage_saved
        for note in part.notes:
            self.note(note)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def note(self, text: str) -> None:
        """Add a note unless it is already there, from any thread."""
        with self._lock:
            if text not in self.notes:
                self.notes.append(text)

    def to_plain(self) -> dict[str, Any]:
        """Return the report as plain data, with the keys of saved records."""
        steps = []
        for cost in self.steps:
            row = {"step": cost.step, "part": cost.part, "seconds": round(cost.seconds, 3)}
            steps.append(row | _usage_dict(cost.usage))
        report: dict[str, Any] = {
            "counts": dict(sorted(self.counts.items())),
            "notes": list(self.notes),
            "usage": _usage_dict(self.usage),
            "usage_kept": _usage_dict(self.usage_saved),
            "seconds": {name: round(seconds, 1) for name, seconds in self.seconds.items()},
            "steps": steps,
        }
        if self.joined is not None:
            report["joined"] = to_plain(self.joined)
        if self.models:
            report["models"] = list(self.models)
        if self.shipped:
            report["shipped"] = self.shipped
        return report


def _usage_dict(usage: Usage) -> dict[str, int]:
    return {"calls": usage.calls, "tokens_in": usage.tokens_in, "tokens_out": usage.tokens_out}
