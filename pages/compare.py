"""Page Compare: one question, answered by several methods side by side.

Each method has a lane on the board, which is updated while its operators run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.cases import Case
from core.engine import MethodComparison
from core.errors import HopscopeError
from core.graph.edits import Edit
from core.methods.catalogue import Method
from core.operators.base import Line
from core.operators.languages import notes_on_language
from core.runtime.jobs import JOB_CANCELLED, Job
from core.sources import GraphSource, SourceQuestion
from core.types import Question
from pages.parts.board.component import BoardClicks, board
from pages.parts.board.payload import idle_board
from pages.parts.board.thumbs import add_thumbs, save_thumb
from pages.parts.compare.entity_chips import draw_chips
from pages.parts.compare.graph_edits import (
    EDIT_ACTIONS,
    add_earlier_answers,
    any_running,
    ask_with_edit,
    draw_edits,
    job_before_edits,
)
from pages.parts.compare.influence import (
    MEASURE_ACTION,
    MEASURING_JOBS,
    STOP_ACTION,
    add_measurements,
    start_or_stop_measure,
)
from pages.parts.compare.lanes import (
    draw_lane_dialog,
    handle_lane_click,
    insert_changed_line,
    insert_line,
    lane_methods,
    restore_lanes,
    runnable_methods,
)
from pages.parts.compare.partial_lanes import draw_missing_graphs, draw_partial_lanes
from pages.parts.compare.presentation import is_presenting, present
from pages.parts.compare.reading import (
    READ_ACTION,
    READING_JOBS,
    STOP_READING_ACTION,
    add_readings,
    start_or_stop_reading,
)
from pages.parts.compare.rerank_sliders import draw_rerank_sliders
from pages.parts.compare.screen_board import (
    add_queue_length,
    draw_follow_up_errors,
    drawable_screen,
    payload,
    screen_drawing,
    wait_for_news,
)
from pages.parts.compare.screen_state import (
    ScreenComparison,
    clear_question,
    draw_shipped_comparisons,
    restore_from_address,
    screen_comparison,
    screen_link,
    session_link,
)
from pages.parts.compare.sharing import draw_sharing
from pages.parts.question.corpus_question import ask_documents, draw_facts
from pages.parts.question.permalink import MAX_COMPARE_LANES, case_link, write_link
from pages.parts.question.question_bar import (
    ask_example,
    ask_if_changed,
    draw_question_error,
    link_entities,
    question_bar,
)
from pages.parts.shared.actions import button, result_of
from pages.parts.shared.address import ask_on_enter, write_address
from pages.parts.shared.live_graphs import AROUND_PARAMETER, fetched_text, question_neighbourhood
from pages.parts.shared.people import admit
from pages.parts.shared.sentences import caption, write
from pages.parts.shared.session import (
    cancel_or_leave,
    chosen_graph,
    chosen_source,
    engine,
    graph_if_open,
    graph_name,
    methods,
    stop_if_missing,
    waiter,
)
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

WORD_SEARCH_METHOD = "bm25-passages"  # method offered if the encoder does not know the language
BOARD_POLL_SECONDS = 0.7  # between two updates of the board; each also waits for news of the job


def draw_page() -> None:
    """Draw the page."""
    restore_from_address()
    ask_if_changed()
    restore_lanes()
    methods_by_id = methods()
    if is_presenting():
        draw_presentation(methods_by_id)
        return
    draw_written_form()
    is_pressed = draw_question_row()
    entity_area, action_area = divide_facts_row()
    above = st.container()
    results = st.container()
    if screen_comparison() is None:
        stop_if_missing(chosen_source())
    was_cancelled = Session.cancel_clicked.take()
    with above:
        lanes = lane_methods(methods_by_id)
        ask_if_submitted(lanes, is_pressed, was_cancelled)
        on_screen = drawable_screen(screen_comparison())
        if on_screen is not None and session.question_error is not None:
            draw_earlier_note(on_screen.comparison)
    with entity_area:
        draw_entities(on_screen)
    with above:
        draw_edits()
        if on_screen is not None:
            draw_comparison_notes(on_screen.comparison)
    comparison = on_screen.comparison if on_screen is not None else None
    draw_lane_dialog(runnable_methods(methods_by_id), comparison)
    if on_screen is not None:
        draw_screen(on_screen, above, results)
    else:
        with results:
            draw_welcome()
            draw_idle(lanes)
    write_screen_address(on_screen)
    if on_screen is not None:
        with action_area:
            draw_actions(on_screen)


def draw_presentation(methods_by_id: dict[str, Method]) -> None:
    """Start the comparison if it was submitted, and draw the presentation."""
    if session.submitted:
        session.question_error = start_comparison(lane_methods(methods_by_id), screen_to_reuse())
        st.query_params["present"] = "1"
        session.submitted = session.only_lanes_changed = False
    present(repair_in_new_lane)


def draw_written_form() -> None:
    """Draw a well written form of the question above it, if its set has one."""
    written = chosen_source().written_form(session.question)
    if written:
        st.markdown(f"**{plain(written)}**")


def draw_question_row() -> bool:
    """Draw the question bar and its options, and return whether Ask was pressed."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="controls"):
        is_pressed = question_bar()
        draw_options()
    ask_on_enter(tr("Question"))
    return is_pressed


