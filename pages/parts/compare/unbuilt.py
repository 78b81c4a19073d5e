"""The graphs that lanes on the screen stand on and that are not built: what each will cost, and a button that builds it."""

from __future__ import annotations

import streamlit as st

from core.builds import build_for, status
from core.comparison.run import build_of
from core.runtime.jobs import FAILED
from pages.parts.compare.asked import Shown
from pages.parts.shared.sentences import caption
from pages.parts.shared.session_state import session
from pages.parts.texts.building import card


def unbuilt(on_screen: Shown) -> None:
    """Draw them below a sentence; once some of them are built, here or anywhere, and none is at work, the question is asked again."""
    corpus = on_screen.comparison.ask.source.corpus
    if on_screen.job is None or not on_screen.job.ended or corpus is None:
        return
    specs = [build_of(lane.line) for lane in on_screen.comparison.lanes if lane.status == FAILED]
    wanted = dict.fromkeys(build_for(corpus, spec) for spec in specs if spec is not None)
    missing = [one for one in wanted if not status(corpus, one).serves]
    if missing:
        caption(
            "What failed lanes stand on is not built yet. Once it is, the question is asked again."
        )
    building = any([card(corpus, one) for one in missing])
    key, before = session.lacked
    lacked = frozenset(one.id for one in missing) | (
        before if key == on_screen.key else frozenset()
    )
    if lacked and not building and len(missing) < len(lacked):
        del session.lacked
        session.submitted = True
        st.rerun()
    elif missing:
        session.lacked = (on_screen.key, lacked)
