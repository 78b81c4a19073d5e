"""Adding questions: a file of them in any format, looked at first, then kept as a set of a graph."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from core.datasets import datasets, keep_set
from core.datasets.fit import OWN, fit, rows_fit
from core.datasets.own import KIND, added_sets, clean_name, remove_set
from core.datasets.questions import FORMATS, read_questions, rows_with_graphs
from core.datasets.table import EXAMPLE
from core.errors import BadInput, HopscopeError
from core.io.files import size_text
from core.runtime.jobs import Job
from core.types import Question
from pages.parts.graphs.looking import looked_at, reading
from pages.parts.graphs.upload import kept
from pages.parts.graphs.ways import go_on, ways_on
from pages.parts.shared.people import barred, held, whose
from pages.parts.shared.session import engine, graph_name, said
from pages.parts.shared.text import many, plain

PREVIEWED, LONGEST_TITLE = 8, 60
MOST_MEGABYTES = 64
MOST_FILE, MOST_TEXT = MOST_MEGABYTES << 20, 256 << 20  # bytes of the file, and of the text that it may unpack to
TYPES = ["csv", "txt", "tsv", "json", "jsonl", "gz"]
ASKED = {"union": "That graph", "question": "The graph of its own row"}


@dataclass(frozen=True)
class Looked:
    """What a file of questions was found to hold."""

    questions: Sequence[Question]
    graphs: int  # rows that bring one


def add_questions() -> None:
    """Draw the form, the first questions of the file, and the sets that a person added before."""
    go_on()
    st.write(
        "A file of questions. The simplest is a table saved as CSV, with a row like these for each question (several answers or entities "
        "are parted by “|”; entities may be left out, then they are found in the question):"
    )
    st.code(EXAMPLE.rstrip(), language=None)
    st.caption(
        "Also taken: text of MetaQA, PathQuestion or SimpleQuestions, and JSON rows of RoG, WebQSP, CWQ, GrailQA, SimpleQuestions, "
        "WebQuestions or your own (question, entities, answers); compressed or not (.gz). "
        f"At most {size_text(MOST_FILE)}, {size_text(MOST_TEXT)} of text."
    )
    file = st.file_uploader("File of questions", type=TYPES, key="upload_questions", max_upload_size=MOST_MEGABYTES)
    if file is not None:
        format = st.selectbox(
            "Format",
            ["auto", *FORMATS],
            format_func=lambda name: FORMATS.get(name, "By the file's first lines"),
            key="upload_questions_format",
            width=560,
        )
        columns = st.text_input(
            "Columns",
            key=f"upload_questions_columns_{file.file_id}",
            placeholder="id,question,answers,entities,-",
            width=560,
            help="For lines of text without a first row that names them: what each column holds, in order, - for one to leave out.",
        )
        looked = _look(file, format, columns)
        if looked.error:
            st.error(plain(looked.error))
            st.caption("Correct the file, or how it is read, and choose it again.")
        elif looked.result:
            _preview(looked.result)
            _form(file, format, columns, looked.result)
    if error := st.session_state.pop("questions_error", None):
        st.error(plain(error))
    _kept(file)
    _added()


def _look(file, format: str, columns: str) -> Job:
    """What the file holds, as a job that has ended. Looked at once, until the file or how it is read changes."""

    def work(job: Job) -> Looked:
        if file.size > MOST_FILE:
            raise BadInput(f"{file.name} is larger than {size_text(MOST_FILE)}.")
        with tempfile.TemporaryDirectory() as folder:
            path = kept(file, Path(folder))
            found = read_questions(path, format=format, most=MOST_TEXT, columns=columns, tell=reading(job))
            return Looked(found, rows_with_graphs(path, MOST_TEXT, reading(job, "Looking for graphs")))

    return looked_at("questions_looked", (file.file_id, format, columns), work)


def _preview(looked: Looked) -> None:
    head, known = looked.questions[:PREVIEWED], looked.questions
    named, answered = sum(bool(q.entities) for q in known), sum(bool(q.answers) for q in known)
    st.caption(
        f"{many(len(known), 'question')}, {named:,} with entities, {answered:,} with answers"
        + (f", {looked.graphs:,} with graphs of their own" if looked.graphs else "")
        + ("." if len(head) == len(known) else f". The first {len(head)}:")
    )
    shown = {
        "Question": [q.text for q in head],
        "Starts from": [", ".join(q.entities) for q in head],
        "Answers": [", ".join(q.answers) for q in head],
        "Hops": [q.hops for q in head],
    }
    if not any(shown["Hops"]):
        del shown["Hops"]
    st.dataframe(shown, hide_index=True)


def _misfit(graph: str, looked: Looked) -> str:
    """What of the questions does not fit a graph, or where none is named the graphs of their own rows, looked at once; empty where all
    fits, or the graph cannot be opened."""
    if not graph:
        return rows_fit(len(looked.questions), looked.graphs).words(OWN)
    state = st.session_state
    key = (graph, *state.questions_looked[0])
    if state.get("questions_fit", (None,))[0] != key:
        with st.spinner("Looking up the names"):
            opened = said(lambda: engine().graph(graph))
        state.questions_fit = (key, "" if opened is None else fit(opened, looked.questions).words(graph))
    return state.questions_fit[1]


def _form(file, format: str, columns: str, looked: Looked) -> None:
    known = datasets()
    names, current = list(known), graph_name().partition(":")[0]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        title = st.text_input(
            "Title",
            value=file.name.split(".")[0][:LONGEST_TITLE],
            key=f"questions_title_{file.file_id}",
            max_chars=LONGEST_TITLE,
            width=260,
            help="What the chooser shows. The command line knows the set by its letters, digits and dashes.",
        )
        graph = st.selectbox(
            "Questions of the graph",
            names,
            index=names.index(current) if current in names else 0,
            format_func=lambda name: known[name].title,
            key=f"questions_graph_{file.file_id}",
            width=280,
        )
        graphs = "union"
        if looked.graphs:
            graphs = st.selectbox("Each is asked on", list(ASKED), format_func=ASKED.__getitem__, key="questions_asked_on", width=220)
        st.button(
            "Keep the questions",
            type="primary",
            key="questions_keep",
            icon=":material/library_add:",
            on_click=_keep,
            args=(file, title, graph),
            kwargs={"format": format, "columns": columns, "graphs": graphs},
        )
    if problem := _misfit(graph if graphs == "union" else "", looked):
        st.warning(plain(problem))


def _keep(file, title: str, graph: str, **how: str) -> None:
    """Keep the file as a set; what stands in the way is told on the next drawing."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            known = keep_set(kept(file, Path(folder)), clean_name(title), title, graph, **how)
        except HopscopeError as error:
            st.session_state.questions_error = str(error)
            return
    st.session_state.questions_added = (known.name, file.file_id)


