"""Audit of a question set by its name: source, evaluation and decisions are found for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.builds import find_build, open_graph
from core.errors import BadInput
from core.evaluation.audit.audit import Audit, Encode, audit_questions
from core.evaluation.audit.decisions import Decisions, RevisedSet, decisions_file
from core.evaluation.audit.evaluated import newest_evaluation
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.plan import OpenedSet, open_set
from core.evaluation.runs.store import Store
from core.types import Question
from core.watch import NO_WATCH, Watch

ENCODER_ROLE = "encoder"


@dataclass(frozen=True)
class AuditSettings:
    """Settings of an audit.

    Parameters
    ----------
    graph : a graph to ask instead of the set's own.
    build : id of a graph of the documents, whose names are searched too.
    evaluation : number of an evaluation; 0 takes the newest that is finished.
    sample : number of questions, the first ones; 0 for all.
    vectors : False to find copies by words alone.
    """

    graph: str = ""
    build: str = ""
    evaluation: int = 0
    sample: int = 0
    vectors: bool = True


@dataclass(eq=False)
class OpenedAudit:
    """An audit with the decisions on its set, and the file that has them."""

    name: str
    questions: tuple[Question, ...]
    audit: Audit
    decisions: Decisions
    file: Path

    @property
    def revised(self) -> RevisedSet:
        """The set after the decisions."""
        return self.decisions.replay(self.questions)

    def open_findings(self) -> Audit:
        """Return the audit with findings on undecided questions alone."""
        revised = self.revised
        left = [one for one in self.audit.findings if one.question not in revised.decided]
        return replace(
            self.audit,
            findings=tuple(left),
            n_left=len(revised.questions),
            excluded=frozenset((*revised.corrected, *revised.left_out)),
        )


def audit_set(
    engine: Any,
    store: Store,
    questions: str | OpenedSet,
    settings: AuditSettings = AuditSettings(),
    watch: Watch = NO_WATCH,
) -> OpenedAudit:
    """Audit a question set.

    Parameters
    ----------
    engine : opens the source and the encoder.
    store : the evaluations.
    questions : name of the set or its file, or an opened set.
    settings : see `AuditSettings`.
    watch : receives the progress and may raise RunCancelled.

    Raises
    ------
    BadInput : there is no such set, evaluation or build, or the file of decisions is damaged.
    StoreError : the source is damaged.
    """
    watch.report("Opening the set", 0.0)
    if isinstance(questions, str):
        questions = open_set(questions, engine.graph, settings.graph)
    name, all_questions, source, _, note = questions
    sample = tuple(all_questions)[: settings.sample or None]
    file = decisions_file(name)
    decisions = Decisions.open(file)
    if source.name:  # else each question has a graph of its own
        source = source.open(engine, watch)
    build = None
    if settings.build and source.corpus is not None:
        build = open_graph(source.corpus, find_build(settings.build).id)
    audit = audit_questions(
        sample,
        source,
        build=build,
        summary=_summary(store, name, sample, settings.evaluation),
        encode=find_encoder(engine) if settings.vectors else None,
        watch=watch,
    )
    notes = tuple(filter(None, (note, *audit.notes)))
    return OpenedAudit(name, sample, replace(audit, notes=notes), decisions, file)


def _summary(
    store: Store, name: str, questions: Sequence[Question], number: int
) -> RunSummary | None:
    """Return an evaluation of the questions, by its number or the newest one. None without one."""
    run = store.run(number) if number else newest_evaluation(store, name, questions)
    if run is None:
        return None
    ids = {question.id for question in questions}
    rows = [row for row in store.rows(run.id) if row.question.id in ids]
    if not rows:
        raise BadInput(f"Evaluation {run.id} asked no question of “{name}”.")
    return RunSummary(run, rows)


def find_encoder(engine: Any) -> Encode | None:
    """Return the function that encodes texts. None if its model is not on this computer."""
    is_present = engine.models.info(ENCODER_ROLE).present
    return engine.models.encoder(ENCODER_ROLE).encode if is_present else None
