"""Lanes that searched only a part of the vectors, as the others were still being made: how far these are, and asking again."""

from __future__ import annotations

import streamlit as st

from core.runtime.jobs import Job
from pages.parts.compare.asked import Shown
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import session
from pages.parts.shared.text import plain
from pages.parts.shared.working import working


def partly(on_screen: Shown) -> None:
    """Draw which lanes searched how much, how far the vectors are now, and a button that asks again; nothing where all was searched."""
    if on_screen.job is None or not on_screen.job.ended:
        return
    lanes = [lane for lane in on_screen.comparison.lanes if lane.state.partly]
    if not lanes:
        return
    with st.container(border=True, key="partly"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            said = "; ".join(dict.fromkeys(f"{lane.instance.label} searched {lane.state.partly}" for lane in lanes))
            st.caption(f":material/hourglass_top: {plain(said)}.", width="stretch")
            st.button("Search again", key="search_again", icon=":material/refresh:", on_click=_again)
        jobs = {job.key: job for lane in lanes for job in _jobs(lane.graph.digest)}
        for job in jobs.values():
            working(job, f"partly-{job.key}", "Cancelled. What was encoded is kept; asking again goes on from there.", share=True)
        if not any(not job.ended for job in jobs.values()):
            st.caption("Nothing is being encoded now: asking again searches all that is there, and encodes what is missing.")


def _jobs(digest: str) -> list[Job]:
    """The jobs that make vectors of a graph."""
    return engine().preparing.of(f"index-{digest}-vectors-")


def _again() -> None:
    """Ask again; what the other lanes found is taken over."""
    session.submitted = session.edited = True
