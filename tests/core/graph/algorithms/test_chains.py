"""Relation chains on the five nodes of films by hand, and against brute force on random graphs.

Even codes follow the triples and odd codes go against them: 0 and 1 are directed_by, 2 and 3
has_genre, 4 and 5 release_year, 6 and 7 written_by.
"""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from core.graph.algorithms.chains import (
    best_chains,
    chain_groups,
    chain_name,
    chain_of,
    chains_from,
    ranked_ends,
    sample_front,
    walk_chain,
)
from core.graph.store import Graph
from core.types import Path
from tests.core.graph.strategies import directions, graphs

DIRECTED, GENRE, YEAR, WRITTEN = 0, 2, 4, 6


def nodes_by_name(kit, *names):
    return [kit.node(name) for name in names]


def ends_by_chain(kit, *seeds, steps=3, direction="both"):
    return {
        chain: kit.graph.names(ends)
        for chain, ends in chains_from(kit.graph, nodes_by_name(kit, *seeds), steps, direction)
    }


def test_the_chains_from_a_film_never_run_straight_back(kit):
    # Drama leads back to One only. From Ann, both relations against the triples lead to Two, and
    # from there a chain continues by the other relation.
    assert ends_by_chain(kit, "One") == {
        (0,): ["Ann"],
        (2,): ["Drama"],
        (0, 1): ["Two"],
        (0, 7): ["Two"],
        (0, 1, 6): ["Ann"],
        (0, 1, 4): ["1999"],
        (0, 7, 0): ["Ann"],
        (0, 7, 4): ["1999"],
    }
    assert (
        list(ends_by_chain(kit, "One", direction="out")) == [(0,), (2,)]
        and ends_by_chain(kit, "Ann", direction="out") == {}
    )


def test_a_chain_that_ends_at_its_start_is_continued_but_not_given(kit):
    # Ann, against written_by to Two, along directed_by back to Ann: no answer, but the way on to
    # One.
    assert (7, 0) not in ends_by_chain(kit, "Ann") and ends_by_chain(kit, "Ann")[(7, 0, 1)] == [
        "One"
    ]


def test_walks_are_counted_and_each_end_has_the_first_path(kit):
    front = walk_chain(kit.graph, nodes_by_name(kit, "One", "Two"), (DIRECTED,))
    nodes, walks = front.ends(nodes_by_name(kit, "One", "Two"))
    assert kit.graph.names(nodes) == ["Ann"] and walks.tolist() == [2.0]
    assert [kit.graph.text(path) for path in front.paths(nodes)] == ["One -> directed_by -> Ann"]
    long = walk_chain(kit.graph, nodes_by_name(kit, "One"), (DIRECTED, WRITTEN + 1, YEAR))
    (path,) = long.paths(nodes_by_name(kit, "1999"))
    assert (
        kit.graph.text(path)
        == "One -> directed_by -> Ann -> written_by_reverse -> Two -> release_year -> 1999"
    )
    assert (
        chain_of(kit.graph, path) == (0, 7, 4)
        and chain_name(kit.graph, (0, 7)) == "directed_by -> written_by_reverse"
    )
    assert walk_chain(kit.graph, nodes_by_name(kit, "One"), (YEAR,)) is None


def test_ends_reached_by_more_walks_come_first_then_by_id(kit):
    order = lambda chain, *seeds: kit.graph.names(
        ranked_ends(
            walk_chain(kit.graph, nodes_by_name(kit, *seeds), chain), nodes_by_name(kit, *seeds)
        )
    )
    assert order((1,), "Ann") == ["One", "Two"]  # One walk each.
    # Each film leads to the other one only, and both are seeds.
    assert order((0, 1), "One", "Two") == []


