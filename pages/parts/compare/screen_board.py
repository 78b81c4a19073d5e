"""Board of the comparison on the screen, with all lanes.

The page Compare and the presentation draw the same board. Visitors who look at the same comparison
share one board, because its layout takes long to compute.
"""

from __future__ import annotations

import threading
from typing import Any
from weakref import WeakValueDictionary

import streamlit as st

from core.engine import MethodComparison
from core.io.durations import duration_text
from core.runtime.jobs import JOB_WAITING, error_sentence
from pages.parts.board.payload import Board
from pages.parts.compare.graph_edits import job_before_edits
from pages.parts.compare.screen_state import ScreenComparison
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

# Boards that are on some screen, by the key of the comparison.
_boards: WeakValueDictionary[str, Board] = WeakValueDictionary()
_boards_lock = threading.Lock()
NEWS_WAIT_SECONDS = 0.2  # length of one wait for a change of the job
MAX_NEWS_WAITS = 7  # waits in one run of the page
MAX_QUEUED_NEWS_WAITS = 25  # waits in one run while the question waits for those of other visitors


def screen_drawing(on_screen: ScreenComparison) -> Board:
    """Return the board of this comparison, stored in the session."""
    if session.screen_board is None or session.screen_board[0] is not on_screen.comparison:
        session.screen_board = (on_screen.comparison, _board(on_screen))
        del session.board_payload
    return session.screen_board[1]


def _board(on_screen: ScreenComparison) -> Board:
    """Return the board of a comparison, shared with other visitors.

    After edits of the graph, a board for this visit alone is returned, whose nodes keep their
    earlier positions.
    """
    previous = _board_with_other_edits(on_screen)
    if previous is not None:
        return Board(on_screen.comparison, previous)
    with _boards_lock:
        shared_board = _boards.get(on_screen.key)
        if shared_board is None or shared_board.comparison is not on_screen.comparison:
            shared_board = _boards[on_screen.key] = Board(on_screen.comparison)
        return shared_board


def _board_with_other_edits(on_screen: ScreenComparison) -> Board | None:
    """Return the board of the same question with other edits.

    Its node positions are reused. None if there is no such board.
    """
    ask = on_screen.comparison.ask
    if session.screen_board is not None:
        old_ask = session.screen_board[0].ask
        if (
            old_ask.source == ask.source
            and old_ask.question.text == ask.question.text
            and old_ask.source.edits != ask.source.edits
        ):
            return session.screen_board[1]
    job = job_before_edits()
    if job is None or not ask.source.edits or not job.has_ended:
        return None
    board = Board(job.comparison)
    board.payload()  # computes the positions
    return board


def drawable_screen(on_screen: ScreenComparison | None) -> ScreenComparison | None:
    """Return `on_screen` if its board can be drawn.

    Otherwise draw an error and return None. Only a case may fail: its file may have data that no
    run could make.
    """
    if on_screen is not None and on_screen.case is not None:
        try:
            payload(on_screen)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            st.error(
                plain(tr("This case cannot be drawn. {sentence}", sentence=error_sentence(error)))
            )
            return None
    return on_screen


def payload(on_screen: ScreenComparison) -> dict[str, Any]:
    """Return the board's data, computed again only after a change."""
    version = on_screen.job.version if on_screen.job is not None else 0
    if session.board_payload[:2] != (on_screen.key, version):
        drawing = screen_drawing(on_screen)
        data = drawing.payload_of_version(version)
        session.board_payload = (
            on_screen.key,
            version,
            {**data, "clocks": drawing.step_seconds()},
        )
    return session.board_payload[2]


def add_queue_length(board: dict[str, Any], on_screen: ScreenComparison) -> dict[str, Any]:
    """Return the board's data with the number of other visitors' questions that come first.

    The text is shown on each waiting lane. Once the comparison runs, the data stays unchanged.
    """
    wait = engine().queue_wait(on_screen.job) if on_screen.job is not None else None
    if wait is None or not wait.n_others:
        return board
    about = tr(", about {span}", span=duration_text(wait.seconds)) if wait.seconds else ""
    questions = many(wait.n_others, "question")
    text = tr("Waiting: {questions} of others first{about}", questions=questions, about=about)
    lanes = []
    for lane in board["lanes"]:
        lanes.append({**lane, "status_text": text} if lane["status"] == JOB_WAITING else lane)
    return {**board, "lanes": lanes}


def draw_follow_up_errors(comparison: MethodComparison) -> None:
    """Draw the errors of the work after the lanes, such as the search for repairs."""
    for sentence in comparison.follow_up_errors:
        st.error(plain(sentence))


def wait_for_news(on_screen: ScreenComparison) -> None:
    """Wait after drawing until the job has changed.

    It waits 1.4 seconds at most, or 5 in the queue. A job without changes thus causes few runs of
    the page. The wait comes after the drawing, because Streamlit fades everything that a run has
    not drawn within half a second.
    """
    job = on_screen.job
    if job is None:
        return
    wait = engine().queue_wait(job)
    for _ in range(MAX_QUEUED_NEWS_WAITS if wait is not None and wait.n_others else MAX_NEWS_WAITS):
        # Reading the session lets Streamlit interrupt the run if the user does something.
        sent = session.board_payload
        if sent[0] != on_screen.key or job.wait_for_change(sent[1], NEWS_WAIT_SECONDS):
            return
