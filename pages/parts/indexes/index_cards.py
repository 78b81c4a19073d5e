"""Cards of the kinds of index of a graph.

They tell the purpose and state, and have buttons to build and delete. An index, such as the vectors
of all entities, is computed once from a graph and saved on disk. An incremental kind is built in
parts, and a build that was stopped can be continued.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any, Literal

import streamlit as st

from core.indexes.index_kinds import INDEX_KINDS, IndexKind
from core.indexes.index_state import (
    INDEX_ABSENT,
    INDEX_DAMAGED,
    INDEX_OF_OTHER_SETTING,
    INDEX_OWNER_KIND,
    INDEX_PARTIAL,
    INDEX_READY,
    IndexState,
    Leftover,
    SavedIndex,
    delete_index,
    delete_leftover,
    index_job_key,
    index_stamp,
    index_states,
    leftovers,
    running_index_job,
    start_index_job,
)
from core.io.durations import ago_text
from core.runtime.jobs import JOB_CANCELLED, JOB_WAITING, Job
from core.sharing import current_person
from pages.parts.shared.actions import button, confirm_button, draw_advice
from pages.parts.shared.job_progress import draw_job
from pages.parts.shared.people import owner_text, visitor_refusal
from pages.parts.shared.sentences import caption, write
from pages.parts.shared.session import engine
from pages.parts.shared.text import plain, size_words
from pages.parts.shared.wording import tr

# Colour and icon of a card's badge, by the state of the index.
STATE_BADGES: dict[str, tuple[Literal["green", "blue", "red", "gray"], str | None]] = {
    INDEX_READY: ("green", ":material/check:"),
    INDEX_PARTIAL: ("blue", ":material/clock_loader_40:"),
    INDEX_DAMAGED: ("red", ":material/error:"),
    INDEX_OF_OTHER_SETTING: ("gray", None),
    INDEX_ABSENT: ("gray", None),
}


def draw_index_cards(graph: Any) -> None:
    """Draw a card for every kind of index, and the leftovers."""
    known_indexes = _prepared_indexes(repr(index_stamp(graph, engine().environment)), graph)
    leftover_files = leftovers(graph)
    _draw_figures(known_indexes, leftover_files)
    for index in known_indexes:
        _draw_card(graph, index)
    _draw_leftovers(graph, leftover_files)
    _rerun_on_change(graph, _working_jobs(graph))


@st.cache_resource(max_entries=16, show_spinner=tr("Looking for indexes"))
def _prepared_indexes(stamp: str, _graph: Any) -> list[IndexState]:
    """Return the states of the indexes, read again when the stamp changes."""
    return index_states(_graph, engine().environment)


def _draw_figures(indexes: list[IndexState], leftovers: list[Leftover]) -> None:
    """Draw the number of complete indexes, and their disk space."""
    buildable = [index for index in indexes if index.kind.build is not None]
    with st.container(horizontal=True, gap="large"):
        n_ready = sum(index.state == INDEX_READY for index in buildable)
        st.metric(tr("Ready"), f"{n_ready}", width="content")
        st.metric(tr("On disk"), size_words(sum(index.size for index in indexes)), width="content")
        if leftovers:
            size = sum(leftover.size for leftover in leftovers)
            st.metric(tr("Left over"), size_words(size), width="content")
    caption(
        "{n_optional} more are optional. A question builds what it lacks, and waits; what is built "
        "here serves every question at once.",
        n_optional=len(buildable) - n_ready,
    )


def _draw_card(graph: Any, index: IndexState) -> None:
    kind, job = index.kind, engine().background_jobs.get(index_job_key(graph, index.kind))
    is_running = job is not None and not job.has_ended
    # A kind without `build` is built only by a question that needs it.
    if kind.build is None and not index.saved:
        return
    with st.container(border=True, key=f"index-{kind.name}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{tr(kind.title)}**", width="content")
            if job is not None and is_running and job.status == JOB_WAITING:
                st.badge(tr("waiting"), color="orange", icon=":material/hourglass_empty:")
            elif is_running:
                st.badge(tr("being built"), color="orange", icon=":material/construction:")
            else:
                colour, icon = STATE_BADGES[index.state]
                st.badge(_state_words(index), color=colour, icon=icon)
            with st.container(horizontal=True, horizontal_alignment="right", width="stretch"):
                if not is_running:
                    _draw_buttons(graph, index)
        with st.container(gap=None):
            write(kind.purpose)
            for line in _facts(graph, index, is_running):
                st.caption(plain(line))
        if not is_running:
            for problem in filter(None, (index.damage, index.refusal)):
                draw_advice(problem)
        if job is not None:
            _draw_progress(kind, index, job)


def _state_words(index: IndexState) -> str:
    """Return the state of an index in words.

    For an incomplete index, it is the number of parts that are built.
    """
    if index.state == INDEX_PARTIAL and index.coverage is not None:
        return tr("{done:,} of {total:,} done", done=index.coverage[0], total=index.coverage[1])
    return tr(index.state)


def _facts(graph: Any, index: IndexState, is_running: bool) -> list[str]:
    """Return a line for each saved setting, the default first.

    One more line tells the time to complete the index. An index may be saved in several settings,
    such as vectors of several encoders.
    """
    if is_running and index.kind.is_incremental:
        return []  # The index grows, and the progress bar shows how far it is.
    now_seconds = time.time()
    owner = owner_text(INDEX_OWNER_KIND, index_job_key(graph, index.kind))
    lines = []
    for setting in sorted(index.saved, key=lambda setting: not setting.is_default):
        age = ago_text(now_seconds - setting.changed)
        lines.append("  ·  ".join(_saved_facts(index, setting, age, owner)))
    if not is_running and not index.refusal and _has_missing_part(index):
        lines.append(_build_time(graph, index))
    return lines


def _saved_facts(index: IndexState, setting: SavedIndex, age: str, owner: str) -> list[str]:
    """Return the facts of a saved setting, such as its size."""
    facts = []
    if setting.description:
        facts.append(setting.description[:1].upper() + setting.description[1:])
    if index.coverage and setting.is_default:
        done, total = index.coverage
        parts = tr(index.kind.coverage_words)  # such as “texts are encoded”
        facts.append(tr("{done:,} of {total:,} {parts}", done=done, total=total, parts=parts))
    facts += [size_words(setting.size), age]
    if owner:
        facts.append(owner)
    if not setting.is_default and not index.refusal:
        facts.append(tr("used only by methods that ask for this setting or model"))
    return facts


def _has_missing_part(index: IndexState) -> bool:
    """Return whether an index can be built, or its build continued."""
    return index.kind.build is not None and index.state not in (INDEX_READY, INDEX_DAMAGED)


def _build_time(graph: Any, index: IndexState) -> str:
    """Return a sentence on the remaining build time."""
    missing_share = 1.0
    if index.state == INDEX_PARTIAL and index.coverage is not None:
        missing_share -= index.coverage[0] / max(1, index.coverage[1])
    takes = index.kind.describe_duration(graph, engine().environment, missing_share)
    if index.state == INDEX_PARTIAL:
        return tr("Building the rest takes {takes}.", takes=takes)
    return tr("Building takes {takes}.", takes=takes)


def _draw_buttons(graph: Any, index: IndexState) -> None:
    """Draw the buttons to build, rebuild and delete an index.

    The rebuild of an incremental index begins again with all parts, so it needs a confirmation.
    """
    kind, name = index.kind, index.kind.name
    start = partial(_start, graph, kind)
    refusal = visitor_refusal(INDEX_OWNER_KIND, index_job_key(graph, kind)) if index.saved else ""
    if kind.build is not None and not index.refusal and not index.damage:
        if index.state != INDEX_READY:
            label = tr("Go on") if index.state == INDEX_PARTIAL else tr("Build")
            why_not = "" if kind.is_incremental else refusal
            button(label, start, key=f"build-{name}", icon="play_arrow", why_not=why_not)
        elif not kind.is_incremental:
            button(
                tr("Rebuild"),
                start,
                key=f"rebuild-{name}",
                icon="refresh",
                type="tertiary",
                why_not=refusal,
                help=tr("Builds it again. The old one is used until the new one is complete."),
            )
        else:
            question = tr(
                "Replace it by a new one? That takes {takes}.",
                takes=kind.describe_duration(graph, engine().environment),
            )
            confirm_button(
                tr("Rebuild"),
                question,
                tr("Yes, rebuild it"),
                lambda: _start(graph, kind, anew=True),
                f"yes-rebuild-{name}",
                icon=":material/refresh:",
                why_not=refusal,
                box=f"ask-rebuild-{name}",
            )
    if index.saved:
        question = tr(
            "Delete {size}? The next question that needs it rebuilds it, and waits.",
            size=size_words(index.size),
        )
        confirm_button(
            tr("Delete"),
            question,
            tr("Yes, delete it"),
            lambda: delete_index(engine().background_jobs, graph, kind),
            f"yes-delete-{name}",
            why_not=refusal,
            box=f"ask-delete-{name}",
        )


def _start(graph: Any, kind: IndexKind, anew: bool = False) -> None:
    start_index_job(engine().background_jobs, graph, kind, engine().environment, anew)


def _draw_progress(kind: IndexKind, index: IndexState, job: Job) -> None:
    """Draw the progress of a build, or its outcome."""
    note = tr("Cancelled; nothing was kept.")
    if index.state == INDEX_PARTIAL:
        note = tr("Cancelled. What was done is kept; “Go on” continues.")
    draw_job(
        job,
        kind.name,
        note if job.status == JOB_CANCELLED and index.state != INDEX_READY else "",
        share=True,
    )


def _draw_leftovers(graph: Any, leftovers: list[Leftover]) -> None:
    """Draw the files that nothing reads any more."""
    earlier = [leftover for leftover in leftovers if leftover.is_earlier_content]
    unknown = [leftover for leftover in leftovers if not leftover.is_earlier_content]
    for title, files in (
        (tr("Made for an earlier state of the graph"), earlier),
        (tr("Not known to Hopscope"), unknown),
    ):
        if files:
            st.markdown(f"**{title}**")
        for leftover in files:
            size = size_words(leftover.size)
            with st.container(horizontal=True, vertical_alignment="center", border=True):
                with st.container(gap=None, width="stretch"):
                    st.text(leftover.description)
                    st.caption(plain(f"{size}  ·  {ago_text(time.time() - leftover.changed)}"))
                question = tr("Delete {size}? Nothing uses it any more.", size=size)
                if leftover.is_earlier_content:
                    question = tr(
                        "Delete {size}? The graph has changed since, but its vectors can be "
                        "reused.",
                        size=size,
                    )
                refusal = ""
                if not current_person().administrator:
                    refusal = tr("Only the administrator can delete leftovers.")
                confirm_button(
                    tr("Delete"),
                    question,
                    tr("Yes, delete it"),
                    partial(delete_leftover, graph, leftover),
                    f"yes-left-{leftover.path.name}",
                    why_not=refusal,
                    box=f"ask-left-{leftover.path.name}",
                )


def _working_jobs(graph: Any) -> list[str]:
    """Return the names of the kinds of index that are being built."""
    return [
        kind.name
        for kind in INDEX_KINDS.values()
        if running_index_job(engine().background_jobs, graph, kind)
    ]


@st.fragment(run_every=2.0)
def _rerun_on_change(graph: Any, shown_jobs: list[str]) -> None:
    """Run the page again when a build starts or ends elsewhere."""
    if _working_jobs(graph) != shown_jobs:
        st.rerun()
