"""The examples in the docstrings of `core` give what they say; every operator and every metric has one.

Names that an example finds: `toy` (A>B A>C B>C C>A C>D E>A D>D with the relations r0 .. r6), `story` (the graph made of texts of
tests/core/operators/texts/kit.py: five people of a Christmas Carol), `np`, `answers(line, *entities)` (the texts of
the paths that a line finds on it), `retrieve(line, *entities)` (the state it leaves), both with `question="..."` and `graph=...` where
these matter; and the models written down for a line that asks one: `models=scores({"text": 0.9})`, `models=picks("text")`,
`models=says("reply")`, all with an encoder that counts words. Whatever else it needs it imports. The person's folder is an empty one.
"""

from __future__ import annotations

import doctest
import importlib
import re

import numpy as np
import pytest

from core.environment import Environment
from core.evaluation.metrics.catalogue import ALL_METRICS
from core.io.home import ROOT
from core.models.base import NoModels
from core.operators import OPERATORS
from core.operators.base import Context
from core.operators.branch import Branch
from core.operators.text import parse_line
from core.types import Question, State
from tests.core.operators.texts.kit import story
from tests.films import Parrot, Picker, Table, Written

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FILES = [
    path for path in sorted((ROOT / "core").rglob("*.py")) if ">>> " in path.read_text("utf-8")
]


class One(Written):
    """Models of which every chooser, whatever its name, is the same one."""

    def __init__(self, chooser=None, chat=None):
        super().__init__(chat)
        self.one = chooser or Table({})

    def chooser(self, expression):
        return self.one


def scores(table: dict[str, float]) -> One:
    """Models of which every scorer reads its scores from the table; what is not in it scores 0."""
    return One(Table(table))


def picks(*texts: str) -> One:
    """Models of which every chooser picks these texts, in this order."""
    return One(Picker(*texts))


def says(text: str) -> One:
    """Models of which every language model replies this text."""
    return One(chat=Parrot(text))


def examples() -> list[doctest.DocTest]:
    """Every object of `core` with an example in its docstring."""
    found = []
    for path in FILES:
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        found += [
            test
            for test in doctest.DocTestFinder(exclude_empty=True).find(
                importlib.import_module(name), globs={}
            )
            if test.examples
        ]
    return found


EXAMPLES = examples()


def failures(example: doctest.DocTest) -> str:
    """Return what an example gave otherwise than it says.

    The text is empty where all is as it says.
    """
    texts: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(example, out=texts.append)
    return "".join(texts)


@pytest.fixture
def names(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))

    def retrieve(line, *entities, models=None, question="a question", graph=toy):
        seeds = tuple(node for entity in entities for node in graph.nodes_named(entity))
        state, context = (
            State(Question(question), seeds),
            Context(graph, Environment(models or NoModels())),
        )
        for operator in parse_line(line):
            state = operator(state, context)
        return state

    def answers(line, *entities, graph=toy, **more):
        return graph.texts(retrieve(line, *entities, graph=graph, **more).paths.items)

    return dict(
        toy=toy,
        story=story(),
        np=np,
        retrieve=retrieve,
        answers=answers,
        scores=scores,
        picks=picks,
        says=says,
    )


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_example_gives_what_it_says(example, names):
    example.globs = dict(names)
    assert not failures(example)


def test_every_example_is_run():
    """An example where doctest does not look, as in a string that is no docstring, would prove nothing."""
    written = sum(
        line.lstrip().startswith(">>> ") and not line.lstrip().startswith(">>> #")
        for path in FILES
        for line in path.read_text("utf-8").splitlines()
    )
    assert sum(len(test.examples) for test in EXAMPLES) == written


@pytest.mark.parametrize(
    "operator", [*OPERATORS.values(), Branch], ids=lambda operator: operator.__name__
)
def test_every_operator_has_an_example(operator):
    assert f"{operator.__module__}.{operator.__qualname__}" in {test.name for test in EXAMPLES}


@pytest.mark.parametrize("metric", ALL_METRICS, ids=lambda metric: metric.base)
def test_every_metric_has_an_example(metric):
    """One in the docstrings of core/evaluation that names it, as "path_hit" or "path_hit@1"."""
    said = [
        step.source
        for test in EXAMPLES
        if test.name.startswith("core.evaluation.")
        for step in test.examples
    ]
    assert any(re.search(rf"""["']{metric.base}["'@]""", source) for source in said)
