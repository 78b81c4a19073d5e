"""Explanation of the questions that a user's own run or retriever lost.

Its steps are unknown, so it is compared with the other methods of the evaluation. The explanation
names the stage or cause of each loss, the most similar method that did not lose the question, and
the smallest change of the ranking that would have been enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.diagnosis.causes import Cause
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

    Parameters
    ----------
    question, text : id and text of the question.
    cause : cause or stage of the loss, in words.
    nearest : id of the most similar method that did not lose the question; empty if there is none.
    n_shared : number of documents that both methods returned.
    n_documents : number of documents that the explained method returned.
    missing : title of each gold passage that is missing, and its rank in `nearest` from 1. The rank
        is None if that method does not return the passage.
    change : the smallest change that would have been enough, as a sentence; empty if it is unknown.
    """

    question: str
    text: str
    cause: str
    nearest: str = ""
    n_shared: int = 0
    n_documents: int = 0
    missing: tuple[tuple[str, int | None], ...] = ()
    change: str = ""


@dataclass(frozen=True)
class LossReport:
    """All questions that a method lost.

    `method` is its id. `n_questions` is the number of its questions, and `n_failed` the number that
    failed or are not in the user's run. `losses` explains the other lost ones.
    """

    method: str
    n_questions: int
    n_failed: int
    losses: tuple[LossExplanation, ...]

    def sentences(self, names: Mapping[str, str]) -> list[str]:
        """Return sentences on the causes of the losses, and on the methods without them.

        `names` are the names of the methods by id.
        """
        causes = Counter(loss.cause for loss in self.losses)
        causes += Counter({"failed, or not in the run": self.n_failed})
        n_lost = self.n_failed + len(self.losses)
        name = names[self.method]
        lines = [loss_sentence(name, self.n_questions, n_lost, causes.most_common())]
        nearest = Counter(loss.nearest for loss in self.losses if loss.nearest)
        if nearest:
            rows = ", ".join(f"{names[id]} {count:,}" for id, count in nearest.most_common())
            lines.append(f"The closest method that did not lose them: {rows}.")
        lost_by_all = len(self.losses) - nearest.total()
        if lost_by_all:
            lines.append(f"Lost by every other method too: {lost_by_all:,}.")
        return lines


def own_methods(summary: RunSummary) -> list[str]:
    """Return the ids of a run's methods that belong to a user.

    Such a method is a user's program or file.
    """
    lines = {spec["id"]: line_of(spec["line"]) for spec in summary.run.spec["instances"]}
    return [id for id, line in lines.items() if line is not None and any(map(is_external, line))]


def explain_losses(
    engine: Any, store: Store, run: Run, method: str, watch: Watch = NO_WATCH
) -> LossReport:
    """Return why a method of a run lost its questions.

    If a language model answered, a question is lost if the answer is wrong. Else it is lost if not
    all gold passages survived the steps. Everything is read from the saved states, and nothing is
    run again.

    Parameters
    ----------
    engine : opens the graphs that the states refer to.
    store : the store with the rows and states.
    run : the run.
    method : id of the method.
    watch : receives the progress and may raise RunCancelled.

    Returns
    -------
    The lost questions, each with its explanation.
    """
    summary = RunSummary(run, store.rows(run.id))
    measure_name = _measure(summary, method)
    stages_by_method = {id: end_stages(summary, id, measure_name) for id in summary.methods}
    stages = stages_by_method[method]
    excluded = {method, *own_methods(summary)}
    other_methods = [id for id in summary.methods if id not in excluded]
    specs = {spec["id"]: spec for spec in run.spec["instances"]}
    drawn_by_id = {drawn.question.id: drawn for drawn in store.drawn_questions(run.id)}
    lost_ids = [question for question, end in stages.items() if end not in (END_RIGHT, END_FAILED)]
    explanations = []
    for index, question in enumerate(lost_ids):
        watch.step(index / len(lost_ids))
        drawn = drawn_by_id[question]
        lost_question = _try_reopen(engine, store, run, specs[method], drawn)
        winners = {
            id: _try_reopen(engine, store, run, specs[id], drawn)
            for id in other_methods
            if stages_by_method[id].get(question) == END_RIGHT
        }
        explanations.append(_explain_loss(lost_question, winners, drawn, stages[question]))
    failed = sum(end == END_FAILED for end in stages.values())
    return LossReport(method, len(stages), failed, tuple(explanations))


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

    def explain_all(job: Job) -> tuple[LossReport, ...]:
        methods = own_methods(RunSummary(run, store.rows(run.id)))
        watch = job.part(text="Reading what was lost")
        reports = []
        for index, method in enumerate(methods):
            part = watch.part(index / len(methods), (index + 1) / len(methods))
            reports.append(explain_losses(engine, store, run, method, part))
        return tuple(reports)

    return engine.evaluations.run(loss_report_key(run), explain_all, again=True)


def loss_report_key(run: Run) -> str:
    """Return the key of the job of `start_loss_report`.

    The key changes with the number of rows.
    """
    return f"why-lost-{run.id}-{run.done}"


