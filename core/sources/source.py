"""Sources of answers (graphs and corpora), and questions to them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from core.corpus import Corpus, ShippedCorpus
from core.corpus.entity_merges import EntityMerges
from core.datasets import Dataset
from core.environment import Environment
from core.errors import HopscopeError
from core.graph.edits import Edit
from core.graph.protocol import KnowledgeGraph
from core.types import Question
from core.watch import NO_WATCH, Watch

MAX_EXAMPLE_QUESTIONS = 3  # taken from a question set if a source names no examples


class GraphOpener(Protocol):
    """An object that opens graphs, such as an engine.

    Methods
    -------
    graph(name, watch) : open the graph of that name.
    """

    environment: Environment

    def graph(self, name: str, watch: Watch = NO_WATCH) -> Any: ...


@dataclass(frozen=True)
class AnswerSource(ABC):
    """A graph or a corpus that questions are asked of, by its name.

    Parameters
    ----------
    graph : the graph for methods that name no build; None until the source is opened.
    corpus : the opened documents; None for a graph, and until the source is opened.
    edits : changes of a user, which are applied to the graphs when they are opened.
    """

    name: str
    graph: Any = field(default=None, compare=False, repr=False)
    corpus: Corpus | None = field(default=None, compare=False, repr=False)
    edits: tuple[Edit, ...] = field(default=(), compare=False, repr=False)
    kind: ClassVar[str]  # the key of the name of the source in web addresses
    is_corpus: ClassVar[bool]  # True if it runs methods for documents rather than for triples
    noun: ClassVar[str]  # noun for the source in sentences
    stages: ClassVar[tuple[str, ...]]  # the stages at which a method can lose an answer, in order
    default_methods: ClassVar[tuple[str, ...]]  # ids of the methods that answer if none is named
    default_lanes: ClassVar[tuple[str, ...]]  # ids of the methods that are compared by default
    saved_prefix: ClassVar[str]  # beginning of `saved_name`

    def __contains__(self, passage: str) -> bool:
        """Return whether the opened source has a passage of that name.

        A removed passage does not count.
        """
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
        """The container of the ids of its documents; empty for a graph.

        Raises BadInput or StoreError if they are not available.
        """
        return ()

    @property
    def merges(self) -> EntityMerges:
        """The merges that are saved for its graphs. Raises StoreError."""
        return EntityMerges()

    @abstractmethod
    def digest(self, open_graph: Callable[[str], KnowledgeGraph]) -> str:
        """Return the digest of the opened graph or of the corpus.

        Parameters
        ----------
        open_graph : opens a graph by its name.

        Returns
        -------
        The digest, which changes with the content.

        Raises
        ------
        BadInput, StoreError : the graph or corpus cannot be opened.
        """

    @property
    def removed(self) -> frozenset[str]:
        """The ids of the documents that are removed."""
        return frozenset(edit.names[0] for edit in self.edits if edit.kind == "passage")

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of a web address that name this source, as `source_in` reads them."""
        return {self.kind: self.name}

    @property
    def saved_name(self) -> str:
        """The text by which evaluations save the source, which `read_source` reads."""
        return f"{self.saved_prefix}{self.name}"

    @property
    def is_available(self) -> bool:
        """True if there is a graph or corpus of this name."""
        return self._description() is not None

    @property
    def title(self) -> str:
        """The title in lists; the name if the source is missing or damaged."""
        description = self._description()
        return description.title if description is not None else self.name

    @property
    @abstractmethod
    def sets(self) -> Mapping[str, str]:
        """The titles of the question sets of the source, by name."""

    @property
    def example_questions(self) -> tuple[str, ...]:
        """Example questions: those that its description names, else the first of its first set.

        Empty if that set cannot be read.
        """
        description = self._description()
        if description is None:
            return ()
        if description.examples or not description.sets:
            return description.examples
        try:
            questions = self.questions(next(iter(description.sets)))[:MAX_EXAMPLE_QUESTIONS]
            return tuple(question.text for question in questions)
        except HopscopeError:  # the fault is reported when the source is opened
            return ()

    def written_form(self, question: str) -> str:
        """Return a well written form of a question; empty if the source has none."""
        return ""

    @abstractmethod
    def questions(self, set_name: str) -> Sequence[Question]:
        """Return the questions of one of its sets.

        Parameters
        ----------
        set_name : name of a question set of this source.

        Returns
        -------
        All its questions, in the order of the set.

        Raises
        ------
        BadInput, StoreError : there is no such set, or it cannot be read.
        """

    @abstractmethod
    def draw_question(self, set_name: str, seed: int) -> Question:
        """Return one question of a set, the same for the same seed.

        Parameters
        ----------
        set_name : name of a question set of this source.
        seed : determines the question.

        Returns
        -------
        The drawn question.

        Raises
        ------
        BadInput, StoreError : there is no such set, or it cannot be read.
        """

    @abstractmethod
    def find_question(self, text: str) -> Question | None:
        """Return the question of its sets with exactly that text.

        A set that cannot be read is skipped; the fault is reported when the set is chosen.

        Parameters
        ----------
        text : the exact text of the question.

        Returns
        -------
        One such question; None if there is none.
        """

    def source_of_question(self, set_name: str, question: Question) -> AnswerSource:
        """Return the source for a question of a set: this one, or the question's own graph.

        Parameters
        ----------
        set_name : name of the question's set.
        question : a question of that set.

        Returns
        -------
        The source itself unless the set has a graph for each question.
        """
        return self

    @abstractmethod
    def _description(self) -> Dataset | Corpus | ShippedCorpus | None:
        """Return its description; None if it does not exist."""

    @abstractmethod
    def open(self, engine: GraphOpener, watch: Watch = NO_WATCH) -> AnswerSource:
        """Return this source with its graph open and edited.

        The graph is built first if it is missing.

        Parameters
        ----------
        engine : opens the graph.
        watch : receives the progress of reading and building.

        Returns
        -------
        A copy of this source with its graph.

        Raises
        ------
        BadInput, StoreError : the source is missing or damaged.
        """

    @abstractmethod
    def ask(
        self,
        question: Question,
        seed: int = 0,
        uses_reader: bool = True,
        uses_model: bool = True,
        watch: Watch = NO_WATCH,
    ) -> SourceQuestion:
        """Return a question to the opened source, checked and ready to run.

        If the graph is a database that is queried live, the neighbourhood of the question entities
        is fetched first.

        Parameters
        ----------
        question : its entities are looked up in the graph.
        seed : seed of all random choices.
        uses_reader : True if the graph reader is to answer.
        uses_model : True if language models may be asked for answers.
        watch : receives the progress of fetching, and raises RunCancelled if the user cancels.

        Returns
        -------
        The question as methods run on it.

        Raises
        ------
        BadInput : the question cannot be asked of this source.
        UnknownEntity : a question entity is not in the graph.
        """

    @abstractmethod
    def open_build(
        self,
        environment: Environment,
        build: str,
        watch: Watch = NO_WATCH,
        mended: bool = True,
        make: bool = False,
    ) -> Any:
        """Return the graph that a build made of the source, with its edits.

        Parameters
        ----------
        environment : the models and stores.
        build : the name of a build, a kind of graph, or the line of a build.
        watch : receives the progress, and raises RunCancelled if the user cancels.
        mended : True to apply the saved merges of entities before the edits.
        make : True to build a missing graph if that can be done soon.

        Returns
        -------
        The graph.

        Raises
        ------
        BadInput
            On a graph of triples.
        StoreError
            If the graph is not built and, with `make`, cannot be built soon.
        """


