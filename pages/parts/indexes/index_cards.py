"""Cards of the kinds of index: purpose, state, and buttons to build, rebuild and delete."""

from __future__ import annotations

import time
from functools import partial
from typing import Any, Literal

import streamlit as st

from core.indexes.prepared import (
    ABSENT,
    DAMAGED,
    OTHER,
    OWNED_AS,
    PARTLY,
    READY,
    Leftover,
    Prepared,
    building,
    delete,
    delete_leftover,
    key,
    leftovers,
    prepared,
    stamp,
    start,
)
from core.indexes.table import KINDS, Kind
from core.io.durations import ago
from core.runtime.jobs import CANCELLED, WAITING, Job
from core.sharing import who
from pages.parts.shared.actions import ask_first, button
from pages.parts.shared.people import barred, whose
from pages.parts.shared.sentences import caption, write
from pages.parts.shared.session import engine
from pages.parts.shared.text import plain, size
from pages.parts.shared.wording import tr
from pages.parts.shared.working import working

BADGES: dict[str, tuple[Literal["green", "blue", "red", "gray"], str | None]] = {
    READY: ("green", ":material/check:"),
    PARTLY: ("blue", ":material/clock_loader_40:"),
    DAMAGED: ("red", ":material/error:"),
    OTHER: ("gray", None),
    ABSENT: ("gray", None),
}


def cards(graph: Any) -> None:
    """Draw every kind of index of a graph, and the leftovers of earlier ones."""
    known = _listed(repr(stamp(graph, engine().environment)), graph)
    left = leftovers(graph)
    _figures(known, left)
    for one in known:
        _card(graph, one)
    _leftovers(graph, left)
    _watch(graph, _at_work(graph))


@st.cache_resource(max_entries=16, show_spinner=tr("Looking at what is there"))
def _listed(changed: str, _graph: Any) -> list[Prepared]:
    """Return the prepared indexes, read again when the stamp `changed` differs."""
    return prepared(_graph, engine().environment)


def _figures(known: list[Prepared], left: list[Leftover]) -> None:
    built = [one for one in known if one.kind.build is not None]
    with st.container(horizontal=True, gap="large"):
        st.metric(
            tr("Ready"),
            tr("{ready} of {all}", ready=sum(one.state == READY for one in built), all=len(built)),
            width="content",
        )
        st.metric(tr("On disk"), size(sum(one.size for one in known)), width="content")
        if left:
            st.metric(tr("Left over"), size(sum(one.size for one in left)), width="content")
    caption(
        "Everything here is made from the graph and can be deleted and made again. It is made "
        "once and then serves every question."
    )


def _card(graph: Any, one: Prepared) -> None:
    kind, job = one.kind, engine().preparing.get(key(graph, one.kind))
    at_work = job is not None and not job.ended
    if kind.build is None and not one.saved:
        return
    with st.container(border=True, key=f"index-{kind.name}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{tr(kind.title)}**", width="content")
            if job is not None and at_work and job.status == WAITING:
                st.badge(tr("waiting"), color="orange", icon=":material/hourglass_empty:")
            elif at_work:
                st.badge(tr("being built"), color="orange", icon=":material/construction:")
            else:
                colour, icon = BADGES[one.state]
                st.badge(tr(one.state), color=colour, icon=icon)
            with st.container(horizontal=True, horizontal_alignment="right", width="stretch"):
                if not at_work:
                    _buttons(graph, one)
        with st.container(gap=None):
            write(kind.purpose)
            for line in _facts(graph, one, at_work):
                st.caption(plain(line))
        if not at_work:
            for problem in filter(None, (one.damage, one.lacks)):
                st.text(problem)
        if job is not None:
            _building(kind, one, job)


def _facts(graph: Any, one: Prepared, at_work: bool) -> list[str]:
    """Return a line for each stored setting.

    The build time of what is missing is added.
    """
    if at_work and one.kind.adds:
        return []  # The index grows, and the progress bar shows how far it is.
    now, lines, by = time.time(), [], whose(OWNED_AS, key(graph, one.kind))
    for saved in sorted(one.saved, key=lambda saved: not saved.usual):
        facts = [saved.words[:1].upper() + saved.words[1:]] if saved.words else []
        if one.parts and saved.usual:
            facts.append(
                tr(
                    "{done:,} of {total:,} {parts}",
                    done=one.parts[0],
                    total=one.parts[1],
                    parts=tr(one.kind.parts),
                )
            )
        facts += [size(saved.size), ago(now - saved.changed)]
        facts += [by] if by else []
        facts += (
            []
            if saved.usual or one.lacks
            else [tr("read only by lines that ask for this setting or model")]
        )
        lines.append("  ·  ".join(facts))
    if (
        one.state not in (READY, DAMAGED)
        and not one.lacks
        and not at_work
        and one.kind.build is not None
    ):
        missing = 1.0
        if one.state == PARTLY and one.parts is not None:
            missing -= one.parts[0] / max(1, one.parts[1])
        takes = one.kind.takes(graph, engine().environment, missing)
        if one.state == PARTLY:
            lines.append(tr("Building the rest takes {takes}.", takes=takes))
        else:
            lines.append(tr("Building takes {takes}.", takes=takes))
    return lines


