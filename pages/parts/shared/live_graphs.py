"""Graphs in a database that is queried live.

The neighbourhood of a question is fetched while the page shows the progress.
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

    Any other graph is returned unchanged. Without entities, those that the text names are used. If
    the user cancels, this run ends; `on_cancel` must prevent that the next run asks again. Raises
    `HopscopeError` if the fetch fails.
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
            job.check()
            return error

    job = engine().jobs.run(key, fetch, again=True)
    if not job.wait(0.2):
        show_job(
            job,
            tr("Asking {title}", title=graph.live.address.title),
            on_cancel=lambda job: _stop(job, on_cancel),
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

    A saved comparison has it as a note of the first step of a lane. Empty for other graphs.
    """
    if comparison.graph.fetched is not None:
        return comparison.graph.fetched.text
    for lane in comparison.lanes:
        for step in lane.state.trace[:1]:
            for note in step.notes:
                if note.startswith(LIVE_NOTE_START):
                    return note
    return ""


def _stop(job: Job, on_cancel: Callable[[], None]) -> None:
    job.cancel()
    on_cancel()
