"""Visitors who look at one comparison share what draws it.

It is drawn once for each version, and let go of with the last of them.
"""

from __future__ import annotations

import gc
import threading

import pytest

from core.cases.examples import demo
from core.engine import Engine
from core.methods.catalogue import find_method
from core.sources import GraphSource
from core.types import Question
from pages.parts.board.payload import Board
from pages.parts.board.thumbs import add_thumbs
from pages.parts.compare import screen_board
from pages.parts.compare.screen_state import ScreenComparison, _case_comparison

LINE = "EgoNetwork() >> ShortestPaths()"


@pytest.fixture
def on_screen(toy):
    engine = Engine()
    job = engine.compare(
        engine.prepare_question(GraphSource.of(toy), Question("A"), uses_model=False),
        [find_method(LINE)],
    )
    assert job.wait(60) and not job.error
    yield ScreenComparison(job.key, job.comparison, job)
    engine.jobs.stop()


@pytest.fixture(autouse=True)
def no_session(monkeypatch):
    monkeypatch.setattr(screen_board, "_board_with_other_edits", lambda on_screen: None)


def test_who_looks_at_the_same_has_the_same_board(on_screen, toy):
    first, second = screen_board._board(on_screen), screen_board._board(on_screen)
    assert first is second
    engine = Engine()
    job = engine.compare(
        engine.prepare_question(GraphSource.of(toy), Question("A"), uses_model=False),
        [find_method(LINE)],
    )
    assert job.wait(60)
    # asked anew: another comparison of the same key
    assert screen_board._board(ScreenComparison(on_screen.key, job.comparison, job)) is not first
    engine.jobs.stop()


def test_a_board_goes_with_the_last_who_looks_at_it(on_screen):
    gc.collect()  # the boards of other tests
    board = screen_board._board(on_screen)
    known = len(screen_board._boards)
    del board
    gc.collect()
    assert len(screen_board._boards) == known - 1


def test_a_version_is_drawn_once_whoever_asks_and_a_later_one_anew(on_screen, monkeypatch):
    times, draw = [], Board._payload

    def counted(self):
        times.append(threading.get_ident())
        return draw(self)

    monkeypatch.setattr(Board, "_payload", counted)
    board, found = screen_board._board(on_screen), []
    visitors = [
        threading.Thread(target=lambda: found.append(board.payload_of_version(5))) for _ in range(8)
    ]
    for one in visitors:
        one.start()
    for one in visitors:
        one.join()
    assert len(times) == 1 and all(data is found[0] for data in found) and found[0] == draw(board)
    assert board.payload_of_version(4) is found[0]  # somebody who saw the job a moment earlier
    assert board.payload_of_version(6) is not found[0] and len(times) == 2


def test_a_thumb_of_one_visitor_is_not_in_what_others_are_shown(on_screen, monkeypatch):
    monkeypatch.setattr("pages.parts.board.thumbs.is_rated_up", lambda *key: True)
    shared = screen_board._board(on_screen).payload_of_version(0)
    shown = add_thumbs(on_screen.comparison, shared)
    assert shown["lanes"][0]["thumb"] == "up" and "thumb" not in shared["lanes"][0]


def test_a_shipped_case_is_read_once_for_all_who_look_at_it(monkeypatch):
    case = demo()[0]
    first = _case_comparison(case)
    monkeypatch.setattr(
        "pages.parts.compare.screen_state.comparison_of_case", lambda id: pytest.fail("read again")
    )
    assert _case_comparison(case) is first
