"""Explanation of the questions lost by a run from a file or by a user's own retriever.

It gives the stage and cause of each loss, the published row that did not lose the question, and the
smallest sufficient change of the ranking.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.diagnosis.causes import CAUSE_LABELS, Cause
from core.diagnosis.lost_passages import title_of_chunk
from core.diagnosis.passages import chunk_order, chunk_rows
from core.errors import HopscopeError
from core.evaluation.repairs.lost_questions import LostQuestion, loss_sentence, reopen_question
from core.evaluation.reports.flow import (
    END_FAILED,
    END_RIGHT,
    PASSAGE_MEASURE,
    STAGE_LABELS,
    end_stages,
)
from core.evaluation.reports.steps import is_external, line_of
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.plan import DrawnQuestion
from core.evaluation.runs.store import Run, Store
from core.runtime.jobs import Job
from core.watch import NO_WATCH, Watch

MAX_NAMED_PASSAGES = 3  # maximum passages named in a sentence


@dataclass(frozen=True)
class LossExplanation:
    """Explanation of a lost question.

    `nearest` is the most similar method of the run that did not lose it, empty if there is none.
    `shared` is the number of documents that both found, and `of` the number that the explained
    method found. `missing` holds the gold passages that are missing, with their ranks in
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
class LossReport:
    """All questions that a method lost.

    `of` is the number of questions, and `failed` the number that failed or are not in the run.
    """

    method: str
    of: int
    failed: int
    lost: tuple[LossExplanation, ...]

    def sentences(self, names: Mapping[str, str]) -> list[str]:
        """Return sentences on what was lost by which causes, and which rows did not lose it."""
        method, lost_count = names[self.method], self.failed + len(self.lost)
        causes = Counter(one.cause for one in self.lost) + Counter(
            {"failed, or not in the run": self.failed}
        )
        lines = [loss_sentence(method, self.of, lost_count, causes.most_common())]
        nearest = Counter(one.nearest for one in self.lost if one.nearest)
        if nearest:
            rows = ", ".join(f"{names[one]} {count:,}" for one, count in nearest.most_common())
            lines.append(f"The closest method that did not lose them: {rows}.")
        if lost_by_all := sum(not one.nearest for one in self.lost):
            lines.append(f"Lost by every other method too: {lost_by_all:,}.")
        return lines


def own_methods(summary: RunSummary) -> list[str]:
    """Return the methods of a run that are a user's program or file."""
    lines = {one["id"]: line_of(one["line"]) for one in summary.run.spec["instances"]}
    return [id for id, line in lines.items() if line is not None and any(map(is_external, line))]


def explain_losses(
    engine: Any, store: Store, run: Run, method: str, watch: Watch = NO_WATCH
) -> LossReport:
    """Return why a method of a run lost its questions.

    On documents, a question is lost if not all gold passages survived or, where a language model
    answered, if the answer is wrong. Everything is read from the saved states, and nothing is run
    again.

    Parameters
    ----------
    engine : opens the graphs that the states refer to.
    store : the store with the rows and states.
    run : the run.
    method : id of the method.
    watch : receives the progress and may raise RunCancelled.

    Returns
    -------
    The lost questions, each with its cause.
    """
    summary = RunSummary(run, store.rows(run.id))
    measure_name = _measure(summary, method)
    stages_by_method = {one: end_stages(summary, one, measure_name) for one in summary.methods}
    other_methods = [
        one for one in summary.methods if one != method and one not in own_methods(summary)
    ]
    specs = {one["id"]: one for one in run.spec["instances"]}
    drawn_by_id = {one.question.id: one for one in store.drawn(run.id)}
    lost_ids = [
        question
        for question, end in stages_by_method[method].items()
        if end not in (END_RIGHT, END_FAILED)
    ]
    explanations = []
    for index, question in enumerate(lost_ids):
        watch.step(index / len(lost_ids))
        winners = [one for one in other_methods if stages_by_method[one].get(question) == END_RIGHT]
        reopen = lambda one, question=question: _try_reopen(
            engine, store, run, specs[one], drawn_by_id[question]
        )
        explanations.append(
            _explain_loss(
                reopen(method),
                {one: reopen(one) for one in winners},
                drawn_by_id[question],
                stages_by_method[method][question],
            )
        )
    failed = sum(end == END_FAILED for end in stages_by_method[method].values())
    return LossReport(method, len(stages_by_method[method]), failed, tuple(explanations))


def start_loss_report(engine: Any, store: Store, run: Run) -> Job:
    """Start the job that explains the losses of each of the user's own methods.

    Parameters
    ----------
    engine : the engine that runs the job.
    store : the store with the rows and states.
    run : the run.

    Returns
    -------
    The job, whose result is a tuple of `LossReport`.
    """

    def work(job: Job) -> tuple[LossReport, ...]:
        methods = own_methods(RunSummary(run, store.rows(run.id)))
        reading, total = job.part(text="Reading what was lost"), len(methods)
        return tuple(
            explain_losses(
                engine, store, run, one, reading.part(index / total, (index + 1) / total)
            )
            for index, one in enumerate(methods)
        )

    return engine.evaluations.run(loss_report_key(run), work, again=True)