def _kept(file) -> None:
    """Says that the last file was kept and leads on, until another file is chosen or the set is removed."""
    name, of = st.session_state.get("questions_added", ("", ""))
    added = added_sets().get(name)
    if added is None or (file is not None and file.file_id != of):
        return
    graph, known = added
    with st.container(border=True):
        text = f"{plain(known.title)} is kept, with {many(len(known.questions()), 'question')}"
        st.success(f"{text}. The command line knows it as {plain(known.name)}.", icon=":material/check_circle:")
        ways_on(known, graph, "kept")


def _added() -> None:
    """The sets that a person added, each with a way to remove it."""
    added, known = added_sets(), datasets()
    if not added:
        return
    st.markdown("**Sets you added**")
    for name, (graph, questions) in added.items():
        with st.container(horizontal=True, vertical_alignment="center"):
            where = plain(known[graph].title) if graph in known else f"{plain(graph)}, a graph that is gone"
            by = plain(whose(KIND, name))
            st.markdown(" · ".join(filter(None, (plain(questions.title), where, by))), width="stretch")
            if graph in known:
                ways_on(questions, graph, name, type="tertiary")
            how = held(barred(KIND, name), f"Remove {questions.title}")
            st.button(
                "Remove",
                key=f"questions_remove_{name}",
                type="tertiary",
                icon=":material/delete:",
                on_click=_remove,
                args=(name,),
                **how,
            )


def _remove(name: str) -> None:
    try:
        remove_set(name)
    except HopscopeError as error:
        st.session_state.questions_error = str(error)
