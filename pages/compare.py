"""Compare: one question, several instances side by side."""

from __future__ import annotations

import streamlit as st

from core.errors import HopscopeError
from core.jobs import Job
from core.types import Question
from pages.parts.asking import examples, known_question, link_entities, question_bar, suggest, typed
from pages.parts.board import board
from pages.parts.entitychips import chips
from pages.parts.finished import downloads
from pages.parts.lanes import chosen
from pages.parts.payload import Board
from pages.parts.permalink import Link, read_link, write_link
from pages.parts.saving import save_case
from pages.parts.session import engine, graph, graph_name, instances, waiter
from pages.parts.text import plain
from pages.parts.thumbs import press_thumb, show_thumbs

POLL, NEWS = 0.7, 0.4  # seconds between two looks at a running job, and how long one look waits for something new


def restore() -> None:
    """Take the question and the lanes from the address, once a session; a whole question is asked at once."""
    state = st.session_state
    if "lanes" in state:
        for key, empty in (("question", ""), ("entities", []), ("answers", [])):
            state[key] = state.get(key, state.get("asked", {}).get(key, empty))
        return
    link = read_link()
    state.question, state.entities, state.answers = link.question, list(link.entities), list(link.answers)
    asked = known_question(link.question)
    if asked is not None:
        state.entities = state.entities or list(asked.entities)
        state.answers = state.answers or list(asked.answers)
    state.lanes, state.seed, state.model, state.reader = list(link.lanes), link.seed, link.model, link.reader
    state.submitted = bool(link.question.strip())


def page() -> None:
    """Draw the screen."""
    if "case" in st.query_params:
        st.switch_page("pages/cases.py", query_params={"case": st.query_params["case"]})
    restore()
    opened, known = graph(), instances()
    now = question_bar()
    if now:
        try:
            link_entities(opened)
        except HopscopeError as error:
            st.session_state.trouble = error
        else:
            st.session_state.trouble = None
    chips(opened)
    lanes = chosen(known)
    switches = st.container()  # drawn once the question is asked, so that Cancel is there from the first moment
    job = engine().jobs.get(st.session_state.get("job", ""))
    left = job is not None and job.left  # the page was left while it ran
    stopped = st.session_state.pop("stopped", False)
    if not stopped and ((now and st.session_state.trouble is None) or (left and not now)):
        st.session_state.trouble = ask(opened, lanes)
    with switches:
        settings()
    if st.session_state.get("trouble") is not None:
        suggest(st.session_state.trouble)
    job = engine().jobs.get(st.session_state.get("job", ""))
    if job is not None:
        results(job)
    elif st.session_state.get("trouble") is None:
        welcome()


def settings() -> None:
    """The switches of a run."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.toggle(
            "Language model", key="model", help="Let a language model answer from the paths, after the graph reader.", on_change=resubmit
        )
        st.toggle(
            "Graph reader",
            key="reader",
            help="Name the entities at the ends of the best paths, without a language model.",
            on_change=resubmit,
        )
        job = engine().jobs.get(st.session_state.get("job", ""))
        if job is not None and not job.ended:
            st.button("Cancel", icon=":material/stop_circle:", on_click=stop, args=(job,))
        if job is not None and job.ended:
            share(job)


def stop(job: Job) -> None:
    """Cancel, and ask nothing in this run, even where the click on Ask has only just come."""
    job.cancel()
    st.session_state.stopped = True


def resubmit() -> None:
    """Ask again with the changed switches, if there is a question."""
    st.session_state.submitted = bool(st.session_state.question.strip())


def ask(opened, lanes) -> HopscopeError | None:
    """Start the comparison, and put it in the address; what stands in the way, if anything."""
    state = st.session_state
    question = Question(state.question, entities=tuple(state.entities), answers=tuple(state.answers), hops=state.get("hops"))
    try:
        asked = engine().ask(opened, question, seed=state.seed, reader=state.reader, model=state.model)
        job = engine().compare(asked, lanes, waiter=waiter("compare"))
    except HopscopeError as error:
        return error
    state.job = job.key
    state.asked = {key: state[key] for key in ("question", "entities", "answers")}
    write_link(link())
    return None


def link() -> Link:
    """The address of what is on the screen."""
    state = st.session_state
    return Link(
        state.question, tuple(state.entities), tuple(state.answers), tuple(state.lanes), graph_name(), state.seed, state.model, state.reader
    )


def results(job: Job) -> None:
    """The board, drawn again while the job runs."""
    running = not job.ended

    @st.fragment(run_every=POLL if running else None)
    def draw() -> None:
        if running and "sent" in st.session_state and st.session_state.sent[0] is job:
            job.changed(st.session_state.sent[1], NEWS)
        if job.error:
            st.error(job.error)
        told = payload(job)
        clicked = board(show_thumbs(job.comparison, told) if job.ended else told, key="board")
        if clicked is not None:
            press_thumb(job.comparison, clicked.thumb)
        if clicked is not None and clicked.node is not None:
            st.session_state.clicked = int(clicked.node)
        if running and job.ended:
            st.rerun()

    draw()
    if "clicked" in st.session_state:
        node_bar(job.comparison.graph, st.session_state.clicked)


def payload(job: Job) -> dict:
    """What the board draws; made anew only where something has changed."""
    state, version = st.session_state, job.version
    if state.get("sent", (None, None))[:2] != (job, version):
        state.sent = (job, version, drawing(job).payload())
    return state.sent[2]


def drawing(job: Job) -> Board:
    """What draws this job, kept for the session."""
    state = st.session_state
    if state.get("drawing", (None,))[0] is not job:
        state.drawing = (job, Board(job.comparison))
        state.pop("clicked", None)
    return state.drawing[1]


def node_bar(opened, node: int) -> None:
    """The clicked entity, and where to go with it."""
    name = opened.node_name(node)
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.text(f"{name} · {opened.degree(node):,} edges")
        st.page_link(
            "pages/graphs.py", label="Walk its neighbourhood", icon=":material/hub:", query_params={"entity": name, "graph": graph_name()}
        )
        st.button("Start from here", on_click=start_from, args=(name,))


def start_from(name: str) -> None:
    """Ask the same question from another entity."""
    st.session_state.entities = [name]
    st.session_state.submitted = True


def share(job: Job) -> None:
    """The permalink and the downloads."""
    comparison = job.comparison
    with st.popover("Share", icon=":material/share:"):
        st.caption("This address restores the question and the lanes:")
        st.code(link().address(st.context.url or ""), language=None, wrap_lines=True)
        downloads(comparison, drawing(job))
    save_case(job.key, comparison, link().parameters())


def welcome() -> None:
    """What to do on an empty screen."""
    st.subheader("See how a graph retriever hops")
    st.write(
        "Ask one question of the graph. Each lane answers it with another retrieval instance, and shows what it kept of "
        "the graph, which paths it found, what it told the language model, what that cost, and where the right answer was lost."
    )
    for text in examples():
        st.button(plain(text), key=f"first-{text}", type="tertiary", icon=":material/arrow_forward:", on_click=begin, args=(text,))


def begin(text: str) -> None:
    """Ask one of the first questions."""
    st.session_state.question = text
    typed()


page()
