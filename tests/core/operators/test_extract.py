"""Subgraph extraction on five nodes, with hand-computed results."""

import numpy as np
import pytest

from core.environment import Environment
from core.errors import BadParameter
from core.graph.building.build import build_in_memory
from core.models.base import NoModels
from core.models.combine import ThresholdChooser
from core.operators import (
    EgoNetwork,
    FilterSubgraph,
    PageRank,
    PersonalizedPageRank,
    RandomWalks,
    extract,
)
from core.operators.base import Context, Line
from core.operators.extract import NAMED_METHODS
from core.operators.text import parse_line
from core.runtime.cluster import Workers
from core.types import Question, State
from tests.notes import NoteWith


def names(kit, state):
    return set(kit.graph.names(state.subgraph.nodes))


def relations(kit, state):
    return sorted(kit.graph.relation_name(int(edge)) for edge in state.subgraph.edges)


def test_pagerank_keeps_the_nearest_nodes_and_their_edges(kit):
    # From One in both directions with damping 0.5: One keeps half the mass, Ann and Drama get a
    # quarter each before any return. Drama sends all of it back to One, Ann one third to One and
    # two thirds to Two. So One > Ann, Drama > Two > 1999.
    after = PersonalizedPageRank(keep=3, damping=0.5)(kit.state("One"), kit.context())
    assert names(kit, after) == {"One", "Ann", "Drama"}
    assert relations(kit, after) == ["directed_by", "has_genre"]
    assert after.trace[-1].sizes == {"nodes": 3, "edges": 2}


def test_pagerank_outward_stops_at_attributes(kit):
    after = PersonalizedPageRank(direction="out")(kit.state("Ann"), kit.context())
    assert names(kit, after) == {"Ann"} and not len(after.subgraph.edges)


def test_push_and_power_iteration_keep_equal_nodes(kit):
    kept = [
        names(kit, PersonalizedPageRank(keep=4, method=m)(kit.state("One"), kit.context()))
        for m in ("auto", "exact")
    ]
    assert kept[0] == kept[1] == {"One", "Ann", "Drama", "Two"}


