"""Progress of a job, with a button that cancels it, and its outcome."""

from __future__ import annotations

import streamlit as st

from core.runtime.jobs import Job
from pages.parts.shared.session import draw_cancel_button, engine
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def draw_job(job: Job, key: str, end_text: str = "", share: bool = False) -> None:
    """Draw the progress of a job, and draw the page again when it ends.

    After the end, its error or the sentence `end_text` is drawn.

    Parameters
    ----------
    key : last part of the key of the cancel button.
    end_text : the sentence after an end without an error; empty for none.
    share : whether to draw the percentage of the whole job before the text of its current part.
    """
    was_running = not job.has_ended

    @st.fragment(run_every=0.5 if was_running else None)
    def draw() -> None:
        if was_running and job.has_ended:
            st.rerun()
        if not job.has_ended:
            prefix = _percent_prefix(job.fraction) if share and job.fraction is not None else ""
            progress_bar(job, f"cancel-{key}", f"{prefix}{job.text}")
        elif job.error:
            st.error(plain(job.error))
        elif end_text:
            st.caption(end_text)

    draw()


def progress_bar(job: Job, key: str, text: str = "") -> None:
    """Draw the progress bar of a job with a cancel button.

    The text is by default that of the job.
    """
    text = text or job.text or tr("Waiting for its turn")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(min(1.0, job.fraction or 0.0), text=plain(text), width="stretch")
        draw_cancel_button(job, key, "stop_circle")


def _percent_prefix(fraction: float) -> str:
    """Return the percentage of the whole job, as a prefix."""
    return tr("{percent:.0f} % of all", percent=100 * min(1.0, fraction)) + "  ·  "


@st.fragment(run_every=3.0)
def rerun_when_started(key: str) -> None:
    """Run the page again once the job with this key runs.

    It may be started in another tab.
    """
    job = engine().evaluations.get(key)
    if job is not None and not job.has_ended:
        st.rerun()
