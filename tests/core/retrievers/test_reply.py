"""The format of a reply, and its names matched with a graph of five nodes."""

import pytest

from core.retrievers.path_matching import match_reply
from core.retrievers.reply import REPLY_LIMITS, UnfitReply, check_reply
from core.types import Path
from tests.notes import NoteWith

DRAMA = {"nodes": ["One", "Drama"], "relations": ["has_genre"], "forward": [True], "score": 0.9}


def test_complete_reply_is_parsed():
    reply = check_reply(
        {
            "paths": [DRAMA],
            "nodes": ["Ann", {"name": "Two", "score": 2}],
            "answers": ["Drama", "Drama"],
            "path": 1,
        }
    )
    (path,) = reply.paths
    assert (path.nodes, path.relations, path.forward, path.score) == (
        ("One", "Drama"),
        ("has_genre",),
        (True,),
        0.9,
    )
    assert reply.hits == (("Ann", None), ("Two", 2.0)) and reply.answers == ("Drama",)
    assert reply.notes == (
        NoteWith("“path”", "ignored", "“paths”"),
        NoteWith(1, "2 nodes", "without a score"),
    )
    assert (
        check_reply({}) == check_reply({"paths": [], "nodes": None}) and not check_reply({}).paths
    )


def test_paths_are_sorted_by_score_stably():
    paths = [
        {**DRAMA, "score": score, "nodes": ["One", name]}
        for score, name in ((0.1, "a"), (3, "b"), (0.1, "c"), (-1, "d"))
    ]
    assert [path.nodes[1] for path in check_reply({"paths": paths}).paths] == ["b", "a", "c", "d"]


@pytest.mark.parametrize(
    "told, why",
    [
        ([], "it should be an object"),
        ("text", "it should be an object"),
        ({"paths": {}}, "“paths” should be a list"),
        ({"paths": [1]}, "path 1 should be an object"),
        ({"paths": [DRAMA, {"nodes": ["One"]}]}, "path 2 should have at least two nodes"),
        ({"paths": [{"nodes": "One"}]}, "“nodes” of path 1 should be a list"),
        ({"paths": [{"nodes": ["One", 3]}]}, "a node of path 1 should be a name, not 3"),
        ({"paths": [{"nodes": ["One", ""]}]}, "a node of path 1 should be a name"),
        ({"paths": [{"nodes": ["One", "\ud800"]}]}, "half a letter"),
        ({"paths": [{"nodes": ["One", "x" * 2001]}]}, "should be a name"),
        ({"paths": [{"nodes": ["x"] * 18}]}, "“nodes” of path 1 has 18 entries; at most 17"),
        (
            {"paths": [{**DRAMA, "relations": ["a", "b"]}]},
            "path 1 has 2 nodes, so “relations” should have 1, not 2",
        ),
        ({"paths": [{**DRAMA, "relations": [3]}]}, "a relation of path 1 should be a name"),
        (
            {"paths": [{**DRAMA, "forward": ["yes"]}]},
            "“forward” of path 1 should hold true or false",
        ),
        ({"paths": [{**DRAMA, "score": "high"}]}, "the score of path 1 should be a number"),
        ({"paths": [{**DRAMA, "score": True}]}, "the score of path 1 should be a number"),
        ({"paths": [{**DRAMA, "score": 10**400}]}, "the score of path 1 should be a number"),
        (
            {"paths": [DRAMA] * (REPLY_LIMITS.max_paths + 1)},
            "“paths” has 10,001 entries; at most 10,000",
        ),
        ({"nodes": [{"score": 1}]}, "the name of node 1 should be a name"),
        ({"answers": [["a"]]}, "answer 1 should be a name"),
    ],
)
def test_errors_are_named(told, why):
    with pytest.raises(UnfitReply, match=why):
        check_reply(told)


@pytest.fixture
def place(kit):
    """A function `place(reply, *seeds)` that matches a reply with the films graph.

    Its result has the paths as texts and the notes.
    """

    def told(reply, *seeds):
        found = match_reply(
            kit.graph, [kit.node(seed) for seed in seeds or ("One",)], check_reply(reply)
        )
        found.texts = [kit.graph.text(path) for path in found.paths]
        return found

    return told


def test_paths_match_triples_in_both_directions(place):
    both = {
        "nodes": ["One", "Ann", "Two"],
        "relations": ["directed_by", "directed_by"],
        "forward": [True, False],
    }
    bare = {"nodes": ["One", "Ann", "Two"]}
    found = place({"paths": [both, {**both, "forward": None}, bare, DRAMA]})
    assert found.texts == [
        "One -> directed_by -> Ann -> directed_by_reverse -> Two",
        "One -> has_genre -> Drama",
    ]
    assert not found.notes[1:] and found.notes == [NoteWith(3, "4 paths", "without a score")]
    assert list(found.paths.values()) == [None, 0.9]


def test_relation_selects_among_parallel_triples(place, kit):
    found = place(
        {"paths": [{"nodes": ["Two", "Ann"], "relations": ["written_by"], "forward": [True]}]}
    )
    assert found.texts == ["Two -> written_by -> Ann"]
    assert place({"paths": [{"nodes": ["ann", "TWO"], "relations": ["written_by"]}]}).texts == [
        "Ann -> written_by_reverse -> Two"
    ]


def test_unknown_names_are_left_out_with_a_note(place):
    wrong = [
        {"nodes": ["One", "<b>Nobody</b>"]},
        {"nodes": ["One", "1999"], "relations": ["release_year"]},
        {**DRAMA, "forward": [False]},
        {**DRAMA, "relations": ["genre"]},
    ]
    found = place({"paths": [*wrong, DRAMA]})
    assert found.texts == ["One -> has_genre -> Drama"]
    assert found.notes[1:] == [
        NoteWith(1, "4 names", "not in the graph", "“<b>Nobody</b>”"),
        NoteWith(1, "5 paths", "left out", "names"),
        NoteWith(
            3, 5, "“One -[release_year]- 1999”, “One <-[has_genre]- Drama”, “One -[genre]-> Drama”"
        ),
    ]


def test_hits_alone_are_joined_by_shortest_paths(place, kit):
    found = place(
        {
            "nodes": [
                {"name": "1999", "score": 0.5},
                {"name": "Drama", "score": 0.7},
                {"name": "One", "score": 0.1},
            ]
        }
    )
    assert found.texts == [
        "One -> has_genre -> Drama",
        "One -> directed_by -> Ann -> directed_by_reverse -> Two -> release_year -> 1999",
    ]
    assert list(found.paths.values()) == [0.7, 0.5] and found.answers is None
    assert "2 of 2 nodes were joined" in found.notes[0]


def test_answers_alone_are_kept_and_joined(place, kit):
    found = place({"answers": ["Drama", "Nothing"]})
    assert found.answers == (kit.node("Drama"),) and found.texts == ["One -> has_genre -> Drama"]
    assert place({"answers": ["Nothing"]}).answers == () and place({}).answers is None
    assert place({}).paths == {} and place({}).nodes == ()


def test_shared_names_are_resolved_by_triples(tmp_path):
    """“Two” is a film and a song; only the film was directed."""
    from core.graph.building.build import build

    graph = build([("Ann", "r", "TWO"), ("Two", "s", "Bo")], tmp_path / "g", "g", "both")
    lower = match_reply(
        graph,
        [graph.nodes_named("Ann")[0]],
        check_reply({"paths": [{"nodes": ["Ann", "two"], "relations": ["r"]}]}),
    )
    assert list(lower.paths) == [
        Path((graph.nodes_named("Ann")[0], graph.nodes_named("TWO")[0]), (0,), (True,))
    ]
