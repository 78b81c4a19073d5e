"""The board says so where lanes show what they have so far.

Nothing jumps when more is there, and no file holds such a preview.
"""

from __future__ import annotations

import gc
import json
import weakref

import pytest

from core.comparison.lane import MethodComparison, MethodLane
from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.comparison.previews import Preview
from core.engine import Engine
from core.methods.catalogue import find_method
from core.runtime.jobs import JOB_CANCELLED, JOB_DONE, JOB_RUNNING
from core.sources import GraphSource
from core.types import Question
from pages.parts.board.payload import Board
from pages.parts.board.static_board import comparison_html

LINES = (
    "EgoNetwork(hops=3) >> ShortestPaths() >> Rank(model='bm25', keep=40) >> Answer(paths=30)",
    "EgoNetwork(hops=2, keep=300) >> BeamSearch(model='bm25', rank='bm25', width=4, hops=2) >> Answer()",
)
ASKED = Question(
    "what genres are the films acted by Robert Armstrong in", answers=("Drama", "War", "Nobody <b>")
)


def at_work(movies) -> tuple[MethodComparison, LaneRun]:
    """Two lanes, one at work and one done, and the run of the first.

    The run has retrieved already, so it is the first lane as it will be. The second lane is done.
    """
    ask = Engine().prepare_question(GraphSource.of(movies), ASKED, uses_model=False)
    methods = [find_method(line) for line in LINES]
    runs = [LaneRun(ask, one.line, Engine().environment) for one in methods]
    for run in runs:
        run.retrieve(LaneListener())
        run.answer(LaneListener())
    begun = tuple(runs[0].states[:2])
    first = MethodLane(ask, methods[0], begun, status=JOB_RUNNING, retrieved=False)
    second = MethodLane(ask, methods[1], **runs[1].lane_fields)
    return MethodComparison(ask, [first, second]), runs[0]


def so_far(run: LaneRun, number: int, kept: int) -> Preview:
    """A preview with some of the paths that will be kept."""
    paths = run.states[2].paths.head(kept)
    ranked = run.states[2].replace(paths=paths)
    return Preview(
        number,
        f"{kept} of 99 paths read",
        (*run.states[:2], ranked, ranked.replace(reader=(paths.items[0].end,))),
    )


@pytest.fixture
def shown(movies):
    """The comparison with a preview, the run that it will come to, and the board."""
    comparison, run = at_work(movies)
    comparison.change_lane(0, preview=so_far(run, 1, 5))
    return comparison, run, Board(comparison)


def end(comparison, run) -> None:
    comparison.change_lane(0, retrieved=True, status=JOB_DONE, preview=None, **run.lane_fields)


def test_a_lane_at_work_shows_what_it_has_and_says_how_much_that_is(shown):
    comparison, run, board = shown
    drawn = board.payload()
    assert json.loads(json.dumps(drawn)) == drawn
    lane, done = drawn["lanes"]
    assert (
        lane["so_far"] == "5 of 99 paths read"
        and lane["retrieved"]
        and lane["status"] == JOB_RUNNING
        and done["so_far"] is None
    )
    assert (
        len(lane["paths"]) == 5 == lane["found"]["kept"]
        and lane["reader"]
        and lane["funnel"][2]["stage"] == "paths"
    )
    assert set(lane["nodes"]) >= {
        node for entry in lane["paths"] for node in drawn["paths"][entry["key"]]["nodes"]
    }


def test_nothing_is_said_of_what_may_come_yet(shown):
    """A lane at work has no sentence on it, no lost answers and no story.

    A path that it has not found has no fate.
    """
    drawn = shown[2].payload()
    lane = drawn["lanes"][0]
    assert (
        lane["verdict_text"] is None
        and drawn["verdict"] is None
        and lane["lost"] == []
        and lane["stories"] == []
    )
    # what is done
    assert [row["label"] for row in lane["operators"]] == ["EgoNetwork", "ShortestPaths"]
    own = {entry["key"] for entry in lane["paths"]}
    assert {key for key, fates in drawn["fates"].items() if "lane-0" in fates} == own
    assert all(drawn["fates"][key]["lane-0"]["fate"] == "found" for key in own)


