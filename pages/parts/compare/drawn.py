"""Board of the comparison on the screen, shared by all visitors who look at it.

The page Compare and the presentation draw the same board.
"""

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

# Boards that are on some screen, by the key of the comparison.
_boards: WeakValueDictionary[str, Board] = WeakValueDictionary()
_sharing = threading.Lock()
# Seconds of one wait for news; number of waits in a run of the page, and while the question waits
# for those of other visitors.
SLICE, SLICES, SLICES_QUEUED = (0.2, 7, 25)


def drawing(on_screen: Shown) -> Board:
    """Return the board of this comparison, kept in the session."""
    known = session.drawing
    if known is None or known[0] is not on_screen.comparison:
        known = session.drawing = (on_screen.comparison, _board(on_screen))
        del session.sent
    return known[1]


def _board(on_screen: Shown) -> Board:
    """Return the board of a comparison, shared with other visitors.

    A visit that has its own node positions gets its own board.
    """
    earlier = _earlier(on_screen)
    if earlier is not None:
        return Board(on_screen.comparison, earlier)
    with _sharing:
        known = _boards.get(on_screen.key)
        if known is None or known.comparison is not on_screen.comparison:
            known = _boards[on_screen.key] = Board(on_screen.comparison)
        return known


def _earlier(on_screen: Shown) -> Board | None:
    """Return the board of the same question with other edits.

    Its node positions are kept. None if there is no such board.
    """
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
    """Return what is on the screen, if it can be drawn.

    A case may not be drawable. Then an error is shown and None is returned. The file of a case may
    have data that no run could make.
    """
    if on_screen is not None and on_screen.case is not None:
        try:
            payload(on_screen)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            st.error(plain(tr("This case cannot be drawn. {sentence}", sentence=sentence(error))))
            return None
    return on_screen


def payload(on_screen: Shown) -> dict[str, Any]:
    """Return the data of the board, made again only if something has changed."""
    version = on_screen.job.version if on_screen.job is not None else 0
    if session.sent[:2] != (on_screen.key, version):
        session.sent = (on_screen.key, version, drawing(on_screen).at(version))
    return session.sent[2]


def with_wait(drawn: dict[str, Any], on_screen: Shown) -> dict[str, Any]:
    """Return the board's data with the number of other visitors' questions that come first.

    The text is shown on each waiting lane. Once the comparison runs, the data stays as it is.
    """
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
    """Wait a moment after drawing until there is something new to draw.

    A screen without news thus causes few runs. The wait is not before the drawing, as Streamlit
    fades what a run has not drawn within half a second.
    """
    wait = engine().wait(on_screen.job) if on_screen.job is not None else None
    for _ in range(SLICES_QUEUED if wait is not None and wait.others else SLICES):
        # Streamlit may also interrupt the run here, when the user does something.
        sent = session.sent
        if (
            on_screen.job is None
            or sent[0] != on_screen.key
            or on_screen.job.changed(sent[1], SLICE)
        ):
            return
