"""A graph of five nodes, and models whose every answer is written down in the test.

One --directed_by--> Ann      Two --directed_by--> Ann     Two --written_by--> Ann
One --has_genre--> Drama      Two --release_year--> 1999
"""

from __future__ import annotations

from types import SimpleNamespace
from zlib import crc32

import numpy as np
import pytest

from core.environment import Environment
from core.errors import ModelUnavailable
from core.graph.building.build import build
from core.models.base import ChatReply, Choice
from core.operators.base import Context
from core.types import Question, State, Usage
from core.watch import NO_WATCH

TRIPLES = [
    ("One", "directed_by", "Ann"),
    ("Two", "directed_by", "Ann"),
    ("Two", "written_by", "Ann"),
    ("One", "has_genre", "Drama"),
    ("Two", "release_year", "1999"),
]


class Table:
    """A scorer that reads its scores from a table; what is not in it scores 0."""

    def __init__(self, scores: dict[str, float]):
        self.scores, self.seen = scores, []

    def score(self, task, texts):
        self.seen.append(list(texts))
        return np.array([self.scores.get(text, 0.0) for text in texts])

    def choose(self, task, texts, k):
        scores = self.score(task, texts)
        order = np.argsort(-scores, kind="stable")
        best = order if k <= 0 else order[:k]
        return Choice(
            tuple(map(int, best)),
            tuple(map(float, scores[best])),
            tuple(map(int, order)),
            tuple(map(float, scores[order])),
            Usage(texts=len(texts)),
        )


class Picker:
    """A chooser without scores that picks texts by name, in the order named, as a language model does."""

    def __init__(self, *picks: str, note: str = ""):
        self.picks, self.note = picks, note

    def choose(self, task, texts, k):
        found = tuple(list(texts).index(pick) for pick in self.picks if pick in texts)
        return Choice(
            found[:k] if k > 0 else found,
            usage=Usage(1, 10, 2),
            notes=(self.note,) if self.note else (),
        )


class Parrot:
    """A chat model that answers one recorded text; a token is a word."""

    def __init__(self, text: str, context: int = 4096):
        self.text, self.context, self.asked = text, context, []

    def count_tokens(self, messages):
        return sum(len(message["content"].split()) for message in messages)

    def reply(self, messages, *, max_tokens=256, seed=0, on_text=None, watch=NO_WATCH, **_):
        self.asked.append(messages)
        if on_text:
            on_text(self.text)
        return ChatReply(self.text, self.count_tokens(messages), len(self.text.split()))


class Bag:
    """An encoder whose vectors count words, each word on a dimension of its own.

    A token is a word; the words of a text stand between two marks.
    """

    size = 512

    def encode(self, texts, watch=NO_WATCH):
        return np.stack([self._vector(text.lower().split()) for text in texts])

    def encode_tokens(self, texts, watch=NO_WATCH):
        for place, text in enumerate(texts):
            yield (
                [place],
                np.stack([self._vector([word]) for word in ["[", *text.lower().split(), "]"]]),
            )

    def _vector(self, words):
        vector = np.zeros(self.size, np.float32)
        for word in words:
            vector[crc32(word.encode()) % self.size] += 1
        return vector / max(np.linalg.norm(vector), 1e-12)


class Written:
    """Models by name, all written down."""

    def __init__(self, chat=None, **choosers):
        self.choosers, self._chat = choosers, chat or Parrot("Drama")

    def chooser(self, expression):
        if expression not in self.choosers:
            raise ModelUnavailable(f"{expression} is not written down.")
        return self.choosers[expression]

    def chat(self, role="answer"):
        return self._chat

    def encoder(self, name="encoder"):
        return Bag()

    def is_chat(self, name):
        return isinstance(self.choosers.get(name), Picker)

    def info(self, name):
        raise ModelUnavailable(f"{name} is written down.")

    def signature(self, name=None):
        return "written"

    def weights(self, name):
        return "written"

    def title(self, role):
        return "Parrot"


@pytest.fixture(scope="session")
def films(tmp_path_factory):
    return build(
        TRIPLES, tmp_path_factory.mktemp("films") / "films", name="films", direction="both"
    )


@pytest.fixture
def kit(films):
    """`kit.context(**choosers)`, `kit.state("One")`, `kit.texts(state)` and the classes above."""

    def node(name):
        from core.graph.names.lookup import name_lookup

        return name_lookup(films).find(name)

    def state(*seeds):
        return State(Question("a question"), tuple(node(seed) for seed in seeds))

    solved: list[Question] = []  # the person's own

    def context(chat=None, seed=0, **choosers):
        return Context(films, Environment(Written(chat, **choosers), lambda digest: solved), seed)

    def texts(after):
        return [films.text(path) for path in after.paths.items]

    return SimpleNamespace(
        graph=films,
        solved=solved,
        node=node,
        state=state,
        context=context,
        texts=texts,
        Table=Table,
        Picker=Picker,
        Parrot=Parrot,
        Written=Written,
    )
