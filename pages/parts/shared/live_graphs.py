"""Graphs in a database that is queried live for each question.

Only the neighbourhood of the question's entities is fetched, while the page shows the progress.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import streamlit as st

from core.databases.live_database import LIVE_NOTE_START
from core.engine import MethodComparison
from core.errors import HopscopeError
from core.runtime.jobs import JOB_CANCELLED, Job
from core.types import Question
from pages.parts.shared.session import engine, show_job
from pages.parts.shared.wording import tr

# Query parameter of the page Graphs: the entity whose neighbourhood is fetched.
AROUND_PARAMETER = "around"


class _FetchError(HopscopeError):
    """A failed fetch, with the message of its job."""


def question_neighbourhood(graph: Any, question: Question, on_cancel: Callable[[], None]) -> Any:
    """Return the neighbourhood of a question's entities in the database of a live graph.

    A graph that is not live is returned unchanged. If the question has no entities, those that its
    text names are used. If the user cancels, this run of the page ends. `on_cancel` is then called,
    and must prevent that the next run asks again. Raises `HopscopeError` if the fetch fails.
    """
    if graph.live is None:
        return graph
    question_digest = hashlib.sha256(
        repr((graph.digest, question.entities or question.text)).encode()
    ).hexdigest()[:16]
    key = f"live-{question_digest}"

    def fetch(job: Job) -> Any:
        try:
            return graph.live.fetch_graph(question.text, question.entities, job)
        except HopscopeError as error:
            job.check()  # An error that a cancellation caused is none.
            return error  # raised below, with its class

    job = engine().jobs.run(key, fetch, again=True)
    if not job.wait(0.2):
        show_job(
            job,
            tr("Asking {title}", title=graph.live.address.title),
            on_cancel=lambda job: _cancel_fetch(job, on_cancel),
        )
    if job.status == JOB_CANCELLED:
        st.stop()
    if isinstance(job.result, HopscopeError):
        raise job.result
    if job.error:
        raise _FetchError(job.error)
    return job.result


def fetched_text(comparison: MethodComparison) -> str:
    """Return a sentence on what was fetched for a comparison, and what was left out.

    In a saved comparison, the sentence is a note of the first step of a lane. Empty for a graph
    that is not live.
    """
    if comparison.graph.fetched is not None:
        return comparison.graph.fetched.text
    for lane in comparison.lanes:
        for step in lane.state.trace[:1]:
            for note in step.notes:
                if note.startswith(LIVE_NOTE_START):
                    return note
    return ""


def _cancel_fetch(job: Job, on_cancel: Callable[[], None]) -> None:
    job.cancel()
    on_cancel()