def loss_report_key(run: Run) -> str:
    """Return the key of that job, which changes when the run has more rows."""
    return f"why-lost-{run.id}-{run.done}"


def _measure(summary: RunSummary, method: str) -> str:
    """Return the measure that decides whether a question is correct.

    It is the metric of answers if a language model answered. Else it is the survival of all gold
    passages, or accuracy for a run without gold passages.
    """
    if summary.run.spec["model"]:
        return summary.defaults.answers[0]
    golds = any(row.question.gold for row in summary.rows)
    return PASSAGE_MEASURE if golds and method in summary.handed_on else "accuracy"


def _try_reopen(
    engine: Any, store: Store, run: Run, spec: Mapping[str, Any], drawn: DrawnQuestion
) -> LostQuestion | None:
    """Return a question as a method left it, None if it can no longer be opened."""
    try:
        return reopen_question(engine, store, run, spec, drawn)
    except HopscopeError:
        return None


def _explain_loss(
    lost_question: LostQuestion | None,
    winners: Mapping[str, LostQuestion | None],
    drawn: DrawnQuestion,
    end: str,
) -> LossExplanation:
    question = drawn.question
    if lost_question is None:
        return LossExplanation(
            question.id, question.text, STAGE_LABELS[end], next(iter(winners), "")
        )
    documents, cause = _documents(lost_question), lost_question.cause
    if cause is not None and cause is not Cause.NOT_REACHED:
        words = CAUSE_LABELS[cause]
    elif cause:
        words = "not found"
    else:
        words = STAGE_LABELS[end]
    overlaps = {
        one: len(set(documents) & set(_documents(lost)))
        for one, lost in winners.items()
        if lost is not None
    }
    nearest = max(overlaps, key=lambda one: overlaps[one], default=next(iter(winners), ""))
    winner = winners.get(nearest)
    missing = tuple(
        (title, _passage_rank(winner, passage))
        for passage, title in _missing_passages(lost_question)
    )
    change = _smallest_change(lost_question, missing, documents)
    return LossExplanation(
        question.id,
        question.text,
        words,
        nearest,
        overlaps.get(nearest, 0),
        len(documents),
        missing,
        change,
    )


def _documents(lost: LostQuestion) -> tuple[str, ...]:
    """Return the documents of the passages that were handed on, best first."""
    order, table = chunk_order(lost.lane.graph, lost.lane.state), lost.lane.graph.columns.chunks
    if order is None or table is None:
        return ()
    return tuple(dict.fromkeys(table.texts("document", order[0])))


def _missing_passages(lost: LostQuestion) -> list[tuple[str, str]]:
    """Return the gold passages of which no chunk was handed on, each with its title."""
    graph = lost.lane.graph
    order = chunk_order(graph, lost.lane.state)
    handed_rows = frozenset(order[0]) if order is not None else frozenset[int]()
    rows = {
        passage: chunk_rows(graph, passage) for passage in dict.fromkeys(lost.drawn.question.gold)
    }
    return [
        (one, title_of_chunk(graph, min(chunks)) if chunks else one)
        for one, chunks in rows.items()
        if not chunks & handed_rows
    ]


def _passage_rank(winner: LostQuestion | None, passage: str) -> int | None:
    """Return the rank of a passage in what another method handed on, or None."""
    order = None if winner is None else chunk_order(winner.lane.graph, winner.lane.state)
    if winner is None or order is None:
        return None
    rows = chunk_rows(winner.lane.graph, passage)
    return next((rank for rank, row in enumerate(order[0], 1) if row in rows), None)


def _smallest_change(
    lost: LostQuestion, missing: Sequence[tuple[str, int | None]], documents: Sequence[str]
) -> str:
    """Return the smallest change of the ranking that would supply all gold passages.

    The text is empty if no gold passages are known.
    """
    if not lost.drawn.question.gold:
        return ""
    if not missing:
        return "It found all the evidence; its answer or the room in its prompt differs."
    cut_ranks = [
        loss.place
        for loss in lost.losses
        if loss.place is not None and loss.retained is not None and loss.place > loss.retained
    ]
    if len(cut_ranks) == len(missing):
        return f"Keep {max(cut_ranks):,} instead of {len(documents):,}: the rest is in its own ranking."
    named_passages = " and ".join(
        f"“{title}”{f' (rank {rank:,} there)' if rank else ''}"
        for title, rank in missing[:MAX_NAMED_PASSAGES]
    )
    further_text = (
        f" and {len(missing) - MAX_NAMED_PASSAGES:,} more"
        if len(missing) > MAX_NAMED_PASSAGES
        else ""
    )
    count = "one passage" if len(missing) == 1 else f"{len(missing):,} passages"
    return (
        f"{count[:1].upper()}{count[1:]}{' instead of its last' if documents else ''}: "
        f"{named_passages}{further_text}."
    )