def test_the_chain_that_best_reproduces_answers(kit):
    best = lambda seed, *answers: best_chains(
        kit.graph, nodes_by_name(kit, seed), nodes_by_name(kit, *answers), 3
    )
    assert best("Ann", "One", "Two") == (((1,),), 1.0)
    assert best("Ann", "Two") == (((7,),), 1.0)  # The directed films are One and Two: F1 is 2/3.
    assert best("Two", "Ann") == (((0,), (6,)), 1.0)  # One person directed and wrote Two.
    assert best("One", "Ann") == (((0,),), 1.0)  # (0, 1, 6) ends there too, but it is longer.
    # The answer set is One and Drama, and the films are One and Two.
    assert best("Ann", "One", "Drama") == (((1, 2),), 2 / 3)
    assert best("Drama", "Drama") == ((), 0.0)


def enumerate_walks(graph, seeds, steps, direction):
    """Enumerate every walk.

    A step that undoes the step before it may not return to the node it came from.
    """
    ends, walks = {}, {}
    level = [((), (seed,)) for seed in sorted(set(seeds))]
    for _ in range(steps):
        longer = []
        for chain, nodes in level:
            for near, edge, forward in zip(
                *(part.tolist() for part in graph.steps(nodes[-1], direction))
            ):
                code = 2 * int(graph.relations[edge]) + (not forward)
                if chain and code == chain[-1] ^ 1 and near == nodes[-2]:
                    continue
                longer.append(((*chain, code), (*nodes, near)))
        for chain, nodes in longer:
            walks.setdefault(chain, {}).setdefault(nodes[-1], 0)
            walks[chain][nodes[-1]] += 1
            if nodes[-1] not in seeds:
                ends.setdefault(chain, set()).add(nodes[-1])
        level = longer
    return ends, walks


@settings(max_examples=40, deadline=None)
@given(graphs, directions, st.integers(1, 3), st.integers(0, 100))
def test_chains_and_walks_are_those_of_brute_force(graph: Graph, direction, steps, pick):
    seeds = sorted({pick % graph.n_nodes, (pick * 7 + 3) % graph.n_nodes})
    ends, walks = enumerate_walks(graph, seeds, steps, direction)
    got = list(chains_from(graph, seeds, steps, direction))
    assert [chain for chain, _ in got] == sorted(ends, key=lambda chain: (len(chain), chain))
    assert {chain: set(nodes.tolist()) for chain, nodes in got} == ends
    for chain, _ in got[:20]:
        front = walk_chain(graph, seeds, chain, direction)
        nodes, counts = front.ends(seeds)
        assert dict(zip(nodes.tolist(), counts.tolist())) == {
            n: c for n, c in walks[chain].items() if n not in seeds
        }
        for path in front.paths(nodes):
            assert chain_of(graph, path) == chain and path.start in seeds
    some = {chain for chain, _ in chains_from(graph, seeds, steps, direction, sample=1)}
    assert some <= set(ends)


def test_a_sample_is_spread_evenly(toy):
    front = walk_chain(toy, [0, 1, 2, 3], ())
    assert sample_front(front, 2).nodes.tolist() == [0, 3] and sample_front(front, None) is front
    assert np.array_equal(sample_front(front, 9).nodes, front.nodes)


def test_paths_are_grouped_by_start_and_chain(toy):
    graph = toy
    assert chain_groups(graph, []).tolist() == []
    assert chain_groups(graph, [Path((0,))]).tolist() == [0]
    rng = np.random.default_rng(0)
    paths = []
    for _ in range(60):
        path = Path((int(rng.integers(graph.n_nodes)),))
        for _ in range(int(rng.integers(4))):
            near, edges, along = graph.steps(path.end, "both")
            if not len(near):
                break
            step = int(rng.integers(len(near)))
            path = path.extended(int(near[step]), int(edges[step]), bool(along[step]))
        paths.append(path)
    groups = chain_groups(graph, paths).tolist()
    alike = lambda a, b: (
        (paths[a].start, chain_of(graph, paths[a])) == (paths[b].start, chain_of(graph, paths[b]))
    )
    assert all((groups[a] == groups[b]) == alike(a, b) for a in range(60) for b in range(60))