@dataclass(frozen=True)
class SourceQuestion:
    """One question to one source, as every lane receives it.

    Parameters
    ----------
    seeds : node ids of the question entities; empty for a corpus.
    seed : seed of all random choices.
    uses_reader, uses_model : True if the graph reader and the language model are to answer.
    waits_for_vectors : True if a vector search waits until all vectors are made, False if it uses
        those that exist.
    """

    source: AnswerSource
    question: Question
    seeds: tuple[int, ...]
    seed: int = 0
    uses_reader: bool = True
    uses_model: bool = True
    waits_for_vectors: bool = True

    def key(self, models: str) -> tuple:
        """Return a cache key of a computed state without its operators.

        The key holds everything else that the state depends on. `models` is a text that changes
        with the models.
        """
        return (
            self.source.graph.digest,
            self.question.text,
            self.question.abstract,
            self.seeds,
            self.seed,
            models,
        )

    def has_same_results(self, other: SourceQuestion) -> bool:
        """Return whether another question gives the same results with the same models.

        It then has the same text, graph, known answers and readers.
        """
        return self._result_parts() == other._result_parts()

    def _result_parts(self) -> tuple:
        return (
            self.key(""),
            set(self.question.answers),
            set(self.question.gold),
            self.question.aliases,
            self.uses_reader,
            self.uses_model,
            self.source.kind,
        )
