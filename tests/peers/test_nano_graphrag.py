"""nano-graphrag's local and global search beside the rows `lgraphrag-original` and `ggraphrag`.

Differences, all named below: chunks that tie are in the order of a Python set there, by id here; a group of global search counts the
report alone there, here its title as well.
"""

from __future__ import annotations

import json

import pytest

from tests.core.operators.scripted import Script
from tests.peers.corpus import COMMUNITIES
from tests.peers.ours import Told, after, found, graph_of, recorded

TIGHT = {
    "VectorNodes": {"keep": 3},
    "IncidentRelations": {"budget": 30},
    "ChunksByOccurrence": {"budget": 50},
    "CommunitiesOfNodes": {"budget": 30, "level": 1},
}


@pytest.fixture
def theirs(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return recorded("nano_graphrag")


@pytest.mark.parametrize("name, values", [("default", {}), ("tight", TIGHT)])
def test_local_search_finds_the_same_in_the_same_order(theirs, name, values):
    graph = graph_of(theirs["graph"])
    state = after(graph, "lgraphrag-original", **values)
    ours = found(graph, state)
    for kind in ("entities", "relations", "communities"):
        assert ours[kind] == theirs[name][kind], kind
    scores = dict(zip(state.chunks.items, state.chunks.scores))
    assert sorted(ours["chunks"]) == sorted(theirs[name]["chunks"])
    order = [scores[chunk] for chunk in theirs[name]["chunks"]]
    assert order == sorted(order, reverse=True)


def test_chunks_tie_in_theirs_only_where_they_do_in_ours(theirs):
    """The four chunks of Scrooge alone each hold one of his neighbours; Tim's and Bob's have an order."""
    assert theirs["default"]["chunks"][:3] == [6, 3, 1] and sorted(theirs["default"]["chunks"][3:7]) == [0, 2, 4, 5]
    ours = found(graph := graph_of(theirs["graph"]), after(graph, "lgraphrag-original"))
    assert ours["chunks"] == [6, 3, 1, 0, 2, 4, 5, 7]


@pytest.mark.parametrize("name, group", [("packed", 16384), ("apart", 32)])
def test_global_search_reads_the_same_groups_and_orders_points_alike(theirs, name, group):
    # Reports 0 and 3 have 10 and 16 tokens, 26 of the 30 there; with their titles, 2 and 4, they are 32.
    groups = theirs[name]["groups"]
    replies = [json.dumps({"points": [{"description": f"point {key}", "score": COMMUNITIES[key][5]} for key in one]}) for one in groups]
    script = Script(*replies, "the answer")
    graph = graph_of(theirs["graph"])
    values = {} if name == "packed" else {"Points": {"group": group}}
    state = after(graph, "ggraphrag", Told(script), **values)
    assert list(state.communities.items) == [key for one in groups for key in one]
    best = sorted(state.points, key=lambda point: -point.score)
    assert [[point.score, point.text] for point in best] == theirs[name]["points"]
