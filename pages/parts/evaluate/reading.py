"""Retrieval or reading: where each method of a run loses its questions, as a tab of Evaluate.

The three shares follow from the run. The ceiling and what is known without context need further
answers of the readers, whose cost is shown before.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.diagnosis.reading import EVIDENCE, TRUTH_WORDS
from core.diagnosis.wording import capitalised
from core.errors import shorten
from core.evaluation.metrics.statistics import Estimate
from core.evaluation.repairs.reading_run import missing_cost, readings_job_key, start_readings
from core.evaluation.reports.export import format_share
from core.evaluation.reports.method_names import method_titles
from core.evaluation.reports.reading_plot import reading_plot
from core.evaluation.reports.reading_shares import (
    END_LABELS,
    LOST_IN_READING,
    LOST_IN_RETRIEVAL,
    ReadingShares,
    difference_sentences,
    gain_sentence,
    note_sentences,
    reading_headline,
    reading_shares,
)
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.store import EVALUATION_OWNER_KIND, StoredRow
from core.runtime.jobs import JOB_CANCELLED
from pages.parts.evaluate.questions import draw_ask_link, open_question
from pages.parts.evaluate.run_progress import job_of
from pages.parts.shared.actions import button
from pages.parts.shared.job_progress import draw_job, rerun_when_started
from pages.parts.shared.people import visitor_refusal
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine, store
from pages.parts.shared.spending import draw_spending_limit
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

MAX_LISTED_QUESTIONS = 20  # listed until the user asks for all


def draw_reading(results: RunSummary) -> None:
    """Draw the tab: the sentences, the missing answers, the table, the bars and their questions."""
    all_shares = reading_shares(results)
    names = method_titles(results.run)
    with st.container(border=True, gap="small", key="reading-verdict"):
        st.markdown(f"**{plain(reading_headline(all_shares))}**")
        for shares in all_shares:
            name = names[shares.method] if len(all_shares) > 1 else ""
            st.caption(plain(gain_sentence(shares, name)))
        for sentence in difference_sentences(results):
            st.caption(plain(sentence))
    if not all_shares:
        return
    _draw_missing_answers(results)
    row_method = _draw_table(all_shares, names)
    bar = _draw_bars(results, all_shares, names)
    for sentence in note_sentences(all_shares, names):
        st.caption(plain(sentence))
    if bar is not None:
        _draw_questions(results, bar[0], (bar[1],), names)
    elif row_method is not None:
        _draw_questions(results, row_method, (LOST_IN_RETRIEVAL, LOST_IN_READING), names)


def _draw_missing_answers(results: RunSummary) -> None:
    """Draw the button that asks the readers again, with its cost, or the progress."""
    run = results.run
    key = readings_job_key(run)
    job, run_job = engine().evaluations.get(key), job_of(run)
    if job is not None:
        stopped = tr("Stopped; the answers so far are kept.")
        draw_job(job, f"reading-{run.id}", stopped if job.status == JOB_CANCELLED else "")
        if not job.has_ended:
            return
        for sentence in job.result or ():
            st.warning(plain(sentence))
    cost = missing_cost(results)
    if cost is None:
        return
    if run_job is not None and not run_job.has_ended:
        caption("Available once the evaluation has ended.")
        return
    work = getattr(run_job, "evaluation", None)  # settings of the evaluation in this process
    limits: dict[str, Any] = {"cap": None, "max_concurrent": work.max_concurrent if work else 0}
    refusal = visitor_refusal(EVALUATION_OWNER_KIND, str(run.id))
    with st.container(horizontal=True, vertical_alignment="center"):
        if cost.calls:
            limits["cap"], is_valid = draw_spending_limit(
                f"reading_cap-{run.id}", work.cap if work else None
            )
            refusal = refusal if is_valid else tr("Correct the limit first.")
        button(
            tr("Ask with the evidence alone, and with nothing"),
            partial(start_readings, engine(), store(), run, **limits),
            key="reading-go",
            type="primary",
            icon="menu_book",
            why_not=refusal,
        )
        cost_text = tr("No language model is asked.")
        if cost.calls:
            cost_text = f"{capitalised(cost.description)}."
        st.caption(plain(cost_text))
    rerun_when_started(key)


def _draw_table(all_shares: Sequence[ReadingShares], names: dict[str, str]) -> str | None:
    """Draw the shares of each method, and return the method of the chosen row."""
    rows = [
        {
            tr("Method"): names[shares.method],
            tr("Right"): _figure(shares.right),
            tr("Lost in retrieval"): _figure(shares.lost_in_retrieval),
            tr("Lost in reading"): _figure(shares.lost_in_reading),
            tr("Known without context"): _figure(shares.known),
            tr("With the evidence alone"): _figure(shares.ceiling),
            tr("Questions"): f"{shares.n:,}",
        }
        for shares in all_shares
    ]
    event: Any = st.dataframe(
        rows,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key="reading_rows",
    )
    caption(
        "Lost in retrieval: wrong, and the evidence was not read. Lost in reading: wrong, although "
        "it was. With 95 % intervals. Choose a row or a bar to list its questions."
    )
    chosen = next(iter(event["selection"]["rows"]), None)
    return None if chosen is None or chosen >= len(all_shares) else all_shares[chosen].method


def _figure(estimate: Estimate) -> str:
    return estimate.format_with_interval(format_share)


def _draw_bars(
    results: RunSummary, all_shares: Sequence[ReadingShares], names: dict[str, str]
) -> tuple[str, str] | None:
    """Draw the stacked bars, and return the method and class of the chosen part."""
    event: Any = st.plotly_chart(
        reading_plot(all_shares, names),
        key=f"reading-bars-{results.run.id}",
        on_select="rerun",
        selection_mode="points",
        config={"displayModeBar": False},
    )
    chosen = next((point.get("customdata") for point in event["selection"]["points"]), None)
    return (str(chosen[0]), str(chosen[1])) if chosen and chosen[0] in names else None


def _draw_questions(
    results: RunSummary, method: str, ends: Sequence[str], names: dict[str, str]
) -> None:
    """Draw the questions of a method in some classes, with buttons that open them."""
    shares = next(one for one in reading_shares(results) if one.method == method)
    rows = [row for row in results.rows_of(method) if shares.ends[row.question.id] in ends]
    title = tr(
        "{method}: {questions} {ends}",
        method=names[method],
        questions=many(len(rows), "question"),
        ends=tr(" or ").join(tr(END_LABELS[end]) for end in ends),
    )
    st.markdown(f"**{plain(title)}**")
    if len(rows) > MAX_LISTED_QUESTIONS and not st.toggle(
        tr("Show all {shown:,}", shown=len(rows)), key=f"reading_all_{results.run.id}"
    ):
        rows = rows[:MAX_LISTED_QUESTIONS]
    drawn = {one.question.id: one for one in store().drawn_questions(results.run.id)}
    with st.container(border=True, gap="small", key="reading-questions"):
        for row in rows:
            with st.container(horizontal=True, vertical_alignment="center"):
                with st.container(gap=None, width="stretch"):
                    st.text(row.question.text)
                    st.caption(plain(_row_words(row, shares.ends[row.question.id])))
                button(
                    tr("Open"),
                    partial(open_question, row.question.id),
                    key=f"reading-open-{row.question.id}",
                    help=tr("As this evaluation ran it."),
                )
                draw_ask_link(results.run, drawn[row.question.id], (method,))


def _row_words(row: StoredRow, end: str) -> str:
    """Return the class of a question, its answer, and the answer from the evidence alone."""
    scored = row.outcome.answer if row.outcome is not None else None
    text = shorten(scored.text) if scored is not None and scored.text.strip() else tr("no answer")
    words = [tr(END_LABELS[end]), tr("answer: {answer}", answer=text)]
    alone = row.readings.get(EVIDENCE)
    if alone is not None and alone.right is not None:
        words.append(
            tr(
                "with the evidence alone: {answer} ({truth})",
                answer=shorten(alone.answer) or tr("no answer"),
                truth=tr(TRUTH_WORDS[alone.right]),
            )
        )
    return " · ".join(words)
