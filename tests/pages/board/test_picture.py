"""Places in the picture stay while lanes arrive.

The tests are also of the columns of the large picture, the few main nodes, and what a node's panel
tells.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from core.graph.algorithms.layout import layered_positions, node_positions
from core.graph.building.build import build_in_memory
from core.types import Path
from pages.parts.board.main_nodes import (
    ENOUGH_MAIN_NODES,
    MAX_MAIN_NODES,
    MAX_NODES_WITH_ANSWERS,
    main_nodes,
)
from pages.parts.board.node_panel import node_relations

CHAIN = [(1, 2), (2, 3), (3, 4)]


def test_nodes_drawn_already_stay_and_new_ones_find_a_free_place_beside_what_they_are_joined_to():
    first = node_positions([1, 2, 3, 4], CHAIN)
    then = node_positions([1, 2, 3, 4, 5, 6, 7], [*CHAIN, (2, 5), (5, 6), (2, 7)], first)
    assert {node: then[node] for node in first} == first
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in then.values())
    apart = lambda a, b: float(np.hypot(*np.subtract(then[a], then[b])))
    assert all(apart(a, b) > 0.1 for a in (5, 6, 7) for b in then if a != b)
    assert apart(5, 2) < apart(5, 4) or apart(5, 2) < 0.5
    # the same every time
    assert node_positions([1, 2, 3, 4, 5, 6, 7], [*CHAIN, (2, 5), (5, 6), (2, 7)], first) == then


def test_a_node_that_is_gone_leaves_its_place_free_and_none_moves():
    first = node_positions([1, 2, 3, 4], CHAIN)
    assert node_positions([1, 2, 3], CHAIN[:2], first) == {node: first[node] for node in (1, 2, 3)}


def test_nodes_on_one_spot_are_pushed_apart():
    star = node_positions(list(range(40)), [(0, node) for node in range(1, 40)])
    places = np.array(list(star.values()))
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2) + np.eye(40)
    assert gaps.min() > 0.02 and places.min() >= 0 and places.max() <= 1


def test_the_large_picture_goes_from_left_to_right_by_hops():
    places = layered_positions([1, 2, 3, 4, 5, 6], [(1, 2), (1, 3), (2, 4), (5, 3)], [1])
    across = {node: x for node, (x, _) in places.items()}
    assert across[1] == 0 and across[2] == across[3] and across[4] == across[5] == across[6] == 1
    assert 0 < across[2] < 0.5  # the first gap holds no names
    # the two edges do not cross
    assert (places[2][1] < places[3][1]) == (places[4][1] < places[5][1])
    assert places[1][1] == 0.5
    assert layered_positions([7], [], [7]) == {7: (0, 0.5)}


def walk(*nodes: int) -> Path:
    return Path(tuple(nodes), tuple(range(len(nodes) - 1)), (True,) * (len(nodes) - 1))


def test_main_nodes_are_those_of_best_and_lost_paths_first():
    best = [[walk(1, 2), walk(1, 3, 9)], [walk(1, 4)], []]
    lost = [[], [walk(1, 5, 8)], [walk(1, 6, 8)]]
    assert main_nodes([1], best, lost, {8, 9})[:8] == [1, 2, 4, 3, 9, 5, 8, 6]


def test_main_nodes_stop_at_what_can_be_read_from_afar():
    many = [[walk(1, 10 * i, 10 * i + 1) for i in range(2, 20)] for _ in range(3)]
    few = main_nodes([1], many, [[]] * 3, set())
    assert ENOUGH_MAIN_NODES - 2 <= len(few) <= MAX_MAIN_NODES and {1, 20, 21} <= set(few)
    long = main_nodes([1], [[walk(*range(1, 30))]], [[]], set())
    assert long == [1]  # a path is drawn whole or not at all


def test_main_nodes_have_room_for_a_path_to_each_known_answer():
    """Two best paths lead elsewhere, and six answers come by six films of one writer.

    They need 1 + 2 * 2 + 1 + 6 * 2 nodes.
    """
    best = [[walk(1, 2, 3)], [walk(1, 4, 5), *(walk(1, 6, 10 + i, 20 + i) for i in range(5))], []]
    lost = [[], [], [walk(1, 6, 15, 25)]]
    drawn = main_nodes([1], best, lost, {20 + i for i in range(6)})
    assert {20 + i for i in range(6)} <= set(drawn) and len(drawn) == MAX_NODES_WITH_ANSWERS
    assert len(main_nodes([1], best, lost, set())) <= MAX_MAIN_NODES


@dataclass
class CountedGraph:
    """A graph whose look-ups are counted."""

    graph: object
    asked: list[int] = field(default_factory=list)

    def __getattr__(self, name):
        return getattr(self.graph, name)

    def steps_from(self, nodes, direction="both"):
        self.asked += list(map(int, nodes))
        return self.graph.steps_from(nodes, direction)


@pytest.fixture(scope="module")
def films():
    return build_in_memory(
        [
            ("One", "directed_by", "Ann"),
            ("Two", "directed_by", "Ann"),
            ("One", "has_genre", "War"),
            ("Ann", "knows", "Ann"),
        ],
        "films",
        "both",
    )


def test_a_node_tells_its_degree_and_its_relations_in_words(films):
    ann = films.nodes_named("Ann")[0]
    told = node_relations(films, [ann], {"directed_by": ("directed by", "directed")})[ann]
    assert told == {
        "degree": 4,
        "relations": [["directed", 2], ["knows", 1], ["knows of", 1]],
        "others": 0,
        "counted": 4,
    }


def test_relations_of_a_hub_are_not_counted(films, monkeypatch):
    monkeypatch.setattr("pages.parts.board.node_panel.MAX_COUNTED_EDGES", 3)
    ann, war = films.nodes_named("Ann")[0], films.nodes_named("War")[0]
    graph = CountedGraph(films)
    told = node_relations(graph, [ann, war], {})
    assert graph.asked == [war]
    assert told[ann] == {"degree": 4, "relations": [], "others": 0, "counted": 0} and told[war][
        "relations"
    ] == [["genre of", 1]]