def divide_facts_row() -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return two containers in one row.

    They are for the entities and, to their right, for the buttons.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="facts"):
        entity_area = st.container(width="stretch")
        action_area = st.container(horizontal=True, width="content", gap="small")
    return entity_area, action_area


def ask_if_submitted(lanes: list[Method], is_pressed: bool, was_cancelled: bool) -> None:
    """Start the comparison if the question was asked.

    If that fails, the error is drawn. Without a click on Ask, the finished lanes on the screen are
    passed on for reuse.
    """
    if (is_pressed or session.submitted) and lanes and not was_cancelled:
        session.question_error = start_comparison(lanes, None if is_pressed else screen_to_reuse())
    # Cleared only after asking: a run that is interrupted before must not lose the question.
    session.submitted = session.only_lanes_changed = False
    if session.question_error is not None:
        draw_question_error(session.question_error)


def draw_entities(on_screen: ScreenComparison | None) -> None:
    """Draw the question entities and known answers.

    For a corpus, its size and the known answers are drawn.
    """
    if chosen_source().is_corpus:
        draw_facts()
    else:
        draw_chips(lookup_graph(on_screen))


def draw_comparison_notes(comparison: MethodComparison) -> None:
    """Draw what was fetched from a live database, and the notes on languages."""
    text = fetched_text(comparison)
    if text:
        st.caption(f":material/database: {plain(text)}")
    draw_language_notes(comparison)


def draw_screen(
    on_screen: ScreenComparison, above: DeltaGenerator, results: DeltaGenerator
) -> None:
    """Draw the board, and the notes above it."""
    if on_screen.case is not None:
        with above:
            draw_case_note(on_screen.case)
    with results:
        draw_board(on_screen)
    with above:
        draw_partial_lanes(on_screen)
        # After the board: otherwise a job could end between the two, and the page would miss it.
        draw_missing_graphs(on_screen)


def write_screen_address(on_screen: ScreenComparison | None) -> None:
    """Write the link of what is on the screen into the address."""
    link = screen_link(on_screen)
    if link is not None:
        write_address(link.parameters())


def draw_actions(on_screen: ScreenComparison) -> None:
    """Draw the buttons that cancel, re-rank and share what is on the screen."""
    job = on_screen.job
    if job is not None and not job.has_ended:
        button(tr("Cancel"), partial(cancel_job, job), icon="stop_circle", key="cancel")
    # A job that ends between the two conditions has both buttons.
    if job is None or job.has_ended:
        draw_rerank_sliders(on_screen.comparison)
    draw_sharing(on_screen, screen_drawing(on_screen))


