"""Every row of the catalogue runs.

It does so with written-down models, with the real encoder, and with the engine of the real language
model, which itself answers in one row.
"""

from __future__ import annotations

import pytest

from core.comparison.lane_run import LaneListener, LaneRun
from core.environment import Environment
from core.errors import ModelUnavailable
from core.io.home import models_folder
from core.methods.catalogue import catalogue
from core.models.combine import model_names, uses_chat
from core.models.registry import Registry
from core.operators import OPERATORS
from core.parameters import parameters
from core.sources import GraphSource, SourceQuestion
from core.types import Question
from tests.real_models import TINY_MODEL, registry

ROWS = sorted(key for key, one in catalogue().items() if not one.on_documents)
# Each kind of use of the encoder on few texts. Others rank thousands, which test_recorded_answers
# does with exact vectors.
SCORED = ["lego-10", "lego-14", "lego-14-triple"]
# With the language model, also for the answer, which all rows ask for alike.
ANSWERED = ["lego-1", "lego-15", "language-model-only"]
# With the language model while retrieving.
CHOSEN = [*(f"lego-{n}" for n in (3, 4, 5, 7, 8, 9, 11, 13)), "lego-14-llm-stopped"]
# Paths only where a language model says sensible things.
SAID = ["tog", "tog-bm25", "tog-embeddings", "rog", "rog-trained"]
# Without it the case memory has nothing to go by.
SOLVED = (Question("year of Two", entities=("Two",), answers=("1999",)),)


def run(graph, models, row, seeds, text, model=True):
    lane = LaneRun(
        SourceQuestion(GraphSource.of(graph), Question(text), seeds, uses_model=model),
        catalogue()[row].line,
        Environment(models, lambda digest: SOLVED),
    )
    lane.retrieve(LaneListener())
    lane.answer(LaneListener())
    return lane.state


def asked(line):
    """The expressions and names of the models that a line asks before the answer."""
    for operator in line.parts():
        for parameter in parameters(type(operator)):
            value = getattr(operator, parameter.name)
            if (parameter.model or parameter.chat) and value not in parameter.also:
                yield value


@pytest.mark.usefixtures("triples_by_words")
@pytest.mark.parametrize("row", ROWS)
def test_every_row_with_written_down_models(kit, row):
    picker = kit.Picker(
        "has_genre",
        "directed_by",
        "One, has_genre, Drama",
        "One -> has_genre -> Drama",
        "One -> directed_by -> Ann",
    )
    table = kit.Table({"One -> has_genre -> Drama": 1.0})
    choosers = {
        name: picker if uses_chat(name, registry().is_chat) else table
        for name in asked(catalogue()[row].line)
    }
    state = run(kit.graph, kit.Written(**choosers), row, (kit.node("One"),), "genre of One")
    assert state.answer == "Drama" and [step.operator for step in state.trace][-1] == "Answer"
    if catalogue()[row].line.operators[0].stage == "extract" and row not in SAID:
        assert "One -> has_genre -> Drama" in [kit.graph.text(path) for path in state.paths.items]


@pytest.fixture(scope="module")
def with_tiny_chat(tmp_path_factory):
    """The real models, and the embedded engine with a tiny language model."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_MODELS", str(models_folder()))
        patch.setenv("HOPSCOPE_HOME", str(home))
        models = Registry()
        models.add(
            "tiny",
            "chat",
            "llama",
            serves=["answer", "choose"],
            file=str(TINY_MODEL),
            context=16_000,
        )
    yield models
    models.close()


@pytest.mark.parametrize("row", ROWS)
def test_every_row_with_the_real_models_on_five_nodes(kit, with_tiny_chat, row):
    needed = {
        name for expression in asked(catalogue()[row].line) for name in model_names(expression)
    }
    absent = [
        info.how_to_get for name in sorted(needed) if not (info := registry().info(name)).present
    ]
    if absent:
        with pytest.raises(ModelUnavailable, match="not on this computer|cannot run here"):
            run(kit.graph, registry(), row, (kit.node("One"),), "what genre is the film One")
        pytest.skip(absent[0])
    answer = row in ANSWERED
    if (
        not answer
        and row not in CHOSEN
        and any(uses_chat(name, registry().is_chat) for name in needed)
    ):
        pytest.skip("its language model is asked as in the rows that are answered")
    models = registry() if row == "language-model-only" else with_tiny_chat
    state = run(kit.graph, models, row, (kit.node("One"),), "what genre is the film One", answer)
    assert (
        state.prompt
        and all(step.seconds >= 0 for step in state.trace)
        and bool(state.answer) == answer
    )


@pytest.mark.parametrize("row", SCORED)
def test_rows_with_the_real_encoder_on_the_movie_graph(movies, row):
    from core.graph.names.lookup import name_lookup

    state = run(
        movies,
        registry(),
        row,
        (name_lookup(movies).find("Inception"),),
        "which person directed the movie Inception",
        model=False,
    )
    found = {movies.node_name(node) for path in state.paths.items for node in path.nodes}
    assert "Christopher Nolan" in found and len(state.subgraph.nodes) <= 1000


def test_chain_ranking_answers_who_directed_a_film(movies):
    from core.graph.names.lookup import name_lookup

    for text in (
        "which person directed the movie Inception",
        "who directed Inception",
        "Inception director",
    ):
        state = run(
            movies,
            registry(),
            "chain-ranking",
            (name_lookup(movies).find("Inception"),),
            text,
            model=False,
        )
        assert movies.names(state.reader) == ["Christopher Nolan"], text


def test_every_operator_explains_its_parameters():
    for cls in OPERATORS.values():
        assert cls.__doc__ and cls.title and cls.stage
        for parameter in parameters(cls):
            assert parameter.label and parameter.help.endswith("."), (cls.__name__, parameter.name)
