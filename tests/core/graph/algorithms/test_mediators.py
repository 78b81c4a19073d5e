"""Steps into nodes without a name, on five nodes of which one is a mediator."""

import numpy as np

from core.graph.algorithms.mediators import count_named_hops, mediator_step_mask
from core.graph.building.build import build

SIBLING, PROFESSION, OTHER = (
    "people.person.sibling_s",
    "people.person.profession",
    "people.sibling_relationship.sibling",
)
KIN = [
    ("Ann", SIBLING, "m.0abc"),
    ("m.0abc", OTHER, "Bob"),
    ("Ann", PROFESSION, "Actor"),
    ("Bob", PROFESSION, "Judge"),
]


def code(graph, relation, forward=True):
    return 2 * graph.relation_names.index(relation) + (not forward)


def test_steps_into_nodes_without_a_name(tmp_path):
    graph = build(KIN, tmp_path / "kin", "kin", "both")
    into = mediator_step_mask(graph)
    assert set(np.flatnonzero(into)) == {code(graph, SIBLING), code(graph, OTHER, False)}
    sibling, profession = (code(graph, SIBLING), code(graph, OTHER)), code(graph, PROFESSION)
    assert (
        count_named_hops(sibling, into) == 1
        and count_named_hops((*sibling, profession), into) == 2
        and count_named_hops((profession,), into) == 1
    )
    # A step into a node without a name adds no text until the path continues.
    assert count_named_hops(sibling[:1], into) == 0


def test_relations_that_mostly_lead_to_named_nodes_are_no_mediator_steps(tmp_path):
    graph = build(
        [("a", "part", "m.01"), ("a", "part", "b"), ("b", "part", "c")],
        tmp_path / "parts",
        "parts",
        "both",
    )
    assert not mediator_step_mask(graph).any()  # One of three steps leads to a node without a name.
