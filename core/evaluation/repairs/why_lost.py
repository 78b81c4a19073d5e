"""Explanation of the questions lost by a run from a file or by a user's own retriever.

It gives the stage and cause of each loss, the published row that did not lose the question, and the
smallest sufficient change of the ranking.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.diagnosis.causes import BRIEF, Cause
from core.diagnosis.lost_passages import title_of_chunk
from core.diagnosis.passages import chunk_order, chunk_rows
from core.errors import HopscopeError
from core.evaluation.repairs.lost import LostQuestion, loss_sentence, reopened
from core.evaluation.reports.flow import FAILED, PASSAGES, RIGHT, WORDS, endings
from core.evaluation.reports.naming import called
from core.evaluation.reports.steps import brought, line_of
from core.evaluation.reports.summary import Summary
from core.evaluation.runs.plan import Drawn
from core.evaluation.runs.store import Run, Store
from core.runtime.jobs import Job
from core.watch import NO_WATCH, Watch

NAMED = 3  # maximum passages named in a sentence


@dataclass(frozen=True)
class Why:
    """Explanation of a lost question.

    `nearest` is the most similar instance of the run that did not lose it, empty if there is none.
    `shared` is the number of documents that both found, and `of` the number that the explained
    instance found. `missing` holds the gold passages that are missing, with their ranks in
    `nearest`. `change` is the smallest change that would have been enough.
    """

    question: str
    text: str
    cause: str
    nearest: str = ""
    shared: int = 0
    of: int = 0
    missing: tuple[tuple[str, int | None], ...] = ()
    change: str = ""


@dataclass(frozen=True)
class WhyLost:
    """All questions that an instance lost.

    `of` is the number of questions, and `failed` the number that failed or are not in the run.
    """

    instance: str
    of: int
    failed: int
    lost: tuple[Why, ...]

    def sentences(self, names: Mapping[str, str]) -> list[str]:
        """Return sentences on what was lost by which causes, and which rows did not lose it."""
        who, total = names[self.instance], self.failed + len(self.lost)
        causes = Counter(one.cause for one in self.lost) + Counter(
            {"failed, or not in the run": self.failed}
        )
        found = [loss_sentence(who, self.of, total, causes.most_common())]
        nearest = Counter(one.nearest for one in self.lost if one.nearest)
        if nearest:
            rows = ", ".join(f"{names[one]} {count:,}" for one, count in nearest.most_common())
            found.append(f"The nearest row that did not lose them: {rows}.")
        if alone := sum(not one.nearest for one in self.lost):
            found.append(f"Lost by every other row as well: {alone:,}.")
        return found


def own_instances(summary: Summary) -> list[str]:
    """Return the instances of a run that are a user's program or file."""
    lines = {one["id"]: line_of(one["line"]) for one in summary.run.spec["instances"]}
    return [id for id, line in lines.items() if line is not None and any(map(brought, line))]


def why_lost(
    engine: Any, store: Store, run: Run, instance: str, watch: Watch = NO_WATCH
) -> WhyLost:
    """Return why an instance of a run lost its questions.

    On documents, a question is lost if not all gold passages survived or, where a language model
    answered, if the answer is wrong. Everything is read from the saved states, and nothing is run
    again.
    """
    summary = Summary(run, store.rows(run.id))
    by = _measure(summary, instance)
    ends = {one: endings(summary, one, by) for one in summary.instances}
    others = [
        one for one in summary.instances if one != instance and one not in own_instances(summary)
    ]
    specs = {one["id"]: one for one in run.spec["instances"]}
    names = {key: str(one) for key, one in called(run).items()}
    drawn = {one.question.id: one for one in store.drawn(run.id)}
    lost = [question for question, end in ends[instance].items() if end not in (RIGHT, FAILED)]
    found = []
    for place, question in enumerate(lost):
        watch.step(place / len(lost))
        winners = [one for one in others if ends[one].get(question) == RIGHT]
        opened = lambda one, question=question: _opened(
            engine, store, run, specs[one], drawn[question]
        )
        found.append(
            _why(
                opened(instance),
                {one: opened(one) for one in winners},
                drawn[question],
                ends[instance][question],
                names,
            )
        )
    failed = sum(end == FAILED for end in ends[instance].values())
    return WhyLost(instance, len(ends[instance]), failed, tuple(found))


def start_why(engine: Any, store: Store, run: Run) -> Job:
    """Start the job that explains the losses of each of the user's own instances.

    The job's result is a tuple of `WhyLost`.
    """

    def work(job: Job) -> tuple[WhyLost, ...]:
        own = own_instances(Summary(run, store.rows(run.id)))
        reading, of = job.part(text="Reading what was lost"), len(own)
        return tuple(
            why_lost(engine, store, run, one, reading.part(place / of, (place + 1) / of))
            for place, one in enumerate(own)
        )

    return engine.evaluations.run(why_key(run), work, again=True)