def test_nothing_jumps_as_more_is_read_and_when_all_is(shown):
    comparison, run, board = shown
    places = lambda drawn: {node["id"]: (node["x"], node["y"]) for node in drawn["layout"]["nodes"]}
    keys = lambda drawn: {json.dumps(path["steps"]): key for key, path in drawn["paths"].items()}
    before, board._next_preview_at = board.payload(), 0.0
    comparison.change_lane(0, preview=so_far(run, 2, 9))
    more = board.payload()
    end(comparison, run)
    last = board.payload()
    assert len(more["lanes"][0]["paths"]) == 9 and last["lanes"][0]["so_far"] is None
    for earlier, later in ((before, more), (more, last)):
        there = places(later)
        assert {node: there[node] for node, at in places(earlier).items() if node in there} == {
            node: at for node, at in places(earlier).items() if node in there
        }
        assert len(there.keys() & places(earlier).keys()) > 0.6 * len(places(earlier))
        assert (
            keys(later).items()
            >= {steps: key for steps, key in keys(earlier).items() if steps in keys(later)}.items()
        )


def test_more_is_drawn_only_now_and_then_and_what_is_exact_at_once(shown):
    comparison, run, board = shown
    board.payload()
    assert board._next_preview_at > 0
    board._next_preview_at = float("inf")
    comparison.change_lane(0, preview=so_far(run, 2, 9))
    early = board.payload()["lanes"][0]
    assert early["so_far"] == "5 of 99 paths read" and len(early["paths"]) == 5
    end(comparison, run)
    last = board.payload()["lanes"][0]
    assert last["so_far"] is None and len(last["paths"]) == 12 and last["status"] == JOB_DONE


def test_in_the_end_a_board_shows_what_one_shows_that_had_no_previews(shown):
    """But for the places of the picture, which stay, and what is drawn around the paths."""
    comparison, run, board = shown
    board.payload()
    end(comparison, run)
    last, fresh = board.payload(), Board(comparison).payload()
    steps = lambda drawn, lane: [drawn["paths"][entry["key"]]["steps"] for entry in lane["paths"]]
    around = {"nodes", "edges", "drawn", "paths", "stories", "lost"}
    for one, other in zip(last["lanes"], fresh["lanes"]):
        assert steps(last, one) == steps(fresh, other)
        assert {key: value for key, value in one.items() if key not in around} == {
            key: value for key, value in other.items() if key not in around
        }
        assert [entry["answer"] for entry in one["lost"]] == [
            entry["answer"] for entry in other["lost"]
        ]
        assert [[frame["title"] for frame in story["frames"]] for story in one["stories"]] == [
            [frame["title"] for frame in story["frames"]] for story in other["stories"]
        ]
    assert last["verdict"] == fresh["verdict"]


def test_a_cancelled_lane_keeps_what_it_had_on_the_screen_and_in_no_report(shown):
    comparison, run, board = shown
    comparison.change_lane(0, status=JOB_CANCELLED)
    lane = board.payload()["lanes"][0]
    assert (
        lane["status_text"] == "Cancelled at step 3 of 3, rank, with 5 of 99 paths read"
        and lane["reader"]
        and len(lane["paths"]) == 5
    )
    page = comparison_html(comparison, board).replace('": ', '":')
    assert '"so_far":null' in page and '"so_far":"' not in page
    assert Board(comparison, board, previews=False).payload()["lanes"][0]["paths"] == []


def test_a_board_holds_no_states_that_the_comparison_let_go_of(shown):
    comparison, run, board = shown
    end(comparison, run)
    board.payload()
    states = [weakref.ref(lane.state) for lane in comparison.lanes]
    run.states, run.prefixes = [], PrefixCache()
    for place in range(len(comparison.lanes)):
        comparison.change_lane(place, states=(), preview=None)
    gc.collect()
    assert [state() for state in states] == [None, None]