def _measure(summary: RunSummary, method: str) -> str:
    """Return the measure that decides whether a question is lost, as `end_stages` takes it.

    It is the metric of answers if a language model answered. Else it is the survival of all gold
    passages, or accuracy for questions without gold passages.
    """
    if summary.run.spec["model"]:
        return summary.defaults.answer_metrics[0]
    golds = any(row.question.gold for row in summary.rows)
    return PASSAGE_MEASURE if golds and method in summary.max_passages else "accuracy"


def _try_reopen(
    engine: Any, store: Store, run: Run, spec: Mapping[str, Any], drawn: DrawnQuestion
) -> LostQuestion | None:
    """Return a question as a method left it.

    None if it can no longer be opened.
    """
    try:
        return reopen_question(engine, store, run, spec, drawn)
    except HopscopeError:
        return None


def _explain_loss(
    lost_question: LostQuestion | None,
    winners: Mapping[str, LostQuestion | None],
    drawn: DrawnQuestion,
    end_stage: str,
) -> LossExplanation:
    """Return the explanation of a lost question.

    `lost_question` is None if it cannot be opened. `winners` are the methods that did not lose it,
    each with its question if that can be opened. `end_stage` is the stage that lost it.
    """
    question = drawn.question
    if lost_question is None:
        return LossExplanation(
            question.id, question.text, STAGE_LABELS[end_stage], next(iter(winners), "")
        )
    documents = _documents(lost_question)
    is_not_reached = lost_question.cause is Cause.NOT_REACHED
    overlaps = {
        id: len(set(documents) & set(_documents(winner)))
        for id, winner in winners.items()
        if winner is not None
    }
    # Without documents to compare, the first method that did not lose the question is taken.
    nearest = max(overlaps, key=lambda id: overlaps[id], default=next(iter(winners), ""))
    nearest_winner = winners.get(nearest)
    missing = tuple(
        (title, _passage_rank(nearest_winner, passage))
        for passage, title in _missing_passages(lost_question)
    )
    return LossExplanation(
        question.id,
        question.text,
        "not found" if is_not_reached else lost_question.words(end_stage),
        nearest,
        n_shared=overlaps.get(nearest, 0),
        n_documents=len(documents),
        missing=missing,
        change=_smallest_change(lost_question, missing, documents),
    )


def _documents(lost: LostQuestion) -> tuple[str, ...]:
    """Return the documents of the returned passages, best first."""
    order = chunk_order(lost.lane.graph, lost.lane.state)
    table = lost.lane.graph.columns.chunks
    if order is None or table is None:
        return ()
    return tuple(dict.fromkeys(table.texts("document", order[0])))


def _missing_passages(lost: LostQuestion) -> list[tuple[str, str]]:
    """Return the gold passages of which no chunk was returned, each with its title."""
    graph = lost.lane.graph
    order = chunk_order(graph, lost.lane.state)
    returned_rows = frozenset(order[0]) if order is not None else frozenset[int]()
    missing = []
    for passage in dict.fromkeys(lost.drawn.question.gold):
        rows = chunk_rows(graph, passage)
        if rows.isdisjoint(returned_rows):
            missing.append((passage, title_of_chunk(graph, min(rows)) if rows else passage))
    return missing


def _passage_rank(winner: LostQuestion | None, passage: str) -> int | None:
    """Return the rank of a passage in another method's result.

    Ranks are from 1. None if the passage is missing.
    """
    order = None if winner is None else chunk_order(winner.lane.graph, winner.lane.state)
    if winner is None or order is None:
        return None
    rows = chunk_rows(winner.lane.graph, passage)
    return next((rank for rank, row in enumerate(order[0], 1) if row in rows), None)


def _smallest_change(
    lost: LostQuestion, missing: Sequence[tuple[str, int | None]], documents: Sequence[str]
) -> str:
    """Return the smallest change of the ranking that would supply all gold passages.

    `missing` and `documents` are as in `LossExplanation`. The text is empty if no gold passages are
    known.
    """
    if not lost.drawn.question.gold:
        return ""
    if not missing:
        return "It found all the evidence; its answer or the room in its prompt differs."
    # Ranks of the gold passages that the method ranked, but cut from its result.
    cut_ranks = [
        loss.rank
        for loss in lost.losses
        if loss.rank is not None and loss.n_retained is not None and loss.rank > loss.n_retained
    ]
    if len(cut_ranks) == len(missing):
        return f"Keep {max(cut_ranks):,} instead of {len(documents):,}: the rest is in its own ranking."
    names = [
        f"“{title}”{f' (rank {rank:,} there)' if rank else ''}"
        for title, rank in missing[:MAX_NAMED_PASSAGES]
    ]
    if len(missing) > MAX_NAMED_PASSAGES:
        names.append(f"{len(missing) - MAX_NAMED_PASSAGES:,} more")
    count = "One passage" if len(missing) == 1 else f"{len(missing):,} passages"
    return f"{count}{' instead of its last' if documents else ''}: {' and '.join(names)}."
