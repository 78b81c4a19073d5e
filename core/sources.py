"""What questions are asked of: a graph of triples, or the documents of a corpus; and a question as it is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from core.corpus import Corpus
from core.environment import Environment
from core.errors import BadInput
from core.graph.protocol import KnowledgeGraph
from core.types import Question


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

    def built(self, environment: Environment, build: str, check: Callable[[], None], progress: Callable[[str, float | None], None]) -> Any:
        """The graph that a build made of it. Raises BadInput on triples, and StoreError where it is not built."""
        raise NotImplementedError


class GraphSource(Source):
    """A graph of triples, which all lanes share."""

    documents = False

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> GraphSource:
        """The source of an opened graph."""
        return cls(graph.name, graph)

    def built(self, environment: Environment, build: str, check: Callable[[], None], progress: Callable[[str, float | None], None]) -> Any:
        raise BadInput(f"This method stands on the graph “{build}” of documents, and “{self.name}” is none; ask a corpus.")


class CorpusSource(Source):
    """The documents of a corpus: each lane runs on the graph that its line names, or else on that of the chunks alone."""

    documents = True

    @classmethod
    def of(cls, corpus: Corpus, graph: KnowledgeGraph) -> CorpusSource:
        """The source of an opened corpus and the graph of its chunks."""
        return cls(corpus.name, graph, corpus)

    def built(self, environment: Environment, build: str, check: Callable[[], None], progress: Callable[[str, float | None], None]) -> Any:
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
