"""The same triples in any order of lines give the same results.

This holds for every row of the catalogue, to the last byte.
"""

from __future__ import annotations

import re

import pytest

from core.comparison.lane_run import LaneListener, LaneRun
from core.environment import Environment
from core.graph.building.build import build
from core.methods.catalogue import catalogue
from core.models.combine import uses_chat
from core.parameters import parameters
from core.sources import GraphSource, SourceQuestion
from core.types import Question
from tests.films import Parrot, Picker, Table, Written
from tests.real_models import registry

# Two films alike in all but their names, each joined to Ann by two relations, and apart from them a pair.
LINES = [
    "One\tdirected_by\tAnn",
    "One\twritten_by\tAnn",
    "Two\tdirected_by\tAnn",
    "Two\twritten_by\tAnn",
    "1999\tyear_of\tDrama",
]


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("orders"), []
    for order, lines in enumerate((LINES, LINES[::-1], LINES[::2] + LINES[1::2])):
        (folder / f"{order}.tsv").write_text("\n".join(lines) + "\n", "utf-8")
        made.append(build(folder / f"{order}.tsv", folder / str(order), "films"))
    return made


SOLVED = (
    Question("who made Two", entities=("Two",), answers=("Ann",)),
)  # without which the case memory has nothing to go by


def told(graph, row):
    """The findings of a row from Ann and 1999, in names. Its scorers find all texts alike."""
    picker = Picker(
        "directed_by",
        "Ann -> directed_by_reverse -> One",
        "One, directed_by, Ann",
        "Ann -> written_by_reverse -> Two",
    )
    line = catalogue()[row].line
    asked = [
        (p, getattr(o, p.name))
        for o in line.parts()
        for p in parameters(type(o))
        if p.model or p.chat
    ]
    named = [name for p, name in asked if name not in p.also]
    models = Written(
        Parrot("One"),
        **{name: picker if uses_chat(name, registry().is_chat) else Table({}) for name in named},
    )
    seeds = tuple(graph.nodes_named(name)[0] for name in ("Ann", "1999"))
    lane = LaneRun(
        SourceQuestion(GraphSource.of(graph), Question("which film is by Ann"), seeds),
        line,
        Environment(models, lambda digest: SOLVED),
    )
    lane.retrieve(LaneListener())
    lane.answer(LaneListener())
    timeless = lambda notes: [re.sub(r" in [\d.]+ s\.", "", note) for note in notes]
    states = [(s.subgraph, s.paths, s.reader, timeless(s.trace[-1].notes)) for s in lane.states]
    return [
        (
            part
            and (
                graph.names(part.nodes),
                graph.triple_texts(part.edges),
                part.scores is not None and part.scores.tolist(),
            ),
            paths is not None and (graph.texts(paths.items), paths.scores),
            reader and graph.names(reader),
            notes,
        )
        for part, paths, reader, notes in states
    ], (lane.state.prompt.messages, lane.state.answer)


@pytest.mark.usefixtures("triples_by_words")
@pytest.mark.parametrize(
    "row", sorted(key for key, one in catalogue().items() if not one.on_documents)
)
def test_the_order_of_lines_decides_nothing(graphs, row):
    first, *others = (told(graph, row) for graph in graphs)
    for other in others:
        assert other == first


def test_both_relations_of_a_film_are_paths(graphs):
    states, _ = told(graphs[0], "lego-1")
    texts = states[-1][1][0]
    assert texts[:3] == [
        "Ann -> directed_by_reverse -> One",
        "Ann -> written_by_reverse -> One",
        "Ann -> directed_by_reverse -> Two",
    ]
    assert texts[3:] == ["Ann -> written_by_reverse -> Two", "1999 -> year_of -> Drama"]
