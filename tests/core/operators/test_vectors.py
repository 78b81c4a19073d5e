"""Subgraph extraction by vectors on five nodes, with hand-computed cosines.

Each word is a dimension. The links are One - Ann - Two, One - Drama, Two - 1999. Triples have five
words, one of them the arrow twice: a norm of sqrt(7).
"""

import numpy as np
import pytest

from core.environment import Environment
from core.errors import BadParameter
from core.evaluation.metrics.outcome import observe
from core.graph.building.build import build
from core.methods.catalogue import catalogue
from core.operators import VectorSearch
from core.operators.base import Context
from core.types import Question, State
from tests.notes import NoteWith


@pytest.fixture
def run(kit):
    """A function `run(operator, text, *seeds)`: the subgraph's scores by name, and the state."""

    def made(operator, text, *seeds):
        state = operator(
            State(Question(text), tuple(kit.node(seed) for seed in seeds)), kit.context()
        )
        found = dict(
            zip(kit.graph.names(state.subgraph.nodes), np.round(state.subgraph.scores, 3).tolist())
        )
        return found, state

    return made


def test_nearest_nodes_neighbours_and_entities_are_kept(run):
    # “tell ann” is nearest to Ann, 1 / sqrt(2). One hop adds One and Two, over directed_by and
    # written_by.
    assert run(VectorSearch(matches=1, hops=0), "tell ann", "Drama")[0] == {
        "Drama": 1.0,
        "Ann": 0.707,
    }
    assert run(VectorSearch(matches=1, hops=1), "tell ann", "Drama")[0] == {
        "Drama": 1.0,
        "Ann": 0.707,
        "One": 0.707,
        "Two": 0.707,
    }
    found, state = run(VectorSearch(matches=2, hops=0), "ann ann one", "Drama")
    # These are 2 / sqrt(5) and 1 / sqrt(5).
    assert found == {"Drama": 1.0, "Ann": 0.894, "One": 0.447}
    step = state.trace[-1]
    assert step.notes == (NoteWith(5, "nodes", "Ann (0.89", "One (0.45"),) and step.sizes == {
        "nodes": 3,
        "edges": 2,
    }
    assert step.usage.texts == 1


def test_directions_and_hops_limit_the_subgraph(run):
    # Outward no edge leaves Ann; inward One and Two follow. Two hops inward reach no more, both
    # directions reach all five.
    assert set(run(VectorSearch(matches=1, direction="out"), "ann", "Drama")[0]) == {"Drama", "Ann"}
    assert set(run(VectorSearch(matches=1, hops=2, direction="in"), "ann", "Drama")[0]) == {
        "Drama",
        "Ann",
        "One",
        "Two",
    }
    assert set(run(VectorSearch(matches=1, hops=2), "ann", "Drama")[0]) == {
        "Drama",
        "Ann",
        "One",
        "Two",
        "1999",
    }


def test_triples_add_both_ends(run):
    # “1999 two” shares two words with Two -> release_year -> 1999: 2 / sqrt(2 * 7) = 0.535, stored
    # in 16 bits.
    found, state = run(VectorSearch(of="triples", matches=1, hops=0), "1999 two", "Drama")
    assert found == {
        "Drama": 1.0,
        "Two": pytest.approx(0.535, abs=2e-3),
        "1999": pytest.approx(0.535, abs=2e-3),
    }
    assert state.trace[-1].notes[0] == NoteWith(5, "triples", "Two -> release_year -> 1999 (0.53")


def test_components_are_kept_dropped_or_joined(run, kit):
    # 1999 is found, four steps from Drama: Drama - One - Ann - Two - 1999.
    found, state = run(VectorSearch(matches=1, hops=0), "1999", "Drama")
    assert set(found) == {"Drama", "1999"} and observe(kit.graph, state).extracted.components == 2
    found, state = run(VectorSearch(matches=1, hops=0, connected="seeds"), "1999", "Drama")
    assert set(found) == {"Drama"} and state.trace[-1].notes[1] == NoteWith(
        "1 nodes", "pieces", "left out"
    )
    found, state = run(VectorSearch(matches=1, hops=0, connected="paths"), "1999", "Drama")
    assert found == {"Drama": 1.0, "One": 1.0, "Ann": 1.0, "Two": 1.0, "1999": 1.0}
    assert observe(kit.graph, state).extracted.components == 1
    found, state = run(VectorSearch(matches=1, hops=1, connected="paths", reach=3), "1999", "Drama")
    assert set(found) == {"Drama"} and state.trace[-1].notes[1].startswith(
        "1 of 1 nodes that matched lie more than 3 steps away"
    )


def test_cap_keeps_neighbours_of_better_matches(run):
    # Ann (0.894) and 1999 (0.447) match. Of Ann's neighbours One and Two, One has the smaller id.
    found, state = run(VectorSearch(matches=2, keep=4), "ann ann 1999", "Drama")
    assert found == {"Drama": 1.0, "Ann": 0.894, "1999": 0.447, "One": 0.894}
    assert state.trace[-1].notes[1] == NoteWith("4 nodes", "best matches")
    assert set(run(VectorSearch(matches=2, keep=1), "ann", "Drama")[0]) == {"Drama"}


def test_hub_does_not_displace_a_better_match(tmp_path, kit):
    # "hub" has 50 leaves and "star" 3. "star" matches better, so its leaves come first, then leaves
    # of the hub up to the limit.
    triples = [
        *(("hub", "r", f"h{i}") for i in range(50)),
        *(("star", "r", f"s{i}") for i in range(3)),
        ("hub", "r", "lone"),
    ]
    graph = build(triples, tmp_path / "hubs", "hubs", "both")
    ids = {name: node for node, name in enumerate(graph.names(range(graph.n_nodes)))}
    state = State(Question("star star hub"), (ids["lone"],))
    after = VectorSearch(matches=2, keep=8)(state, Context(graph, Environment(kit.Written())))
    kept = graph.names(after.subgraph.nodes)
    assert (
        {"lone", "star", "hub", "s0", "s1", "s2"} < set(kept)
        and len(kept) == 8
        and {"h0", "h1"} < set(kept)
    )


def test_invalid_settings_are_refused():
    with pytest.raises(BadParameter, match="must be one of nodes, triples"):
        VectorSearch(of="relations")
    assert VectorSearch(matches=1000, hops=2).words() == "1,000 nodes by vectors, 2 hops around"


def test_rows_differ_from_number_12_in_extraction():
    known = catalogue()
    for row in ("lego-12-vectors", "lego-12-vectors-joined", "lego-12-vector-triples"):
        assert (
            known[row].base == "lego-12"
            and [repr(o) for o in known[row].line][1:]
            == [repr(o) for o in known["lego-12"].line][1:]
        )
        assert known[row].line.operators[0].direction == "graph"
