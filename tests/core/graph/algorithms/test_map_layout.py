"""The map of a graph: what is on it, and where."""

from dataclasses import replace

import numpy as np
import pytest

from core.errors import RunCancelled
from core.graph.algorithms import map_layout as module
from core.graph.algorithms.map_layout import layout_map, map_part
from core.graph.building.build import build
from core.watch import Watch

pytestmark = pytest.mark.usefixtures("either_library")


def links(pairs):
    """Arrays of heads and tails from pairs."""
    heads, tails = np.array(pairs, np.int64).reshape(-1, 2).T
    return heads, tails


def clique(nodes):
    return [(a, b) for a in nodes for b in nodes if a < b]


def star(hub, leaves):
    return [(hub, leaf) for leaf in leaves]


TWO_CLIQUES = links([*clique(range(8)), *clique(range(8, 16)), (0, 8)])


def in_unit(xy):
    return bool(np.isfinite(xy).all() and xy.min() >= 0 and xy.max() <= 1)


def test_two_cliques_are_two_separate_topics():
    xy, topics = layout_map(16, *TWO_CLIQUES)
    assert in_unit(xy) and xy.shape == (16, 2)
    assert topics.tolist() == [0] * 8 + [1] * 8
    middles = np.array([xy[:8].mean(0), xy[8:].mean(0)])
    radius = max(
        np.hypot(*(xy[part] - middles[i]).T).max()
        for i, part in enumerate((slice(8), slice(8, 16)))
    )
    assert np.hypot(*(middles[0] - middles[1])) > 2 * radius


def test_the_same_links_have_the_same_map():
    first, again = layout_map(16, *TWO_CLIQUES), layout_map(16, *TWO_CLIQUES)
    assert first[0].tobytes() == again[0].tobytes() and (first[1] == again[1]).all()


def test_no_node_one_node_and_nodes_without_links():
    empty = links([])
    assert layout_map(0, *empty)[0].shape == (0, 2)
    xy, topics = layout_map(1, *empty)
    assert xy.tolist() == [[0.5, 0.5]] and topics.tolist() == [0]
    xy, topics = layout_map(300, *empty)
    assert in_unit(xy) and len(np.unique(topics)) == 300 and len(np.unique(xy, axis=0)) == 300


def test_isolated_nodes_lie_around_the_rest():
    heads, tails = TWO_CLIQUES
    xy, _ = layout_map(56, heads, tails)
    middle = xy[:16].mean(0)
    assert in_unit(xy)
    assert np.hypot(*(xy[16:] - middle).T).min() > np.hypot(*(xy[:16] - middle).T).max()


def test_the_hub_is_in_the_middle_of_its_topic():
    heads, tails = links([*star(0, range(1, 120))])
    xy, topics = layout_map(120, heads, tails)
    distance = np.hypot(*(xy - xy.mean(0)).T)
    assert (topics == 0).all() and distance[0] < np.quantile(distance, 0.1)


def test_nodes_of_a_star_do_not_lie_on_each_other():
    heads, tails = links([*star(0, range(1, 120))])
    xy, _ = layout_map(120, heads, tails)
    gaps = np.hypot(*(xy[:, None] - xy[None]).transpose(2, 0, 1)) + np.eye(120)
    assert gaps.min() > 0.005


def test_more_topics_than_are_placed_by_links_lie_around_them(monkeypatch):
    monkeypatch.setattr(module, "MAP", replace(module.MAP, main_topics=2))
    groups = [range(8 * k, 8 * k + 8) for k in range(5)]
    pairs = [pair for group in groups for pair in clique(group)]
    heads, tails = links([*pairs, *((8 * k, 8 * k + 8) for k in range(4))])
    xy, topics = layout_map(40, heads, tails)
    middles = np.array([xy[topics == k].mean(0) for k in range(5)])
    away = np.hypot(*(middles - middles[:2].mean(0)).T)
    assert in_unit(xy) and away[2:].min() > away[:2].max()


def test_a_layout_can_be_cancelled():
    def stop():
        raise RunCancelled()

    with pytest.raises(RunCancelled):
        layout_map(16, *TWO_CLIQUES, Watch(stop))


@pytest.fixture
def hubs(tmp_path):
    """Two linked hubs with ten leaves each, one leaf of both, a loop, and parallel edges."""
    triples = [(f"hub {h}", "r", f"leaf {h}{i}") for h in "ab" for i in range(10)]
    triples += [("hub a", "r", "hub b"), ("hub b", "s", "hub a"), ("hub a", "r", "hub a")]
    triples += [("hub b", "r", "leaf a0")]
    return build(triples, tmp_path / "hubs", "hubs", "both")


def test_a_link_is_one_pair_of_nodes(hubs):
    part = map_part(hubs)
    names = hubs.names(part.nodes)
    assert names[:2] == ["hub a", "hub b"] and len(names) == 22
    pairs = list(zip(part.heads.tolist(), part.tails.tolist()))
    assert pairs == sorted(set(pairs)) and all(a < b for a, b in pairs) and len(pairs) == 22


def test_the_best_connected_nodes_and_their_best_links_are_chosen(hubs, monkeypatch):
    monkeypatch.setattr(module, "MAP", replace(module.MAP, nodes=3, edges=2, read_edges=1))
    part = map_part(hubs)
    assert hubs.names(part.nodes) == ["hub a", "hub b", "leaf a0"]
    assert list(zip(part.heads.tolist(), part.tails.tolist())) == [(0, 1), (0, 2)]
