"""Engine, chosen graph or corpus, and catalogue, for all pages.

A source is a graph or corpus that questions are asked of.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.comparison.waiters import Waiter
from core.engine import Engine
from core.errors import HopscopeError
from core.evaluation.runs.store import Store, evaluations_file
from core.io.home import save_fault
from core.methods.catalogue import Method, catalogue
from core.runtime.jobs import Job
from core.sources import AnswerSource, CorpusSource, available_sources, source_in
from pages.parts.shared.actions import button, draw_command
from pages.parts.shared.session_state import DEFAULT_SOURCE, session
from pages.parts.shared.shutdown import register_shutdown
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

ASKING_PAGES = ("compare", "build")  # pages that ask questions
DEFAULT_CORPUS = CorpusSource("christmas-carol")  # the documents that are chosen at first
ADDRESS_PAGE = "compare"  # the page whose address always names the graph or corpus


def engine() -> Engine:
    """The engine that all visitors share."""
    with _creation_lock:
        return _engine()


def store() -> Store:
    """The store of evaluations in the user's folder."""
    with _creation_lock:
        return _store(evaluations_file(), not save_fault())


_creation_lock = threading.Lock()  # The first two visitors may come at the same moment.


@lru_cache(maxsize=8)
def _store(file: Path, writable: bool) -> Store:
    """Return the store of evaluations in a file.

    `writable` is part of the cache's key, so that the store is opened again when it changes.
    """
    return Store(file)


@cache
def _engine() -> Engine:
    new_engine = Engine()
    register_shutdown(new_engine)
    return new_engine


def waiter(page: str) -> Waiter:
    """Return the waiter of this browser session on a page.

    The engine works on a waiter's questions as long as the browser is connected.
    """
    context = get_script_run_ctx()
    visit = context.session_id if context is not None else ""

    def is_connected() -> bool:
        return not runtime.exists() or runtime.get_instance().is_active_session(visit)

    return Waiter(f"{visit}/{page}", is_connected)


def record_page(page: str) -> None:
    """Record the shown page, and stop waiting for other pages' jobs."""
    for other in ASKING_PAGES:
        if other != page:
            engine().stop_waiting(waiter(other).id)
    if session.page != page:
        # Set before `page`, because a run can be interrupted in between.
        session.arrived_by_navigation = True
        session.page = page


def was_address_entered() -> bool:
    """Return whether the user went to the address of this run.

    They did after a change of the page (until `arrived_by_navigation` is cleared), and with the
    browser's Back or Forward. Otherwise the address may be older than the state of the page.
    """
    context = get_script_run_ctx()
    return session.arrived_by_navigation or (context is not None and context.is_history_navigation)


def methods() -> dict[str, Method]:
    """Return the catalogue of methods by id.

    If it cannot be read, the error is drawn and the run ends.
    """
    try:
        return catalogue()
    except HopscopeError as error:
        st.error(plain(str(error)))
        st.stop()


def chosen_source() -> AnswerSource:
    """The graph or corpus that is chosen in the sidebar, for all pages.

    A session that begins on the page Texts begins with documents.
    """
    if source := session.source or source_in(st.query_params):
        return source
    if session.page == "texts" and DEFAULT_CORPUS.is_available:
        return DEFAULT_CORPUS
    return DEFAULT_SOURCE


def graph_name() -> str:
    """The name of the chosen graph."""
    return chosen_source().name


def stop_if_missing(source: AnswerSource) -> None:
    """End the run if the graph or corpus does not exist.

    The sidebar has drawn a warning.
    """
    if is_missing(source):
        st.info(tr("Choose a graph or documents in the sidebar."))
        st.stop()


def is_missing(source: AnswerSource) -> bool:
    """Return whether a graph or corpus does not exist.

    A damaged one exists: it is listed, and opening it gives the error.
    """
    return not source.is_available and source not in available_sources()


def chosen_graph() -> Any:
    """Return the chosen graph, and show the progress while it is opened or built.

    If that fails, the error is shown and the run ends.
    """
    name = graph_name()
    stop_if_missing(chosen_source())
    is_closed = not engine().is_open(name)  # perhaps after it was opened: removed or built again
    job = engine().jobs.run(f"open-{name}", lambda job: engine().graph(name, job), again=is_closed)
    if not job.wait(0.2):  # Progress of a shorter job would only flash.
        show_job(job, tr("Opening the graph"))
    if job.error:
        st.error(plain(job.error))
        draw_command(job.error)
        st.stop()
    return job.result


def graph_if_open() -> Any | None:
    """Return the chosen graph if it is open, else None, without waiting."""
    job = engine().jobs.get(f"open-{graph_name()}")
    if job is None or not job.has_ended or not engine().is_open(graph_name()):
        return None
    return job.result


def show_job(job: Job, title: str, on_cancel: Callable[[Job], None] = Job.cancel) -> None:
    """Show a job's progress until it ends, with a button that cancels it."""
    placeholder = st.empty()
    with placeholder.container(), st.status(title, expanded=True):
        bar = st.progress(0.0)
        draw_cancel_button(job, f"cancel-{job.key}", on_cancel=on_cancel)
        while not job.wait(0.2):
            bar.progress(min(1.0, job.fraction or 0.0), text=plain(job.text))
    placeholder.empty()


def draw_cancel_button(
    job: Job, key: str, icon: str = "", on_cancel: Callable[[Job], None] = Job.cancel
) -> None:
    """Draw the button that cancels a job.

    Only the person who started the job can press it. `on_cancel` is called with the job when the
    button is pressed.
    """
    button(tr("Cancel"), partial(on_cancel, job), key=key, icon=icon, why_not=job.cancel_refusal)


def cancel_or_leave(job: Job, page: str) -> None:
    """Cancel a comparison, or stop waiting for another person's."""
    if job.cancel_refusal:
        engine().stop_waiting(waiter(page).id)
    else:
        job.cancel()