def lookup_graph(on_screen: ScreenComparison | None) -> Any:
    """Return the graph in which names are looked up: the chosen graph.

    Until the chosen graph is open, it is the graph of the comparison on the screen. So it is for a
    live database, of which only the part fetched for the comparison can be searched.
    """
    graph = graph_if_open()
    if on_screen is not None:
        shown_graph = on_screen.comparison.graph
        if graph is None or (graph.live is not None and shown_graph.name == graph.name):
            return shown_graph
    return graph or chosen_graph()


def draw_case_note(case: Case) -> None:
    """Draw a note on the case on the screen, and a button for a new question."""
    case_text = tr("Saved example.") if case.example else tr("Saved case.")
    source = case_link(case).source
    hint = tr("Press Ask to run it live.")
    if not source.is_available:
        hint = tr(
            "It was asked of “{name}”, which is not here. Ask uses the source chosen on the left.",
            name=source.name,
        )
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="example"):
        st.caption(plain(f"{case_text} {hint}"), width="content")
        button(tr("Try your own"), clear_question, key="own", type="tertiary", icon="edit")


def draw_earlier_note(comparison: MethodComparison) -> None:
    """Draw a note if the screen answers an earlier question."""
    question = comparison.ask.question.text
    if question != " ".join(session.question.split()):
        caption("Shown below is the question asked before: {question}", question=question)


def draw_language_notes(comparison: MethodComparison) -> None:
    """Draw notes if question, source and models differ in language.

    Each note names the lanes whose methods do not depend on the language. If there are none, a
    method that searches by words is offered.
    """
    ask = comparison.ask

    def notes_on(line: Line) -> Sequence[str]:
        return notes_on_language(line, ask.source.graph, engine().models, ask.question.text)

    sentences: dict[str, None] = {}
    independent_labels = []
    for lane in comparison.lanes:
        notes = notes_on(lane.method.line)
        sentences |= dict.fromkeys(notes)
        if not notes:
            independent_labels.append(tr(lane.method.label))
    names = tr(" and ").join(independent_labels)
    for sentence in sentences:
        if not independent_labels:
            st.warning(plain(sentence), icon=":material/translate:")
            continue
        if len(independent_labels) == 1:
            words = tr("{lanes} does not depend on it.", lanes=names)
        else:
            words = tr("{lanes} do not depend on it.", lanes=names)
        st.info(plain(f"{sentence} {words}"), icon=":material/translate:")
    if not sentences or independent_labels:
        return
    word_search = methods().get(WORD_SEARCH_METHOD)
    can_add = ask.source.is_corpus and len(session.lanes) < MAX_COMPARE_LANES
    if can_add and word_search is not None and not notes_on(word_search.line):
        button(
            tr("Search by words too"),
            partial(insert_line, len(session.lanes), WORD_SEARCH_METHOD),
            key="by_words",
            icon="add",
        )


def cancel_job(job: Job) -> None:
    """Cancel a job.

    Nothing is asked in this run, even if Ask was clicked as well.
    """
    cancel_or_leave(job, "compare")
    session.cancel_clicked = True


def draw_options() -> None:
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
            help=tr("The answer is read from the graph, at the ends of the best paths (no AI)."),
            persist_state="session",
        )
        if chosen_source().is_corpus:
            st.toggle(
                tr("Wait for all vectors"),
                key=Session.wait_for_vectors.name,
                help=tr("Search starts before all passages are encoded. On, it waits for all."),
                persist_state="session",
            )


def screen_to_reuse() -> ScreenComparison | None:
    """Return what is on the screen if only its lanes were changed.

    Then its finished lanes are reused, and the others are run with the same question.
    """
    on_screen = screen_comparison() if session.only_lanes_changed else None
    question = " ".join(session.question.split())
    if on_screen is None or on_screen.comparison.ask.question.text != question:
        return None
    return on_screen


