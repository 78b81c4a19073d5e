"""What Compare shows, and how it comes back: from the address, from the page left before, or from a case that ships."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core.case_adapter import comparison
from core.cases import Case, get, whole
from core.cases.examples import demo
from core.engine import Comparison
from core.errors import HopscopeError
from core.runtime.jobs import Job
from core.sources import Ask
from pages.parts.compare.asking import bar_state, known_question
from pages.parts.compare.permalink import Link, case_link, read_link, write_link
from pages.parts.shared.session import chosen, engine, source, waiter, went_here


@dataclass(frozen=True)
class Shown:
    """A comparison on the screen: that of a job, or of a case."""

    key: str
    comparison: Comparison
    job: Job | None = None
    case: Case | None = None

    def on(self, asked: Ask) -> Comparison:
        """The comparison, that of a case on the graph that is asked now, where it was made on that one. Raises HopscopeError."""
        return self.comparison if self.case is None else comparison(whole(self.case.id, asked.source.graph), asked.source.corpus)


def come_back() -> None:
    """Fill the session from the address where the person went to it, else keep what was there; a whole question is asked at once.

    A page that is come back to from another one finds its question and lanes again, and asks again where its job was cancelled when
    it was left; Back and Forward on the page itself go to what the address names, be it the first page without a question. An address
    that is another one but was not gone to is what the browser had before it heard of the present one: what runs then brings it along.
    """
    state, link = st.session_state, _named()
    if "address" not in state:
        if link.source != chosen() and {"graph", "corpus", "case"} & set(st.query_params) and link.source.here:
            state.wanted = link  # another page, where the session began, has chosen something else before
        elif "wanted" not in state:
            _open(link)
    elif went_here() and link != state.address and ({"q", "case"} & set(st.query_params) or not state.came):
        state.wanted = link
    elif "wanted" not in state:
        if "settled" not in state:  # another graph was chosen by hand, which wrote its own address
            state.address = link
        _again()
    if "wanted" in state:
        if state.wanted.source != chosen() and state.wanted.source.here:
            if "source_wanted" not in state:  # which the sidebar takes up, where it is drawn
                state.source_wanted = state.wanted.source
                st.rerun()
            state.source = state.pop("source_wanted")
        _open(state.wanted)
        del state.wanted
    state.came = False  # last, as a run can be broken off before


def _named() -> Link:
    """The link in the address; where it names a case, that of the case, without anything more if there is none."""
    key = st.query_params.get("case", "")
    if not key:
        return read_link()
    if "address" in st.session_state and st.session_state.address.case == key:
        return st.session_state.address
    try:
        return case_link(get(key))
    except HopscopeError:
        return Link(case=key)


def _open(link: Link) -> None:
    """What an address shows: its case, its question, or the first shipped case where it names nothing. Of a case that cannot be opened
    `trouble` tells why, above what an address without one shows."""
    state = st.session_state
    state.pop("trouble", None)
    if link.case:
        try:
            show_case(get(link.case))
            shown()
            return
        except HopscopeError as error:
            state.trouble = error
            state.pop("case", None)
    begin = demo() if (link.case or link.empty and "graph" not in st.query_params) and not source().documents else ()
    if begin:
        show_case(begin[0], link.model)
        state.address = link
    else:
        take(link)


def take(link: Link) -> None:
    """Put a link's question, lanes and switches into the session; `address`, which tells that it is done, last."""
    state = st.session_state
    _fill(link)
    for key in ("case",) if link.question.strip() else ("case", "job"):
        state.pop(key, None)
    if "job" not in state:
        engine().leave(waiter("compare").id)
    state.submitted, state.settled = bool(link.question.strip()), bar_state()
    state.address = link


def _fill(link: Link) -> None:
    state, asked = st.session_state, known_question(link.question)
    state.question, state.entities, state.answers = link.question, list(link.entities), list(link.answers)
    if asked is not None:
        state.entities = state.entities or list(asked.entities)
        state.answers = state.answers or list(asked.answers)
    state.hops = asked.hops if asked is not None else None
    state.lanes, state.seed, state.model, state.reader = list(link.lanes), link.seed, link.model, link.reader
    state.lanes_for = link.source.kind


def show_case(case: Case, model: bool = True) -> None:
    """Put a saved case on the screen, with its question and lanes ready to be asked again."""
    state, link = st.session_state, case_link(case)
    _fill(link)
    state.model = model and link.model
    state.submitted, state.settled = False, bar_state()
    state.case = case
    state.pop("job", None)
    engine().leave(waiter("compare").id)
    state.address = link


def open_case(case: Case) -> None:
    """Go to a case, in the address as on the screen, with what it was asked of chosen beside."""
    st.session_state.wanted = case_link(case)
    write_link(st.session_state.wanted)


def clear() -> None:
    """Go to an empty question, with the lanes as they are."""
    state = st.session_state
    state.question, state.entities, state.answers = "", [], []
    for key in ("case", "trouble"):
        state.pop(key, None)
    state.address = address()
    write_link(state.address)


def address() -> Link:
    """The address of what is asked."""
    state = st.session_state
    lists = (tuple(state.entities), tuple(state.answers), tuple(state.lanes))
    return Link(state.question, *lists, source(), state.seed, state.model, state.reader, typed=True)


def here(on_screen: Shown | None) -> Link | None:
    """The address of what is on the screen; None for the example of a first page, which has that of the page."""
    if on_screen is None:
        return address()
    link = st.session_state.address
    return link if on_screen.case is None or on_screen.case.id == link.case else None


def shown() -> Shown | None:
    """What is on the screen, if anything. Raises HopscopeError where it is a case that cannot be read."""
    state = st.session_state
    job = engine().jobs.get(state.get("job", ""))
    if job is not None:
        return Shown(job.key, job.comparison, job)
    case: Case | None = state.get("case")
    if case is None:
        return None
    if state.get("case_shown", (None,))[0] != case.id:
        state.case_shown = (case.id, comparison(whole(case.id)))
    return Shown(f"case-{case.id}", state.case_shown[1], case=case)


def _again() -> None:
    """Ask again where the job of the page was cancelled as the page was left, or is no longer known."""
    state = st.session_state
    if "job" not in state:
        return
    job = engine().jobs.get(state.job)
    if job is None or job.left:
        state.submitted = state.edited = bool(state.question.strip())
