"""The fifteen instances of the technical report give the same on a graph in the Cypher database as on arrays, byte for byte."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest

from core.comparison.run import LaneRun, Progress
from core.environment import Environment
from core.graph.building.export import export
from core.graph.names.lookup import names
from core.instances.catalogue import catalogue
from core.models.combine import uses_chat
from core.parameters import parameters
from core.sources import Ask, GraphSource
from core.types import Question
from tests.films import Parrot, Picker, Table, Written
from tests.real_models import registry

pytest.importorskip("ladybug", reason="the graph database is not installed")

ROWS = [f"lego-{number}" for number in range(1, 16)]
SCORED = [
    "lego-1",
    "lego-2",
    "lego-6",
    "lego-10",
    "lego-12",
    "lego-14",
]  # no language model while retrieving
ASKED = [
    ("Inception", "which person directed the movie Inception"),
    ("Tom Hanks", "what films of Tom Hanks are there"),
]


class Checksum(Table):
    """A scorer that gives each text a number of its own."""

    def __init__(self):
        super().__init__({})

    def score(self, task, texts):
        return np.array([crc32(text.encode()) / 2**32 for text in texts])


@pytest.fixture(scope="module")
def stored_films(films, tmp_path_factory):
    return export(films, tmp_path_factory.mktemp("films-db") / "g")


@pytest.fixture(scope="module")
def stored_movies(movies, tmp_path_factory):
    return export(movies, tmp_path_factory.mktemp("movies-db") / "g")


def models(row, scorer, picker):
    """What the line asks while retrieving, written down."""
    told = [
        (p, getattr(o, p.name))
        for o in catalogue()[row].line.parts()
        for p in parameters(type(o))
        if p.model or p.chat
    ]
    named = [name for p, name in told if name not in p.also]
    return Written(
        Parrot("Drama"),
        **{name: picker if uses_chat(name, registry().is_chat) else scorer for name in named},
    )


def run(graph, row, seed, text, given):
    lane = LaneRun(
        Ask(GraphSource.of(graph), Question(text), (seed,)),
        catalogue()[row].line,
        Environment(given),
    )
    lane.retrieve(Progress())
    lane.answer(Progress())
    return lane


def told(lane):
    """Everything that a run leaves behind but its seconds."""
    part = lambda values: None if values is None else values.tolist()
    ranking = lambda found: None if found is None else (found.items, found.scores)
    return [
        (
            s.subgraph
            and (part(s.subgraph.nodes), part(s.subgraph.edges), part(s.subgraph.scores)),
            ranking(s.paths),
            s.reader,
            s.prompt and s.prompt.messages,
            s.answer,
            s.trace[-1].notes,
            [
                (frame.title, frame.considered, ranking(frame.ranking))
                for frame in s.trace[-1].frames
            ],
            ranking(s.trace[-1].before_cut),
        )
        for s in lane.states
    ]


@pytest.mark.parametrize("row", ROWS)
def test_all_fifteen_on_five_nodes(films, stored_films, row):
    picker = Picker(
        "has_genre", "directed_by", "One -> has_genre -> Drama", "One -> directed_by -> Ann"
    )
    given = models(row, Table({"One -> has_genre -> Drama": 1.0, "has_genre": 0.5}), picker)
    ours, theirs = (
        run(graph, row, names(films).find("One"), "genre of One", given)
        for graph in (stored_films, films)
    )
    assert told(ours) == told(theirs)
    assert ours.state.answer == "Drama" and "One -> has_genre -> Drama" in stored_films.texts(
        ours.state.paths.items
    )


@pytest.mark.parametrize("row", SCORED)
@pytest.mark.parametrize("entity, question", ASKED)
def test_those_without_a_language_model_on_the_movie_graph(
    movies, stored_movies, row, entity, question
):
    given = models(row, Checksum(), Picker())
    ours, theirs = (
        run(graph, row, names(movies).find(entity), question, given)
        for graph in (stored_movies, movies)
    )
    assert (
        len(ours.state.subgraph.nodes) > 3 and len(ours.state.paths) and told(ours) == told(theirs)
    )


def test_the_movie_graph_is_read_where_a_question_needs_it(stored_movies):
    from core.graph.storage.database import DatabaseGraph

    fresh = DatabaseGraph.open(stored_movies.folder)
    (node,) = fresh.nodes_named("Inception")
    assert fresh.names([node]) == ["Inception"] and 0 < len(fresh.steps(node)[0]) == fresh.degree(
        node
    )
    assert "_adjacency" not in vars(fresh) and len(fresh._seen._parts[0][0]) < 100