def test_other_methods_keep_equal_nodes(kit, tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    for method in NAMED_METHODS:
        operator = PersonalizedPageRank(keep=5, method=method)
        after, again = (operator(kit.state("One"), kit.context()) for _ in range(2))
        assert len(names(kit, after)) == 5 and np.array_equal(
            after.subgraph.scores, again.subgraph.scores
        )
        assert method in operator.words() and after.trace[-1].notes


def test_the_cluster_of_the_environment_gives_workers(kit, monkeypatch):
    settings = []
    real = extract.top_pagerank

    def run_here(*arguments, workers, threads, **more):
        settings.append((workers, threads))
        return real(*arguments, **more)

    monkeypatch.setattr(extract, "top_pagerank", run_here)
    monkeypatch.setenv("HOPSCOPE_THREADS", "2")
    for address in ("", "HOST:6379"):
        monkeypatch.setenv("RAY_ADDRESS", address)
        for method in ("auto", "pafo"):
            PersonalizedPageRank(keep=5, method=method)(kit.state("One"), kit.context())
    cluster = Workers(address="HOST:6379")
    assert settings == [(None, 1), (None, 2), (cluster, 1), (cluster, 2)]


def test_trace_names_the_method_of_auto(kit):
    # In both directions five nodes are relaxed. Outward their 6 steps are fewer than 1,000 for each
    # node to keep, so the equation is solved.
    ran = lambda **given: (
        PersonalizedPageRank(keep=3, **given)(kit.state("One"), kit.context()).trace[-1].notes
    )
    assert ran() == (NoteWith("Relaxed", "whole graph"),)
    assert ran(direction="out") == ran(method="exact") == (NoteWith("Solved", "whole graph"),)


def test_old_lines_with_push_still_parse(kit):
    saved = parse_line("PersonalizedPageRank(keep=3, method='push', recall=0.97)")
    assert repr(saved) == "PersonalizedPageRank(keep=3)" and saved == parse_line(
        "PersonalizedPageRank(keep=3, method='auto')"
    )


def test_damping_is_the_probability_of_following(kit):
    # From Drama no outgoing edge can be followed. In both directions with damping d, Drama keeps at
    # least 1 - d, so a small d leaves almost all mass at the seed.
    after = PersonalizedPageRank(damping=0.01, method="exact")(kit.state("Two"), kit.context())
    at = list(after.subgraph.nodes).index(kit.node("Two"))
    assert after.subgraph.scores[at] == pytest.approx(0.99, abs=1e-3)


@pytest.mark.parametrize(
    "hops, expected",
    [(0, {"One"}), (1, {"One", "Ann", "Drama"}), (2, {"One", "Ann", "Drama", "Two"})],
)
def test_neighbourhood_by_hops(kit, hops, expected):
    assert names(kit, EgoNetwork(hops=hops)(kit.state("One"), kit.context())) == expected


def test_neighbourhood_keeps_the_nearest_nodes_with_a_note(kit):
    after = EgoNetwork(hops=3, keep=3)(kit.state("One"), kit.context())
    assert names(kit, after) == {"One", "Ann", "Drama"}
    assert "nearest were kept" in after.trace[-1].notes[0]


def test_random_walks_outward_of_one_step_visit_only_out_neighbours(kit):
    after = RandomWalks(walks=200, steps=1, direction="out")(kit.state("One"), kit.context())
    assert names(kit, after) == {"One", "Ann", "Drama"}


def test_random_walks_inside_never_leave_the_subgraph(kit):
    # One, Ann and Drama are within one hop; Two lies behind Ann.
    one_hop = EgoNetwork(hops=1)(kit.state("One"), kit.context())
    walks = dict(walks=100, steps=4, direction="both")
    inside = RandomWalks(inside=True, **walks)(one_hop, kit.context())
    assert (
        set(inside.subgraph.nodes) == set(one_hop.subgraph.nodes)
        and inside.subgraph.scores.sum() == 100 * 5
    )
    assert kit.node("Two") in RandomWalks(**walks)(one_hop, kit.context()).subgraph
    elsewhere = RandomWalks(inside=True)(one_hop.replace(seeds=(kit.node("Two"),)), kit.context())
    assert len(elsewhere.subgraph.nodes) == 0
    with pytest.raises(BadParameter, match="RandomWalks reads a subgraph"):
        Line((RandomWalks(inside=True),))


def test_random_walks_depend_on_the_seed_alone(kit):
    walk = RandomWalks(walks=3, steps=3)
    first, again = (walk(kit.state("One"), kit.context(seed=5)).subgraph for _ in range(2))
    assert np.array_equal(first.nodes, again.nodes) and np.array_equal(first.scores, again.scores)


def test_filter_by_relation_keeps_only_its_edges_and_the_seeds(kit):
    whole = EgoNetwork(hops=4)(kit.state("Drama"), kit.context())
    model = kit.Table({"written_by": 2.0, "release_year": 1.0})
    after = FilterSubgraph(keep=2)(whole, kit.context(encoder=model))
    # Each relation is scored once.
    assert model.seen == [["directed_by", "has_genre", "release_year", "written_by"]]
    assert relations(kit, after) == ["release_year", "written_by"]
    assert names(kit, after) == {"Two", "Ann", "1999", "Drama"}  # The seed stays, without edges.


def test_filter_induced_keeps_every_edge_between_the_ends(kit):
    whole = EgoNetwork(hops=4)(kit.state("Two"), kit.context())
    after = FilterSubgraph(keep=1, mode="induced")(
        whole, kit.context(encoder=kit.Table({"written_by": 1.0}))
    )
    assert relations(kit, after) == ["directed_by", "written_by"]


def test_filter_by_triple_and_by_node(kit):
    whole = EgoNetwork(hops=4)(kit.state("One"), kit.context())
    triple = FilterSubgraph(unit="triple", keep=1)(
        whole, kit.context(encoder=kit.Table({"Two -> release_year -> 1999": 1.0}))
    )
    assert relations(kit, triple) == ["release_year"] and names(kit, triple) == {
        "One",
        "Two",
        "1999",
    }
    node = FilterSubgraph(unit="node", keep=1)(whole, kit.context(encoder=kit.Table({"Ann": 1.0})))
    assert relations(kit, node) == ["directed_by"] and names(kit, node) == {"One", "Ann"}


def test_thresholds_of_nodes_and_of_edges(kit):
    # LEGO-GraphRAG v1, section 4.1: nodes score at least tau_v and edges at least tau_e. Drama and
    # 1999 are below .3, directed_by below .2.
    nodes = ThresholdChooser(
        kit.Table({"One": 0.5, "Two": 0.3, "Ann": 0.4, "Drama": 0.2, "1999": 0.1}), 0.3
    )
    edges = ThresholdChooser(
        kit.Table(
            {
                "Two -> written_by -> Ann": 0.6,
                "One -> directed_by -> Ann": 0.2,
                "Two -> directed_by -> Ann": 0.1,
            }
        ),
        0.2,
    )
    context = kit.context(nodes=nodes, edges=edges)
    after = FilterSubgraph(model="nodes", unit="node")(
        EgoNetwork(hops=4)(kit.state("One"), context), context
    )
    assert names(kit, after) == {"One", "Two", "Ann"} and relations(kit, after) == [
        "directed_by",
        "directed_by",
        "written_by",
    ]
    after = FilterSubgraph(model="edges", unit="triple")(after, context)
    assert relations(kit, after) == ["directed_by", "written_by"]
    nothing = FilterSubgraph(model="edges", unit="triple")(
        after, kit.context(edges=ThresholdChooser(kit.Table({}), 0.1))
    )
    assert names(kit, nothing) == {"One"} and "None reached 0.1." in nothing.trace[-1].notes


def test_empty_pick_of_the_model_leaves_the_seeds(kit):
    whole = EgoNetwork(hops=4)(kit.state("One"), kit.context())
    after = FilterSubgraph(model="choose")(whole, kit.context(choose=kit.Picker()))
    assert names(kit, after) == {"One"} and not len(after.subgraph.edges)


@pytest.mark.parametrize(
    "given, told",
    [
        ({"keep": 0}, "at least 1"),
        ({"damping": 1.5}, "at most"),
        ({"damping": 0}, "at least"),
        ({"direction": "up"}, "one of"),
        ({"keep": "many"}, "whole number"),
        ({"keep": True}, "whole number"),
    ],
)
def test_invalid_parameters_are_refused(given, told):
    with pytest.raises(BadParameter, match=told):
        PersonalizedPageRank(**given)


def five_nodes():
    """The graph A to B, B to C, C to A, D to A, and E to itself."""
    return build_in_memory([(a, "r", b) for a, b in ("AB", "BC", "CA", "DA", "EE")], "five")


def test_global_pagerank_does_not_depend_on_the_question():
    # Along the triples with damping .5: p(D) = .1, p(E) = .1 + p(E) / 2 = .2. Around the ring: A =
    # .1 + C / 2 + D / 2, B = .1 + A / 2, C = .1 + B / 2, so A = .225 * 8 / 7.
    graph, a = five_nodes(), 1.8 / 7
    wanted = {"A": a, "B": 0.1 + a / 2, "C": 0.15 + a / 4, "D": 0.1, "E": 0.2}
    parts = {}
    for name in "DE":
        state = State(Question("q"), seeds=tuple(graph.nodes_named(name)))
        operator = PageRank(keep=2, damping=0.5, direction="out")
        part = operator(state, Context(graph, Environment(NoModels()))).subgraph
        parts[name] = dict(zip(graph.names(part.nodes), part.scores))
    assert set(parts["D"]) == {"A", "B", "D"} and set(parts["E"]) == {"A", "B", "E"}
    for found in parts.values():
        assert found == pytest.approx({name: wanted[name] for name in found})
