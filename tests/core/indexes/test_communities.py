"""Communities: splits by hand, the same result in every process, and saved results."""

import subprocess
import sys

import numpy as np
import pytest

from core.errors import RunCancelled
from core.graph.algorithms.leiden import NodeCommunities, detect_communities
from core.graph.building.build import build
from core.indexes.communities import load_communities, saved_communities
from core.indexes.index_storage import index_folder, write_atomically
from core.watch import Watch
from tests.libraries import no_igraph

# Two triangles and the edge C-D. Cut at this edge, the modularity is 6/7 - 2 * (7/14)^2 = 0.357;
# for the whole graph it is 0. So {A B C} and {D E F} are best.
BRIDGE = ("AB", "BC", "CA", "CD", "DE", "EF", "FD")


def communities_of(graph, size=10):
    return detect_communities(graph, size)


@pytest.fixture
def bridge(tmp_path):
    return build([(a, "r", b) for a, b in BRIDGE], tmp_path / "bridge", "bridge", "both")


def test_two_triangles_fall_apart_at_the_bridge(bridge, either_library):
    assert communities_of(bridge).tolist() == [0, 0, 0, 1, 1, 1]  # Nodes by name: A B C D E F.
    known = NodeCommunities(communities_of(bridge))
    assert (
        len(known) == 2
        and known.members(1).tolist() == [3, 4, 5]
        and known.sizes().tolist() == [3, 3]
    )
    assert known.digest(0) != known.digest(1)


def test_a_community_is_split_until_it_is_small_or_indivisible(tmp_path, either_library):
    # Four triangles in two pairs. Six edges join the triangles of a pair, and one edge joins the
    # pairs. Leiden first finds the pairs.
    triangles = [(f"{t}{i}", "r", f"{t}{(i + 1) % 3}") for t in "abcd" for i in range(3)]
    pairs = [
        (f"{x}{i}", "s", f"{y}{j}") for x, y in ("ab", "cd") for i, j in ((0, 0), (1, 1), (2, 2))
    ]
    graph = build([*triangles, *pairs, ("a0", "t", "c0")], tmp_path / "pairs", "pairs", "both")
    pair_of = {name: 0 if name[0] in "ab" else 1 for name in graph.names(range(12))}
    assert communities_of(graph, 6).tolist() == [pair_of[name] for name in graph.names(range(12))]
    triangle_of = {name: "abcd".index(name[0]) for name in graph.names(range(12))}
    split = communities_of(graph, 5)
    groups = {frozenset(graph.names(np.flatnonzero(split == c))) for c in set(split.tolist())}
    assert groups == {frozenset(n for n, t in triangle_of.items() if t == k) for k in range(4)}
    star = build([("hub", "r", f"leaf{i}") for i in range(5)], tmp_path / "star", "star", "both")
    assert communities_of(star, 2).tolist() == [0] * 6  # Every cut of a star lowers its modularity.


def test_every_node_has_a_community(films, either_library):
    known = NodeCommunities(communities_of(films))
    together = np.concatenate([known.members(c) for c in range(len(known))])
    assert sorted(together.tolist()) == list(range(films.n_nodes))


def test_another_process_finds_the_same(bridge):
    code = (
        "import sys; from core.graph.store import Graph; from "
        "core.graph.algorithms.leiden import detect_communities;"
        "print(detect_communities(Graph.open(sys.argv[1]), 10).tolist())"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, str(bridge.folder)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "7"},
    )
    assert told.stdout.strip() == str(communities_of(bridge).tolist())


def test_communities_are_saved_and_computed_again_after_damage(bridge, monkeypatch):
    first = load_communities(bridge).community_of
    file = index_folder(bridge) / "communities-10.npy"
    assert file.parent.parent == bridge.folder / "indexes" and [
        p.name for p in file.parent.iterdir()
    ] == [file.name]
    with monkeypatch.context() as patch:
        # A call would raise an error.
        patch.setattr("core.indexes.communities.detect_communities", None)
        assert load_communities(bridge).community_of.tolist() == first.tolist()
    for damage in (b"", file.read_bytes()[:-5], b"garbage"):
        file.write_bytes(damage)
        assert load_communities(bridge).community_of.tolist() == first.tolist()
        assert np.load(file).tolist() == first.tolist()


def test_communities_found_without_igraph_are_not_taken_for_others(bridge):
    def saved():
        known = saved_communities(bridge)
        return None if known is None else known.community_of.tolist()

    def save(name, label):
        labels = np.full(6, label, np.int32)
        write_atomically(index_folder(bridge) / name, lambda stream: np.save(stream, labels))

    save("communities-10.npy", 0)
    with no_igraph():
        assert saved() is None
        assert load_communities(bridge).community_of.tolist() == [0, 0, 0, 1, 1, 1]
        assert saved() == [0, 0, 0, 1, 1, 1]
        save("communities-10-arrays.npy", 1)
        assert saved() == [1] * 6
    assert saved() == [0] * 6


def test_a_cancelled_search_saves_nothing(bridge):
    def stop():
        raise RunCancelled()

    with pytest.raises(RunCancelled):
        load_communities(bridge, watch=Watch(stop))
    assert not list(index_folder(bridge).iterdir())
