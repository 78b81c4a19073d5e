"""Page Evaluate: metrics of methods on question sets, with tests, plots and each question."""

from __future__ import annotations

import streamlit as st

from core.errors import HopscopeError
from core.evaluation.runs.saved_sources import set_titles
from core.evaluation.runs.store import EVALUATION_OWNER_KIND
from pages.parts.evaluate.figures import draw_figures, run_facts
from pages.parts.evaluate.form import draw_new_run
from pages.parts.evaluate.method_search import SEARCH_PARAMETER, draw_search
from pages.parts.evaluate.question_audit import draw_question_audit
from pages.parts.evaluate.questions import draw_question
from pages.parts.evaluate.run_progress import draw_progress, draw_run_actions, draw_runs, leave_run
from pages.parts.shared.actions import button
from pages.parts.shared.people import admit, owner_text
from pages.parts.shared.session import store
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr


def draw_page() -> None:
    """Draw what the address names: the start page, one run, or one question of a run."""
    number = st.query_params.get("run", "")
    question = st.query_params.get("question", "")
    try:
        if not number:
            draw_start()
        elif question:
            draw_question(int(number), question)
        else:
            draw_run(int(number))
    except (HopscopeError, ValueError) as error:
        # A ValueError: the number in the address cannot be read.
        is_known = isinstance(error, HopscopeError)
        st.error(plain(str(error)) if is_known else tr("The address names no evaluation."))
        if number:
            button(tr("All evaluations"), leave_run, icon="arrow_back")


def draw_start() -> None:
    """Draw the form of a new evaluation, the list of runs, and the search for a method."""
    st.header(tr("Evaluate"), anchor=False)
    names = [
        tr(":material/bar_chart: Compare methods"),
        tr(":material/travel_explore: Find me a method"),
        tr(":material/fact_check: The set"),
    ]
    run_tab, search_tab, set_tab = st.tabs(
        names, default=names[1] if st.query_params.get(SEARCH_PARAMETER) else None
    )
    with run_tab:
        draw_new_run()
        draw_runs()
    with search_tab:
        draw_search()
    with set_tab:
        draw_question_audit()


def draw_run(number: int) -> None:
    """Draw one evaluation run: its progress and its figures so far."""
    run = store().run(number)
    n_methods = many(len(run.spec["instances"]), "method")
    title = tr("{methods} on {set}", methods=n_methods, set=set_titles(run.spec))
    with st.container(gap=None):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.subheader(plain(title), anchor=False, width="stretch")
            button(tr("All evaluations"), leave_run, icon="arrow_back", type="tertiary")
            draw_run_actions(run)
        owner = owner_text(EVALUATION_OWNER_KIND, str(run.id))
        st.caption(plain(" · ".join(filter(None, (run_facts(run), owner)))))
    draw_progress(run)
    if run.done + run.failed:
        draw_figures(run)


admit(draw_page)
