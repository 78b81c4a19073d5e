"""State of the page Compare, and how it is restored.

The comparison comes from the permalink in the browser's address, from an earlier visit of the page,
or from a shipped case (a saved comparison that serves as an example).
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
from core.methods.catalogue import method_id
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
    methods,
    waiter,
    was_address_entered,
)
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

# Comparisons of shipped cases that are on some screen, by the id of the case.
_example_comparisons: WeakValueDictionary[str, MethodComparison] = WeakValueDictionary()
_examples_lock = threading.Lock()


@dataclass(frozen=True)
class ScreenComparison:
    """A comparison on the screen, with its job or case.

    `key` identifies it among all comparisons. Either `job` or `case` is None.
    """

    key: str
    comparison: MethodComparison
    job: Job | None = None
    case: Case | None = None

    def comparison_on_graph(self, ask: SourceQuestion) -> MethodComparison:
        """Return the comparison, with the whole graph attached.

        A case is saved with only a part of its graph. Its lanes can be reused for `ask` if it was
        made on the same graph. Raises `HopscopeError` if the case cannot be read.
        """
        if self.case is None:
            return self.comparison
        return comparison_of_case(self.case.id, ask.source.graph, ask.source.corpus)


def restore_from_address() -> None:
    """Fill the session from the address if the user went to it.

    The user goes to an address by a link, by typing it, or by Back and Forward of the browser. Its
    question, if it has one, is asked without a click.

    Otherwise the session stays as it is: a page that is visited again shows its question and lanes,
    and asks again if its job was cancelled when the user left. An address that differs from the
    session although the user did not go to it is outdated, because the browser sent it before it
    received the present one.
    """
    link = _address_link()
    if session.shown_link is None:
        _open_first(link)
    elif _was_entered(link):
        session.wanted_link = link
    elif session.wanted_link is None:
        # No state of the bar: a graph was chosen in the sidebar, which wrote its own address.
        if session.applied_bar_state is None:
            session.shown_link = link
        _ask_again_if_left()
    if session.wanted_link is not None:
        _open_wanted(session.wanted_link)
    session.arrived_by_navigation = False  # last, because a run can be interrupted before


def _open_first(link: Permalink) -> None:
    """Open the address at the first visit of the page.

    If its source is not the chosen one, `_open_wanted` opens it, after the source is chosen.
    """
    names_source = bool({"graph", "corpus", "case"} & set(st.query_params))
    if link.source != chosen_source() and names_source and link.source.is_available:
        # The session began on another page, where something else was chosen.
        session.wanted_link = link
    elif session.wanted_link is None:
        _open_link(link)


def _was_entered(link: Permalink) -> bool:
    """Return whether the user went to an address not shown yet.

    A click on the page's name in the navigation goes to an address without a question, which keeps
    the session.
    """
    if not was_address_entered() or link == session.shown_link:
        return False
    return bool({"q", "case"} & set(st.query_params)) or not session.arrived_by_navigation


def _open_wanted(link: Permalink) -> None:
    """Choose the source of a link, then show the link."""
    if link.source != chosen_source() and link.source.is_available:
        # The sidebar, which is drawn before the page, chooses the source in the next run.
        if session.source_wanted is None:
            session.source_wanted = link.source
            st.rerun()
        session.source = Session.source_wanted.take()
    _open_link(link)
    del session.wanted_link


def _address_link() -> Permalink:
    """Return the link in the browser's address.

    If the address names a case, it is the full link of the case, or if there is no such case a link
    with only its id.
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


def _open_link(link: Permalink) -> None:
    """Show the case or question that a link names.

    A link without both shows the first shipped case. If the case cannot be opened, the error is
    stored as `question_error`, and a shipped case is shown instead.
    """
    del session.question_error
    if link.case:
        try:
            show_case(get_case(link.case))
            screen_comparison()  # reads the case, which may fail
            return
        except HopscopeError as error:
            session.question_error = error
            del session.case
    shows_example = link.case or (link.is_empty and "graph" not in st.query_params)
    examples = demo() if shows_example and not chosen_source().is_corpus else ()
    if examples:
        show_case(examples[0], link.model)
        session.shown_link = link
    else:
        apply_link(link)


def apply_link(link: Permalink) -> None:
    """Copy a link into the session, and ask its question.

    `shown_link` is set last, because it marks the link as applied: a run of the page can be
    interrupted before.
    """
    _fill_session(link, known_question(link.question))
    del session.case
    if not link.question.strip():
        del session.job
    if not session.job:
        engine().stop_waiting(waiter("compare").id)
    session.submit()
    session.applied_bar_state = bar_state()
    session.shown_link = link


def _fill_session(link: Permalink, known: Question | None) -> None:
    """Copy the contents of a link into the session.

    Entities and correct answers that the link lacks are those of the known question.
    """
    set_question = known or Question(link.question)
    session.question = link.question
    session.entities = list(link.entities or set_question.entities)
    session.answers = list(link.answers or set_question.answers)
    session.hops = set_question.hops
    session.lanes = [method_id(lane, methods()) for lane in link.lanes]
    session.seed = link.seed
    session.model = link.model and _is_answer_model_present()
    session.reader = link.reader
    session.lanes_source_kind = link.source.kind
    session.edits = list(link.edits)
    del session.choosing


def _is_answer_model_present() -> bool:
    """Return true if a language model can answer on this computer.

    Otherwise the option starts off, and the graph reader answers without an error in each lane.
    """
    return engine().models.info("answer").present


def show_case(case: Case, model: bool = True) -> None:
    """Show a saved case, with its question and lanes ready to be asked again.

    If `model` is False, no language model answers when it is asked again.
    """
    link = case_link(case)
    _fill_session(link, _case_question(case))
    session.model = session.model and model
    session.submitted, session.applied_bar_state = False, bar_state()
    session.case = case
    del session.job
    engine().stop_waiting(waiter("compare").id)
    session.shown_link = link


def _case_question(case: Case) -> Question | None:
    """Return the question of a case. None if the case cannot be read, which is shown later."""
    try:
        comparison = Session.case_shown.get_or_compute(case.id, lambda: _case_comparison(case))
    except HopscopeError:
        return None
    return comparison.ask.question


def open_case(case: Case) -> None:
    """Go to a case in the next run, also in the address."""
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
        source=chosen_source(),
        seed=session.seed,
        model=session.model,
        reader=session.reader,
        is_typed=True,
        edits=tuple(session.edits),
    )


def screen_link(on_screen: ScreenComparison | None) -> Permalink | None:
    """Return the link of the comparison on the screen.

    If there is none, it is the link of the session. None for the shipped case that is shown at
    first, because its address stays empty.
    """
    if on_screen is None:
        return session_link()
    link = session.shown_link
    case = on_screen.case
    return link if case is None or (link is not None and case.id == link.case) else None


def screen_comparison() -> ScreenComparison | None:
    """Return the comparison of the job, or else of the case.

    None if there is neither. Raises HopscopeError for a case that cannot be read.
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
        shared_comparison = _example_comparisons.get(case.id)
        if shared_comparison is None:
            shared_comparison = _example_comparisons[case.id] = comparison_of_case(case.id)
        return shared_comparison


def _ask_again_if_left() -> None:
    """Ask again if the job is unknown, or was cancelled on leaving."""
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
    shipped_cases = demo(chosen_source()) if chosen_source().is_corpus else ()
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
