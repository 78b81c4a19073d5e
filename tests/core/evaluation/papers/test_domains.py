"""Domains of questions by hand: of the shortest paths alone, each relation alike, and where nothing is found."""

from __future__ import annotations

import numpy as np
import pytest

from core.evaluation.papers.domains import (
    MAX_ENTITY_PATHS,
    NO_DOMAIN,
    NO_PATH_FOUND,
    domain_shares,
)
from core.graph.algorithms.local_adjacency import LocalAdjacency
from core.graph.building.build import build_in_memory
from core.types import Question, Subgraph

TRIPLES = [
    ("Ann", "people.person.parents", "Bob"),
    ("Bob", "film.actor.film", "One"),
    ("Ann", "film.actor.film", "Two"),
    ("Two", "film.film.sequel", "One"),
    ("Ann", "common.topic.image", "Picture"),
    ("Cat", "likes", "Dog"),
]


@pytest.fixture(scope="module")
def local():
    graph = build_in_memory(TRIPLES, "small")
    return LocalAdjacency(
        graph, Subgraph(np.arange(graph.n_nodes), np.arange(graph.n_edges)), "both"
    )


def asked(local, entity, *answers):
    return domain_shares(local, Question("?", "q", (entity,), answers))


def test_each_relation_of_each_shortest_path_counts_alike(local):
    # Ann-Bob-One says people and film, Ann-Two-One film twice
    assert asked(local, "Ann", "One") == {"people": 0.25, "film": 0.75}
    assert asked(local, "One", "Ann") == {"people": 0.25, "film": 0.75}  # against the triples too
    assert asked(local, "Ann", "One", "Two") == {"film": 1.0}  # the nearest answer's


def test_what_says_nothing_counts_where_nothing_else_is_there(local):
    assert asked(local, "Ann", "Picture") == {"common": 1.0}
    assert asked(local, "Bob", "Picture") == {"people": 1.0}
    assert asked(local, "Cat", "Dog") == {NO_DOMAIN: 1.0}


def test_many_nodes_nearer_than_the_answer_do_not_hide_it():
    """More nodes than paths are looked at lie one step from Hub, and Answer lies two steps away."""
    spokes = [("Hub", "base.x.y", f"Spoke {number}") for number in range(MAX_ENTITY_PATHS + 10)]
    way = [("Hub", "people.person.child", "Middle"), ("Middle", "film.film.cast", "Answer")]
    graph = build_in_memory([*spokes, *way], "star")
    whole = Subgraph(np.arange(graph.n_nodes), np.arange(graph.n_edges))
    local = LocalAdjacency(graph, whole, "both")
    assert asked(local, "Hub", "Answer") == {"people": 0.5, "film": 0.5}


def test_what_is_not_there_is_not_found(local):
    for entity, answers in (
        ("Ann", ("Dog",)),
        ("Nobody", ("One",)),
        ("Ann", ("Nothing",)),
        ("Ann", ()),
    ):
        assert asked(local, entity, *answers) == {NO_PATH_FOUND: 1.0}
