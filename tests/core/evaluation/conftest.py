"""An engine over the films graph, and plans for it, with a home of the test's own."""

from types import SimpleNamespace

import pytest

from core.engine import Engine
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.plan import DrawnQuestion, Plan
from core.evaluation.runs.store import Store, evaluations_file
from core.methods.catalogue import Method
from core.operators.text import parse_line
from core.sources import GraphSource
from core.types import Question

LINE = "EgoNetwork() >> ShortestPaths() >> Rank(keep={keep}) >> Answer()"


@pytest.fixture
def bench(kit, tmp_path, monkeypatch):
    """`bench.engine`, `bench.plan("a=LINE", ...)`, `bench.run(plan)` giving the ended job, and `bench.store()`."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    engine = Engine(kit.Written(encoder=kit.Table({"One -> has_genre -> Drama": 1.0})))
    store = Store(evaluations_file())
    films = str(kit.graph.folder)
    questions = (
        Question("genre of One", "q-1", ("One",), ("Drama",), 1),
        Question("director of Two", "q-2", ("Two",), ("Ann",), 1),
        Question("genre of what Ann directed", "q-3", ("Ann",), ("Drama", "Comedy"), 2),
        Question("who is Nobody", "q-4", ("Nobody",), ("Ann",), 1),
    )

    def method(key, text):
        return Method(key, key.upper(), parse_line(text))

    def plan(*methods, questions=questions, **wishes):
        lines = methods or (method("two", LINE.format(keep=2)), method("one", LINE.format(keep=1)))
        drawn = tuple(
            DrawnQuestion(question, "films-set", GraphSource(films)) for question in questions
        )
        return Plan(lines, drawn, "films-set", 10, ((films, kit.graph.digest),), **wishes)

    def run(plan, again=False):
        job = evaluate(engine, store, plan, again)
        assert job.wait(120), "the job did not end"
        return job

    yield SimpleNamespace(
        engine=engine,
        models=engine.models,
        plan=plan,
        run=run,
        store=lambda: store,
        method=method,
        questions=questions,
    )
    engine.evaluations.stop()
    store.close()