def start_comparison(lanes, on_screen: ScreenComparison | None = None) -> HopscopeError | None:
    """Start the comparison and write it into the address.

    Return the error if that fails, else None. Finished lanes of `on_screen` are reused. With edits
    of the graph, the question is asked without them too, for comparison.
    """
    reader, model = session.reader, session.model
    if on_screen is not None:
        # The lanes must agree, even if the switches were changed since.
        reader, model = on_screen.comparison.ask.uses_reader, on_screen.comparison.ask.uses_model
    try:
        ask_source = ask_documents if chosen_source().is_corpus else ask_graph
        ask = ask_source(reader, model, session.edits)
        earlier = on_screen.comparison_on_graph(ask) if on_screen is not None else None
        if session.edits:
            unedited_ask = ask_source(reader, model)
            job = engine().compare(unedited_ask, lanes, waiter=waiter("compare-before"))
            session.unedited_job = job.key
        job = engine().compare(
            ask, lanes, waiter=waiter("compare"), try_repairs=True, earlier=earlier
        )
    except HopscopeError as error:
        return error
    session.job = job.key
    del session.case
    session.shown_link = replace(session_link(), reader=ask.uses_reader, model=ask.uses_model)
    write_link(session.shown_link)
    return None


def ask_graph(reader: bool, model: bool, edits: Sequence[Edit] = ()) -> SourceQuestion:
    """Return the question in the bar, prepared for the chosen graph.

    The edits change the graph. `reader` and `model` tell if the graph reader and a language model
    answer. Raises BadInput, and UnknownEntity for an entity that the graph lacks.
    """
    graph = question_neighbourhood(
        chosen_graph(),
        Question(session.question, entities=tuple(session.entities)),
        lambda: Session.cancel_clicked.put(True),
    )
    if graph.fetched is not None:
        session.entities = list(graph.fetched.starts)
    link_entities(graph)
    question = Question(
        session.question,
        entities=tuple(session.entities),
        answers=tuple(session.answers),
        hops=session.hops,
    )
    return engine().prepare_question(
        replace(GraphSource.of(graph), edits=tuple(edits)),
        question,
        seed=session.seed,
        uses_reader=reader,
        uses_model=model,
    )


def jobs_on_screen(on_screen: ScreenComparison) -> tuple[Job | None, ...]:
    """Return all jobs whose progress the board shows."""
    work = (*MEASURING_JOBS.of_lanes(on_screen), *READING_JOBS.of_lanes(on_screen))
    return (on_screen.job, job_before_edits(), *work)


def draw_board(on_screen: ScreenComparison) -> None:
    """Draw the board, and draw it again while its job runs."""
    job = on_screen.job
    was_running = any_running(jobs_on_screen(on_screen))
    was_repairing = job is not None and job.comparison.is_repairing

    @st.fragment(run_every=BOARD_POLL_SECONDS if was_running or was_repairing else None)
    def update_board() -> None:
        if job is not None:
            draw_job_end(job)
            draw_follow_up_errors(job.comparison)
        has_ended = not any_running(jobs_on_screen(on_screen))
        data = _board_data(on_screen, has_ended)
        handle_clicks(on_screen, board(data, key="board"), data["paths"])
        if job is not None and engine().is_postponed(job):
            button(
                tr("Exact results now"),
                partial(engine().hasten, job),
                icon="fast_forward",
                key="hasten",
                help=tr(
                    "They wait for the questions of others. What is shown is the quick result."
                ),
            )
        if (was_running and has_ended) or (
            job is not None and was_repairing and not job.comparison.is_repairing
        ):
            st.rerun()
        if was_running or was_repairing:
            wait_for_news(on_screen)

    update_board()


