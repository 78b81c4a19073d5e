"""The question sets of what is asked: those of a graph's data set, or of a corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from core.corpus import open_corpus
from core.datasets import dataset_of
from core.errors import HopscopeError
from core.types import Question
from pages.parts.shared.session import corpus_name, graph_name

FIRST = 3


@dataclass(frozen=True)
class Sets:
    """Question sets by name: their titles, their questions, questions to begin with, and how one is drawn from a set."""

    titles: Mapping[str, str]
    examples: tuple[str, ...]
    questions: Callable[[str], Sequence[Question]]
    draw: Callable[[str, int], Question]
    graph: Callable[[str, Question], str] = lambda name, question: ""  # the graph that a question is asked of, where it is another

    def named(self, text: str) -> Question | None:
        """The question with exactly that text; a set that cannot be read is left out, as choosing it tells why."""
        for name in reversed(self.titles):
            try:
                found = next((question for question in self.questions(name) if question.text == text), None)
            except HopscopeError:
                continue
            if found is not None:
                return found
        return None


def corpus_sets() -> Sets | None:
    """The sets of the chosen corpus; None where a graph is chosen, or the corpus cannot be opened."""
    try:
        corpus = open_corpus(corpus_name()) if corpus_name() else None
    except HopscopeError:  # said where the corpus is opened
        return None
    if corpus is None:
        return None
    draw = lambda name, seed: Random(seed).choice(corpus.questions(name))
    first = next(iter(corpus.sets), None)
    examples = corpus.examples or (tuple(one.text for one in corpus.questions(first)[:FIRST]) if first else ())
    return Sets(corpus.sets, examples, corpus.questions, draw)


def sets() -> Sets | None:
    """The sets of the chosen corpus or graph; None where it has none."""
    if corpus_name():
        return corpus_sets()
    dataset = dataset_of(graph_name())
    if dataset is None or not dataset.sets:
        return None
    titles = {name: one.title for name, one in dataset.sets.items()}
    return Sets(titles, dataset.examples, dataset.questions, dataset.draw, dataset.graph_name)
