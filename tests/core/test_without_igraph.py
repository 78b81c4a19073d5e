"""Everything runs without igraph, which `pip install hopscope` does not bring."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from types import SimpleNamespace

import numpy as np
import pytest
from packaging.requirements import Requirement

from core.environment import Environment
from core.graph.algorithms.hierarchy import hierarchical_communities
from core.graph.algorithms.igraph_library import WITHOUT_IGRAPH_NOTE
from core.graph.algorithms.layout import kamada_kawai, node_positions
from core.graph.algorithms.leiden import detect_communities
from core.graph.building.build import build, build_in_memory
from core.io.home import ROOT
from core.models.base import NoModels
from core.operators import CommunityReports, PersonalizedPageRank
from core.operators.base import Context
from core.types import Question, State
from tests.libraries import no_igraph

TWO_TRIANGLES = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3)]


def ends(edges):
    return np.array(edges).T


def test_two_triangles_are_two_communities(either_library):
    # Cut at the edge 2-3, the modularity is 6/7 - 2 (7/14)^2 = 0.357; of the whole graph it is 0.
    groups = hierarchical_communities(6, *ends(TWO_TRIANGLES), max_size=3)
    assert [(one.level, one.members.tolist()) for one in groups] == [(0, [0, 1, 2]), (0, [3, 4, 5])]
    graph = build_in_memory([(str(a), "r", str(b)) for a, b in TWO_TRIANGLES], "triangles")
    assert detect_communities(graph, 10).tolist() == [0, 0, 0, 1, 1, 1]


def test_a_path_of_five_is_cut_at_either_of_two_edges(either_library):
    # Both cuts have a modularity of 3/4 - (5/8)^2 - (3/8)^2 = 0.219, and no other has more.
    path = [(0, 1), (1, 2), (2, 3), (3, 4)]
    expected = {"igraph": [0, 0, 0, 1, 1], "without igraph": [0, 0, 1, 1, 1]}[either_library]
    graph = build_in_memory([(str(a), "r", str(b)) for a, b in path], "path")
    assert detect_communities(graph, 10).tolist() == expected
    groups = hierarchical_communities(5, *ends(path), max_size=5)
    assert [len(one.members) for one in groups] == np.bincount(expected).tolist()


def test_positions_of_a_path_are_as_far_apart_as_its_nodes(either_library):
    # One step from 0 to 1 and from 1 to 2, two from 0 to 2: three points on a line.
    places = kamada_kawai(3, [(0, 1), (1, 2)])
    gap = lambda a, b: float(np.hypot(*(places[a] - places[b])))
    assert gap(0, 1) == pytest.approx(gap(1, 2), rel=0.01)
    assert gap(0, 2) == pytest.approx(2 * gap(0, 1), rel=0.01)


def test_positions_of_unconnected_parts_are_further_apart_than_neighbours(without_igraph):
    places = kamada_kawai(4, [(0, 1), (2, 3)])
    gap = lambda a, b: float(np.hypot(*(places[a] - places[b])))
    assert max(gap(0, 1), gap(2, 3)) < min(gap(a, b) for a in (0, 1) for b in (2, 3))


@pytest.mark.parametrize("edges", [[], [(7, 8)], [(7, 8), (8, 7), (9, 9)], [(7, 8), (10, 11)]])
def test_every_node_has_a_place_of_its_own_again_and_again(edges, either_library):
    found = node_positions([7, 8, 9, 10, 11], edges)
    assert set(found) == {7, 8, 9, 10, 11} and len(set(found.values())) == 5
    assert all(0 <= value <= 1 for place in found.values() for value in place)
    assert node_positions([7, 8, 9, 10, 11], edges) == found
    assert node_positions([7], []) == {7: (0.5, 0.5)}


ENVIRONMENT = SimpleNamespace()


@pytest.mark.parametrize(
    ("operator", "depends"),
    [
        (CommunityReports(), True),
        (PersonalizedPageRank(method="partition"), True),
        (PersonalizedPageRank(method="hgpa"), True),
        (PersonalizedPageRank(), False),
    ],
)
def test_keys_of_results_tell_which_communities_they_rest_on(operator, depends):
    assert operator.stamp(None, ENVIRONMENT) == ""
    with no_igraph():
        assert operator.stamp(None, ENVIRONMENT) == ("-arrays" if depends else "")


@pytest.mark.parametrize(("method", "depends"), [("partition", True), ("exact", False)])
def test_a_method_in_communities_says_that_igraph_is_missing(tmp_path, method, depends):
    triples = [(str(a), "r", str(b)) for a, b in TWO_TRIANGLES]

    def notes(name):
        graph = build(triples, tmp_path / name, name, "both")
        operator = PersonalizedPageRank(keep=3, method=method)
        after = operator(State(Question("q"), (0,)), Context(graph, Environment(NoModels())))
        return after.subgraph.nodes.tolist(), after.trace[-1].notes

    nodes, told = notes("with")
    assert nodes == [0, 1, 2] and WITHOUT_IGRAPH_NOTE not in told
    with no_igraph():
        nodes, told = notes("without")
    assert nodes == [0, 1, 2] and (WITHOUT_IGRAPH_NOTE in told) == depends


def test_no_dependency_brings_igraph():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    waiting = [Requirement(text) for text in project["dependencies"]]
    brought: dict[str, list[Requirement]] = {}
    while waiting:
        wanted = waiting.pop()
        name = wanted.name.lower().replace("_", "-")
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        if name in brought:
            continue
        try:
            brought[name] = [Requirement(text) for text in requires(wanted.name) or ()]
        except PackageNotFoundError:  # of another system
            brought[name] = []
        waiting += brought[name]
    assert not {"igraph", "python-igraph", "leidenalg"} & set(brought) and "networkx" in brought
    extras = project["optional-dependencies"]
    assert [Requirement(text).name for text in extras["igraph"]] == ["igraph"]


SCRIPT = """
import sys
sys.modules["igraph"] = None
import numpy as np
import hopscope as hs
from core.graph.algorithms.layout import node_positions
from core.indexes.graph_maps import load_map

triples = [(a, "knows", b) for a, b in ("AB", "AC", "BC", "DE", "DF", "EF", "CD")]
graph = hs.graph(triples, "triangles", progress=False)
line = "PersonalizedPageRank(keep=3, method='partition') >> ShortestPaths(hops=1)"
lane = hs.compare("whom does A know", line, graph="triangles", entities=["A"], progress=False)[0]
print(lane.error or sorted(map(str, lane.paths)))
print(len(node_positions(list(range(6)), [(0, 1), (2, 3)])))
topics = load_map(graph).topics
print(len(topics), len(np.unique(topics)))
texts = {"a": "Ada Lovelace wrote to Charles Babbage.", "b": "Jacob Marley met Bob Cratchit."}
hs.corpus("notes", texts)
line = "TokenChunks() >> NounPhrases() >> Merge() >> Communities(component='all') >> Reports(writer='extractive')"
made = hs.build("notes", line, progress=False)
table = made.columns.communities
print(sorted("; ".join(sorted(made.names(members))) for members in table.id_lists("members").to_lists()))
print(sys.modules["igraph"])
"""


def test_a_program_without_igraph_asks_draws_and_builds(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "HOPSCOPE_HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "['A -> knows -> B', 'A -> knows -> C']",
        "6",
        "6 2",
        "['Ada Lovelace; Charles Babbage', 'Bob Cratchit; Jacob Marley']",
        "None",
    ]