def _board_data(on_screen: ScreenComparison, has_ended: bool) -> dict[str, Any]:
    """Return what the board draws of a comparison, with thumbnails once it has ended."""
    data = add_queue_length(payload(on_screen), on_screen)
    data = add_measurements(add_earlier_answers(data, on_screen), on_screen)
    data = {
        **add_readings(data, on_screen),
        "editable": True,
        "most_lanes": MAX_COMPARE_LANES,
        "ways": [*screen_drawing(on_screen).view.node_buttons, *EDIT_ACTIONS],
    }
    return add_thumbs(on_screen.comparison, data) if has_ended else data


def draw_job_end(job: Job) -> None:
    """Draw the error of a job, or a note that it was cancelled."""
    if job.error:
        st.error(plain(job.error))
    elif job.status == JOB_CANCELLED and job.has_ended:
        caption("Cancelled. What had been found stays; Ask goes on from there.")


def handle_clicks(
    on_screen: ScreenComparison, clicks: BoardClicks, paths: Mapping[str, Mapping[str, Any]]
) -> None:
    """Handle the clicks on the board.

    `paths` are the paths of the board by key.
    """
    comparison = on_screen.comparison
    save_thumb(comparison, clicks.thumb)
    if clicks.lane is not None:
        lane, action = int(clicks.lane["lane"]), clicks.lane["do"]
        if action in (MEASURE_ACTION, STOP_ACTION):
            result_of(lambda: start_or_stop_measure(on_screen, lane, action))
        elif action in (READ_ACTION, STOP_READING_ACTION):
            result_of(lambda: start_or_stop_reading(on_screen, lane, action))
        else:
            handle_lane_click(lane, action)
        st.rerun()
    if clicks.repair is not None:
        repair_in_new_lane(comparison, int(clicks.repair))
    if clicks.go is not None:
        if clicks.go["to"] in EDIT_ACTIONS:
            ask_with_edit(comparison, clicks.go, paths)
        else:
            follow_node_button(comparison.graph, int(clicks.go["node"]), clicks.go["to"])


def repair_in_new_lane(comparison: MethodComparison, lane: int) -> None:
    """Run the repaired line of a lane in a new lane.

    With `MAX_COMPARE_LANES` lanes already, it replaces the lane. A repair is the line of
    the lane changed in one step, which finds more of the known answers.
    """
    source_lane = comparison.lanes[lane]
    if source_lane.repair is not None:
        insert_changed_line(source_lane.method.id, source_lane.repair.spec, or_in_place=True)
        st.rerun()


def follow_node_button(graph, node: int, action: str) -> None:
    """Follow a button of a node's panel.

    The action `walk` goes to its neighbourhood on Graphs. Any other asks the question from this
    node.
    """
    name = graph.node_name(node)
    if action == "walk":
        query = {} if graph.fetched is None else {AROUND_PARAMETER: name}
        st.switch_page(
            "pages/graphs.py", query_params={"entity": name, "graph": graph_name(), **query}
        )
    session.entities = [name]
    session.submitted = True
    st.rerun()


def draw_idle(lanes) -> None:
    """Draw the board with empty lanes, before the first question."""
    clicks = board(
        {
            **idle_board(lanes, chosen_source().is_corpus),
            "editable": True,
            "most_lanes": MAX_COMPARE_LANES,
        },
        key="idle",
    )
    if clicks.lane is not None:
        handle_lane_click(int(clicks.lane["lane"]), clicks.lane["do"])
        st.rerun()


def draw_welcome() -> None:
    """Draw the introduction and example questions, before the first question."""
    st.subheader(tr("What graph retrieval finds, and where it goes wrong"), anchor=False)
    write(
        "Ask a question of {noun}. Several methods answer it side by side, and each shows where "
        "it lost the correct answer.",
        noun=chosen_source().noun,
    )
    draw_shipped_comparisons()
    for text in chosen_source().example_questions:
        written = chosen_source().written_form(text)
        button(
            f"{plain(written)} :gray[{plain(text)}]" if written else plain(text),
            partial(ask_example, text),
            key=f"first-{text}",
            type="tertiary",
            icon="arrow_forward",
        )


admit(draw_page)
