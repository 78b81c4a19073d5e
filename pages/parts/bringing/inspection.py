"""Jobs that inspect and import uploads, and that the user can cancel.

An inspection reads an upload for a preview. An import then adds it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.runtime.jobs import JOB_CANCELLED, JOB_DONE, Job
from pages.parts.shared.job_progress import draw_job
from pages.parts.shared.session import engine, show_job
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

BAR_DELAY_SECONDS = 0.3  # seconds before a progress bar is shown; most files take less
MAX_SHOWN_NOTES = 20  # most sentences on guesses and omissions that are shown


@dataclass(frozen=True)
class ImportOutcome:
    """Result of an import.

    Attributes
    ----------
    sentence : a sentence on the imported data.
    notes : sentences on guesses and omissions.
    on_shown : called once, when the page is first drawn after the import.
    draw_next_steps : draws the buttons of the next steps.
    """

    sentence: str
    notes: tuple[str, ...] = ()
    on_shown: Callable[[], None] | None = None
    draw_next_steps: Callable[[], None] | None = None


def inspect_upload(
    name: str,
    key: tuple,
    work: Callable[[Job], Any],
    label: str = tr("Reading the file"),
    retry_hint: str = tr("choose the file again"),
) -> Job:
    """Inspect an upload or a database in a job.

    Wait for the job and return it. Its error is drawn; its `result` is None if it failed or was
    cancelled. The session keeps the job, which is returned again until `key` changes.

    Parameters
    ----------
    name : name under which the session keeps the job.
    key : identity of the inspected upload and its options.
    work : inspects the upload.
    label : what the job does, for the progress bar.
    retry_hint : how to start the inspection again after a cancellation.
    """
    old_key, job = Session.inspections[name].value
    if job is None or old_key != key:
        if job is not None:
            job.cancel()
        id = f"look-{uuid.uuid4().hex}"
        job = engine().jobs.run(id, work)
        Session.inspections[name].value = (key, job)
    if not job.wait(BAR_DELAY_SECONDS):
        show_job(job, label)
    if job.status == JOB_CANCELLED:
        st.info(
            tr("Cancelled. To see it, {again}.", again=plain(retry_hint)),
            icon=":material/stop_circle:",
        )
    if job.error:
        st.error(plain(job.error))
    return job


def start_import(key: str, work: Callable[[Job], ImportOutcome]) -> None:
    """Start an import job and empty the drop zone."""
    session.bring_job = engine().jobs.start(key, lambda: Job(key, work), again=True)
    session.bring_round += 1
    st.rerun()


def is_importing() -> bool:
    """Return whether the last import of this session is still running."""
    return session.bring_job is not None and not session.bring_job.has_ended


def follow_import() -> None:
    """Draw the progress or the result of the session's last import."""
    job = session.bring_job
    if job is None:
        return
    job.wait(BAR_DELAY_SECONDS)
    draw_job(job, "bring", "" if job.status == JOB_DONE else tr("Cancelled. Nothing was saved."))
    if job.error:
        st.caption(tr("Nothing was saved. Correct the error and try again."))
    if job.status != JOB_DONE:
        return
    outcome: ImportOutcome = job.result
    if outcome.on_shown is not None and session.bring_done is not job:
        session.bring_done = job
        outcome.on_shown()
        st.rerun()
    st.success(plain(outcome.sentence), icon=":material/check_circle:")
    for text in outcome.notes[:MAX_SHOWN_NOTES]:
        st.caption(f":material/rule: {plain(text)}")
    if len(outcome.notes) > MAX_SHOWN_NOTES:
        st.caption(tr("And {more:,} more notes.", more=len(outcome.notes) - MAX_SHOWN_NOTES))
    if outcome.draw_next_steps is not None:
        outcome.draw_next_steps()
