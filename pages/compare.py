"""Page Compare: one question, several methods side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.cases import Case
from core.engine import Comparison
from core.errors import HopscopeError
from core.graph.edits import Edit
from core.operators.languages import notes_on_language
from core.runtime.jobs import CANCELLED, Job
from core.sources import Ask, GraphSource
from core.types import Question
from pages.parts.board.component import board
from pages.parts.board.payload import idle
from pages.parts.board.thumbs import press_thumb, show_thumbs
from pages.parts.compare.asked import Shown, address, answered_before, clear, come_back, here, shown
from pages.parts.compare.drawn import drawable, drawing, news, payload, with_wait
from pages.parts.compare.entity_chips import chips
from pages.parts.compare.influence import MEASURE, STOP, measuring, press_measure, with_measuring
from pages.parts.compare.lanes import act, chosen, dialog, fitting, insert, settle_lanes, try_beside
from pages.parts.compare.partly import partly, unbuilt
from pages.parts.compare.presenting import present, presenting
from pages.parts.compare.reranked import rerank
from pages.parts.compare.sharing import share
from pages.parts.compare.without import WAYS, before_job, change, changes, with_before
from pages.parts.compare.without import running as at_work
from pages.parts.question.corpus_question import ask_documents, facts
from pages.parts.question.permalink import MOST_LANES, case_link, write_link
from pages.parts.question.question_bar import begin, link_entities, question_bar, settle, suggest
from pages.parts.shared.actions import button, result_of
from pages.parts.shared.address import ask_on_enter, in_place
from pages.parts.shared.live import AROUND, fetched_text, near
from pages.parts.shared.people import admit
from pages.parts.shared.sentences import caption, write
from pages.parts.shared.session import (
    engine,
    give_up,
    graph,
    graph_name,
    instances,
    opened_graph,
    source,
    stop_where_missing,
    waiter,
)
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

BY_WORDS = "bm25-passages"  # method offered if the encoder does not know the language
POLL = 0.7  # least seconds between two updates of a running job, each of which waits for news


def page() -> None:
    """Draw the page."""
    come_back()
    settle()
    settle_lanes()
    known = instances()
    if presenting():
        if session.submitted:
            session.trouble = ask(chosen(known), edited())
            st.query_params["present"] = "1"
            session.submitted = session.edited = False
        present(repair_beside)
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="controls"):
        pressed = question_bar()
        options()
    ask_on_enter(tr("Question"))
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="facts"):
        entities = st.container(width="stretch")
        actions = st.container(horizontal=True, width="content", gap="small")
    above, results = st.container(), st.container()
    if shown() is None:
        stop_where_missing(source())
    stopped = Session.stopped.take()
    with above:
        lanes = chosen(known)
        if (pressed or session.submitted) and not stopped:
            session.trouble = ask(lanes, None if pressed else edited())
        # Cleared only after asking: a run that is interrupted before must not lose the question.
        session.submitted = session.edited = False
        if session.trouble is not None:
            suggest(session.trouble)
    with above:
        on_screen = drawable(shown())
        if on_screen is not None and session.trouble is not None:
            earlier(on_screen.comparison)
    with entities:
        if source().is_corpus:
            facts()
        else:
            chips(seen_graph(on_screen))
    with above:
        changes()
        if on_screen is not None and (text := fetched_text(on_screen.comparison)):
            st.caption(f":material/database: {plain(text)}")
        if on_screen is not None:
            languages(on_screen.comparison)
    dialog(fitting(known), on_screen.comparison if on_screen is not None else None)
    if on_screen is not None and on_screen.case is not None:
        with above:
            answered(on_screen.case)
    with results:
        if on_screen is None:
            welcome()
            draw_idle(lanes)
        else:
            draw(on_screen)
            with above:
                partly(on_screen)
                # After the board, so that a job cannot end unnoticed between the two.
                unbuilt(on_screen)
    if (link := here(on_screen)) is not None:
        in_place(link.parameters())
    if on_screen is not None:
        with actions:
            if on_screen.job is not None and not on_screen.job.ended:
                button(tr("Cancel"), partial(stop, on_screen.job), icon="stop_circle", key="cancel")
            if on_screen.job is None or on_screen.job.ended:
                rerank(on_screen.comparison)
            share(on_screen, drawing(on_screen))


def seen_graph(on_screen: Shown | None) -> Any:
    """Return the graph in which names are looked up.

    It is the chosen graph. For a live database, and until the chosen graph is open, it is the graph
    of the comparison on the screen.
    """
    opened = opened_graph()
    if on_screen is not None and (
        opened is None or opened.live is not None and on_screen.comparison.graph.name == opened.name
    ):
        return on_screen.comparison.graph
    return opened or graph()


def answered(case: Case) -> None:
    """Draw a note that a case is on the screen.

    A button begins a new question.
    """
    what = tr("An example that was answered before.") if case.example else tr("A saved case.")
    link = case_link(case)
    missing = tr(
        "It was asked of “{name}”, which is not here: Ask asks what is chosen at the left.",
        name=link.source.name,
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="example"):
        st.caption(
            plain(f"{what} {tr('Ask runs it here and now.') if link.source.here else missing}"),
            width="content",
        )
        button(tr("Try your own"), clear, key="own", type="tertiary", icon="edit")


def earlier(comparison: Comparison) -> None:
    """Draw a note if the screen answers an earlier question."""
    question = comparison.ask.question.text
    if question != " ".join(session.question.split()):
        caption("Below is still what was asked before: {question}", question=question)


def languages(comparison: Comparison) -> None:
    """Draw notes if question, source and models do not share a language.

    They name the lanes that do not depend on it. If there is none, a method that searches by words
    is offered.
    """
    asked, of = comparison.ask, engine().models
    notes_on = lambda line: notes_on_language(line, asked.source.graph, of, asked.question.text)
    notes = [notes_on(lane.instance.line) for lane in comparison.lanes]
    said = list(dict.fromkeys(sentence for some in notes for sentence in some))
    free = [lane.instance.label for lane, some in zip(comparison.lanes, notes) if not some]
    for sentence in said:
        if free:
            names = tr(" and ").join(map(tr, free))
            if len(free) == 1:
                words = tr("{lanes} does not depend on it.", lanes=names)
            else:
                words = tr("{lanes} do not depend on it.", lanes=names)
            st.info(plain(f"{sentence} {words}"), icon=":material/translate:")
        else:
            st.warning(plain(sentence), icon=":material/translate:")
    by_words = instances().get(BY_WORDS)
    room = asked.source.is_corpus and len(session.lanes) < MOST_LANES
    if said and not free and room and by_words is not None and not notes_on(by_words.line):
        button(
            tr("Search by words too"),
            partial(insert, len(session.lanes), BY_WORDS),
            key="by_words",
            icon="add",
        )


def stop(job: Job) -> None:
    """Cancel a job, and ask nothing in this run.

    That holds even if Ask was clicked just before.
    """
    give_up(job, "compare")
    session.stopped = True


def options() -> None:
    """Draw the options of how a question is answered."""
    with st.popover(tr("Options")):
        st.toggle(
            tr("Answer with a language model"),
            key=Session.model.name,
            help=tr("Let a language model answer from the paths."),
            persist_state="session",
        )
        st.toggle(
            tr("Answer without a language model"),
            key=Session.reader.name,
            help=tr("Name the entities at the ends of the best paths (the graph reader)."),
            persist_state="session",
        )
        if source().is_corpus:
            st.toggle(
                tr("Wait for all vectors"),
                key=Session.whole.name,
                help=tr("Search starts before all passages are encoded. On, it waits for all."),
                persist_state="session",
            )


def edited() -> Shown | None:
    """Return what is on the screen if only its lanes were changed.

    Its finished lanes are reused then, and the others are run with the same question.
    """
    on_screen = shown() if session.edited else None
    same = on_screen is not None and on_screen.comparison.ask.question.text == " ".join(
        session.question.split()
    )
    return on_screen if same else None


def ask(lanes, on_screen: Shown | None = None) -> HopscopeError | None:
    """Start the comparison and write it into the address.

    Returns an error if that fails. Finished lanes of `on_screen` are reused.
    """
    switches = (
        (session.reader, session.model)
        if on_screen is None
        else (on_screen.comparison.ask.reader, on_screen.comparison.ask.model)
    )
    try:
        put = ask_documents if source().is_corpus else ask_graph
        asked = put(*switches, session.edits)
        before = on_screen.on(asked) if on_screen is not None else None
        if session.edits:
            session.before = (
                engine().compare(put(*switches), lanes, waiter=waiter("compare-before")).key
            )
        job = engine().compare(asked, lanes, waiter=waiter("compare"), repairs=True, before=before)
    except HopscopeError as error:
        return error
    session.job = job.key
    del session.case
    session.address = replace(address(), reader=asked.reader, model=asked.model)
    write_link(session.address)
    return None


def ask_graph(reader: bool, model: bool, edits: Sequence[Edit] = ()) -> Ask:
    """Return the question in the bar to the chosen graph.

    It has the given edits and is ready to be run.

    Raises BadInput, UnknownEntity.
    """
    opened = near(
        graph(),
        Question(session.question, entities=tuple(session.entities)),
        lambda: Session.stopped.put(True),
    )
    if opened.fetched is not None:
        session.entities = list(opened.fetched.starts)
    link_entities(opened)
    question = Question(
        session.question,
        entities=tuple(session.entities),
        answers=tuple(session.answers),
        hops=session.hops,
    )
    return engine().ask(
        replace(GraphSource.of(opened), edits=tuple(edits)),
        question,
        seed=session.seed,
        reader=reader,
        model=model,
    )


def draw(on_screen: Shown) -> None:
    """Draw the board, and draw it again while its job runs."""
    job = on_screen.job
    running = at_work((job, before_job(), *measuring(on_screen)))
    repairing = job is not None and job.comparison.repairing

    @st.fragment(run_every=POLL if running or repairing else None)
    def follow() -> None:
        if job is not None:
            ending(job)
        ended = not at_work((job, before_job(), *measuring(on_screen)))
        ways = [*drawing(on_screen).view.ways, *WAYS]
        edit = {"editable": True, "most_lanes": MOST_LANES, "ways": ways}
        drawn = {
            **with_measuring(
                with_before(with_wait(payload(on_screen), on_screen), on_screen), on_screen
            ),
            **edit,
        }
        react(
            on_screen,
            board(show_thumbs(on_screen.comparison, drawn) if ended else drawn, key="board"),
            drawn["paths"],
        )
        if (running and ended) or (job is not None and repairing and not job.comparison.repairing):
            st.rerun()
        if running or repairing:
            news(on_screen)

    follow()


def ending(job: Job) -> None:
    """Draw the error of a job, or a note that it was cancelled."""
    if job.error:
        st.error(plain(job.error))
    elif job.status == CANCELLED and job.ended:
        caption("Cancelled. What had been found stays; Ask goes on from there.")


def react(on_screen: Shown, clicked, paths) -> None:
    """Do what was clicked on the board."""
    comparison = on_screen.comparison
    press_thumb(comparison, clicked.thumb)
    if clicked.lane is not None:
        lane, do = int(clicked.lane["lane"]), clicked.lane["do"]
        result_of(lambda: press_measure(on_screen, lane, do)) if do in (MEASURE, STOP) else act(
            lane, do
        )
        st.rerun()
    if clicked.repair is not None:
        repair_beside(comparison, int(clicked.repair))
    if clicked.go is not None:
        if clicked.go["to"] in WAYS:
            change(comparison, clicked.go, paths)
            return
        go(comparison.graph, int(clicked.go["node"]), clicked.go["to"])


def repair_beside(comparison: Comparison, lane: int) -> None:
    """Run the repair of a lane in a new lane.

    If there is no room, it replaces the lane.
    """
    repaired = comparison.lanes[lane]
    if repaired.repair is not None:
        try_beside(repaired.instance.id, repaired.repair.spec, or_in_place=True)
        st.rerun()


def go(opened, node: int, to: str) -> None:
    """Follow a button of a node's panel.

    It leads to the node's neighbourhood, or asks the same question from this node.
    """
    name = opened.node_name(node)
    if to == "walk":
        around = {} if opened.fetched is None else {AROUND: name}
        st.switch_page(
            "pages/graphs.py", query_params={"entity": name, "graph": graph_name(), **around}
        )
    session.entities, session.submitted = [name], True
    st.rerun()


def draw_idle(lanes) -> None:
    """Draw the lanes before the first question."""
    clicked = board(
        {**idle(lanes, source().is_corpus), "editable": True, "most_lanes": MOST_LANES}, key="idle"
    )
    if clicked.lane is not None:
        act(int(clicked.lane["lane"]), clicked.lane["do"])
        st.rerun()


def welcome() -> None:
    """Draw the introduction on an empty screen."""
    first = source().examples
    st.subheader(tr("See how a graph retriever hops"), anchor=False)
    write(
        "Ask a question of {noun}. Every lane answers it by another method, and shows where the "
        "right answer was lost.",
        noun=source().noun,
    )
    answered_before()
    for text in first:
        button(
            plain(text),
            partial(begin, text),
            key=f"first-{text}",
            type="tertiary",
            icon="arrow_forward",
        )


admit(page)
