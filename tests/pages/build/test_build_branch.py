"""A line with a branch is edited on the Build screen.

The branch is a brick with a row for each number of hops. Each row is edited as ever.
"""

from core.drafts import Draft
from core.drafts.draft_faults import operator_refusals
from core.methods.catalogue import catalogue
from core.operators.branch import Branch
from pages.parts.build.line_drawing import line_data
from tests.pages.build.test_build import bench, hear, opened, own  # noqa: F401


def test_a_branch_is_a_brick_that_holds_its_rows(own):  # noqa: F811
    at = opened(**{"from": "lego-14-by-hops"})
    assert not at.exception and not at.error
    draft = bench(at).draft
    assert repr(bench(at).line) == repr(catalogue()["lego-14-by-hops"].line)
    shown = line_data(bench(at), {})["bricks"][2]
    assert draft.bricks[2].cls is Branch and shown["branch"]
    assert [
        (arm["label"], [brick["title"] for brick in arm["bricks"]]) for arm in shown["arms"]
    ] == [
        ("1 hop", ["Beam search"]),
        ("else", ["Beam search"]),
    ]


def test_its_rows_are_edited_and_the_rest_of_the_line_as_ever(own):  # noqa: F811
    at = opened(**{"from": "lego-14-by-hops"})
    inner = bench(at).draft.bricks[2].arms["1"][0].key
    hear(
        at,
        {"do": "set", "key": inner, "name": "width", "value": 5},
        {"do": "set", "key": 2, "name": "keep", "value": 500},
    )
    text = repr(bench(at).line)
    assert (
        "arms={1: BeamSearch(width=5, fanout=32, prune='mean')}" in text
        and "PersonalizedPageRank(keep=500)" in text
    )
    hear(at, {"do": "remove", "key": 1})
    told = [brick["fault"] for brick in line_data(bench(at), {})["bricks"]]
    assert "a number of hops, and nothing before it predicts one" in told[1]


def test_rows_come_and_go(own):  # noqa: F811
    at = opened(**{"from": "lego-14-by-hops"})
    hear(at, {"do": "add-arm", "key": 3})
    assert bench(at).line is None and list(bench(at).draft.bricks[2].arms) == [
        "1",
        "2",
        "otherwise",
    ]
    hear(at, {"do": "insert", "slot": "3.2.0", "name": "ShortestPaths"})
    assert "2: ShortestPaths()" in repr(bench(at).line)
    hear(at, {"do": "remove-arm", "key": 3, "name": "1"})
    assert "1: " not in repr(bench(at).line)


def test_what_may_stand_in_a_branch_s_place_finds_paths():
    names = {
        name
        for name, reason in operator_refusals(
            Draft.from_line(catalogue()["lego-14-by-hops"].line), 3
        ).items()
        if reason is None
    }
    assert "BeamSearch" in names and "ChainRanking" in names and "PredictHops" not in names
