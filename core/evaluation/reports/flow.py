"""From one instance to another: where each question ends in both, as bands of questions between the stages at which they are lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.outcome import Outcome
from core.evaluation.reports.summary import Summary
from core.evaluation.runs.store import StoredRow

RIGHT, FAILED = "right", "failed"
# from top to bottom
ORDER = (RIGHT, "answer", "prompt", "paths", "retrieved", "subgraph", "graph", "corpus", FAILED)
READER, PASSAGES = "reader_hit@1", "passages"
WORDS = {
    RIGHT: "right",
    "answer": "not in the answer",
    "prompt": "not in the prompt",
    "paths": "not on a path",
    "retrieved": "not retrieved",
    "subgraph": "outside the subgraph",
    "graph": "not in the graph",
    "corpus": "not in the documents",
    FAILED: "failed",
}
# where the usual words do not fit
SAID_OF = {PASSAGES: {RIGHT: "all gold passages"}, READER: {"answer": "not named first"}}
# pixels of all questions, between two stages, and of a label on a band
TALL, GAP, ROW = (280.0, 34.0, 22.0)


@dataclass(frozen=True)
class Band:
    """Questions, by their ids, that end at one stage in the first instance and at one in the second."""

    before: str
    after: str
    questions: tuple[str, ...]

    @property
    def kind(self) -> Literal["won", "lost", "right", "wrong"]:
        """Whether the second instance wins or loses these questions, or both are right or wrong."""
        if self.before == RIGHT:
            return "right" if self.after == RIGHT else "lost"
        return "won" if self.after == RIGHT else "wrong"


@dataclass(frozen=True)
class Flow:
    """The bands from instance `a` to `b`, those of the right questions first; `by` is the measure, and `left_out` counts the questions of
    which one of the two has no row or nothing is known."""

    a: str
    b: str
    by: str
    bands: tuple[Band, ...]
    left_out: int = 0

    @property
    def n(self) -> int:
        """The questions in all bands."""
        return sum(len(band.questions) for band in self.bands)

    def ends(self, side: Literal["before", "after"]) -> dict[str, int]:
        """How many questions end at each stage, in the first or in the second instance."""
        counts = {
            stage: sum(len(band.questions) for band in self.bands if getattr(band, side) == stage)
            for stage in ORDER
        }
        return {stage: count for stage, count in counts.items() if count}

    def words(self, stage: str) -> str:
        """What a stage is called."""
        return SAID_OF.get(self.by, {}).get(stage) or WORDS[stage]


def flow(summary: Summary, a: str, b: str) -> Flow | None:
    """The questions of a run from one instance to another; None where nothing is known of what is right."""
    by = measure(summary, (a, b))
    if not by:
        return None
    ends = {instance: endings(summary, instance, by) for instance in (a, b)}
    found: dict[tuple[str, str], list[str]] = {}
    for question in summary.questions:
        before, after = ends[a].get(question), ends[b].get(question)
        if before is not None and after is not None:
            found.setdefault((before, after), []).append(question)
    order = sorted(found, key=lambda pair: (ORDER.index(pair[0]), ORDER.index(pair[1])))
    bands = tuple(Band(*pair, tuple(found[pair])) for pair in order)
    if bands:
        return Flow(a, b, by, bands, len(summary.questions) - sum(map(len, found.values())))
    return None


def measure(summary: Summary, instances: Sequence[str]) -> str:
    """What says whether a question is right, the same for these instances: the metric of answers where a language model gave them, else
    that of the graph reader's first name, or on documents that all gold passages come through; empty where none of them is known."""
    outcomes = {
        one: [row.outcome for row in summary.of(one) if row.outcome is not None]
        for one in instances
    }
    known = lambda by: all(
        not of or any(ending_of(outcome, by) is not None for outcome in of)
        for of in outcomes.values()
    )
    by_model = summary.defaults.answers[:1] if summary.run.spec["model"] else ()
    return next(
        (
            by
            for by in (*by_model, READER, PASSAGES, "accuracy")
            if any(outcomes.values()) and known(by)
        ),
        "",
    )


def endings(summary: Summary, instance: str, by: str) -> dict[str, str]:
    """Where each question of an instance ends; without those of which nothing is known."""
    ends = {row.question.id: ending(row, by) for row in summary.of(instance)}
    return {question: end for question, end in ends.items() if end is not None}


