"""Form that saves a file of questions as a set, and the list of sets that users added."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from core.corpus import bring_questions
from core.datasets import datasets, keep_set
from core.datasets.fit import OWN, fit, rows_fit
from core.datasets.own import OWNED_AS, added_sets, clean_name, remove_set
from core.importing import Importer
from core.questions import GOLD, QuestionFile, read_file
from core.questions.reading import rows_with_graphs
from core.runtime.jobs import Job
from core.sources import Source
from core.types import Question
from pages.parts.bringing.inspection import ImportOutcome, begin, inspect_upload
from pages.parts.bringing.target_corpus import own_corpora
from pages.parts.bringing.target_source import choose_source, sources_for_questions
from pages.parts.bringing.uploads import Dropped
from pages.parts.question.set_actions import ways_on
from pages.parts.shared.actions import attempt, result_of
from pages.parts.shared.people import barred, held, whose
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

PREVIEWED = 8  # questions in the preview
MOST_TEXT = 256 << 20  # most bytes of an upload after unpacking
MOST_FETCHED = 2 << 30  # most bytes of a fetched set after unpacking
MAX_TITLE_LETTERS = 60  # characters of a title
ASKED = {"union": tr("That graph"), "question": tr("The graph of its own row")}


@dataclass(frozen=True)
class ChosenQuestions:
    """Questions of a file, with the options of its reader.

    `graphs` is the number of rows with graphs of their own.
    """

    dropped: Dropped
    format: str
    columns: str
    found: QuestionFile
    graphs: int

    @property
    def how(self) -> dict[str, str]:
        """Options of the reader as keyword arguments."""
        return {
            "format": self.format,
            "columns": self.columns,
            "encoding": self.dropped.encoding,
        }


def questions_step(dropped: Dropped, importer: Importer, here: Source) -> None:
    """Draw the contents of a file of questions, and the form that saves it."""
    titles = sources_for_questions()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        of = choose_source(tr("Questions of"), titles, here, f"questions_of_{dropped.id}")
        on_documents = of.is_corpus
        columns = st.text_input(
            tr("Columns"),
            key=f"questions_columns_{dropped.id}",
            placeholder=f"id,question,answers,{'gold' if on_documents else 'entities'},-",
            width=420,
            help=tr("Where no first row names them: in order, - for one to leave out."),
        )
    chosen = _look(dropped, importer.name, columns, on_documents)
    if chosen is None:
        return
    _preview(chosen, on_documents)
    if on_documents:
        _documents_form(chosen, of.name)
    else:
        _graph_form(chosen, of.name)


def _look(dropped: Dropped, format: str, columns: str, documents: bool) -> ChosenQuestions | None:
    """Return the contents of the file.

    If it cannot be read, the error is shown and None is returned.
    """
    how: dict[str, Any] = {"format": format, "columns": columns, "encoding": dropped.encoding}
    how["most"] = MOST_TEXT if dropped.files else MOST_FETCHED
    how["gold"] = GOLD if documents else ()

    def work(job: Job) -> tuple[QuestionFile, int]:
        with dropped.laid_down() as (_, paths):
            found = read_file(paths[0], watch=job.part(text=tr("Reading the file")), **how)
            if documents:
                found.check_known()
                return found, 0
            watch = job.part(text=tr("Looking for graphs"))
            return found, rows_with_graphs(paths[0], how["most"], watch)

    job = inspect_upload("questions_looked", (dropped.id, *how.values()), work)
    return ChosenQuestions(dropped, format, columns, *job.result) if job.result else None


def _preview(chosen: ChosenQuestions, documents: bool) -> None:
    known = chosen.found.questions
    head = known[:PREVIEWED]
    answered = tr("{count:,} with answers", count=sum(bool(q.answers) for q in known))
    counts = [tr("{count:,} with entities", count=sum(bool(q.entities) for q in known)), answered]
    if documents:
        gold = sum(bool(q.gold) for q in known)
        counts = [answered, tr("{count:,} with gold documents", count=gold)]
    if chosen.graphs:
        counts.append(tr("{graphs:,} with graphs of their own", graphs=chosen.graphs))
    end = "." if len(head) == len(known) else tr(". The first {head}:", head=len(head))
    st.caption(f"{many(len(known), 'question')}, {', '.join(counts)}{end}")
    if note := chosen.found.note():
        st.caption(plain(note))
    st.dataframe(_table(head, documents), hide_index=True)


def _table(head: tuple[Question, ...], documents: bool) -> dict[str, list[Any]]:
    """Return the columns of some questions, without empty ones that are not expected."""
    starts, gold = tr("Starts from"), tr("Gold documents")
    columns: dict[str, list[Any]] = {
        tr("Question"): [q.text for q in head],
        starts: [", ".join(q.entities) for q in head],
        tr("Answers"): [", ".join(q.answers) for q in head],
        gold: [", ".join(q.gold) for q in head],
        tr("Hops"): [q.hops for q in head],
    }
    always = {tr("Question"), tr("Answers"), gold if documents else starts}
    return {name: cells for name, cells in columns.items() if name in always or any(cells)}


def _keep_button() -> bool:
    return st.button(
        tr("Keep the questions"),
        type="primary",
        key="questions_keep",
        icon=":material/library_add:",
    )


def _documents_form(chosen: ChosenQuestions, corpus: str) -> None:
    known = own_corpora()[corpus]
    if known.sets:
        here = [f"{title} ({len(known.questions(name)):,})" for name, title in known.sets.items()]
        st.caption(plain(tr("Here already: ") + ", ".join(here)))
    if _keep_button():
        begin(f"questions-{corpus}", lambda job: _keep_of_documents(chosen, corpus))


def _keep_of_documents(chosen: ChosenQuestions, corpus: str) -> ImportOutcome:
    with chosen.dropped.laid_down() as (_, paths):
        brought = bring_questions(corpus, paths[0], **chosen.how)
    words = tr(
        "{questions} kept, {answered:,} with known answers, {gold:,} with gold documents.",
        questions=many(brought.number, "question"),
        answered=brought.answered,
        gold=brought.gold,
    )
    return ImportOutcome(words, brought.notes)


def _graph_form(chosen: ChosenQuestions, graph: str) -> None:
    graphs = "union"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        title = st.text_input(
            tr("Title"),
            value=chosen.dropped.name.split(".")[0][:MAX_TITLE_LETTERS],
            key=f"questions_title_{chosen.dropped.id}",
            max_chars=MAX_TITLE_LETTERS,
            width=260,
            help=tr("The command line keeps its letters, digits and dashes."),
        )
        if chosen.graphs:
            graphs = st.selectbox(
                tr("Each is asked on"),
                list(ASKED),
                format_func=ASKED.__getitem__,
                key="questions_asked_on",
                width=220,
            )
        pressed = _keep_button()
    if problem := _misfit(graph if graphs == "union" else "", chosen):
        st.warning(plain(problem))
    if pressed:
        keep = partial(_keep_of_graph, chosen, title=title, graph=graph, graphs=graphs)
        begin(f"questions-{clean_name(title)}", lambda job: keep())


def _misfit(graph: str, chosen: ChosenQuestions) -> str:
    """Return a sentence on questions that do not fit the graph.

    The graph may also be that of each question's own row. Empty if all fit.
    """
    if not graph:
        return rows_fit(len(chosen.found.questions), chosen.graphs).words(OWN)

    def look() -> str:
        with st.spinner(tr("Looking up the names")):
            opened = result_of(lambda: engine().graph(graph))
        return "" if opened is None else fit(opened, chosen.found.questions).words(graph)

    key = (graph, chosen.dropped.id, *chosen.how.values())
    return Session.questions_fit.of(key, look)


def _keep_of_graph(chosen: ChosenQuestions, title: str, graph: str, graphs: str) -> ImportOutcome:
    with chosen.dropped.laid_down() as (_, paths):
        known = keep_set(paths[0], clean_name(title), title, graph, graphs=graphs, **chosen.how)
    words = tr(
        "{title} is kept, with {questions}. The command line knows it as {name}.",
        title=known.title,
        questions=many(len(known.questions()), "question"),
        name=known.name,
    )
    return ImportOutcome(words, ways=partial(ways_on, known, graph, "kept"))


def added_questions() -> None:
    """Draw the sets that users added to graphs, with remove buttons."""
    added, known = added_sets(), datasets()
    if not added:
        return
    st.markdown(tr("**Sets you added**"))
    for name, (graph, questions) in added.items():
        with st.container(horizontal=True, vertical_alignment="center"):
            where = (
                plain(known[graph].title)
                if graph in known
                else tr("{graph}, a graph that is missing", graph=plain(graph))
            )
            by = plain(whose(OWNED_AS, name))
            st.markdown(
                " · ".join(filter(None, (plain(questions.title), where, by))), width="stretch"
            )
            if graph in known:
                ways_on(questions, graph, name, type="tertiary")
            how = held(barred(OWNED_AS, name), tr("Remove {questions}", questions=questions.title))
            st.button(
                tr("Remove"),
                key=f"questions_remove_{name}",
                type="tertiary",
                icon=":material/delete:",
                on_click=attempt,
                args=(partial(_remove, name),),
                **how,
            )


def _remove(name: str) -> None:
    remove_set(name)
    del session.bring_job  # Its result may say that the set was saved.
