"""Synonym edges and communities on small graphs, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.builds.base import BuildContext, BuildState
from core.builds.group.communities import Communities
from core.builds.merge import synonyms
from core.builds.merge.synonyms import AddIdentityEdges, AddSynonymEdges
from core.graph.algorithms import hierarchy as hierarchies
from core.graph.algorithms.hierarchy import hierarchical_communities, nest_communities
from core.graph.algorithms.igraph_library import WITHOUT_IGRAPH_NOTE
from core.graph.building.text_graph import assemble
from core.graph.columns import Table
from core.models.base import NoModels
from core.watch import NO_WATCH
from tests.core.builds.kit import Texts

# Directions in degrees. The cosine of two names is the cosine of the angle between them.
ANGLES = {"a": 0, "b": 20, "c": 50, "d": 90, "e": 180}
CHUNKS = Table.from_columns(id=["x", "y"], text=["one", "two"])


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))


class PlaneModels(NoModels):
    """Models whose encoder knows five names and ignores all text after a name."""

    def encoder(self, name="encoder"):
        return self

    def encode(self, texts, watch=NO_WATCH):
        turns = np.radians([ANGLES[text.partition(":")[0]] for text in texts])
        return np.column_stack([np.cos(turns), np.sin(turns)]).astype(np.float32)


def graph_of(names, triples=(), weights=(), chunks=()):
    rows = [[row] for row in chunks or [i % 2 for i in range(len(names))]]
    nodes = {"type": ["t"] * len(names), "description": [f"of {n}" for n in names], "chunks": rows}
    edges = {
        "description": ["told"] * len(triples),
        "weight": list(weights) or [1.0] * len(triples),
        "chunks": [[0]] * len(triples),
    }
    return assemble("five", names, triples, nodes, edges, CHUNKS)


def apply_operator(operator, graph, tmp_path):
    return operator.apply(
        BuildState(Texts(tmp_path), CHUNKS, None, graph), BuildContext(PlaneModels())
    ).graph


@pytest.mark.parametrize(
    "how, expected",
    [
        # cos 20° and cos 30°; a and c are 50° apart, with a cosine of .64.
        ({"least": 0.8}, {"ab": 0.9397, "bc": 0.8660}),
        ({"least": 0.9}, {"ab": 0.9397}),
        # Only the share of the best cosine counts. c to b: .866, and d with .766 is .88 of it. d to
        # c: .766, and b with .342 is less than .8 of it. The nearest to e is d at 90°, with cosine
        # 0.
        ({"least": 0.0}, {"ab": 0.9397, "bc": 0.8660, "cd": 0.7660}),
        ({"least": 0.0, "top": 1}, {"ab": 0.9397, "bc": 0.8660, "cd": 0.7660}),
        # .6428 is .68 of .9397.
        (
            {"least": 0.0, "threshold": 0.5},
            {"ab": 0.9397, "bc": 0.8660, "cd": 0.7660, "ac": 0.6428},
        ),
    ],
)
def test_synonyms_are_joined_by_the_cosine_of_their_names(how, expected, tmp_path):
    graph = apply_operator(AddSynonymEdges(**how), graph_of(list("abcde")), tmp_path)
    heads, _, tails = graph.triples(np.arange(graph.n_edges))
    pairs = ["".join(graph.names(pair)) for pair in zip(heads, tails)]
    assert dict(zip(pairs, graph.columns.edges.numbers("weight").tolist())) == pytest.approx(
        expected, abs=2e-3
    )
    assert graph.relation_names == ("similar to",)


def test_approximate_search_joins_the_same_synonyms(tmp_path, monkeypatch):
    exact = apply_operator(AddSynonymEdges(), graph_of(list("abcde")), tmp_path)
    monkeypatch.setattr(synonyms, "ROW_SEARCH", replace(synonyms.ROW_SEARCH, max_exact_rows=3))
    assert (
        apply_operator(AddSynonymEdges(), graph_of(list("abcde")), tmp_path).digest == exact.digest
    )


def test_synonym_edges_leave_the_rest_as_it_was(tmp_path):
    before = graph_of(list("abcde"), [("a", "knows", "e"), ("a", "knows", "b")], [2.0, 3.0])
    after = apply_operator(AddSynonymEdges(), before, tmp_path)
    told = dict(
        zip(after.triple_texts(range(after.n_edges)), after.columns.edges.texts("description"))
    )
    assert told == {
        "a -> knows -> b": "told",
        "a -> knows -> e": "told",
        "a -> similar to -> b": "",
        "b -> similar to -> c": "",
    }
    assert after.columns.nodes.digest == before.columns.nodes.digest
    assert after.columns.edges.id_lists("chunks").to_lists() == [[0], [0], [0, 1], [0, 1]]


@pytest.mark.parametrize(
    "how, triples, chunks, expected",
    [
        # (1 + cosine) / 2 is .97 for a and b, .93 for b and c, .88 for c and d.
        ({}, (), "xxxxx", ["ab", "bc"]),
        ({"threshold": 0.88}, (), "xxxxx", ["ab", "bc", "cd"]),
        # Ends of a relation are not joined again, in either direction.
        ({}, [("b", "knows", "a")], "xxxxx", ["bc"]),
        # With one nearest name: a has b, b has the earlier a, and c has b.
        ({"top": 1}, (), "xxxxx", ["ab"]),
        ({"top": 1}, (), "xyxyx", ["ab", "bc"]),  # c occurs in the first chunk, b in the second.
    ],
)
def test_nearly_equal_names_are_joined_once(how, triples, chunks, expected, tmp_path):
    before = graph_of(list("abcde"), triples, chunks=["xy".index(chunk) for chunk in chunks])
    after = apply_operator(AddIdentityEdges(**how), before, tmp_path)
    told = after.columns.edges.texts("description")
    fresh = [edge for edge in range(after.n_edges) if told[edge] == "is"]
    heads, _, tails = after.triples(np.array(fresh))
    assert ["".join(after.names(pair)) for pair in zip(heads, tails)] == expected and len(
        told
    ) == len(fresh) + len(triples)
    assert {after.columns.edges.numbers("weight")[edge] for edge in fresh} == {1.0}
    assert [after.columns.edges.id_lists("chunks").to_lists()[edge] for edge in fresh] == [
        []
    ] * len(fresh)
    assert after.columns.nodes.digest == before.columns.nodes.digest


def community_rows(groups):
    return [(one.level, one.parent, one.members.tolist()) for one in groups]


def pairs(*edges):
    return np.array([a for a, _ in edges]), np.array([b for _, b in edges])


@pytest.fixture(params=["igraph", "arrays", "without igraph"])
def grouping(request, monkeypatch):
    """Group edges by igraph, by the arrays for very many edges, and without igraph."""
    if request.param == "arrays":
        monkeypatch.setattr(hierarchies, "HIERARCHY_IGRAPH_EDGES", 0)
    elif request.param == "without igraph":
        request.getfixturevalue("without_igraph")


TWO_TRIANGLES = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3)]


def test_large_communities_are_split_and_keep_their_parent(grouping):
    # Two pairs of cliques of four. Three edges join the cliques of a pair, and one edge joins the
    # pairs. Leiden on the whole graph finds single cliques or pairs of them. Groups that are too
    # large are split, down to single cliques.
    cliques = [[(a + i, a + j) for i in range(4) for j in range(i)] for a in (0, 4, 8, 12)]
    near = [(0, 4), (1, 5), (2, 6), (8, 12), (9, 13), (10, 14)]
    groups = hierarchical_communities(16, *pairs(*sum(cliques, []), *near, (3, 8)), max_size=4)
    leaves = [
        one for number, one in enumerate(groups) if number not in {other.parent for other in groups}
    ]
    assert sorted(one.members.tolist() for one in leaves) == [
        list(range(a, a + 4)) for a in (0, 4, 8, 12)
    ]
    for one in groups:
        if one.parent >= 0:
            above = groups[one.parent]
            assert (
                above.level == one.level - 1
                and set(one.members) < set(above.members)
                and len(above.members) > 4
            )
    assert [one.level for one in groups] == sorted(one.level for one in groups)
    nested = nest_communities(16, [one.members for one in groups])
    assert community_rows(nested) == community_rows(groups)


def test_a_clique_that_cannot_be_split_stays_whole(grouping):
    edges = [(a, b) for a in range(5) for b in range(a)]
    assert community_rows(hierarchical_communities(5, *pairs(*edges), max_size=2)) == [
        (0, -1, [0, 1, 2, 3, 4])
    ]


def test_only_the_largest_component_is_grouped_by_default(grouping):
    edges = [*TWO_TRIANGLES, (6, 7)]
    assert community_rows(hierarchical_communities(9, *pairs(*edges), max_size=3)) == [
        (0, -1, [0, 1, 2]),
        (0, -1, [3, 4, 5]),
    ]
    assert community_rows(
        hierarchical_communities(9, *pairs(*edges), max_size=3, largest=False)
    ) == [(0, -1, [0, 1, 2]), (0, -1, [3, 4, 5]), (0, -1, [6, 7])]


def test_weights_decide_about_communities(grouping):
    # A ring of four nodes. Of the two ways to cut it into pairs, the one with heavier edges wins.
    ring = pairs((0, 1), (1, 2), (2, 3), (3, 0))
    assert community_rows(
        hierarchical_communities(4, *ring, np.array([9.0, 1.0, 9.0, 1.0]), max_size=2)
    ) == [(0, -1, [0, 1]), (0, -1, [2, 3])]
    assert community_rows(
        hierarchical_communities(4, *ring, np.array([1.0, 9.0, 1.0, 9.0]), max_size=2)
    ) == [(0, -1, [0, 3]), (0, -1, [1, 2])]


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_graph_without_edges_has_no_communities(n, grouping):
    assert hierarchical_communities(n, *pairs()) == []


def test_parallel_edges_and_loops_weigh_as_in_igraph(grouping):
    # A chain of four nodes. The pair 1-2 has an edge in each direction, and 0 has a loop. The
    # middle stays together.
    found = hierarchical_communities(
        4,
        *pairs((0, 0), (0, 1), (1, 2), (2, 1), (2, 3)),
        np.array([50.0, 1.0, 4.0, 4.0, 1.0]),
        max_size=4,
        largest=False,
    )
    assert [1, 2] in [
        [node for node in one if node in (1, 2)] for _, _, one in community_rows(found)
    ]


def test_very_many_edges_give_the_communities_of_igraph(monkeypatch):
    """Forty cliques of six in a ring.

    Both implementations of Leiden find the cliques and split none of them.
    """
    cliques = [(6 * c + i, 6 * c + j) for c in range(40) for i in range(6) for j in range(i)]
    edges = pairs(*cliques, *((6 * c, (6 * c + 7) % 240) for c in range(40)))
    found = []
    # Of 640 edges; with the second bound, small parts go to igraph again.
    for many in (10**6, 100):
        monkeypatch.setattr(hierarchies, "HIERARCHY_IGRAPH_EDGES", many)
        groups = hierarchical_communities(240, *edges, max_size=6)
        parents = {one.parent for one in groups}
        found.append(
            sorted(
                one.members.tolist() for number, one in enumerate(groups) if number not in parents
            )
        )
    assert found[0] == found[1] == [list(range(6 * c, 6 * c + 6)) for c in range(40)]


def test_communities_are_named_after_their_best_connected_members(tmp_path):
    names = ["n0", "n1", "n2", "n3", "n4", "n5"]
    graph = graph_of(names, [(names[a], "r", names[b]) for a, b in TWO_TRIANGLES])
    table = apply_operator(Communities(max_size=3), graph, tmp_path).columns.communities
    assert table.id_lists("members").to_lists() == [[0, 1, 2], [3, 4, 5]]
    assert table.texts("title") == ["n2, n0, n1", "n3, n4, n5"]
    assert table.numbers("parent").tolist() == [-1, -1]


def test_a_build_without_igraph_says_so(tmp_path, without_igraph):
    names = ["n0", "n1", "n2", "n3", "n4", "n5"]
    graph = graph_of(names, [(names[a], "r", names[b]) for a, b in TWO_TRIANGLES])
    ctx = BuildContext(PlaneModels())
    made = Communities(max_size=3).apply(BuildState(Texts(tmp_path), CHUNKS, None, graph), ctx)
    members = made.graph.columns.communities.id_lists("members").to_lists()
    assert members == [[0, 1, 2], [3, 4, 5]]
    assert ctx.report.to_plain()["notes"] == [WITHOUT_IGRAPH_NOTE]


def test_a_build_with_igraph_has_no_note(tmp_path):
    graph = graph_of(["a", "b"], [("a", "r", "b")])
    ctx = BuildContext(PlaneModels())
    Communities().apply(BuildState(Texts(tmp_path), CHUNKS, None, graph), ctx)
    assert ctx.report.notes == []
