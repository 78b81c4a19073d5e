"""Every row of the catalogue runs: with written-down models, with the real encoder, and with the real language model."""

from __future__ import annotations

import pytest

from core.instances.catalogue import catalogue
from core.models.registry import shared
from core.operators import OPERATORS
from core.run import Ask, LaneRun, Progress
from core.types import Question

ROWS = sorted(catalogue())
SCORED = ["lego-1", "lego-2", "lego-6", "lego-10", "lego-12", "lego-14"]  # no language model while retrieving


def run(graph, models, row, seeds, text, model=True):
    lane = LaneRun(Ask(graph, Question(text), seeds, model=model), catalogue()[row].line, models)
    lane.retrieve(Progress())
    lane.answer(Progress())
    return lane.state


@pytest.mark.parametrize("row", ROWS)
def test_every_row_with_written_down_models(kit, row):
    encoder = kit.Table({"One -> has_genre -> Drama": 1.0})
    models = kit.Written(
        encoder=encoder,
        **{
            "prefilter(encoder, choose, 32)": kit.Picker("One -> has_genre -> Drama"),
            "prefilter(encoder, choose, 64)": kit.Picker(
                "has_genre", "directed_by", "One -> has_genre -> Drama", "One -> directed_by -> Ann"
            ),
        },
    )
    state = run(kit.graph, models, row, (kit.node("One"),), "genre of One")
    assert state.answer == "Drama" and [step.operator for step in state.trace][-1] == "Answer"
    if catalogue()[row].line.operators[0].stage == "extract":
        assert "One -> has_genre -> Drama" in [kit.graph.text(path) for path in state.paths.items]


@pytest.mark.parametrize("row", ROWS)
def test_every_row_with_the_real_models_on_five_nodes(kit, row):
    chat = shared().info("answer")
    if not chat.present:
        pytest.skip(chat.how_to_get)
    state = run(kit.graph, shared(), row, (kit.node("One"),), "what genre is the film One")
    assert state.answer and all(step.seconds >= 0 for step in state.trace)


@pytest.mark.parametrize("row", SCORED)
def test_rows_with_the_real_encoder_on_the_movie_graph(movies, row):
    from core.graph.lookup import names

    state = run(movies, shared(), row, (names(movies).find("Inception"),), "which person directed the movie Inception", model=False)
    found = {movies.node_name(node) for path in state.paths.items for node in path.nodes}
    assert "Christopher Nolan" in found and len(state.subgraph.nodes) <= 1000


def test_every_operator_explains_its_parameters():
    from core.operators.base import parameters

    for cls in OPERATORS.values():
        assert cls.__doc__ and cls.title and cls.stage
        for parameter in parameters(cls):
            assert parameter.label and parameter.help.endswith("."), (cls.__name__, parameter.name)
