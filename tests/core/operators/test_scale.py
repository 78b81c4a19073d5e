"""Bounds on time and memory where paths explode: a complete layered graph, and hubs."""

from __future__ import annotations

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

from core.environment import Environment
from core.graph.algorithms import chains, local_adjacency
from core.graph.algorithms.local_adjacency import LocalAdjacency
from core.graph.algorithms.neighbourhood import induced_edges
from core.graph.algorithms.paths import shortest_paths, simple_paths
from core.graph.building.build import build_in_memory
from core.operators import filter
from core.operators.base import Context
from core.operators.retrieve import beam, tog, tree_paths
from core.operators.retrieve.chains import walk_chains
from core.operators.text import parse_line
from core.types import Question, State, Subgraph
from tests.films import Parrot, Table, Written
from tests.notes import NoteWith

# Nodes per layer, each linked to all of the next. Paths of 1 to 4 steps: 100, 10,000, 1,000,000 and
# 100,000,000.
LAYER_NODES = 100


@pytest.fixture(scope="module")
def layers():
    first = [("0", "r", f"1.{i}") for i in range(LAYER_NODES)]
    return build_in_memory(
        first
        + [
            (f"{k}.{i}", "r", f"{k + 1}.{j}")
            for k in (1, 2, 3)
            for i in range(LAYER_NODES)
            for j in range(LAYER_NODES)
        ],
        "layers",
        "out",
    )


@pytest.fixture(scope="module")
def star():
    """The graph 0 -r-> 2,000 nodes -r-> H -r-> 2,000 leaves."""
    middle = [triple for i in range(2000) for triple in (("0", "r", f"m{i}"), (f"m{i}", "r", "H"))]
    return build_in_memory([*middle, *(("H", "r", f"l{i}") for i in range(2000))], "star", "out")


def listed_graph(graph, direction="out"):
    """The whole graph with its steps already listed, so that only the search itself is measured."""
    nodes = np.arange(graph.n_nodes)
    part = LocalAdjacency(graph, Subgraph(nodes, induced_edges(graph, nodes)), direction)
    assert len(part.step_lists) == graph.n_nodes
    return part


def peak(work):
    """The result of a function and its peak memory in MB."""
    tracemalloc.start()
    try:
        return work(), tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def run(graph, text, seeds, scorer=None):
    """The state after a line, and the notes of all its operators."""
    seeds = tuple(graph.nodes_named(name)[0] for name in seeds)
    state = State(Question("q"), seeds)
    for operator in parse_line(text):
        state = operator(
            state, Context(graph, Environment(Written(Parrot("no"), bm25=scorer or Table({}))))
        )
    return state, [note for step in state.trace for note in step.notes]


def test_complete_paths_stop_at_the_cap(layers):
    part = listed_graph(layers)
    (paths, capped), megabytes = peak(lambda: simple_paths(part, 0, 4, 10_000))
    assert capped and [sum(len(path) == hops for path in paths) for hops in (1, 2, 3)] == [
        100,
        9_900,
        0,
    ]
    assert megabytes < 10  # A path takes about 500 bytes.


def test_all_shortest_paths_stop_at_the_cap(layers):
    part = listed_graph(layers)
    (paths, capped), megabytes = peak(lambda: shortest_paths(part, 0, 4, every=True, cap=20_000))
    assert capped and [sum(len(path) == hops for path in paths) for hops in (1, 2, 3)] == [
        100,
        10_000,
        9_900,
    ]
    assert megabytes < 40
    assert len(shortest_paths(part, 0, 4)[0]) == 4 * LAYER_NODES  # There is one path per target.


def test_capped_line_has_a_note(layers):
    state, notes = run(
        layers, "EgoNetwork(hops=4, keep=350) >> SimplePaths(hops=4, cap=500)", ["0", "1.0"]
    )
    assert len(state.paths) == 500 and notes == [
        NoteWith(350, "nodes", 4, "hops", "nearest"),
        NoteWith("Stopped at 500", "“0”"),
        NoteWith("Stopped at 500", "“1.0”"),
        NoteWith(1000, "paths", 500, "shortest first"),
    ]
    lengths = [len(path) for path in state.paths.items]
    assert lengths == sorted(lengths) and lengths.count(1) == 200
    assert run(layers, "EgoNetwork(hops=1) >> SimplePaths(hops=1)", ["0"])[1] == []


