"""Looks at what is brought, and the bringing of it, in jobs that can be cancelled."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.runtime.jobs import CANCELLED, DONE, Job
from pages.parts.shared.session import engine, follow
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr
from pages.parts.shared.working import working

BAR_AFTER = 0.3  # seconds in which most files are looked at, without a bar
MAX_NOTES = 20  # sentences on what was guessed or left out that are shown


@dataclass(frozen=True)
class ImportOutcome:
    """What came of bringing something.

    Parameters
    ----------
    notes : sentences on what was guessed or left out.
    then : is called once, when the page is drawn after the end.
    ways : draws the ways on.
    """

    words: str
    notes: tuple[str, ...] = ()
    then: Callable[[], None] | None = None
    ways: Callable[[], None] | None = None


def inspect_upload(
    name: str,
    key: tuple,
    work: Callable[[Job], Any],
    said: str = tr("Reading the file"),
    again: str = tr("choose the file again"),
) -> Job:
    """Return the ended job that inspects an upload or a database; its error is drawn.

    It is kept in the session as `name`, and the same one is returned until `key` changes.
    """
    known, job = Session.looked[name].value
    if job is None or known != key:
        if job is not None:
            job.cancel()
        id = f"look-{uuid.uuid4().hex}"
        job = engine().jobs.run(id, work)
        Session.looked[name].value = (key, job)
    if not job.wait(BAR_AFTER):
        follow(job, said)
    if job.status == CANCELLED:
        st.info(
            tr("Cancelled; {again} to look at it.", again=plain(again)),
            icon=":material/stop_circle:",
        )
    if job.error:
        st.error(plain(job.error))
    return job


def begin(key: str, work: Callable[[Job], ImportOutcome]) -> None:
    """Start the job that brings what was chosen, empty the choice, and draw the page anew."""
    session.bring_job = engine().jobs.start(key, lambda: Job(key, work), again=True)
    session.bring_round += 1
    st.rerun()


def is_bringing() -> bool:
    """Whether the job that brings what was chosen last is at work."""
    return session.bring_job is not None and not session.bring_job.ended


def follow_bringing() -> None:
    """Draw how far the job is that brings what was chosen last, and what came of it."""
    job = session.bring_job
    if job is None:
        return
    job.wait(BAR_AFTER)
    working(job, "bring", "" if job.status == DONE else tr("Cancelled; nothing was kept of it."))
    if job.error:
        st.caption(tr("Nothing was kept. Correct what is named, and choose it again."))
    if job.status != DONE:
        return
    outcome: ImportOutcome = job.result
    if outcome.then is not None and session.bring_done is not job:
        session.bring_done = job
        outcome.then()
        st.rerun()
    st.success(plain(outcome.words), icon=":material/check_circle:")
    for text in outcome.notes[:MAX_NOTES]:
        st.warning(plain(text), icon=":material/rule:")
    if len(outcome.notes) > MAX_NOTES:
        st.caption(tr("And {more:,} more such things.", more=len(outcome.notes) - MAX_NOTES))
    if outcome.ways is not None:
        outcome.ways()
