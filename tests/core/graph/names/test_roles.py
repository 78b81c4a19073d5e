import pytest

from core.graph.building.build import build
from core.graph.names.lookup import name_lookup
from core.graph.names.roles import node_roles, roles_and_degree, singular

TRIPLES = [
    ("Heat", "directed_by", "Mann"),
    ("Ali", "directed_by", "Mann"),
    ("Heat", "written_by", "Mann"),
    ("Heat", "has_tags", "mann"),
    ("Heat", "starred_actors", "Pacino"),
    ("m.1", "people.person.place_of_birth", "Paris"),
    ("Mannheim", "twin", "Paris"),
    ("Ann Mann", "has_friends", "Pacino"),
]


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    return build(TRIPLES, tmp_path_factory.mktemp("roles") / "g", "g")


@pytest.mark.parametrize(
    "name, told",
    [
        ("Mann", "director, writer"),  # Two triples, then one.
        ("mann", "tag"),
        ("Pacino", "friend, starred actor"),
        ("Paris", "place of birth, twin"),
        ("Heat", "has director, tag, starred actor"),  # The first three of four relations.
        ("m.1", "person"),  # The name of the relation says it.
    ],
)
def test_roles_of_a_node_follow_from_its_relations(graph, name, told):
    assert node_roles(graph, graph.nodes_named(name)[0]) == told


def test_roles_come_with_the_number_of_edges(graph):
    assert roles_and_degree(graph, graph.nodes_named("mann")[0]) == "tag · 1 edge"
    assert roles_and_degree(graph, graph.nodes_named("Mann")[0]) == "director, writer · 3 edges"


@pytest.mark.parametrize(
    "many, one",
    [
        ("tags", "tag"),
        ("countries", "country"),
        ("series", "series"),
        ("boss", "boss"),
        ("boxes", "box"),
        ("year", "year"),
    ],
)
def test_singular(many, one):
    assert singular(many) == one


def test_completions_are_ordered_by_match_and_degree(graph):
    told = [graph.node_name(node) for node in name_lookup(graph).complete("mann", 9)]
    # First both nodes of this very name (100 of 100): the matching capital and three edges come
    # before one. Then names that begin with it, then names with a word that does.
    assert told == ["Mann", "mann", "Mannheim", "Ann Mann"]
    assert (
        name_lookup(graph).complete("", 9) == [] and name_lookup(graph).complete("zzzzzz", 9) == []
    )