def test_walks_are_counted_without_being_listed(layers, star):
    found, megabytes = peak(lambda: chains.walk_chain(layers, [0], (0, 0, 0, 0)))
    assert found.walk_counts.tolist() == [10_000.0] * 10_000 and not found.is_cut and megabytes < 20
    found, megabytes = peak(lambda: chains.walk_chain(star, [0], (0, 0, 0)))
    nodes, walks = found.ends([0])
    # 2,000 pairs meet at H, whose steps are read once.
    assert len(nodes) == 2000 and set(walks.tolist()) == {2000.0} and megabytes < 20
    assert star.text(found.paths(nodes[:1])[0]) == "0 -> r -> m0 -> r -> H -> r -> l0"


def test_cut_walk_has_a_note(star, monkeypatch):
    monkeypatch.setattr(chains, "MAX_FRONT_STEPS", 50)
    found = chains.walk_chain(star, [0], (0, 0))
    assert found.is_cut and found.nodes.tolist() == [star.nodes_named("H")[0]] * 50
    state, by = State(Question("q"), (0,)), SimpleNamespace(chains=1, keep=10, direction="out")
    recorder = SimpleNamespace(notes=[], frames=[])
    walk_chains(
        state,
        Context(star, Environment(None)),
        recorder,
        [((0, 0), 1.0, "the r of the r of X")],
        by,
    )
    assert recorder.notes == [NoteWith("the r of the r of X", "more walks")]


def test_recomputed_steps_are_equal(toy, monkeypatch):
    held = list(listed_graph(toy, "both").step_lists)
    monkeypatch.setattr(local_adjacency, "MAX_TUPLE_STEPS", 0)
    anew = listed_graph(toy, "both").step_lists
    assert list(anew) == held and len(anew) == toy.n_nodes and not isinstance(anew, tuple)


def test_number_of_texts_for_models_is_bounded(star, monkeypatch):
    for module in (beam, filter, tree_paths):
        monkeypatch.setattr(module, "MAX_TEXTS", 30)
    scorer = Table({})
    for text, told in (
        (
            "FilterSubgraph(model='bm25', unit='triple', keep=5)",
            "Of 4,000 triples the first 30 were read.",
        ),
        (
            "FilterSubgraph(model='bm25', unit='node', keep=5)",
            "Of 2,002 nodes the first 30 were read.",
        ),
        (
            "BeamSearch(model='bm25', rank='steps', hops=1)",
            "Hop 1 has too many extensions; the first 30 were read.",
        ),
        (
            "TreePaths(model='bm25', width=8, hops=1)",
            "Hop 1 has too many triples; the first 30 were read.",
        ),
    ):
        scorer.seen.clear()
        _, notes = run(
            star,
            f"EgoNetwork(hops=2, keep=2002) >> {text}",
            ["H"] if "Filter" not in text else ["0"],
            scorer,
        )
        assert told in notes and max(map(len, scorer.seen)) == 30, (text, notes)


def test_think_on_graph_samples_a_hub(star, monkeypatch):
    monkeypatch.setattr(tog, "MAX_ENTITIES_READ", 1000)
    state, notes = run(
        star,
        "ThinkOnGraph(model='bm25', depth=1, exhausted='facts')",
        ["0"],
        Table({"r": 1.0, **{f"m{i}": 1.0 for i in range(2000)}}),
    )
    assert NoteWith("2,000 entities", "drawn") in notes
    assert len(state.subgraph.nodes) == 6 and len(state.paths) == 3


def test_chain_listing_from_a_sample_is_bounded(star, monkeypatch):
    monkeypatch.setattr(chains, "MAX_FRONT_STEPS", 50)
    monkeypatch.setattr(chains, "SAMPLED_CHAIN_STEPS", 20)
    found = dict(chains.chains_from(star, [0], 3, "out", sample=256))
    # A single hub is read whole.
    assert {chain: len(ends) for chain, ends in found.items()} == {
        (0,): 2000,
        (0, 0): 1,
        (0, 0, 0): 2000,
    }
    mixed = np.array([*star.nodes_named("H"), *(star.nodes_named(f"m{i}")[0] for i in range(30))])
    front = next(chains.next_fronts(star, chains.start_front(star, mixed), "out", limit=20))[1]
    assert front.is_cut and front.previous_nodes.tolist() == sorted(mixed[1:].tolist())[:20]
