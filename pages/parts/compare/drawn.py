"""The board of the comparison on the screen, made once for all visitors who look at it: Compare and
Present draw the same one."""

from __future__ import annotations

import threading
from typing import Any
from weakref import WeakValueDictionary

import streamlit as st

from core.io.durations import span
from core.runtime.jobs import WAITING, sentence
from pages.parts.board.payload import Board
from pages.parts.compare.asked import Shown
from pages.parts.compare.without import before_job
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

# those that somebody looks at, by what is on the screen
_boards: WeakValueDictionary[str, Board] = WeakValueDictionary()
_sharing = threading.Lock()
# seconds of a wait for news, how many of them make one look, and one while others come first
SLICE, SLICES, SLICES_QUEUED = (0.2, 7, 25)


def drawing(on_screen: Shown) -> Board:
    """What draws this comparison, kept for the session."""
    known = session.drawing
    if known is None or known[0] is not on_screen.comparison:
        known = session.drawing = (on_screen.comparison, _board(on_screen))
        del session.sent
    return known[1]


def _board(on_screen: Shown) -> Board:
    """A board for a comparison: that of others who look at the same one now, unless this visit has
    places of its own for its nodes."""
    earlier = _earlier(on_screen)
    if earlier is not None:
        return Board(on_screen.comparison, earlier)
    with _sharing:
        known = _boards.get(on_screen.key)
        if known is None or known.comparison is not on_screen.comparison:
            known = _boards[on_screen.key] = Board(on_screen.comparison)
        return known


def _earlier(on_screen: Shown) -> Board | None:
    """What drew the same question with other edits, whose places are taken over; None where that is
    not here."""
    now = on_screen.comparison.ask
    if session.drawing is not None:
        before = session.drawing[0].ask
        if (
            before.source == now.source
            and before.question.text == now.question.text
            and before.source.edits != now.source.edits
        ):
            return session.drawing[1]
    job = before_job()
    if job is None or not now.source.edits or not job.ended:
        return None
    board = Board(job.comparison)
    board.payload()
    return board


def drawable(on_screen: Shown | None) -> Shown | None:
    """What is on the screen; None, and why is said, where it is a case whose file holds what no run
    could give."""
    if on_screen is not None and on_screen.case is not None:
        try:
            payload(on_screen)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            st.error(plain(tr("This case cannot be drawn. {sentence}", sentence=sentence(error))))
            return None
    return on_screen


def payload(on_screen: Shown) -> dict[str, Any]:
    """What the board draws; made anew only where something has changed."""
    version = on_screen.job.version if on_screen.job is not None else 0
    if session.sent[:2] != (on_screen.key, version):
        session.sent = (on_screen.key, version, drawing(on_screen).at(version))
    return session.sent[2]


def with_wait(drawn: dict[str, Any], on_screen: Shown) -> dict[str, Any]:
    """The board's data with how many comparisons of others come before this one, on each of its
    lanes; as it is once it has begun."""
    wait = engine().wait(on_screen.job) if on_screen.job is not None else None
    if wait is None or not wait.others:
        return drawn
    about = tr(", about {span}", span=span(wait.seconds)) if wait.seconds else ""
    text = tr(
        "Waiting: {questions} of others first{about}",
        questions=many(wait.others, "question"),
        about=about,
    )
    return {
        **drawn,
        "lanes": [
            {**lane, "status_text": text} if lane["status"] == WAITING else lane
            for lane in drawn["lanes"]
        ],
    }


def news(on_screen: Shown) -> None:
    """Wait a moment, after drawing, for something to draw anew, so that a screen on which nothing
    happens asks seldom.

    Before drawing it would be seen: Streamlit pales what a run has not drawn after half a second.
    """
    wait = engine().wait(on_screen.job) if on_screen.job is not None else None
    for _ in range(SLICES_QUEUED if wait is not None and wait.others else SLICES):
        sent = session.sent  # also where Streamlit breaks off for what the person does meanwhile
        if (
            on_screen.job is None
            or sent[0] != on_screen.key
            or on_screen.job.changed(sent[1], SLICE)
        ):
            return