def _buttons(graph: Any, one: Prepared) -> None:
    kind, name = one.kind, one.kind.name
    start = partial(_start, graph, kind)
    why = barred(OWNED_AS, key(graph, kind)) if one.saved else ""
    if kind.build is not None and not one.lacks and not one.damage:
        if one.state != READY:
            label = tr("Go on") if one.state == PARTLY else tr("Build")
            why_not = "" if kind.adds else why
            button(label, start, key=f"build-{name}", icon="play_arrow", why_not=why_not)
        elif not kind.adds:
            button(
                tr("Rebuild"),
                start,
                key=f"rebuild-{name}",
                icon="refresh",
                type="tertiary",
                why_not=why,
                help=tr("Makes it anew. What is there serves until the new one is whole."),
            )
        else:
            question = tr(
                "Throw away what is there and make it anew? That takes {takes}.",
                takes=kind.takes(graph, engine().environment),
            )
            ask_first(
                tr("Rebuild"),
                question,
                tr("Yes, rebuild it"),
                lambda: _start(graph, kind, anew=True),
                f"yes-rebuild-{name}",
                icon=":material/refresh:",
                why_not=why,
                box=f"ask-rebuild-{name}",
            )
    if one.saved:
        question = tr(
            "Delete {size}? A question that needs it will make it again, and wait for it.",
            size=size(one.size),
        )
        ask_first(
            tr("Delete"),
            question,
            tr("Yes, delete it"),
            lambda: delete(engine().preparing, graph, kind),
            f"yes-delete-{name}",
            why_not=why,
            box=f"ask-delete-{name}",
        )


def _start(graph: Any, kind: Kind, anew: bool = False) -> None:
    start(engine().preparing, graph, kind, engine().environment, anew)


def _building(kind: Kind, one: Prepared, job: Job) -> None:
    """Draw the progress of a build, and how it ended."""
    note = tr("Cancelled; nothing was kept.")
    if one.state == PARTLY:
        note = tr("Cancelled. What was done is kept; “Go on” takes it up.")
    working(
        job, kind.name, note if job.status == CANCELLED and one.state != READY else "", share=True
    )


def _leftovers(graph: Any, left: list[Leftover]) -> None:
    """Draw the files that nothing reads any more."""
    for title, some in (
        (tr("Of an earlier state of the graph"), [one for one in left if one.earlier]),
        (tr("Not known to Hopscope"), [one for one in left if not one.earlier]),
    ):
        if some:
            st.markdown(f"**{title}**")
        for one in some:
            with st.container(horizontal=True, vertical_alignment="center", border=True):
                with st.container(gap=None, width="stretch"):
                    st.text(one.words)
                    st.caption(plain(f"{size(one.size)}  ·  {ago(time.time() - one.changed)}"))
                question = tr("Delete {size}? Nothing reads it any more.", size=size(one.size))
                if one.earlier:
                    question = tr(
                        "Delete {size}? The graph was changed since. Vectors in it spare new ones "
                        "some encoding.",
                        size=size(one.size),
                    )
                mine = who().administrator
                ask_first(
                    tr("Delete"),
                    question,
                    tr("Yes, delete it"),
                    partial(delete_leftover, graph, one),
                    f"yes-left-{one.path.name}",
                    why_not="" if mine else tr("Only the administrator deletes what is left over."),
                    box=f"ask-left-{one.path.name}",
                )


def _at_work(graph: Any) -> list[str]:
    return [kind.name for kind in KINDS.values() if building(engine().preparing, graph, kind)]


@st.fragment(run_every=2.0)
def _watch(graph: Any, shown: list[str]) -> None:
    """Draw the page again when work was started or ended elsewhere.

    That may be in another tab.
    """
    if _at_work(graph) != shown:
        st.rerun()
