"""Graphs in a database that is queried live.

The neighbourhood of a question is fetched while the page shows the progress.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import streamlit as st

from core.databases.live import ASKED_LIVE
from core.engine import Comparison
from core.errors import HopscopeError
from core.runtime.jobs import CANCELLED, Job
from core.types import Question
from pages.parts.shared.session import engine, follow
from pages.parts.shared.wording import tr

# Query parameter of the page Graphs: the entity whose neighbourhood is fetched.
AROUND = "around"


class _Failed(HopscopeError):
    """A failed fetch, with the message of its job."""


def near(graph: Any, question: Question, cancelled: Callable[[], None]) -> Any:
    """Return the neighbourhood of a question's entities in the database of a live graph.

    Another graph is returned unchanged. If the question has no entities, those that it names count.
    If the user cancels, `cancelled` is called so that the next run does not ask again, and this run
    ends. Raises HopscopeError if the database or the question does not allow it.
    """
    if graph.live is None:
        return graph
    asked = hashlib.sha256(
        repr((graph.digest, question.entities or question.text)).encode()
    ).hexdigest()[:16]
    key = f"live-{asked}"

    def fetch(job: Job) -> Any:
        try:
            return graph.live.around(question.text, question.entities, job)
        except HopscopeError as error:
            job.check()
            return error

    job = engine().jobs.run(key, fetch, again=True)
    if not job.wait(0.2):
        follow(
            job,
            tr("Asking {title}", title=graph.live.address.title),
            on_cancel=lambda job: _stop(job, cancelled),
        )
    if job.status == CANCELLED:
        st.stop()
    if isinstance(job.result, HopscopeError):
        raise job.result
    if job.error:
        raise _Failed(job.error)
    return job.result


def fetched_text(comparison: Comparison) -> str:
    """Return a sentence on what was fetched for a comparison.

    It names what was left out. It works for saved comparisons too. Empty for other graphs.
    """
    if comparison.graph.fetched is not None:
        return comparison.graph.fetched.text
    first = (
        note for lane in comparison.lanes for step in lane.state.trace[:1] for note in step.notes
    )
    return next((note for note in first if note.startswith(ASKED_LIVE)), "")


def _stop(job: Job, cancelled: Callable[[], None]) -> None:
    job.cancel()
    cancelled()
