"""A separate user folder for every test, and a finished comparison on five nodes."""

from __future__ import annotations

import pytest

from core.engine import Engine
from core.methods.catalogue import Method
from core.operators.text import parse_line
from core.sources import GraphSource
from core.types import Question

LINES = {
    "ranked": "EgoNetwork(hops=2) >> ShortestPaths() >> Rank(keep=1) >> Answer()",
    "beam": "PersonalizedPageRank(keep=4) >> BeamSearch(width=2, hops=2) >> Answer()",
    "broken": "EgoNetwork() >> ShortestPaths() >> Rank(model='bm25')",
}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """An empty user folder."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def compared(kit):
    """A function `compared(text, answers, lanes)` that returns an engine's finished comparison."""
    engine = Engine(kit.Written(encoder=kit.Table({"One -> has_genre -> Drama": 1.0})))

    def make(text="genre of One", answers=("Drama",), lanes=("ranked", "beam")):
        ask = engine.prepare_question(
            GraphSource.of(kit.graph), Question(text, entities=("One",), answers=answers, hops=1)
        )
        job = engine.compare(
            ask, [Method(name, name, parse_line(LINES[name]), notes="n") for name in lanes]
        )
        assert job.wait(120)
        return job.comparison

    yield make
    engine.jobs.stop()
