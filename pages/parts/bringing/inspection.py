"""Inspection of an upload or a database in a job that can be cancelled."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import streamlit as st

from core.runtime.jobs import CANCELLED, Job
from core.watch import Watch
from pages.parts.shared.session import engine, follow
from pages.parts.shared.session_state import Session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

BAR_AFTER = 0.3  # seconds in which most files are looked at, without a bar


def inspect_upload(
    name: str,
    key: tuple,
    work: Callable[[Job], Any],
    said: str = tr("Reading the file"),
    again: str = tr("choose the file again"),
) -> Job:
    """Return the ended job that inspects an upload or a database.

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
    return job


def reading_progress(job: Job, text: str = tr("Reading the file")) -> Watch:
    """The watch of a reading, which says so in these words."""
    return job.part(text=text)
