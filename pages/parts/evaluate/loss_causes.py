"""Causes of the losses of a user's own run or retriever, question by question.

A lost question is one that the user's method got wrong. For each, the method is compared with the
most similar method of the evaluation that got it right. A tab of the page Evaluate shows this.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.diagnosis.wording import capitalised
from core.evaluation.repairs.loss_report import (
    LossExplanation,
    LossReport,
    loss_report_key,
    own_methods,
    start_loss_report,
)
from core.evaluation.reports.method_names import method_names
from core.evaluation.reports.summary import RunSummary
from pages.parts.evaluate.questions import open_question
from pages.parts.evaluate.run_progress import draw_result_job
from pages.parts.shared.actions import button
from pages.parts.shared.sentences import write
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

MAX_LISTED_LOSSES = 20  # lost questions that are listed until the user asks for all


def has_own_method(results: RunSummary) -> bool:
    """Return whether the run has a user's program or file."""
    return bool(own_methods(results))


def draw_loss_causes(results: RunSummary) -> None:
    """Draw the tab: the start button, the progress, and the results for each own method."""
    run = results.run
    write(
        "Why did your method miss a question? Compare it with the closest method that did "
        "not, and see the smallest change that would have been enough. Nothing is asked again."
    )
    losses_by_method = draw_result_job(
        run,
        loss_report_key(run),
        "why",
        start_loss_report,
        tr("Find out"),
        "troubleshoot",
        tr("Available once the evaluation has ended."),
    )
    names = {id: str(name) for id, name in method_names(run).items()}
    for report in losses_by_method:
        _draw_method(report, names)


def _draw_method(report: LossReport, names: dict[str, str]) -> None:
    """Draw a summary of one method's losses, and the lost questions."""
    with st.container(border=True, gap="small"):
        first, *rest = report.sentences(names)
        st.markdown(f"**{plain(first)}**")
        for sentence in rest:
            st.caption(plain(sentence))
        shown_losses = report.losses
        if len(shown_losses) > MAX_LISTED_LOSSES and not st.toggle(
            tr("Show all {shown:,}", shown=len(shown_losses)), key=f"why-all-{report.method}"
        ):
            shown_losses = shown_losses[:MAX_LISTED_LOSSES]
        for loss in shown_losses:
            _draw_loss(loss, names, f"why-open-{report.method}-{loss.question}")


def _draw_loss(loss: LossExplanation, names: dict[str, str], key: str) -> None:
    """Draw a lost question with its cause, the nearest method, and a change that would help."""
    common_text = ""  # how many documents both methods found; `loss.n_documents` is 0 if unknown
    if loss.n_documents:
        common_text = tr(
            "; it shares {shared:,} of the {documents} that yours found",
            documents=many(loss.n_documents, "document"),
            shared=loss.n_shared,
        )
    nearest_text = ""
    if loss.nearest:
        nearest_text = tr(
            "{nearest} did not miss it{common}.", nearest=names[loss.nearest], common=common_text
        )
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        with st.container(gap=None, width="stretch"):
            st.text(loss.text)
            cause = f"{capitalised(loss.cause)}."
            st.caption(plain(" ".join(filter(None, [cause, nearest_text, loss.change]))))
        button(
            tr("Open"),
            partial(open_question, loss.question),
            key=key,
            help=tr("As this evaluation ran it."),
        )
