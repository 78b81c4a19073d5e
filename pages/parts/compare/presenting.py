"""Presentation: one comparison on the screen without controls, and arrow keys to other cases."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.cases import Case, get
from core.cases.examples import demo
from core.engine import Comparison
from core.errors import HopscopeError
from pages.parts.board.component import board
from pages.parts.compare.asked import Shown, open_case, show_case, shown, take
from pages.parts.compare.drawn import drawable, news, payload, with_wait
from pages.parts.compare.without import with_before
from pages.parts.question.permalink import MOST_LANES, read_link
from pages.parts.shared.actions import button
from pages.parts.shared.edits import new_edits
from pages.parts.shared.scripts import component
from pages.parts.shared.session import source
from pages.parts.shared.session_state import session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

# Everything around the lanes is hidden, and the lanes fill the screen.
SCREEN = """<style>
[data-testid="stSidebar"], [data-testid="stHeader"], [data-testid="stExpandSidebarButton"] { \
display: none !important; }
[data-testid="stMainBlockContainer"] { padding: 14px 24px 8px !important; max-width: none \
!important; }
</style>"""


def presenting() -> bool:
    """Return whether the address asks for the presentation."""
    return st.query_params.get("present") == "1"


def present(repair: Callable[[Comparison, int], None]) -> None:
    """Draw the presentation.

    It shows the case of the address, else the comparison of the page, else the first case. `repair`
    is called with the comparison and the index of the lane whose repair was clicked.
    """
    st.html(SCREEN)
    listed = session.present_cases or [case.id for case in demo(source())]
    named = st.query_params.get("show", "")
    try:
        if named and (session.case is None or session.case.id != named):
            show_case(get(named))
        on_screen = drawable(shown() or _first(listed))
    except HopscopeError as error:
        st.error(plain(str(error)))
        button(tr("Leave the presentation"), leave)
        return
    if on_screen is None:
        st.info(tr("There is nothing to present yet: ask a question on Compare, or save a case."))
        button(tr("Leave the presentation"), leave)
        return
    at = on_screen.case.id if on_screen.case else ""
    places = _places(at, listed, asked="q" in st.query_params)
    _head(on_screen, places, places.index(at))
    _lanes(on_screen, repair)


def leave() -> None:
    """Go back to the page with its controls.

    The case that was presented stays on the screen.
    """
    if session.case is not None:
        open_case(session.case)
        return
    for key in ("present", "show"):
        st.query_params.pop(key, None)


def _places(at: str, listed: list[str], asked: bool) -> list[str]:
    """Return the ids of the cases that the keys go through.

    The question of the address comes first and has an empty id.
    """
    places = ["", *listed] if asked or not at else listed
    return places if at in places else [at, *places]


def _first(listed: list[str]) -> Shown | None:
    if not listed:
        return None
    show_case(get(listed[0]))
    return shown()


def _head(on_screen: Shown, places: list[str], at: int) -> None:
    """Draw the question and the controls to go to other cases."""
    question = on_screen.comparison.ask.question
    data = {
        "question": question.text,
        "entities": list(question.entities)[:3],
        "answers": list(question.answers),
        "number": at + 1,
        "of": len(places),
    }
    data |= session.presenter_received._asdict()
    message = getattr(
        component("presenter")(key="presenter", data=data, on_pressed_change=lambda: None),
        "pressed",
        None,
    )
    new, session.presenter_received = new_edits(message, session.presenter_received)
    if any(one.get("leave") for one in new):
        leave()
        st.rerun()
    to = (at + sum(one["by"] for one in new if one.get("by") in (-1, 1))) % len(places)
    if to != at:
        _go(places[to])


def _go(case: str) -> None:
    """Go to another case of the list.

    An empty id goes to the question of the address.
    """
    if case:
        st.query_params["show"] = case
    else:
        st.query_params.pop("show", None)
        take(read_link())
    st.rerun()


def _lanes(on_screen: Shown, repair: Callable[[Comparison, int], None]) -> None:
    """Draw the lanes, and update them while their job runs."""
    job = on_screen.job
    running = job is not None and (not job.ended or on_screen.comparison.repairing)

    @st.fragment(run_every=1.0 if running else None)
    def follow() -> None:
        clicked = board(
            {
                **with_before(with_wait(payload(on_screen), on_screen), on_screen),
                "present": True,
                "most_lanes": MOST_LANES,
            },
            key="presented_board",
        )
        if clicked.repair is not None:
            repair(on_screen.comparison, int(clicked.repair))
        if job is not None and running and job.ended and not on_screen.comparison.repairing:
            st.rerun()
        if running:
            news(on_screen)

    follow()


def offer(found: list[Case]) -> None:
    """Draw a button that presents these cases one after the other."""

    def begin() -> None:
        session.present_cases = [case.id for case in found]

    if button(tr("Present"), begin, icon="present_to_all", disabled=not found, key="present_found"):
        st.switch_page("pages/compare.py", query_params={"present": "1", "show": found[0].id})
