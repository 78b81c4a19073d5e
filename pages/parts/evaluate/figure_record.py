"""Record of a figure: its definition, rows, settings, digests and command, and its repetition."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.evaluation.exchange.claim_checks import DIFFERS, EQUAL, start_run_again
from core.evaluation.exchange.claims import claim_facts
from core.evaluation.metrics.catalogue import metric
from core.evaluation.reports.export import screen_figure, screen_interval
from core.evaluation.reports.method_names import method_titles
from core.evaluation.reports.ranks import ranking_metric
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.store import Run
from core.io.json_text import json_text
from pages.parts.evaluate.run_progress import draw_result_job
from pages.parts.shared.actions import shown_errors
from pages.parts.shared.session import engine, store
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

RUN_AGAIN_QUESTIONS = 20  # that are asked again at first
STATE_ICONS = {EQUAL: ":material/check:", DIFFERS: ":material/difference:"}


def draw_figure_record(results: RunSummary) -> None:
    """Draw the choice of a figure, what it rests on, and the button that repeats it."""
    titles = method_titles(results.run)
    names = list(results.reported_metrics)
    first = ranking_metric(results)
    with st.container(horizontal=True):
        method = st.selectbox(
            tr("Method"), list(titles), format_func=titles.__getitem__, key="record_method"
        )
        name = st.selectbox(
            tr("Metric"),
            names,
            names.index(first) if first in names else 0,
            format_func=lambda each: tr(metric(each).describe()["title"]),
            key=f"record_metric_{results.defaults.question_metric}",
        )
    _draw_figure(results, method, name)
    _draw_rows(results, method, name)
    with shown_errors():  # a method of the run may be gone
        facts = claim_facts(engine(), store(), results)
        st.markdown(tr("**Command**"))
        st.code(facts.pop("command"), language="shell", wrap_lines=True)
        with st.popover(tr("Settings and digests")):
            st.code(json_text(facts, indent=1), language="json")
        _draw_run_again(results.run, method)


def _draw_figure(results: RunSummary, method: str, name: str) -> None:
    """Draw a figure with its interval, the spread of its repeats, and its definition."""
    figure = results.table([name])[method][name]
    text = f"**{screen_interval(name, figure)}**, n = {figure.n:,}"
    if spread := results.spread(method, name):
        ends = {"low": screen_figure(name, spread.low), "high": screen_figure(name, spread.high)}
        text += " · " + tr("{runs} runs: {low} to {high}", runs=spread.runs, **ends)
    st.markdown(text)
    texts = metric(name).describe()
    st.caption(plain(f"{tr(texts['definition'])} {tr(texts['convention'])} {texts['source']}"))


def _draw_rows(results: RunSummary, method: str, name: str) -> None:
    """Draw the value of each question: with repeats the mean of its runs."""
    values = results.values(method, [name])[:, 0]
    questions = {row.question.id: row.question for row in results.rows}
    rows = [
        {tr("Question"): questions[id].text, tr("Value"): value, tr("Id"): id}
        for id, value in zip(results.questions, values)
    ]
    st.dataframe(rows, hide_index=True, height=240)


def _draw_run_again(run: Run, method: str) -> None:
    """Draw the button that runs a method again, and the result of the last time."""
    most = run.spec["sample"]
    limit = st.number_input(
        tr("Questions to run again"),
        1,
        most,
        min(RUN_AGAIN_QUESTIONS, most),
        width=220,
        key=f"record_rows-{run.id}",
    )
    key = f"again-{run.id}-{method}-{limit}"
    start = partial(start_run_again, key=key, method=method, limit=int(limit))
    words = (tr("Run again"), "replay", tr("Available once the evaluation has ended."))
    checks = draw_result_job(run, key, key, start, *words)
    for check in checks:
        icon = STATE_ICONS.get(check.state, ":material/help:")
        st.markdown(f"{icon} {plain(check.subject)}: {plain(check.text)}")
