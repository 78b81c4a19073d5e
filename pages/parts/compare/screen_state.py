"""State of the page Compare: what is on the screen, and how it is restored.

It comes from the address, from an earlier visit of the page, or from a shipped case.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial
from weakref import WeakValueDictionary

import streamlit as st

from core.cases import Case, comparison_of_case, get_case
from core.cases.examples import demo
from core.engine import MethodComparison
from core.errors import HopscopeError
from core.runtime.jobs import Job
from core.sources import SourceQuestion
from core.types import Question
from pages.parts.question.permalink import Permalink, case_link, read_link, write_link
from pages.parts.question.question_bar import bar_state, known_question
from pages.parts.shared.actions import button
from pages.parts.shared.sentences import write
from pages.parts.shared.session import (
    chosen_source,
    engine,
    page_source,
    waiter,
    was_address_entered,
)
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

# Comparisons of shipped cases that are on some screen, by the id of the case.
_examples: WeakValueDictionary[str, MethodComparison] = WeakValueDictionary()
_examples_lock = threading.Lock()


@dataclass(frozen=True)
class ScreenComparison:
    """A comparison on the screen: that of a job, or of a case."""

    key: str
    comparison: MethodComparison
    job: Job | None = None
    case: Case | None = None

    def comparison_on_graph(self, ask: SourceQuestion) -> MethodComparison:
        """Return the comparison on the graph that is asked now.

        A case has only a part of its graph. The whole graph is attached if the case was made on it.
        Raises `HopscopeError` if the case cannot be read.
        """
        if self.case is None:
            return self.comparison
        return comparison_of_case(self.case.id, ask.source.graph, ask.source.corpus)


def restore_from_address() -> None:
    """Fill the session from the address if the user went to it.

    Otherwise the session stays as it was. A complete question is asked without a click. A page that
    is visited again shows its question and lanes, and asks again if its job was cancelled when the
    user left. Back and Forward of the browser go to what the address names, which may be the first
    page without a question. If the address differs from the session although the user did not go to
    it, it is outdated: the browser sent it with a run before it received the present one.
    """
    link = _address_link()
    if session.shown_link is None:
        _open_first(link)
    elif _is_entered(link):
        session.wanted_link = link
    elif session.wanted_link is None:
        # Another graph was chosen by hand, which wrote its own address.
        if session.applied_bar_state is None:
            session.shown_link = link
        _ask_again_if_left()
    if session.wanted_link is not None:
        _open_wanted(session.wanted_link)
    session.arrived_by_navigation = False  # last, because a run can be interrupted before


def _open_first(link: Permalink) -> None:
    """Open the address of the first visit of the page, or leave it to `_open_wanted`."""
    names_source = bool({"graph", "corpus", "case"} & set(st.query_params))
    if link.source != chosen_source() and names_source and link.source.is_available:
        # The session began on another page, where something else was chosen.
        session.wanted_link = link
    elif session.wanted_link is None:
        _open(link)


def _is_entered(link: Permalink) -> bool:
    """Return whether the user went to the address, which differs from the session."""
    if not was_address_entered() or link == session.shown_link:
        return False
    return bool({"q", "case"} & set(st.query_params)) or not session.arrived_by_navigation


def _open_wanted(link: Permalink) -> None:
    """Show what the user went to, after its source is chosen in the sidebar."""
    if link.source != chosen_source() and link.source.is_available:
        # The sidebar takes it when it is drawn.
        if session.source_wanted is None:
            session.source_wanted = link.source
            st.rerun()
        session.source = Session.source_wanted.take()
    _open(link)
    del session.wanted_link


def _address_link() -> Permalink:
    """Return the link of the address.

    If the address names a case, it is the link of the case, or one with only its id if there is no
    such case.
    """
    key = st.query_params.get("case", "")
    if not key:
        return read_link()
    if session.shown_link is not None and session.shown_link.case == key:
        return session.shown_link
    try:
        return case_link(get_case(key))
    except HopscopeError:
        return Permalink(case=key)


def _open(link: Permalink) -> None:
    """Show what an address names: its case, its question, or the first shipped case.

    If the case cannot be opened, the error is stored as `trouble`, and the page is opened without a
    case.
    """
    del session.question_error
    if link.case:
        try:
            show_case(get_case(link.case))
            screen_comparison()
            return
        except HopscopeError as error:
            session.question_error = error
            del session.case
    shows_example = link.case or (link.is_empty and "graph" not in st.query_params)
    examples = demo() if shows_example and not page_source().is_corpus else ()
    if examples:
        show_case(examples[0], link.model)
        session.shown_link = link
    else:
        take_link(link)


def take_link(link: Permalink) -> None:
    """Copy a link's question, lanes and switches into the session.

    `address` is set last, because it marks the link as done.
    """
    _fill_session(link)
    del session.case
    if not link.question.strip():
        del session.job
    if not session.job:
        engine().stop_waiting(waiter("compare").id)
    session.submit()
    session.applied_bar_state = bar_state()
    session.shown_link = link


def _fill_session(link: Permalink) -> None:
    set_question = known_question(link.question) or Question(link.question)
    session.question = link.question
    session.entities = list(link.entities or set_question.entities)
    session.answers = list(link.answers or set_question.answers)
    session.hops = set_question.hops
    session.lanes = list(link.lanes)
    session.seed = link.seed
    session.model = link.model
    session.reader = link.reader
    session.lanes_source_kind = link.source.kind
    session.edits = list(link.edits)
    del session.choosing


def show_case(case: Case, model: bool = True) -> None:
    """Show a saved case, with its question and lanes ready to be asked again."""
    link = case_link(case)
    _fill_session(link)
    session.model = model and link.model
    session.submitted, session.applied_bar_state = False, bar_state()
    session.case = case
    del session.job
    engine().stop_waiting(waiter("compare").id)
    session.shown_link = link


def open_case(case: Case) -> None:
    """Go to a case, also in the address, and choose its graph or corpus."""
    session.wanted_link = case_link(case)
    write_link(session.wanted_link)


def clear_question() -> None:
    """Go to an empty question, and keep the lanes."""
    session.question, session.entities, session.answers, session.edits = "", [], [], []
    session.applied_bar_state = bar_state()  # so that the change of the bar asks nothing
    del session.case, session.question_error
    session.shown_link = session_link()
    write_link(session.shown_link)


def session_link() -> Permalink:
    """Return the link of the question, lanes and switches of the session."""
    return Permalink(
        question=session.question,
        entities=tuple(session.entities),
        answers=tuple(session.answers),
        lanes=tuple(session.lanes),
        source=page_source(),
        seed=session.seed,
        model=session.model,
        reader=session.reader,
        is_typed=True,
        edits=tuple(session.edits),
    )


def screen_link(on_screen: ScreenComparison | None) -> Permalink | None:
    """Return the link of what is on the screen.

    None if it is the example of the first page, whose address stays empty.
    """
    if on_screen is None:
        return session_link()
    link = session.shown_link
    case = on_screen.case
    return link if case is None or (link is not None and case.id == link.case) else None


def screen_comparison() -> ScreenComparison | None:
    """Return what is on the screen, if anything.

    Raises HopscopeError for a case that cannot be read.
    """
    job = engine().jobs.get(session.job)
    if job is not None:
        return ScreenComparison(job.key, job.comparison, job)
    case = session.case
    if case is None:
        return None
    comparison = Session.case_shown.get_or_compute(case.id, lambda: _case_comparison(case))
    return ScreenComparison(f"case-{case.id}", comparison, case=case)


def _case_comparison(case: Case) -> MethodComparison:
    """Return the comparison of a case.

    Visitors of a shipped case share one object, because every visit begins with such a case.
    """
    if not case.example:
        return comparison_of_case(case.id)
    with _examples_lock:
        shared_comparison = _examples.get(case.id)
        if shared_comparison is None:
            shared_comparison = _examples[case.id] = comparison_of_case(case.id)
        return shared_comparison


def _ask_again_if_left() -> None:
    """Ask again if the page's job is unknown, or was cancelled on leaving."""
    if not session.job:
        return
    job = engine().jobs.get(session.job)
    if job is None or job.is_abandoned:
        session.submit()
        session.only_lanes_changed = session.submitted


def draw_shipped_comparisons() -> None:
    """Draw a button for each shipped comparison on the chosen corpus, if there are any.

    They open without a model.
    """
    shipped_cases = demo(page_source()) if page_source().is_corpus else ()
    if not shipped_cases:
        return
    write("Saved examples, which open at once:")
    for case in shipped_cases:
        title = case.notes.partition(".")[0]
        button(
            tr("{question} :gray[{title}]", question=plain(case.question), title=plain(title)),
            partial(open_case, case),
            key=f"before-{case.id}",
            type="tertiary",
            icon="bolt",
        )
