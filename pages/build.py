"""Page Build: compose a method from operators, try it on a question, and save it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.drafts import History
from core.instances.catalogue import OWN, OWNED_AS, Instance, delete, find, named, save
from core.operators.base import Line
from pages.parts.build.bench import Bench
from pages.parts.build.trials import keep_up, ready, waits_for_nothing
from pages.parts.build.trying import asking, compare_link, try_it
from pages.parts.methods.chooser import chooser
from pages.parts.methods.groups import is_heading, options
from pages.parts.shared.actions import button, result_of, shown_errors
from pages.parts.shared.people import admit, barred, whose
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine, instances, went_here
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

EMPTY = ""  # the entry for an empty line in the list of methods


def page() -> None:
    """Draw the page."""
    known = instances()
    bench = restore(known)
    head = st.container(key="build-head")
    question = st.container(key="build-question")
    trouble = st.container()
    work = st.container()
    with question:
        run = asking(bench)
    with head, st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.header(tr("Build"), anchor=False, width="content")
        start(known, bench)
        line = bench.line
        if button(
            tr("Gallery"),
            icon="grid_view",
            key="build_gallery_open",
            help=tr("The methods with their lines drawn small."),
        ):
            gallery(known, bench)
        compare_link(line, known)
        with st.popover(tr("Save"), icon=":material/save:", key="keep-open"):
            keep(line, known)
    at_once = run or ready(bench)
    if at_once and waits_for_nothing():
        with trouble:
            keep_up(bench, known, run)
            at_once = False
    with work:
        try_it(bench)
    if at_once:
        with trouble:  # after the line, which is thus visible while a graph is opened
            tried = keep_up(bench, known, run)
        if tried:
            st.rerun()


def start(known: dict[str, Instance], bench: Bench) -> None:
    """Draw the choice of a method to start from."""
    names = {EMPTY: tr("an empty line")} | options(known)

    def load() -> None:
        chosen = session.build_start
        if chosen is not None and not is_heading(chosen):
            bench.load(known[chosen].line if chosen else Line())
        session.build_start = None

    now = named(bench.line, known) if bench.line is not None else None
    st.selectbox(
        tr("Start from"),
        list(names),
        index=None,
        key=Session.build_start.name,
        format_func=names.__getitem__,
        on_change=load,
        placeholder=tr("{label} · start from another method", label=now.label)
        if now is not None
        else tr("Start from a method, or an empty line"),
        label_visibility="collapsed",
    )


@st.dialog(tr("Start from a published method"), width="large")
def gallery(known: dict[str, Instance], bench: Bench) -> None:
    """Draw the methods with small pictures of their lines, to choose one.

    The chosen one replaces the line; Undo restores it.
    """
    now = named(bench.line, known).id if bench.line is not None else ""
    chosen = chooser(known, engine().models, now, key="build_gallery", answering=session.try_model)
    if chosen in known:
        bench.load(known[chosen].line)
        st.rerun()


def keep(line: Line | None, known: dict[str, Instance]) -> None:
    """Draw the form that saves the line, and the saved methods."""
    with st.container(key="keep-box"), st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(
            tr("Name"),
            key="keep_name",
            persist_state="session",
            placeholder=tr("A name of your own"),
            max_chars=80,
        )
        pressed = button(tr("Save"), key="keep-go", type="primary", disabled=line is None)
    if pressed and line is not None:
        saved = result_of(lambda: save(name, line))
        if saved is not None:
            session.build_saved = saved.title
            st.rerun()  # The list of methods above was drawn without the new one.
    if title := Session.build_saved.take():
        st.toast(tr("Saved “{title}”.", title=plain(title)), icon=":material/check:")
    if line is None:
        caption("A line can be saved once it can be run.")
    own = [instance for instance in known.values() if instance.group == OWN]
    if not own:
        caption(
            "Nothing saved yet. What you save appears here, where a line is started from, and as "
            "a lane on Compare."
        )
    for instance in own:
        with st.container(horizontal=True, vertical_alignment="center", key=f"own-{instance.id}"):
            st.text(
                "  ·  ".join(
                    filter(
                        None, (instance.label, instance.line.words(), whose(OWNED_AS, instance.id))
                    )
                ),
                width="stretch",
            )
            button(
                tr("Delete"),
                partial(delete, instance.id),
                key=f"delete-{instance.id}",
                type="tertiary",
                icon="delete",
                why_not=barred(OWNED_AS, instance.id),
            )


def restore(known: dict[str, Instance]) -> Bench:
    """Return the editor of this session, after loading what the address names.

    A line or method of the address is loaded only if the user went to it. Otherwise the address may
    be older than the line.
    """
    fresh = session.bench is None
    bench = session.bench = session.bench or Bench()
    wanted = st.query_params.get("line") or st.query_params.get("from") or ""
    if wanted and (fresh or went_here()) and wanted not in (bench.wanted, bench.draft.text):
        _load(bench, wanted, known)
        if fresh:
            bench.history = History(bench.draft)  # no earlier line to go back to
    bench.wanted, session.came = wanted, False
    return bench


def _load(bench: Bench, wanted: str, known: dict[str, Instance]) -> None:
    """Load what an address names, and show an error if that fails."""
    with shown_errors():
        if wanted in known or "(" not in wanted:
            bench.load(find(wanted, known).line)
        else:
            bench.read(wanted)


admit(page)