def why_key(run: Run) -> str:
    """Return the key of that job, which changes when the run has more rows."""
    return f"why-lost-{run.id}-{run.done}"


def _measure(summary: Summary, instance: str) -> str:
    """Return the measure that decides whether a question is correct.

    It is the metric of answers if a language model answered. Else it is the survival of all gold
    passages, or accuracy for a run without gold passages.
    """
    if summary.run.spec["model"]:
        return summary.defaults.answers[0]
    golds = any(row.question.gold for row in summary.rows)
    return PASSAGES if golds and instance in summary.handed_on else "accuracy"


def _opened(
    engine: Any, store: Store, run: Run, spec: Mapping[str, Any], drawn: Drawn
) -> LostQuestion | None:
    """Return a question as an instance left it, None if it can no longer be opened."""
    try:
        return reopened(engine, store, run, spec, drawn)
    except HopscopeError:
        return None


def _why(
    own: LostQuestion | None,
    winners: Mapping[str, LostQuestion | None],
    drawn: Drawn,
    end: str,
    names: Mapping[str, str],
) -> Why:
    question = drawn.question
    if own is None:
        return Why(question.id, question.text, WORDS[end], next(iter(winners), ""))
    found, cause = _documents(own), own.cause
    if cause is not None and cause is not Cause.NOT_REACHED:
        words = BRIEF[cause]
    elif cause:
        words = "not among what it found"
    else:
        words = WORDS[end]
    overlaps = {
        one: len(set(found) & set(_documents(lost)))
        for one, lost in winners.items()
        if lost is not None
    }
    nearest = max(overlaps, key=lambda one: overlaps[one], default=next(iter(winners), ""))
    winner = winners.get(nearest)
    missing = tuple((title, _place(winner, passage)) for passage, title in _missing(own))
    change = _change(own, missing, found)
    return Why(
        question.id,
        question.text,
        words,
        nearest,
        overlaps.get(nearest, 0),
        len(found),
        missing,
        change,
    )


def _documents(lost: LostQuestion) -> tuple[str, ...]:
    """Return the documents of the passages that were handed on, best first."""
    order, table = chunk_order(lost.lane.graph, lost.lane.state), lost.lane.graph.columns.chunks
    if order is None or table is None:
        return ()
    return tuple(dict.fromkeys(table.texts("document", order[0])))


def _missing(lost: LostQuestion) -> list[tuple[str, str]]:
    """Return the gold passages of which no chunk was handed on, each with its title."""
    graph = lost.lane.graph
    order = chunk_order(graph, lost.lane.state)
    handed_on = frozenset(order[0]) if order is not None else frozenset[int]()
    rows = {
        passage: chunk_rows(graph, passage) for passage in dict.fromkeys(lost.drawn.question.gold)
    }
    return [
        (one, title_of_chunk(graph, min(of)) if of else one)
        for one, of in rows.items()
        if not of & handed_on
    ]


def _place(winner: LostQuestion | None, passage: str) -> int | None:
    """Return the rank of a passage in what another instance handed on, or None."""
    order = None if winner is None else chunk_order(winner.lane.graph, winner.lane.state)
    if winner is None or order is None:
        return None
    rows = chunk_rows(winner.lane.graph, passage)
    return next((place for place, row in enumerate(order[0], 1) if row in rows), None)


def _change(
    own: LostQuestion, missing: Sequence[tuple[str, int | None]], found: Sequence[str]
) -> str:
    """Return the smallest change of the ranking that would supply all gold passages.

    The text is empty if no gold passages are known.
    """
    if not own.drawn.question.gold:
        return ""
    if not missing:
        return (
            "All gold passages are among what it found: its answer, or the room in its prompt, is "
            "what differs."
        )
    later = [
        loss.place
        for loss in own.losses
        if loss.place is not None and loss.retained is not None and loss.place > loss.retained
    ]
    if len(later) == len(missing):
        return f"Keep {max(later):,} instead of {len(found):,}: the rest is in its own list."
    named = " and ".join(
        f"“{title}”{f' (place {place:,} there)' if place else ''}"
        for title, place in missing[:NAMED]
    )
    more = f" and {len(missing) - NAMED:,} more" if len(missing) > NAMED else ""
    count = "one passage" if len(missing) == 1 else f"{len(missing):,} passages"
    return (
        f"{count[:1].upper()}{count[1:]}{' in the place of its last' if found else ''}: "
        f"{named}{more}."
    )
