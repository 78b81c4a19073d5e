"""Adding questions: a file of them in any format, looked at first, then kept as a set of a
graph."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import streamlit as st

from core.datasets import datasets, keep_set
from core.datasets.fit import OWN, fit, rows_fit
from core.datasets.own import OWNED_AS, added_sets, clean_name, remove_set
from pages.parts.bringing.question_file import Chosen, choose_questions
from pages.parts.bringing.uploads import save_upload
from pages.parts.question.set_actions import go_on, ways_on
from pages.parts.shared.actions import button, result_of
from pages.parts.shared.people import barred, whose
from pages.parts.shared.session import engine, graph_name
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

LONGEST_TITLE = 60
ASKED = {"union": tr("That graph"), "question": tr("The graph of its own row")}


def add_questions() -> None:
    """Draw the form, the first questions of the file, and the sets that a person added before."""
    go_on()
    file, chosen = choose_questions("upload_questions")
    if chosen:
        _form(chosen)
    _save(file)
    _added()


def _misfit(graph: str, chosen: Chosen) -> str:
    """What of the questions does not fit a graph, or where none is named the graphs of their own
    rows, looked at once; empty where all fits, or the graph cannot be opened."""
    if not graph:
        return rows_fit(len(chosen.found.questions), chosen.graphs).words(OWN)

    def look() -> str:
        with st.spinner(tr("Looking up the names")):
            opened = result_of(lambda: engine().graph(graph))
        return "" if opened is None else fit(opened, chosen.found.questions).words(graph)

    return Session.questions_fit.of((graph, *chosen.key), look)


def _form(chosen: Chosen) -> None:
    known, file = datasets(), chosen.file
    names, current = list(known), graph_name().partition(":")[0]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        title = st.text_input(
            tr("Title"),
            value=file.name.split(".")[0][:LONGEST_TITLE],
            key=f"questions_title_{file.file_id}",
            max_chars=LONGEST_TITLE,
            width=260,
            help=tr("The command line keeps its letters, digits and dashes."),
        )
        graph = st.selectbox(
            tr("Questions of the graph"),
            names,
            index=names.index(current) if current in names else 0,
            format_func=lambda name: known[name].title,
            key=f"questions_graph_{file.file_id}",
            width=280,
        )
        graphs = "union"
        if chosen.graphs:
            graphs = st.selectbox(
                tr("Each is asked on"),
                list(ASKED),
                format_func=ASKED.__getitem__,
                key="questions_asked_on",
                width=220,
            )
        how = {"format": chosen.format, "columns": chosen.columns, "encoding": chosen.encoding}
        keep = partial(_keep, file, title, graph, graphs=graphs, **how)
        label = tr("Keep the questions")
        button(label, keep, type="primary", key="questions_keep", icon="library_add")
    if problem := _misfit(graph if graphs == "union" else "", chosen):
        st.warning(plain(problem))


def _keep(file, title: str, graph: str, **how: str) -> None:
    """Keep the file as a set; what stands in the way is told on the next drawing."""
    with tempfile.TemporaryDirectory() as folder:
        path = save_upload(file, Path(folder))
        known = keep_set(path, clean_name(title), title, graph, **how)
        session.questions_added = (known.name, file.file_id)


def _save(file) -> None:
    """Says that the last file was kept and leads on, until another file is chosen or the set is
    removed."""
    name, of = session.questions_added
    added = added_sets().get(name)
    if added is None or (file is not None and file.file_id != of):
        return
    graph, known = added
    with st.container(border=True):
        text = tr(
            "{known} is kept, with {questions}",
            known=plain(known.title),
            questions=many(len(known.questions()), "question"),
        )
        st.success(
            tr("{text}. The command line knows it as {known}.", text=text, known=plain(known.name)),
            icon=":material/check_circle:",
        )
        ways_on(known, graph, "kept")


def _added() -> None:
    """The sets that a person added, each with a way to remove it."""
    added, known = added_sets(), datasets()
    if not added:
        return
    st.markdown(tr("**Sets you added**"))
    for name, (graph, questions) in added.items():
        with st.container(horizontal=True, vertical_alignment="center"):
            if graph in known:
                where = plain(known[graph].title)
            else:
                where = tr("{graph}, a graph that is missing", graph=plain(graph))
            by = plain(whose(OWNED_AS, name))
            st.markdown(
                " · ".join(filter(None, (plain(questions.title), where, by))), width="stretch"
            )
            if graph in known:
                ways_on(questions, graph, name, type="tertiary")
            button(
                tr("Remove"),
                partial(remove_set, name),
                key=f"questions_remove_{name}",
                type="tertiary",
                icon="delete",
                why_not=barred(OWNED_AS, name),
                help=tr("Remove {questions}", questions=questions.title),
            )
