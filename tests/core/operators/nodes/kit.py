"""A corpus graph of seven documents, a reranker with fixed hidden states, and a line runner.

a -- b    a -- c    b -- d    c -- d    d -- e    f alone    g alone
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from core.environment import Environment
from core.graph.building.text_graph import assemble
from core.graph.columns import Table
from core.models.heads import Head
from core.operators.base import Context
from core.operators.text import parse_line
from core.types import Question, State
from tests.films import Bag, Parrot

TEXTS = {
    "a": "apples and pears",
    "b": "pears and plums",
    "c": "apples in cider",
    "d": "plums in brandy",
    "e": "brandy from wine",
    "f": "wine and cheese",
    "g": "figs",
}
LINKS = [("a", "b"), ("c", "a"), ("b", "d"), ("d", "c"), ("d", "e")]


def corpus_graph(texts=None, links=LINKS):
    """A corpus graph of these texts."""
    texts = texts or TEXTS
    ids = sorted(texts)
    chunks = Table.from_columns(
        id=ids,
        document=ids,
        title=[""] * len(ids),
        text=[texts[id] for id in ids],
        tokens=[3] * len(ids),
    )
    nodes = {
        "type": ["document"] * len(ids),
        "description": [""] * len(ids),
        "level": [0] * len(ids),
    }
    nodes["chunks"] = [[row] for row in range(len(ids))]
    triples = [(a, "links to", b) for a, b in links]
    return assemble("fruit", ids, triples, nodes, {"weight": [1.0] * len(triples)}, chunks)


@dataclass
class Reranker:
    """A reranker with two hidden numbers per text.

    Its head has one relu layer and scores a text max(0, x + y) - max(0, -x).
    """

    states: dict[str, tuple[float, float]]
    asked: list[str] = field(default_factory=list)
    units: set[str] = field(default_factory=set)

    head = Head(
        (
            (np.array([[1.0, 1.0], [-1.0, 0.0]]), np.zeros(2)),
            (np.array([[1.0, -1.0]]), np.zeros(1)),
        ),
        "relu",
    )

    def hidden(self, task, texts):
        self.asked += list(texts)
        self.units.add(task.unit)
        return np.array([self.states.get(text, (0.0, 0.0)) for text in texts], np.float32).reshape(
            len(texts), 2
        )

    def score(self, task, texts):
        return self.head(self.hidden(task, texts))


class RerankerModels:
    """Models whose rerankers are all one, with an encoder that counts words."""

    def __init__(self, reranker=None, chat=None):
        self.reranker, self._chat = reranker, chat or Parrot("")

    def chooser(self, expression):
        return self.reranker

    def title(self, name):
        return name

    def encoder(self, name="encoder"):
        return Bag()

    def chat(self, role="answer"):
        return self._chat


def run(line, question="apples", graph=None, models=None, answering=True, **given):
    """Return the state after a line, given as text or operators, on the graph.

    `given` are fields of the first state. Without `answering` no language model is asked.
    """
    state = State(Question(question)).replace(**given)
    context = Context(
        graph or corpus_graph(),
        Environment(models or RerankerModels(Reranker({}))),
        answering=answering,
    )
    for operator in parse_line(line) if isinstance(line, str) else line:
        state = operator(state, context)
    return state


def named(graph, *names):
    """Return the ids of the named nodes."""
    return tuple(graph.nodes_named(name)[0] for name in names)
