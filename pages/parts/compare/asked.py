"""What Compare shows, and how it comes back: from the address, from the page left before, or from a
case that ships."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial
from weakref import WeakValueDictionary

import streamlit as st

from core.cases import Case, get, whole
from core.cases.examples import demo
from core.engine import Comparison
from core.errors import HopscopeError
from core.runtime.jobs import Job
from core.sources import Ask
from pages.parts.question.permalink import Link, case_link, read_link, write_link
from pages.parts.question.question_bar import bar_state, known_question
from pages.parts.shared.actions import button
from pages.parts.shared.sentences import write
from pages.parts.shared.session import chosen, engine, source, waiter, went_here
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

# those of shipped cases that somebody looks at, by the case
_examples: WeakValueDictionary[str, Comparison] = WeakValueDictionary()
_sharing = threading.Lock()


@dataclass(frozen=True)
class Shown:
    """A comparison on the screen: that of a job, or of a case."""

    key: str
    comparison: Comparison
    job: Job | None = None
    case: Case | None = None

    def on(self, asked: Ask) -> Comparison:
        """The comparison, that of a case on the graph that is asked now, where it was made on that
        one. Raises HopscopeError."""
        if self.case is None:
            return self.comparison
        return whole(self.case.id, asked.source.graph, asked.source.corpus)


def come_back() -> None:
    """Fill the session from the address where the person went to it, else keep what was there; a
    whole question is asked at once.

    A page that is come back to from another one finds its question and lanes again, and asks again
    where its job was cancelled when it was left; Back and Forward on the page itself go to what the
    address names, be it the first page without a question. An address that is another one but was
    not gone to is what the browser had before it heard of the present one: what runs then brings it
    along.
    """
    link = _named()
    if session.address is None:
        if (
            link.source != chosen()
            and {"graph", "corpus", "case"} & set(st.query_params)
            and link.source.here
        ):
            # another page, where the session began, has chosen something else before
            session.wanted = link
        elif session.wanted is None:
            _open(link)
    elif (
        went_here()
        and link != session.address
        and ({"q", "case"} & set(st.query_params) or not session.came)
    ):
        session.wanted = link
    elif session.wanted is None:
        if session.settled is None:  # another graph was chosen by hand, which wrote its own address
            session.address = link
        _again()
    if session.wanted is not None:
        if session.wanted.source != chosen() and session.wanted.source.here:
            if session.source_wanted is None:  # which the sidebar takes up, where it is drawn
                session.source_wanted = session.wanted.source
                st.rerun()
            session.source = Session.source_wanted.take()
        _open(session.wanted)
        del session.wanted
    session.came = False  # last, as a run can be broken off before


def _named() -> Link:
    """The link in the address; where it names a case, that of the case, without anything more if
    there is none."""
    key = st.query_params.get("case", "")
    if not key:
        return read_link()
    if session.address is not None and session.address.case == key:
        return session.address
    try:
        return case_link(get(key))
    except HopscopeError:
        return Link(case=key)


def _open(link: Link) -> None:
    """What an address shows: its case, its question, or the first shipped case where it names
    nothing. Of a case that cannot be opened `trouble` tells why, above what an address without one
    shows."""
    del session.trouble
    if link.case:
        try:
            show_case(get(link.case))
            shown()
            return
        except HopscopeError as error:
            session.trouble = error
            del session.case
    begin = (
        demo()
        if (link.case or link.empty and "graph" not in st.query_params) and not source().is_corpus
        else ()
    )
    if begin:
        show_case(begin[0], link.model)
        session.address = link
    else:
        take(link)


def take(link: Link) -> None:
    """Put a link's question, lanes and switches into the session; `address`, which tells that it is
    done, last."""
    _fill(link)
    del session.case
    if not link.question.strip():
        del session.job
    if not session.job:
        engine().leave(waiter("compare").id)
    session.submit()
    session.settled = bar_state()
    session.address = link


def _fill(link: Link) -> None:
    asked = known_question(link.question)
    session.question = link.question
    session.entities = list(link.entities)
    session.answers = list(link.answers)
    if asked is not None:
        session.entities = session.entities or list(asked.entities)
        session.answers = session.answers or list(asked.answers)
    session.hops = asked.hops if asked is not None else None
    session.lanes = list(link.lanes)
    session.seed = link.seed
    session.model = link.model
    session.reader = link.reader
    session.lanes_for = link.source.kind
    session.edits = list(link.edits)
    del session.choosing


def show_case(case: Case, model: bool = True) -> None:
    """Put a saved case on the screen, with its question and lanes ready to be asked again."""
    link = case_link(case)
    _fill(link)
    session.model = model and link.model
    session.submitted, session.settled = False, bar_state()
    session.case = case
    del session.job
    engine().leave(waiter("compare").id)
    session.address = link


def open_case(case: Case) -> None:
    """Go to a case, in the address as on the screen, with what it was asked of chosen beside."""
    session.wanted = case_link(case)
    write_link(session.wanted)


def clear() -> None:
    """Go to an empty question, with the lanes as they are."""
    session.question, session.entities, session.answers, session.edits = "", [], [], []
    session.settled = bar_state()  # nothing is asked by it
    del session.case, session.trouble
    session.address = address()
    write_link(session.address)


def address() -> Link:
    """The address of what is asked."""
    lists = (tuple(session.entities), tuple(session.answers), tuple(session.lanes))
    return Link(
        session.question,
        *lists,
        source(),
        session.seed,
        session.model,
        session.reader,
        typed=True,
        edits=tuple(session.edits),
    )


def here(on_screen: Shown | None) -> Link | None:
    """The address of what is on the screen; None for the example of a first page, which has that of
    the page."""
    if on_screen is None:
        return address()
    link = session.address
    case = on_screen.case
    return link if link is None or case is None or case.id == link.case else None


def shown() -> Shown | None:
    """What is on the screen, if anything. Raises HopscopeError where it is a case that cannot be
    read."""
    job = engine().jobs.get(session.job)
    if job is not None:
        return Shown(job.key, job.comparison, job)
    case = session.case
    if case is None:
        return None
    return Shown(f"case-{case.id}", Session.case_shown.of(case.id, lambda: _whole(case)), case=case)


def _whole(case: Case) -> Comparison:
    """The comparison of a case; of one that ships the object that others look at now, as every
    visit begins with one."""
    if not case.example:
        return whole(case.id)
    with _sharing:
        known = _examples.get(case.id)
        if known is None:
            known = _examples[case.id] = whole(case.id)
        return known


def _again() -> None:
    """Ask again where the job of the page was cancelled as the page was left, or is no longer
    known."""
    if not session.job:
        return
    job = engine().jobs.get(session.job)
    if job is None or job.left:
        session.submit()
        session.edited = session.submitted


def answered_before() -> None:
    """A button for each shipped comparison on the chosen corpus, which opens without a model;
    nothing where there is none."""
    found = demo(source()) if source().is_corpus else ()
    if not found:
        return
    write("Answered before, to open at once:")
    for case in found:
        title = case.notes.partition(".")[0]
        button(
            tr("{question} :gray[{title}]", question=plain(case.question), title=plain(title)),
            partial(open_case, case),
            key=f"before-{case.id}",
            type="tertiary",
            icon="bolt",
        )
