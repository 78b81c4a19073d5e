"""A saved comparison shows the same results without engine, models or the whole graph."""

from __future__ import annotations

import json

import pytest

from core.cases import comparison_of_case, rating_of
from core.cases.comparison_data import freeze, thaw
from core.cases.store import save
from core.environment import Environment
from core.errors import BadInput
from core.results import comparison_dict


def told(compared):
    return json.loads(json.dumps(freeze(compared), allow_nan=False))


def test_results_are_equal_after_thawing(compared):
    before = compared(lanes=("ranked", "beam", "broken"))
    after = thaw(told(before))
    one, other = comparison_dict(before), comparison_dict(after)
    for lane in (*one["lanes"], *other["lanes"]):
        for path in lane["paths"]:
            path["score"] = None if path["score"] is None else round(path["score"], 6)
    assert one == other
    assert [lane.status for lane in after.lanes] == [
        "done",
        "done",
        "failed",
    ] and "bm25" in after.lanes[2].error
    assert after.lanes[0].model == "Parrot" and after.lanes[0].method == before.lanes[0].method


def test_board_is_equal_after_thawing(compared):
    """Only node ids differ, since they become positions in the excerpt."""
    from pages.parts.board.payload import Board

    before = compared(lanes=("ranked", "beam", "broken"))
    one, other = (Board(c).payload() for c in (before, thaw(told(before))))
    drawn = lambda board: sorted(
        (node["name"], node["role"], node["x"], node["y"]) for node in board["layout"]["nodes"]
    )
    assert drawn(one) == drawn(other) and one["fates"] == other["fates"]
    assert [p["steps"] for p in one["paths"].values()] == [
        p["steps"] for p in other["paths"].values()
    ]
    kept = (
        "title",
        "subtitle",
        "terms",
        "status",
        "error",
        "reader",
        "answer",
        "model",
        "verdict",
        "funnel",
        "drawn",
        "operators",
        "prompt",
        "stories",
    )
    for a, b in zip(one["lanes"], other["lanes"]):
        # The spread of mass cannot be shown on an excerpt.
        searches = [story for story in a["stories"] if story.get("of") != "mass"]
        assert (
            {k: a[k] for k in kept[:-3]} == {k: b[k] for k in kept[:-3]}
            and a["prompt"] == b["prompt"]
            and searches == b["stories"]
        )


def test_equal_comparisons_give_equal_bytes(compared):
    one = compared()
    assert json.dumps(told(one)) == json.dumps(told(one))
    assert told(thaw(told(one)))["lanes"] == told(one)["lanes"]


def test_case_of_five_nodes_is_small(compared):
    case = save(compared())
    from core.cases.store import packed_case

    # The graph has five nodes; another test measures a thousand nodes of the movie graph.
    assert len(packed_case(case.id)[1]) < 3_000


def test_case_of_a_thousand_nodes_is_under_100_kb(movies, home):
    from core.cases.case import pack
    from core.comparison.lane import MethodComparison, MethodLane
    from core.comparison.lane_run import LaneListener, LaneRun
    from core.graph.names.lookup import name_lookup
    from core.methods.catalogue import Method
    from core.operators.text import parse_line
    from core.sources import GraphSource, SourceQuestion
    from core.types import Question
    from tests.real_models import registry

    question, seeds = (
        Question("who directed Inception", entities=("Inception",)),
        (name_lookup(movies).find("Inception"),),
    )
    ask, lanes = SourceQuestion(GraphSource.of(movies), question, seeds, uses_model=False), []
    for text in (
        "PersonalizedPageRank() >> ShortestPaths() >> Rank(model='bm25')",
        "PersonalizedPageRank() >> BeamSearch(model='bm25', rank='bm25')",
    ):
        run = LaneRun(ask, parse_line(text), Environment(registry()))
        run.retrieve(LaneListener())
        lanes.append(MethodLane(ask, Method(text, text, run.line), **run.lane_fields))
    packed = pack(freeze(MethodComparison(ask, lanes)))
    assert 10_000 < len(packed) < 100_000


DAMAGE = {
    "a lane with more states": lambda t: t["lanes"][0].__setitem__("states", 99),
    "a lane with fewer states": lambda t: t["lanes"][0].__setitem__("states", 1),
    "a negative number of states": lambda t: t["lanes"][0].__setitem__("states", -1),
    "an unknown end": lambda t: t["lanes"][0].__setitem__("status", "<b>"),
    "no lanes": lambda t: t.__setitem__("lanes", []),
    "a thousand lanes": lambda t: t.__setitem__("lanes", t["lanes"] * 500),
    "a lane that is text": lambda t: t["lanes"].__setitem__(0, "lane"),
    "no graph": lambda t: t.pop("graph"),
    "no run": lambda t: t.pop("run"),
    "another graph": lambda t: t["graph"].__setitem__("digest", "other"),
    "a seed that is a flag": lambda t: t.__setitem__("seed", True),
    "a message without role": lambda t: t["run"]["states"][-1]["prompt"]["messages"][0].pop("role"),
    "a step without a name": lambda t: t["run"]["steps"][0].pop("operator"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_case_is_a_readable_error(compared, damage):
    broken = told(compared())
    DAMAGE[damage](broken)
    with pytest.raises(BadInput, match="damaged|another state|another version"):
        thaw(broken)


def test_unreadable_parts_are_named(compared):
    later = told(compared())
    later["comparison"] = 9
    with pytest.raises(BadInput, match="format 9; this one reads 1"):
        thaw(later)
    other = told(compared())
    other["lanes"][0]["line"] = "Teleport(far=3)"
    with pytest.raises(BadInput, match="no operator “Teleport”"):
        thaw(other)
    steps = told(compared())
    steps["run"]["steps"][0]["operator"] = "Teleport"
    with pytest.raises(BadInput, match="no operator “Teleport”"):
        thaw(steps)
    evil = told(compared())
    evil["lanes"][0]["line"] = "__import__('os').system('true')"
    with pytest.raises(BadInput, match="cannot read"):
        thaw(evil)


def test_thumb_saves_known_or_named_answers(compared, kit):
    """A thumb saves the known answers, else the entities that the answer names.

    The language model says "Drama", and the graph reader of the ranked lane names Drama alone.
    Within two hops of One lie One, Ann, Drama and Two.
    """
    known, unknown = compared(), compared(text="what is One", answers=())
    assert rating_of(known.lanes[0], True).answers == ("Drama",)
    told_of = rating_of(unknown.lanes[0], True)
    assert (told_of.answers, told_of.answer, told_of.size, told_of.entities, told_of.up) == (
        ("Drama",),
        "Drama",
        4,
        ("One",),
        True,
    )
    assert told_of.digest == kit.graph.digest and told_of.line == repr(unknown.lanes[0].method.line)


def test_thumb_in_a_case_counts_for_the_whole_graph(compared, kit):
    case = save(compared())
    opened = comparison_of_case(case.id)
    assert rating_of(opened.lanes[0], False).digest == kit.graph.digest
