"""What every screen starts from: the engine, the chosen graph, the catalogue."""

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
from core.instances.catalogue import Instance, catalogue
from core.io.home import cannot_save
from core.runtime.jobs import Job
from core.sources import Source, source_in, sources
from pages.parts.shared.actions import button
from pages.parts.shared.ending import end_soon
from pages.parts.shared.session_state import USUAL, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

ASKING = ("compare", "build")  # the pages that ask questions
USES_ADDRESS = "compare"  # the page whose address names the source


def engine() -> Engine:
    """The engine that all visitors share."""
    with _making:
        return _engine()


def store() -> Store:
    """The evaluations of the person's folder."""
    with _making:
        return _store(evaluations_file(), not cannot_save())


_making = threading.Lock()  # the first two visitors come at the same moment


@lru_cache(maxsize=8)
def _store(file: Path, writable: bool) -> Store:
    """The evaluations in a file, opened anew once it can be written again."""
    return Store(file)


@cache
def _engine() -> Engine:
    made = Engine()
    end_soon(made)
    return made


def waiter(page: str) -> Waiter:
    """This browser session on one of the pages that ask: what it asked there is answered as long as
    somebody looks."""
    context = get_script_run_ctx()
    visit = context.session_id if context is not None else ""

    def alive() -> bool:
        return not runtime.exists() or runtime.get_instance().is_active_session(visit)

    return Waiter(f"{visit}/{page}", alive)


def leave_all_but(page: str) -> None:
    """This browser session shows `page`: nothing that it asked on another one is waited for any
    more."""
    for other in ASKING:
        if other != page:
            engine().leave(waiter(other).id)
    if session.page != page:
        session.came = True  # before `page`, as a run can be broken off in between
        session.page = page


def went_here() -> bool:
    """Whether the person went to the address of this run: from another page, as long as `came` is
    set, or by the browser's Back and Forward. Else the address only comes along, and may be one
    that was changed since."""
    context = get_script_run_ctx()
    return session.came or (context is not None and context.is_history_navigation)


def instances() -> dict[str, Instance]:
    """The catalogue; where it cannot be read, the reason is shown and the screen ends."""
    try:
        return catalogue()
    except HopscopeError as error:
        st.error(plain(str(error)))
        st.stop()


def chosen() -> Source:
    """What is chosen in the sidebar."""
    return session.source or source_in(st.query_params) or USUAL


def source() -> Source:
    """What the page asks: what is chosen, or on a page that asks no corpus the graph chosen
    last."""
    asks_it = session.page in ("", *ASKING) or not chosen().documents
    return chosen() if asks_it else last_graph()


def last_graph() -> Source:
    """The chosen graph; where a corpus is chosen, the one chosen before."""
    return session.last_graph if chosen().documents else chosen()


def graph_name() -> str:
    """The name of the chosen graph; where a corpus is chosen, of the one chosen before."""
    return last_graph().name


def stop_where_missing(source: Source) -> None:
    """End the screen where what it asks is not here, which stands above it."""
    if is_missing(source):
        st.info(tr("Choose a graph or documents in the sidebar."))
        st.stop()


def is_missing(source: Source) -> bool:
    """Return whether a graph or corpus is not here.

    One that is here and damaged is not missing: opening it says what is wrong.
    """
    return not source.here and source not in sources()


def graph() -> Any:
    """The chosen graph. While it is being opened or built, that is shown with its progress; a
    failure ends the screen."""
    name = graph_name()
    stop_where_missing(last_graph())
    is_closed = not engine().is_open(name)  # removed, or built again, since it was opened
    job = engine().jobs.run(f"open-{name}", lambda job: engine().graph(name, job), again=is_closed)
    if not job.wait(0.2):
        follow(job, tr("Opening the graph"))
    if job.error:
        st.error(plain(job.error))
        st.stop()
    return job.result


def opened_graph() -> Any | None:
    """The chosen graph where it is open, without waiting for it."""
    job = engine().jobs.get(f"open-{graph_name()}")
    if job is None or not job.ended or not engine().is_open(graph_name()):
        return None
    return job.result


def follow(job: Job, title: str, on_cancel: Callable[[Job], None] = Job.cancel) -> None:
    """Show a job's progress until it ends, in place; with a button that cancels it."""
    place = st.empty()
    with place.container(), st.status(title, expanded=True):
        bar = st.progress(0.0)
        cancel(job, f"cancel-{job.key}", on_cancel=on_cancel)
        while not job.wait(0.2):
            bar.progress(min(1.0, job.fraction or 0.0), text=plain(job.text))
    place.empty()


def cancel(
    job: Job, key: str, icon: str = "", on_cancel: Callable[[Job], None] = Job.cancel
) -> None:
    """The button that cancels a job, for who began it."""
    button(tr("Cancel"), partial(on_cancel, job), key=key, icon=icon, why_not=job.needed_by)


def give_up(job: Job, page: str) -> None:
    """Cancel a comparison; one that somebody else began goes on for them, and this visit waits for
    it no more."""
    engine().leave(waiter(page).id) if job.needed_by else job.cancel()
