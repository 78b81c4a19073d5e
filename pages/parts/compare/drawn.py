"""The board of the comparison on the screen, kept for the session: Compare and Present draw the same one."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.runtime.jobs import sentence
from pages.parts.board.payload import Board
from pages.parts.compare.asked import Shown
from pages.parts.compare.without import before_job
from pages.parts.shared.session_state import session
from pages.parts.shared.text import plain

SLICE, SLICES = 0.2, 7  # seconds of a wait for news, and how many of them make one look


def drawing(on_screen: Shown) -> Board:
    """What draws this comparison, kept for the session."""
    known = session.drawing
    if known is None or known[0] is not on_screen.comparison:
        known = session.drawing = (on_screen.comparison, Board(on_screen.comparison, _earlier(on_screen)))
        del session.sent
    return known[1]


def _earlier(on_screen: Shown) -> Board | None:
    """What drew the same question with other edits, whose places are taken over; None where that is not here."""
    now = on_screen.comparison.ask
    if session.drawing is not None:
        before = session.drawing[0].ask
        if before.source == now.source and before.question.text == now.question.text and before.source.edits != now.source.edits:
            return session.drawing[1]
    job = before_job()
    if job is None or not now.source.edits or not job.ended:
        return None
    board = Board(job.comparison)
    board.payload()
    return board


def drawable(on_screen: Shown | None) -> Shown | None:
    """What is on the screen; None, and why is said, where it is a case whose file holds what no run could give."""
    if on_screen is not None and on_screen.case is not None:
        try:
            payload(on_screen)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            st.error(plain(f"This case cannot be drawn. {sentence(error)}"))
            return None
    return on_screen


def payload(on_screen: Shown) -> dict[str, Any]:
    """What the board draws; made anew only where something has changed."""
    version = on_screen.job.version if on_screen.job is not None else 0
    if session.sent[:2] != (on_screen.key, version):
        session.sent = (on_screen.key, version, drawing(on_screen).payload())
    return session.sent[2]


def news(on_screen: Shown) -> None:
    """Wait a moment, after drawing, for something to draw anew, so that a screen on which nothing happens asks seldom.

    Before drawing it would be seen: Streamlit pales what a run has not drawn after half a second.
    """
    for _ in range(SLICES):
        sent = session.sent  # also where Streamlit breaks off for what the person does meanwhile
        if on_screen.job is None or sent[0] != on_screen.key or on_screen.job.changed(sent[1], SLICE):
            return