def ending(row: StoredRow, by: str) -> str | None:
    """Where a question ends: right, at the stage that lost it, or failed; None where nothing is known of what is right."""
    if row.outcome is not None:
        return ending_of(row.outcome, by)
    return FAILED if (row.question.gold if by == PASSAGES else row.question.answers) else None


def ending_of(outcome: Outcome, by: str) -> str | None:
    """Where an answered question ends.

    >>> from core.evaluation.metrics.outcome import Answered, Outcome
    >>> from core.evaluation.metrics.passages import Passages
    >>> from core.evaluation.reports.flow import ending_of
    >>> found = Passages(golds=2, alive={"corpus": 2, "graph": 2, "retrieved": 2, "prompt": 1})
    >>> ending_of(Outcome(1, fates=found), "passages"), ending_of(Outcome(1, answer=Answered("Ann", "m", 1, 1), fates=found), "accuracy")
    ('prompt', 'right')
    """
    if by == PASSAGES:
        return None if outcome.fates is None else lost_at(outcome, by) or RIGHT
    value = metric(by)(outcome)
    return None if value is None else RIGHT if value == 1 else lost_at(outcome, by) or "answer"


def lost_at(outcome: Outcome, by: str) -> str:
    """The first stage before the answer at which not all gold passages are alive, or where none are known no known answer; empty where
    they come through. The prompt is passed over where the graph reader counts, which reads all paths."""
    fates = outcome.fates
    alive, needed = (
        (fates.alive, fates.golds)
        if fates is not None
        else (outcome.alive or {}, min(1, outcome.golds))
    )
    passed = ("answer", "prompt") if by == READER else ("answer",)
    lost = next(
        (stage for stage, count in alive.items() if stage not in passed and count < needed), ""
    )
    return lost or ("retrieved" if fates is not None and "retrieved" not in alive else "")


def laid_out(found: Flow, labels: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """Where the stages of both sides, the bands and their labels are drawn, in pixels from the top; `labels` are texts by (before, after).

    >>> from core.evaluation.reports.flow import Band, Flow, laid_out
    >>> drawn = laid_out(Flow("a", "b", "hits@1", (Band("right", "right", ("q1",)), Band("answer", "right", ("q2",)))), {})
    >>> [(one["stage"], one["top"], one["height"]) for one in drawn["left"]], [one["top"] for one in drawn["right"]]
    ([('right', 0.0, 140.0), ('answer', 174.0, 140.0)], [0.0])
    >>> drawn["bands"][1]["left"], drawn["bands"][1]["right"], drawn["height"]
    ([174.0, 314.0], [140.0, 280.0], 314.0)
    """
    scale, starts = TALL / found.n, {}
    sides: dict[str, list[dict[str, Any]]] = {"left": [], "right": []}
    for side, ends in (("left", found.ends("before")), ("right", found.ends("after"))):
        top = 0.0
        for stage, count in ends.items():
            sides[side].append(
                {
                    "stage": stage,
                    "words": found.words(stage),
                    "n": count,
                    "top": top,
                    "height": count * scale,
                }
            )
            starts[side, stage] = top
            top += count * scale + GAP
    bands = []
    for band in found.bands:
        size, edges = len(band.questions) * scale, []
        for side, stage in (("left", band.before), ("right", band.after)):
            edges.append([starts[side, stage], starts[side, stage] + size])
            starts[side, stage] += size
        key = (band.before, band.after)
        bands.append(
            {
                "key": list(key),
                "kind": band.kind,
                "left": edges[0],
                "right": edges[1],
                "label": labels.get(key, ""),
            }
        )
    height = max(drawn[-1]["top"] + drawn[-1]["height"] for drawn in sides.values())
    _place_labels(bands, height)
    return {**sides, "bands": bands, "height": height}


def _place_labels(bands: Sequence[dict[str, Any]], height: float) -> None:
    """Give each band with a label its height, that of the band's right end, or below the label before it where that is nearer than a row;
    those that come to lie below the picture move up together."""
    named = sorted((band for band in bands if band["label"]), key=lambda band: sum(band["right"]))
    at = -ROW
    for band in named:
        at = band["at"] = max(at + ROW, sum(band["right"]) / 2)
    least = height - ROW / 2
    for band in reversed(named):
        band["at"] = min(band["at"], least)
        least = band["at"] - ROW
