"""Form that saves a file of questions as a set, and the list of sets that users added."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from core.corpus import import_question_set
from core.datasets import add_question_set, datasets
from core.datasets.own_sets import SET_OWNED_KIND, added_sets, clean_name, remove_set
from core.datasets.question_fit import OWN_GRAPHS_WORDS, measure_fit, rows_fit
from core.importing import Importer
from core.questions import GOLD_KEYS, QuestionFile, read_question_file
from core.questions.question_files import count_rows_with_graphs
from core.runtime.jobs import Job
from core.sources import AnswerSource
from core.types import Question
from pages.parts.bringing.inspection import ImportOutcome, inspect_upload, start_import
from pages.parts.bringing.target_corpus import own_corpora
from pages.parts.bringing.target_source import choose_source, sources_for_questions
from pages.parts.bringing.uploads import ImportInput
from pages.parts.question.set_actions import draw_set_buttons
from pages.parts.shared.actions import result_of, run_action
from pages.parts.shared.people import disabled_arguments, owner_text, visitor_refusal
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

MAX_PREVIEW_QUESTIONS = 8  # questions in the preview
MAX_UNPACKED_QUESTION_BYTES = 256 << 20  # most bytes of an upload after unpacking
MAX_UNPACKED_SET_BYTES = 2 << 30  # most bytes of a fetched set after unpacking
MAX_SET_TITLE_CHARACTERS = 60  # characters of a title
# Graph on which the questions of a set are asked, if their rows have graphs of their own.
ASKED_GRAPH_CHOICES = {"union": tr("That graph"), "question": tr("The graph of its own row")}


@dataclass(frozen=True)
class ChosenQuestions:
    """Questions of a file, with the options of its reader.

    Attributes
    ----------
    format, columns : name of the format, and the columns as they were typed; empty to detect them.
    question_file : the questions that were read.
    n_own_graphs : number of questions whose row has its own graph of triples.
    """

    upload: ImportInput
    format: str
    columns: str
    question_file: QuestionFile
    n_own_graphs: int

    @property
    def reader_options(self) -> dict[str, str]:
        """Options of the reader as keyword arguments."""
        return {
            "format": self.format,
            "columns": self.columns,
            "encoding": self.upload.encoding,
        }


def questions_step(upload: ImportInput, importer: Importer, current: AnswerSource) -> None:
    """Draw the contents of a file of questions, and the form that saves it."""
    titles = sources_for_questions()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        set_source = choose_source(tr("Questions of"), titles, current, f"questions_of_{upload.id}")
        on_documents = set_source.is_corpus
        columns = st.text_input(
            tr("Columns"),
            key=f"questions_columns_{upload.id}",
            placeholder=f"id,question,answers,{'gold' if on_documents else 'entities'},-",
            width=420,
            help=tr("If the first row does not name them: in order, - leaves one out."),
        )
    choice = _read_questions(upload, importer.name, columns, on_documents)
    if choice is None:
        return
    _draw_preview(choice, on_documents)
    if on_documents:
        _draw_corpus_form(choice, set_source.name)
    else:
        _draw_graph_form(choice, set_source.name)


def _read_questions(
    upload: ImportInput, format: str, columns: str, on_documents: bool
) -> ChosenQuestions | None:
    """Read the questions of the file and return them.

    If the file cannot be read, the error is drawn and None is returned.
    """
    reading_options: dict[str, Any] = {
        "format": format,
        "columns": columns,
        "encoding": upload.encoding,
        "max_bytes": MAX_UNPACKED_QUESTION_BYTES if upload.files else MAX_UNPACKED_SET_BYTES,
        "gold": GOLD_KEYS if on_documents else (),
    }

    def work(job: Job) -> tuple[QuestionFile, int]:
        with upload.written_files() as (_, paths):
            question_file = read_question_file(
                paths[0], watch=job.part(text=tr("Reading the file")), **reading_options
            )
            if on_documents:
                question_file.check_known()
                return question_file, 0
            watch = job.part(text=tr("Looking for graphs"))
            return question_file, count_rows_with_graphs(
                paths[0], reading_options["max_bytes"], watch
            )

    job = inspect_upload("questions_looked", (upload.id, *reading_options.values()), work)
    return ChosenQuestions(upload, format, columns, *job.result) if job.result else None


def _draw_preview(choice: ChosenQuestions, on_documents: bool) -> None:
    """Draw the counts and the first questions of a file."""
    questions = choice.question_file.questions
    head = questions[:MAX_PREVIEW_QUESTIONS]
    n_answered = sum(bool(question.answers) for question in questions)
    counts = [tr("{count:,} with answers", count=n_answered)]
    if on_documents:
        n_gold = sum(bool(question.gold) for question in questions)
        counts.append(tr("{count:,} with evidence", count=n_gold))
    else:
        n_linked = sum(bool(question.entities) for question in questions)
        counts.insert(0, tr("{count:,} with entities", count=n_linked))
    if choice.n_own_graphs:
        counts.append(tr("{graphs:,} with graphs of their own", graphs=choice.n_own_graphs))
    end = "." if len(head) == len(questions) else tr(". The first {head}:", head=len(head))
    st.caption(f"{many(len(questions), 'question')}, {', '.join(counts)}{end}")
    if note := choice.question_file.note():
        st.caption(plain(note))
    st.dataframe(_preview_columns(head, on_documents), hide_index=True)


def _preview_columns(questions: tuple[Question, ...], on_documents: bool) -> dict[str, list[Any]]:
    """Return the columns of the preview.

    Columns that the file may lack are left out if they have no values.
    """
    starts, gold = tr("Starts at"), tr("Evidence")
    columns: dict[str, list[Any]] = {
        tr("Question"): [question.text for question in questions],
        starts: [", ".join(question.entities) for question in questions],
        tr("Answers"): [", ".join(question.answers) for question in questions],
        gold: [", ".join(question.gold) for question in questions],
        tr("Hops"): [question.hops for question in questions],
    }
    expected = {tr("Question"), tr("Answers"), gold if on_documents else starts}
    return {name: cells for name, cells in columns.items() if name in expected or any(cells)}


def _draw_save_button() -> bool:
    return st.button(
        tr("Save the questions"),
        type="primary",
        key="questions_keep",
        icon=":material/library_add:",
    )


def _draw_corpus_form(choice: ChosenQuestions, corpus_name: str) -> None:
    """Draw the form that saves the questions for a corpus."""
    corpus = own_corpora()[corpus_name]
    if corpus.sets:
        set_titles = [
            f"{title} ({len(corpus.questions(name)):,})" for name, title in corpus.sets.items()
        ]
        st.caption(plain(tr("Already here: ") + ", ".join(set_titles)))
    if _draw_save_button():
        start_import(f"questions-{corpus_name}", lambda job: _save_corpus_set(choice, corpus_name))


def _save_corpus_set(choice: ChosenQuestions, corpus_name: str) -> ImportOutcome:
    with choice.upload.written_files() as (_, paths):
        saved = import_question_set(corpus_name, paths[0], **choice.reader_options)
    words = tr(
        "{questions} saved: {answered:,} with correct answers, {gold:,} with evidence.",
        questions=many(saved.n_questions, "question"),
        answered=saved.n_with_answers,
        gold=saved.n_with_gold,
    )
    return ImportOutcome(words, saved.notes)


def _draw_graph_form(choice: ChosenQuestions, graph: str) -> None:
    """Draw the form that saves the questions for a graph.

    `graph` is its name.
    """
    graphs = "union"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        title = st.text_input(
            tr("Title"),
            value=choice.upload.name.split(".")[0][:MAX_SET_TITLE_CHARACTERS],
            key=f"questions_title_{choice.upload.id}",
            max_chars=MAX_SET_TITLE_CHARACTERS,
            width=260,
            help=tr("On the command line: its letters, digits and dashes."),
        )
        if choice.n_own_graphs:
            graphs = st.selectbox(
                tr("Ask each question on"),
                list(ASKED_GRAPH_CHOICES),
                format_func=ASKED_GRAPH_CHOICES.__getitem__,
                key="questions_asked_on",
                width=220,
            )
        pressed = _draw_save_button()
    if problem := _misfit_text(graph if graphs == "union" else "", choice):
        st.warning(plain(problem))
    if pressed:
        start_import(
            f"questions-{clean_name(title)}",
            lambda job: _save_graph_set(choice, title, graph, graphs),
        )


def _misfit_text(graph: str, choice: ChosenQuestions) -> str:
    """Return a sentence on questions whose names the graph lacks.

    It is empty if all fit. Without the name of a graph, each question is asked on the graph of its
    own row. The sentence then counts the rows without a graph.
    """
    questions = choice.question_file.questions
    if not graph:
        return rows_fit(len(questions), choice.n_own_graphs).words(OWN_GRAPHS_WORDS)

    def compare_names() -> str:
        with st.spinner(tr("Looking up the names"), show_time=True):
            opened_graph = result_of(lambda: engine().graph(graph))
        return "" if opened_graph is None else measure_fit(opened_graph, questions).words(graph)

    key = (graph, choice.upload.id, *choice.reader_options.values())
    return Session.questions_fit.get_or_compute(key, compare_names)


def _save_graph_set(choice: ChosenQuestions, title: str, graph: str, graphs: str) -> ImportOutcome:
    """Save the questions as a set of a graph.

    `graphs` is a key of `ASKED_GRAPH_CHOICES`.
    """
    with choice.upload.written_files() as (_, paths):
        question_set = add_question_set(
            paths[0], clean_name(title), title, graph, graphs=graphs, **choice.reader_options
        )
    words = tr(
        "{title} is saved, with {questions}. Its name on the command line is {name}.",
        title=question_set.title,
        questions=many(len(question_set.questions()), "question"),
        name=question_set.name,
    )
    return ImportOutcome(
        words, draw_next_steps=partial(draw_set_buttons, question_set, graph, "kept")
    )


def draw_added_questions() -> None:
    """Draw the sets that users added to graphs, with remove buttons."""
    added, known_graphs = added_sets(), datasets()
    if not added:
        return
    st.markdown(tr("**Question sets you added**"))
    for name, (graph, questions) in added.items():
        with st.container(horizontal=True, vertical_alignment="center"):
            graph_text = tr("{graph}, a graph that is missing", graph=plain(graph))
            if graph in known_graphs:
                graph_text = plain(known_graphs[graph].title)
            owner = plain(owner_text(SET_OWNED_KIND, name))
            parts = (plain(questions.title), graph_text, owner)
            st.markdown(" · ".join(filter(None, parts)), width="stretch")
            if graph in known_graphs:
                draw_set_buttons(questions, graph, name, type="tertiary")
            button_options = disabled_arguments(
                visitor_refusal(SET_OWNED_KIND, name),
                tr("Remove {questions}", questions=questions.title),
            )
            st.button(
                tr("Remove"),
                key=f"questions_remove_{name}",
                type="tertiary",
                icon=":material/delete:",
                on_click=run_action,
                args=(partial(_remove, name),),
                **button_options,
            )


def _remove(name: str) -> None:
    remove_set(name)
    del session.bring_job  # Its result may say that the set was saved.
