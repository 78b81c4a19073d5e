"""Questions of an evaluation run, as a table and one by one.

The opened question is drawn from saved data, as a comparison of its methods on Compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from core.comparison.lane_run import open_lane_graph
from core.engine import MethodComparison
from core.errors import BadInput
from core.evaluation.metrics.catalogue import metric
from core.evaluation.reports.method_names import method_titles
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.plan import DrawnQuestion
from core.evaluation.runs.saved_runs import reopen_comparison
from core.evaluation.runs.store import Run
from core.languages.spelling import contains_words
from pages.parts.board.static_board import draw_downloads, draw_finished_board
from pages.parts.question.permalink import MAX_COMPARE_LANES
from pages.parts.shared.actions import button
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine, store
from pages.parts.shared.session_state import Session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

MAX_TABLE_QUESTIONS = 200  # most questions of the table


def draw_questions(summary: RunSummary) -> None:
    """Draw the table of questions with one metric by method.

    A button opens the selected row. Questions can be filtered by their words, and by whether the
    methods differ. A method has no value for a failed question, and for a metric with a higher
    cut-off than it returns passages.
    """
    names = method_titles(summary.run)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        metric_name = st.selectbox(
            tr("Metric"),
            summary.reported_metrics,
            summary.reported_metrics.index(summary.defaults.question_metric),
            format_func=lambda name: tr(metric(name).describe()["title"]),
            width=280,
            key=f"questions_metric_{summary.defaults.question_metric}",
            persist_state="session",
        )
        must_differ = st.toggle(
            tr("Only where they differ"), key="questions_differ", persist_state="session"
        )
        words = st.text_input(
            tr("Words of the question"), width=240, key="questions_words", persist_state="session"
        )
    rows_by_question: dict[str, dict] = {}
    for row in summary.rows:
        value = None
        if row.outcome is not None and not summary.max_passages_below_cutoff(
            row.method, metric_name
        ):
            value = metric(metric_name)(row.outcome)
        cells = rows_by_question.setdefault(row.question.id, {tr("Question"): row.question.text})
        cells[names[row.method]] = value
    rows = {
        id: cells
        for id, cells in rows_by_question.items()
        if contains_words(cells[tr("Question")], words)
        and (not must_differ or len({cells.get(name) for name in names.values()}) > 1)
    }
    if not rows:
        caption("No question matches.")
        return
    shown_ids = list(rows)[:MAX_TABLE_QUESTIONS]
    number = {name: st.column_config.NumberColumn(format="%.3g") for name in names.values()}
    event = st.dataframe(
        [rows[key] for key in shown_ids],
        hide_index=True,
        column_config={tr("Question"): st.column_config.TextColumn(width="large"), **number},
        on_select="rerun",
        selection_mode="single-row",
        key="question_rows",
    )
    caption(
        "{shown:,} of {questions} shown. Choose a row to open it.",
        shown=len(shown_ids),
        questions=many(len(rows_by_question), "question"),
    )
    selected_row = next(iter(event["selection"]["rows"]), None)
    if selected_row is not None and selected_row < len(shown_ids):
        button(
            tr("Open this question"),
            partial(open_question, shown_ids[selected_row]),
            type="primary",
            icon="view_column",
        )


def open_question(question: str) -> None:
    """Show one question of the run, with a lane for each method."""
    st.query_params["question"] = question


def _back_to_evaluation() -> None:
    st.query_params.pop("question", None)


def draw_question(number: int, question: str) -> None:
    """Draw a question of a run as on Compare, from the saved data.

    `question` is its id, and `number` that of the run. Raises BadInput for an unknown question.
    """
    run = store().run(number)
    button(tr("The evaluation"), _back_to_evaluation, icon="arrow_back", type="tertiary")
    drawn_by_id = {drawn.question.id: drawn for drawn in store().drawn_questions(number)}
    if question not in drawn_by_id:
        text = tr(
            "Evaluation {number} holds no question “{question}”.", number=number, question=question
        )
        raise BadInput(text)
    drawn = drawn_by_id[question]
    names = method_titles(run)
    method_ids = tuple(names)
    if len(names) > MAX_COMPARE_LANES:
        method_ids = tuple(
            st.multiselect(
                tr("Methods"),
                list(names),
                list(names)[:MAX_COMPARE_LANES],
                format_func=names.__getitem__,
                max_selections=MAX_COMPARE_LANES,
                key=f"lanes-{number}",
            )
        )
    st.subheader(plain(drawn.question.text), anchor=False)
    facts = []
    if not drawn.source.is_corpus:
        start = ", ".join(drawn.question.entities) or tr("what is found in it")
        facts.append(tr("Starts at {entities}", entities=start))
    if drawn.question.answers:
        facts.append(tr("Correct answers: {answers}", answers=", ".join(drawn.question.answers)))
    st.caption(plain(" · ".join(facts)))
    key = f"evaluation-{number}-{question}-{'-'.join(method_ids)}"
    comparison = Session.evaluation_open.get_or_compute(
        key, lambda: _rows_as_comparison(run, drawn, method_ids)
    )
    drawing = draw_finished_board(comparison, key)
    with st.container(horizontal=True):
        draw_ask_link(run, drawn, method_ids)
        draw_downloads(comparison, drawing)


def draw_ask_link(run: Run, drawn: DrawnQuestion, method_ids: Sequence[str]) -> None:
    """Draw the link that asks a question of a run on Compare by these methods."""
    link = {"q": drawn.question.text, "lane": list(method_ids)} | drawn.address.parameters
    link |= {"e": list(drawn.question.entities), "a": list(drawn.question.answers)}
    if not run.spec["model"]:
        link["llm"] = "0"
    st.page_link(
        "pages/compare.py",
        label=tr("Ask again on Compare"),
        icon=":material/view_column:",
        query_params=link,
    )


def _rows_as_comparison(
    run: Run, drawn: DrawnQuestion, method_ids: tuple[str, ...]
) -> MethodComparison:
    """Return the saved results on a question as a comparison.

    The graph of the question, or the corpus and the graphs built of it, are opened for that.
    """
    source = drawn.open(engine())
    environment = engine().environment
    return reopen_comparison(
        store(),
        run,
        drawn.question.id,
        source,
        method_ids,
        lambda line: open_lane_graph(line, source, environment),
    )
