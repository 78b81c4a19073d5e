"""Loops and unions on the Build screen: bricks that hold bricks."""

from __future__ import annotations

from pages.parts.build.line_drawing import line_data
from tests.pages.build.test_build import bench, hear, opened, own  # noqa: F401

LINE = (
    "BuiltGraph(build='links') >> EmbedQuery() >> VectorNodes(keep=10) >> "
    "Loop(body=ExpandNodes(keep=5) >> GraphRerank(), budget=50) >> DocumentsOfNodes() >> AnswerFromTables()"
)
BOTH = "BuiltGraph(build='links') >> EmbedQuery() >> (VectorNodes() | SparseNodes(keep=5)) >> DocumentsOfNodes() >> AnswerFromTables()"


def test_a_loop_is_shown_with_what_it_repeats_and_can_be_changed(own):  # noqa: F811
    at = opened(line=LINE)
    assert not at.exception
    loop = line_data(bench(at), {})["bricks"][3]
    assert (
        loop["given"] == [["Nodes in all", "50"]]
        and loop["arms"][0]["label"] == "repeated, in this order"
    )
    inner = loop["arms"][0]["bricks"][0]["key"]
    hear(
        at,
        {"do": "set", "key": loop["key"], "name": "budget", "value": 80},
        {"do": "set", "key": inner, "name": "keep", "value": 7},
    )
    assert not at.exception
    assert "Loop(body=ExpandNodes(keep=7) >> GraphRerank(), budget=80)" in repr(bench(at).line)


def test_a_union_is_two_searches_and_each_can_be_changed(own):  # noqa: F811
    at = opened(line=BOTH)
    assert not at.exception
    arms = line_data(bench(at), {})["bricks"][2]["arms"]
    assert [(arm["label"], [brick["title"] for brick in arm["bricks"]]) for arm in arms] == [
        ("one search", ["Entities by vector"]),
        ("another, from the same start", ["Entities by words"]),
    ]
    first, second = (arm["bricks"][0]["key"] for arm in arms)
    hear(
        at,
        {"do": "set", "key": first, "name": "keep", "value": 7},
        {"do": "set", "key": second, "name": "keep", "value": 6},
    )
    assert "Union(first=VectorNodes(keep=7), second=SparseNodes(keep=6))" in repr(bench(at).line)
