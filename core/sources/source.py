"""What a question is asked of, and the question as it is asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from core.corpus import Corpus, Shipped
from core.corpus.mends import Mends
from core.datasets import Dataset
from core.environment import Environment
from core.errors import HopscopeError
from core.graph.edits import Edit
from core.graph.protocol import KnowledgeGraph
from core.types import Question
from core.watch import NO_WATCH, Watch

FIRST = 3  # questions of a set that are examples where none are named


class Opener(Protocol):
    """What opens graphs: an engine."""

    environment: Environment

    def graph(self, name: str, watch: Watch = NO_WATCH) -> Any: ...


@dataclass(frozen=True)
class Source(ABC):
    """What a question is asked of, by its name. `graph` is the one on which lines run that name no build, once it is open; `corpus` its
    documents, where it has some and they are here."""

    name: str
    graph: Any = field(default=None, compare=False, repr=False)
    corpus: Corpus | None = field(default=None, compare=False, repr=False)
    # changes that its graphs are asked with
    edits: tuple[Edit, ...] = field(default=(), compare=False, repr=False)
    kind: ClassVar[str]  # its key in addresses
    is_corpus: ClassVar[bool]  # whether lines on documents run on it, rather than those on triples
    noun: ClassVar[str]  # what sentences call it
    stages: ClassVar[tuple[str, ...]]  # of its lanes' funnel
    usual_methods: ClassVar[tuple[str, ...]]  # ids of the instances that answer where none is named
    usual_lanes: ClassVar[tuple[str, ...]]  # ids of those that are compared
    marks: ClassVar[str]  # begins the text by which evaluations save it

    def __contains__(self, passage: str) -> bool:
        return False

    @property
    def graph_name(self) -> str:
        """The name of the graph of triples; empty for a corpus."""
        return ""

    @property
    def corpus_name(self) -> str:
        """The name of the corpus; empty for a graph."""
        return ""

    @property
    def documents(self) -> Container[str]:
        """The ids of its documents, none of a graph. Raises BadInput, StoreError where they are not here."""
        return ()

    @property
    def mends(self) -> Mends:
        """The merges that are saved for its graphs. Raises StoreError."""
        return Mends()

    @abstractmethod
    def digest(self, open_graph: Callable[[str], KnowledgeGraph]) -> str:
        """The digest of the graph, which is opened, or of the corpus. Raises BadInput, StoreError."""

    @property
    def removed(self) -> frozenset[str]:
        """The ids of the documents that are taken away."""
        return frozenset(edit.names[0] for edit in self.edits if edit.kind == "passage")

    @property
    def parameters(self) -> dict[str, str]:
        """What names it in an address, as `source_in` reads it."""
        return {self.kind: self.name}

    @property
    def saved_as(self) -> str:
        """The text by which evaluations save it, which `read_source` reads."""
        return f"{self.marks}{self.name}"

    @property
    def here(self) -> bool:
        """Whether there is such a source, so that it can be asked."""
        return self._known() is not None

    @property
    def title(self) -> str:
        """What choosers show; the name of one that is not here or is damaged."""
        known = self._known()
        return known.title if known is not None else self.name

    @property
    @abstractmethod
    def sets(self) -> Mapping[str, str]:
        """The titles of its question sets by name."""

    @property
    def examples(self) -> tuple[str, ...]:
        """Questions to begin with: those that it names, else the first of its first set; none where that cannot be read."""
        known = self._known()
        if known is None or known.examples or not known.sets:
            return () if known is None else known.examples
        try:
            return tuple(
                question.text for question in self.questions(next(iter(known.sets)))[:FIRST]
            )
        except HopscopeError:  # said where the source is opened
            return ()

    @abstractmethod
    def questions(self, set_name: str) -> Sequence[Question]:
        """The questions of one of its sets. Raises BadInput, StoreError."""

    @abstractmethod
    def draw(self, set_name: str, seed: int) -> Question:
        """One question of a set, the same for the same seed. Raises as `questions` does."""

    @abstractmethod
    def named(self, text: str) -> Question | None:
        """The question of its sets with exactly that text; a set that cannot be read is left out, as choosing it says why."""

    def asked_on(self, set_name: str, question: Question) -> Source:
        """The source that a question of a set is asked on: this one, or the graph of the question alone."""
        return self

    @abstractmethod
    def _known(self) -> Dataset | Corpus | Shipped | None:
        """Its description; None where it is not here."""

    @abstractmethod
    def open(self, engine: Opener, watch: Watch = NO_WATCH) -> Source:
        """The same source with its graph open, which is built first where it is not yet there, and edited. Raises BadInput, StoreError."""

    @abstractmethod
    def ask(
        self,
        question: Question,
        seed: int = 0,
        reader: bool = True,
        model: bool = True,
        watch: Watch = NO_WATCH,
    ) -> Ask:
        """A question to the opened source, checked and ready to be run; of a database that is asked live what it needs is fetched. Raises
        BadInput, UnknownEntity, and what `watch` raises."""

    @abstractmethod
    def built(
        self,
        environment: Environment,
        build: str,
        watch: Watch = NO_WATCH,
        mended: bool = True,
        make: bool = False,
    ) -> Any:
        """The graph that a build made of it, with the merges that are saved for it (`mended`), then its edits. Raises BadInput on triples,
        and StoreError where it is not built and, with `make`, cannot be soon."""


@dataclass(frozen=True)
class Ask:
    """One question to one source, as every lane gets it. Where not `whole`, vectors that are still being made are searched as far as they
    are there."""

    source: Source
    question: Question
    seeds: tuple[int, ...]
    seed: int = 0
    reader: bool = True
    model: bool = True
    whole: bool = True

    def key(self, models: str) -> tuple:
        """What a computed state depends on, beside its operators."""
        return (
            self.source.graph.digest,
            self.question.text,
            self.question.abstract,
            self.seeds,
            self.seed,
            models,
        )

    def same(self, other: Ask) -> bool:
        """Whether the other asks the same, of the same source and to the same readers, so that what it came to is what this comes to."""
        parts = lambda ask: (
            ask.key(""),
            set(ask.question.answers),
            set(ask.question.gold),
            ask.question.aliases,
            ask.reader,
            ask.model,
            ask.source.kind,
        )
        return parts(self) == parts(other)
