"""Audit of a question set: its likely faults, a person's decisions, and what it can decide.

The tab *The set* of the page Evaluate shows this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

import streamlit as st

from core.evaluation.audit.audit import Audit
from core.evaluation.audit.decisions import (
    CORRECT,
    KEEP,
    LEAVE_OUT,
    Decisions,
    decisions_file,
    question_lines,
)
from core.evaluation.audit.findings import FAULT_KINDS, FINDING_TITLES, Finding
from core.evaluation.audit.opened_audit import OpenedAudit, audit_set
from core.runtime.jobs import JOB_CANCELLED, Job
from core.types import Question
from pages.parts.question.question_sets import (
    default_set_selection,
    draw_no_questions,
    question_set_source,
)
from pages.parts.shared.actions import button, shown_errors
from pages.parts.shared.job_progress import draw_job, rerun_when_started
from pages.parts.shared.sentences import caption, write
from pages.parts.shared.session import engine, store
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

MAX_LISTED_FINDINGS = 10  # of a kind that are listed until the user asks for all
DECISION_TITLES = {KEEP: tr("Keep"), CORRECT: tr("Correct"), LEAVE_OUT: tr("Leave out")}


def draw_question_audit() -> None:
    """Draw the tab: the set, the button that starts the audit, and its findings."""
    source = question_set_source()
    sets = source.sets
    if not sets:
        draw_no_questions(source)
        return
    write("Can this set decide between methods? Its answers are compared with the source.")
    default = default_set_selection(sets)[0]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            tr("Question set"),
            list(sets),
            list(sets).index(default),
            format_func=lambda one: plain(sets[one]),
            key=f"audit-set-{source.kind}-{source.name}",
        )
        job = engine().evaluations.get(audit_job_key(name))
        is_running = job is not None and not job.has_ended
        if not is_running:
            button(
                tr("Audit the set"),
                partial(_start, name),
                icon="fact_check",
                type="primary" if job is None else "secondary",
                key="audit-go",
                help=tr("No language model is asked."),
            )
    if job is None:
        rerun_when_started(audit_job_key(name))
        return
    draw_job(job, f"audit-{name}", tr("Cancelled.") if job.status == JOB_CANCELLED else "")
    if job.has_ended and isinstance(job.result, OpenedAudit):
        with shown_errors():
            _draw_audit(job.result)


def audit_job_key(name: str) -> str:
    """Return the key of the job that audits a set."""
    return f"audit-{name}"


def _start(name: str) -> Job:
    def audit(job: Job) -> OpenedAudit:
        return audit_set(engine(), store(), name, watch=job)

    return engine().evaluations.run(audit_job_key(name), audit, again=True)


def _draw_audit(opened: OpenedAudit) -> None:
    """Draw the findings on undecided questions, the decisions, and the downloads."""
    opened.decisions = Decisions.open(opened.file)  # another session may have changed them
    left = opened.open_findings()
    questions = {question.id: question for question in opened.questions}
    _draw_summary(left)
    for kind in left.counts:
        findings = [finding for finding in left.findings if finding.kind == kind]
        with st.expander(
            tr(FINDING_TITLES[kind]),  # without the count: a box whose label changes closes
            icon=":material/report:" if kind in FAULT_KINDS else ":material/info:",
        ):
            _draw_findings(opened, kind, findings, questions)
    _draw_decisions(opened)
    for note in left.notes:
        st.caption(plain(note))


def _draw_summary(left: Audit) -> None:
    """Draw how many questions are suspect, what the set can show, and the order of methods."""
    difference, assumption = left.smallest_difference
    with st.container(border=True, gap="small"):
        write(
            "{suspect:,} of {questions} have a likely fault.",
            suspect=len(left.suspect),
            questions=many(len(left.questions), "question"),
        )
        counts = (
            tr("{title}: {count:,}", title=tr(FINDING_TITLES[kind]), count=count)
            for kind, count in left.counts.items()
        )
        if left.counts:
            st.caption(plain(" · ".join(counts)))
        caption(
            "Differences below {difference} cannot be told from chance, {assumption}.",
            difference=f"{difference:.1%}",
            assumption=assumption,
        )
        if left.n_telling is not None:
            caption(
                "Methods differ on {telling} of evaluation {number}.",
                telling=many(left.n_telling, "question"),
                number=left.summary.run.id if left.summary is not None else 0,
            )
        if left.order:
            titles = (tr("Method"), tr("Mean"), tr("Rank"), tr("Mean without"), tr("Rank without"))
            rows = [dict(zip(titles, list(asdict(row).values())[1:])) for row in left.order]
            st.dataframe(rows, hide_index=True, key="audit-order")
            caption("Without: without the suspect questions.")


def _draw_findings(
    opened: OpenedAudit, kind: str, findings: Sequence[Finding], questions: dict[str, Question]
) -> None:
    """Draw the findings of a kind, each with the decisions."""
    shown = findings
    if len(findings) > MAX_LISTED_FINDINGS and not st.toggle(
        tr("Show all {shown:,}", shown=len(findings)), key=f"audit-all-{opened.name}-{kind}"
    ):
        shown = findings[:MAX_LISTED_FINDINGS]
    for index, finding in enumerate(shown):
        question = questions[finding.question]
        with st.container(border=True, gap="small"):
            st.text(question.text)
            st.caption(plain(finding.text))
            if kind in FAULT_KINDS:
                # A question may have several findings of a kind.
                _draw_actions(opened, question, finding, f"{kind}-{index}-{question.id}")


def _draw_actions(opened: OpenedAudit, question: Question, finding: Finding, key: str) -> None:
    """Draw the buttons that keep, correct or leave out a question."""
    with st.container(horizontal=True):
        for action in (KEEP, LEAVE_OUT):
            button(
                DECISION_TITLES[action],
                partial(_decide, opened.name, question, action),
                key=f"audit-{action}-{key}",
            )
        with st.popover(DECISION_TITLES[CORRECT], icon=":material/edit:"):
            _draw_correction(opened, question, finding, key)


def _draw_correction(opened: OpenedAudit, question: Question, finding: Finding, key: str) -> None:
    """Draw the fields of what is correct. All are there, as a decided question leaves the list."""
    answers = st.text_area(
        tr("Correct answers, one a line"),
        "\n".join(finding.expected or question.answers),
        key=f"audit-answers-{key}",
    )
    fields = {"answers": tuple(filter(None, map(str.strip, answers.splitlines())))}
    if question.entities:
        label, names = tr("Entities, one a line"), "\n".join(question.entities)
        entities = st.text_area(label, names, key=f"audit-entities-{key}")
        fields["entities"] = tuple(filter(None, map(str.strip, entities.splitlines())))
    # A passage has several lines where it quotes a document.
    gold = [
        st.text_area(tr("Evidence {number}", number=i), name, key=f"audit-gold-{i}-{key}")
        for i, name in enumerate(question.gold, 1)
    ]
    fields["gold"] = tuple(filter(None, map(str.strip, gold)))
    button(
        tr("Save"),
        partial(_decide, opened.name, question, CORRECT, **fields),
        type="primary",
        key=f"audit-correct-{key}",
    )


def _decide(name: str, question: Question, action: str, **fields: tuple[str, ...]) -> None:
    """Save a decision on a question; an empty action removes it.

    `fields` are those of `Decisions.decide`.
    """
    file = decisions_file(name)
    decisions = Decisions.open(file)
    if action:
        decisions.decide(question, action, **fields)
    else:
        decisions.forget(question.id)
    decisions.save(file)


def _draw_decisions(opened: OpenedAudit) -> None:
    """Draw the decided questions, and the downloads of the decisions and the corrected set."""
    decisions = opened.decisions.by_question
    if not decisions:
        return
    revised = opened.revised
    with st.expander(tr("Decided"), icon=":material/task_alt:"):
        for id, decision in decisions.items():
            with st.container(horizontal=True, vertical_alignment="center"):
                answers = ", ".join(decision.answers or decision.gold or decision.entities or ())
                parts = (DECISION_TITLES[decision.action], answers, decision.text)
                st.text(" · ".join(filter(None, parts)), width="stretch")
                undo = partial(_decide, opened.name, Question(decision.text, id), "")
                button(tr("Undo"), undo, key=f"audit-undo-{id}")
        if revised.changed:
            caption("Changed since: {changed:,}. Decide them again.", changed=len(revised.changed))
    with st.container(horizontal=True):
        for label, text, name in (
            (tr("The set after these decisions"), question_lines(revised.questions), "jsonl"),
            (tr("The decisions"), opened.decisions.to_json(), "audit.json"),
        ):
            st.download_button(
                label,
                text,
                f"{opened.name}.{name}",
                "application/json",
                on_click="ignore",
                icon=":material/download:",
            )
