"""Every row on documents answers a shipped question with the models that come along.

The question is put to a part of a shipped corpus, and no language model is asked. Whole ones are
opened in `tests.core.builds.test_shipped_data`; to read all of one with these models takes minutes.
"""

from __future__ import annotations

import pytest

from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.corpus import Corpus, open_corpus, write_corpus
from core.engine import Engine
from core.io.home import models_folder
from core.methods.catalogue import catalogue
from core.methods.model_needs import missing_models
from core.models.registry import Registry
from core.sources import CorpusSource
from tests.real_models import no_layers

__all__ = ["no_layers"]

CORPUS = {"Documents": "hotpotqa", "Corpus graphs": "cacm"}
ROWS = sorted(key for key, one in catalogue().items() if one.on_documents)
FINDS_NOTHING = ("zero-shot",)
PART = 10  # documents: those that the first question needs, and the first others


def part(name: str, folder) -> Corpus:
    """A few documents of a shipped corpus with its first question.

    They stand under the name of the corpus, by which what it ships of its chunks is found.
    """
    whole = open_corpus(name)
    first, gold = whole.questions(name)[0], whole.questions(name)[0].gold
    ids = [*gold, *(id for id in whole.ids if id not in gold)][:PART]
    sets = {name: (whole.sets[name], [first])}
    return write_corpus(
        folder / name,
        map(whole.document, ids),
        whole.title,
        sets=sets,
        own=False,
        links=whole.links,
    )


@pytest.fixture(scope="module")
def asked(tmp_path_factory, no_layers):
    """`asked(corpus)` puts the first question of a corpus to a part of it.

    All rows share one home, so that graphs are built once.
    """
    patch, engine, made = pytest.MonkeyPatch(), Engine(Registry()), {}
    patch.setenv("HOPSCOPE_MODELS", str(models_folder()))
    patch.setenv("HOPSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
    folder = tmp_path_factory.mktemp("parts")

    def ask(name: str):
        if name not in made:
            corpus = part(name, folder)
            made[name] = engine.prepare_question(
                CorpusSource.of(corpus),
                corpus.questions(name)[0],
                uses_model=False,
                uses_reader=False,
            )
        return engine, made[name]

    yield ask
    engine.jobs.stop()
    patch.undo()


@pytest.mark.parametrize("row", ROWS)
def test_a_row_retrieves_from_a_shipped_corpus(asked, row):
    method = catalogue()[row]
    engine, ask = asked(CORPUS[method.group])
    if absent := missing_models(method.line, engine.models, answering=False):
        pytest.skip(absent[0])
    lane = LaneRun(ask, method.line, engine.environment, PrefixCache())
    lane.retrieve(LaneListener())
    lane.answer(LaneListener())
    state = lane.state
    hits = [
        hit
        for found in (state.nodes, state.relations, state.chunks, state.communities)
        if found is not None
        for hit in found.items
    ]
    assert bool(hits) != (row in FINDS_NOTHING)
    assert state.answer is None and ask.question.text in state.prompt.messages[-1]["content"]
    assert not any(step.usage.calls for step in state.trace)
