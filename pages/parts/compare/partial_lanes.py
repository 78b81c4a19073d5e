"""Lanes that searched only some vectors, or lack a graph.

The page Compare shows the progress of the missing work, and asks again once it is done.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.builds import GraphBuild, build_for, build_status
from core.comparison.lane_run import build_of
from core.corpus import Corpus
from core.engine import MethodComparison
from core.runtime.jobs import JOB_DONE, JOB_FAILED, Job
from pages.parts.compare.screen_state import ScreenComparison
from pages.parts.shared.actions import button
from pages.parts.shared.job_progress import draw_job
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr
from pages.parts.texts.graph_builds import draw_build_card


def draw_partial_lanes(on_screen: ScreenComparison) -> None:
    """Draw the partly searched lanes, and the progress of encoding.

    Once all are encoded, the question is asked again. A button does so earlier. Nothing is drawn
    while lanes run, or if everything was searched.
    """
    if on_screen.job is None or not on_screen.job.has_ended:
        return
    # `partly` is the searched part in words; empty if everything was searched.
    lanes = [lane for lane in on_screen.comparison.lanes if lane.state.partly]
    if not lanes:
        return
    jobs = {job.key: job for lane in lanes for job in _encoding_jobs(lane.graph.digest)}
    if _all_encoded(on_screen, jobs):
        _ask_again()
        st.rerun()
    with st.container(border=True, key="partly"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            texts = [
                tr("{label} searched {partly}", label=lane.method.label, partly=lane.state.partly)
                for lane in lanes
            ]
            text = "; ".join(dict.fromkeys(texts))
            st.caption(f":material/hourglass_top: {plain(text)}.", width="stretch")
            button(tr("Search again"), _ask_again, key="search_again", icon="refresh")
        for job in jobs.values():
            draw_job(
                job,
                f"partly-{job.key}",
                tr("Cancelled. What was encoded is kept; asking again goes on from there."),
                share=True,
            )
        if any(not job.has_ended for job in jobs.values()):
            caption(
                "Once all are encoded, the question is asked again. “Search again” searches "
                "those that are encoded by now."
            )
        else:
            caption("Encoding has stopped. Ask again to search what is there and encode the rest.")


def _encoding_jobs(digest: str) -> list[Job]:
    """Return the jobs that encode vectors of the graph with this digest."""
    return engine().background_jobs.with_key_prefix(f"index-{digest}-vectors-")


def _all_encoded(on_screen: ScreenComparison, jobs: Mapping[str, Job]) -> bool:
    """Return whether all encoding jobs of this comparison are done.

    These are the jobs that ran while it was on the screen. The result is True once for each
    comparison, and never while the question bar has another question.
    """
    question_text = on_screen.comparison.ask.question.text
    old_keys = session.encoded_for[1] if session.encoded_for[0] == on_screen.key else frozenset()
    session.encoded_for = (
        on_screen.key,
        frozenset(key for key, job in jobs.items() if not job.has_ended) | old_keys,
    )
    awaited_jobs = [jobs[key] for key in session.encoded_for[1] if key in jobs]
    if (
        not awaited_jobs
        or any(job.status != JOB_DONE for job in awaited_jobs)
        or " ".join(session.question.split()) != question_text
    ):
        return False
    del session.encoded_for
    return True


def _ask_again() -> None:
    """Ask again, and reuse the finished lanes that searched everything."""
    session.submitted = session.only_lanes_changed = True


def draw_missing_graphs(on_screen: ScreenComparison) -> None:
    """Draw the graphs that failed lanes lack, each with the cost of building it.

    The question is asked again once at least one of them is built, by any visitor, and none is
    being built.
    """
    corpus = on_screen.comparison.ask.source.corpus
    if on_screen.job is None or not on_screen.job.has_ended or corpus is None:
        return
    missing_builds = _missing_builds(on_screen.comparison, corpus)
    if missing_builds:
        caption(
            "Failed methods need a graph that is not built yet. Once it is, they are asked again."
        )
    is_building = [draw_build_card(corpus, build) for build in missing_builds]
    key, build_ids = session.awaited_builds
    if key != on_screen.key:
        build_ids = frozenset()
    build_ids |= {build.id for build in missing_builds}
    if len(missing_builds) < len(build_ids) and not any(is_building):
        del session.awaited_builds
        session.submitted = True
        st.rerun()
    elif missing_builds:
        session.awaited_builds = (on_screen.key, build_ids)


def _missing_builds(comparison: MethodComparison, corpus: Corpus) -> list[GraphBuild]:
    """Return the graphs that failed lanes need, each once."""
    specs = [build_of(lane.line) for lane in comparison.lanes if lane.status == JOB_FAILED]
    required = dict.fromkeys(build_for(corpus, spec) for spec in specs if spec is not None)
    return [build for build in required if not build_status(corpus, build).can_be_opened]
