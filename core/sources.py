"""What questions are asked of: a graph of triples, or the documents of a corpus; and a question as it is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

from core.corpus import Corpus, open_corpus
from core.environment import Environment
from core.errors import BadInput
from core.graph.names.seeds import check_question, seeds_of
from core.graph.protocol import KnowledgeGraph
from core.runtime.meter import silent
from core.types import Question

Progress = Callable[[str, float | None], None]


class Opener(Protocol):
    """What opens graphs: an engine."""

    environment: Environment

    def graph(self, name: str, progress: Progress | None = None) -> Any: ...


@dataclass(frozen=True)
class Source:
    """What a question is asked of, by its name. `graph` is the one on which lines run that name no build, once it is open; `corpus` its
    documents, where it has some and they are here."""

    name: str
    graph: Any = field(default=None, compare=False, repr=False)
    corpus: Corpus | None = field(default=None, compare=False, repr=False)
    documents: ClassVar[bool]  # whether lines on documents run on it, rather than those on triples

    def __contains__(self, document: str) -> bool:
        return self.corpus is not None and document in self.corpus

    def open(self, engine: Opener, progress: Progress = silent, check: Callable[[], None] = lambda: None) -> Source:
        """The same source with its graph open, which is built first where it is not yet there. Raises BadInput, StoreError."""
        raise NotImplementedError

    def ask(self, question: Question, seed: int = 0, reader: bool = True, model: bool = True) -> Ask:
        """A question to the opened source, checked and ready to be run. Raises BadInput, UnknownEntity."""
        raise NotImplementedError

    def built(self, environment: Environment, build: str, check: Callable[[], None], progress: Progress) -> Any:
        """The graph that a build made of it. Raises BadInput on triples, and StoreError where it is not built."""
        raise NotImplementedError


class GraphSource(Source):
    """A graph of triples, which all lanes share."""

    documents = False

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> GraphSource:
        """The source of an opened graph."""
        return cls(graph.name, graph)

    def open(self, engine: Opener, progress: Progress = silent, check: Callable[[], None] = lambda: None) -> Source:
        return self if self.graph is not None else replace(self, graph=engine.graph(self.name, progress))

    def ask(self, question: Question, seed: int = 0, reader: bool = True, model: bool = True) -> Ask:
        text = check_question(question.text)
        seeds = seeds_of(self.graph, text, question.entities)
        text = text if question.entities else text.replace("[", "").replace("]", "")
        return Ask(self, replace(question, text=text, entities=tuple(self.graph.names(seeds))), seeds, seed, reader, model)

    def built(self, environment: Environment, build: str, check: Callable[[], None], progress: Progress) -> Any:
        raise BadInput(f"This method stands on the graph “{build}” of documents, and “{self.name}” is none; ask a corpus.")


class CorpusSource(Source):
    """The documents of a corpus: each lane runs on the graph that its line names, or else on that of the chunks alone."""

    documents = True

    @classmethod
    def of(cls, corpus: Corpus) -> CorpusSource:
        """The source of an opened corpus."""
        return cls(corpus.name, corpus=corpus)

    def open(self, engine: Opener, progress: Progress = silent, check: Callable[[], None] = lambda: None) -> Source:
        if self.graph is not None:
            return self
        corpus = open_corpus(self.name, check) if self.corpus is None else self.corpus
        return replace(self, corpus=corpus, graph=engine.environment.built(corpus, check=check))

    def ask(self, question: Question, seed: int = 0, reader: bool = True, model: bool = True) -> Ask:
        return Ask(self, replace(question, text=check_question(question.text)), (), seed, reader, model)

    def built(self, environment: Environment, build: str, check: Callable[[], None], progress: Progress) -> Any:
        return environment.built(self.corpus, build, check, progress)


@dataclass(frozen=True)
class Ask:
    """One question to one source, as every lane gets it."""

    source: Source
    question: Question
    seeds: tuple[int, ...]
    seed: int = 0
    reader: bool = True
    model: bool = True

    def key(self, models: str) -> tuple:
        """What a computed state depends on, beside its operators."""
        return (self.source.graph.digest, self.question.text, self.question.abstract, self.seeds, self.seed, models)

    def same(self, other: Ask) -> bool:
        """Whether the other asks the same, of the same source and to the same readers, so that what it came to is what this comes to."""
        parts = lambda ask: (
            ask.key(""),
            set(ask.question.answers),
            set(ask.question.gold),
            ask.question.aliases,
            ask.reader,
            ask.model,
            ask.source.documents,
        )
        return parts(self) == parts(other)
