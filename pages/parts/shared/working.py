"""How far a job is, with a button to cancel it, and how it ended."""

from __future__ import annotations

import streamlit as st

from core.runtime.jobs import Job
from pages.parts.shared.session import cancel, engine
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def working(job: Job, key: str, ended: str = "", share: bool = False) -> None:
    """Draw the progress of a job, and draw the page anew when it ends. Then its error, or the
    sentence `ended` where there is one.

    With `share` the percentage of the whole is said beside the text of the part at work.
    """
    running = not job.ended

    @st.fragment(run_every=0.5 if running else None)
    def draw() -> None:
        if running and job.ended:
            st.rerun()
        if not job.ended:
            whole = _whole(job.fraction) if share and job.fraction is not None else ""
            progress_bar(job, f"cancel-{key}", f"{whole}{job.text}")
        elif job.error:
            st.error(plain(job.error))
        elif ended:
            st.caption(ended)

    draw()


def progress_bar(job: Job, key: str, text: str = "") -> None:
    """Draw the share of a job that is done, and the button that cancels it."""
    text = text or job.text or tr("Waiting for its turn")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(min(1.0, job.fraction or 0.0), text=plain(text), width="stretch")
        cancel(job, key, "stop_circle")


def _whole(fraction: float) -> str:
    """How much of a whole job is done, as a lead to what its part at work says."""
    return tr("{percent:.0f} % of all", percent=100 * min(1.0, fraction)) + "  ·  "


@st.fragment(run_every=3.0)
def begun_elsewhere(key: str) -> None:
    """Draws the page anew once an evaluation, or what is like one, was begun under that key, as in
    another tab."""
    job = engine().evaluations.get(key)
    if job is not None and not job.ended:
        st.rerun()
