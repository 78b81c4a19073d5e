"""The two kinds of sources, and lookups of sources by name.

The kinds are graphs of triples and corpora.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any

from core.corpus import Corpus, ShippedCorpus, corpora, open_corpus
from core.corpus.entity_merges import EntityMerges, read_merges
from core.corpus.quotations import split_passage_name
from core.datasets import Dataset, dataset_of, datasets
from core.datasets.catalogue import unreadable_graphs
from core.environment import Environment
from core.errors import BadInput, HopscopeError
from core.graph.edits import edit_graph, names_after_edits
from core.graph.names.seeds import check_question, seeds_of
from core.graph.protocol import KnowledgeGraph
from core.sources.source import AnswerSource, GraphOpener, SourceQuestion
from core.types import Question
from core.watch import NO_WATCH, Watch


class GraphSource(AnswerSource):
    """A graph of triples. All lanes, the methods that are compared on a question, run on it."""

    kind, is_corpus, noun = "graph", False, "the graph"
    stages = ("graph", "subgraph", "paths", "prompt", "answer")
    default_methods = ("lego-12",)
    default_lanes = ("lego-14", "lego-12", "chain-ranking")
    saved_prefix = ""  # a source with an empty name stands for the own graph of each question

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> GraphSource:
        """Return the source of an opened graph."""
        return cls(graph.name, graph)

    def _description(self) -> Dataset | None:
        return dataset_of(self.name)

    @property
    def graph_name(self) -> str:
        return self.name

    def digest(self, open_graph: Callable[[str], KnowledgeGraph]) -> str:
        return open_graph(self.name).digest

    @property
    def title(self) -> str:
        dataset = self._description()
        if dataset is None:
            return self.name
        if dataset.name == self.name:
            return dataset.title
        # the graph of one question is named `dataset:question id`
        question_id = self.name.partition(":")[2]
        return f"{question_id} ({dataset.title})"

    @property
    def sets(self) -> Mapping[str, str]:
        dataset = self._description()
        return {name: one.title for name, one in dataset.sets.items()} if dataset else {}

    def written_form(self, question: str) -> str:
        dataset = self._description()
        return dataset.written.get(question, "") if dataset is not None else ""

    @property
    def example_questions(self) -> tuple[str, ...]:
        dataset = self._description()
        if dataset is None or dataset.name == self.name:
            return super().example_questions
        # the example of the graph of one question is this question
        question_id = self.name.partition(":")[2]
        for question_set in dataset.sets.values():
            if question_set.graph_scope != "question":
                continue
            for question in question_set.questions():
                if question.id == question_id:
                    return (question.text,)
        return ()

    def questions(self, set_name: str) -> Sequence[Question]:
        return self._dataset().questions(set_name)

    def draw_question(self, set_name: str, seed: int) -> Question:
        return self._dataset().draw_question(set_name, seed)

    def find_question(self, text: str) -> Question | None:
        dataset = self._description()
        for question_set in reversed(list(dataset.sets.values())) if dataset is not None else ():
            with suppress(HopscopeError):  # a fault is reported when the set is chosen
                question = question_set.find_question(text)
                if question is not None:
                    return question
        return None

    def source_of_question(self, set_name: str, question: Question) -> AnswerSource:
        return GraphSource(self._dataset().graph_name(set_name, question))

    def _dataset(self) -> Dataset:
        dataset = self._description()
        if dataset is None:
            raise BadInput(f"The graph “{self.name}” no longer exists.")
        return dataset

    def open(self, engine: GraphOpener, watch: Watch = NO_WATCH) -> AnswerSource:
        graph = engine.graph(self.name, watch) if self.graph is None else self.graph
        if graph.live is None:  # from a live database, `ask` edits what it fetches
            graph = edit_graph(graph, self.edits)
        return replace(self, graph=graph)

    def ask(
        self,
        question: Question,
        seed: int = 0,
        uses_reader: bool = True,
        uses_model: bool = True,
        watch: Watch = NO_WATCH,
    ) -> SourceQuestion:
        if self.graph.live is not None:
            fetched_graph = self.graph.live.fetch_graph(question.text, question.entities, watch)
            question = replace(question, entities=fetched_graph.fetched.starts)
            fetched_source = replace(self, graph=edit_graph(fetched_graph, self.edits))
            return fetched_source.ask(question, seed, uses_reader, uses_model)
        text = check_question(question.text)
        entities = names_after_edits(question.entities, self.edits)
        # a removed entity stays a known answer, so only renames are applied to answers
        renames = [edit for edit in self.edits if not edit.is_removal]
        answers = names_after_edits(question.answers, renames)
        aliases = tuple(names_after_edits(group, renames) for group in question.aliases)
        if question.entities and not entities:
            raise BadInput(
                "Every entity that the question starts at was removed. Put one back, or start at "
                "another entity."
            )
        seeds = seeds_of(self.graph, text, entities)
        if not question.entities:  # brackets in the text mark its entities
            text = text.replace("[", "").replace("]", "")
        seed_names = tuple(self.graph.names(seeds))
        # A graph has no passages.
        question = replace(
            question, text=text, entities=seed_names, answers=answers, aliases=aliases, gold=()
        )
        return SourceQuestion(self, question, seeds, seed, uses_reader, uses_model)

    def open_build(
        self,
        environment: Environment,
        build: str,
        watch: Watch = NO_WATCH,
        mended: bool = True,
        make: bool = False,
    ) -> Any:
        raise BadInput(
            f"This method needs the graph “{build}” of documents, and “{self.name}” has none. "
            "Ask a corpus."
        )


class CorpusSource(AnswerSource):
    """The documents of a corpus.

    Each lane, a method that is compared on a question, runs on the graph that its method names, or
    else on a graph of the chunks alone.
    """

    kind, is_corpus, noun = "corpus", True, "the documents"
    stages = ("corpus", "graph", "retrieved", "prompt", "answer")
    default_methods = ("vanilla-rag",)
    default_lanes = ("vanilla-rag", "vgraphrag", "lgraphrag")
    saved_prefix = "corpus:"

    @classmethod
    def of(cls, corpus: Corpus) -> CorpusSource:
        """Return the source of an opened corpus."""
        return cls(corpus.name, corpus=corpus)

    def _description(self) -> Corpus | ShippedCorpus | None:
        return self.corpus or corpora().get(self.name)

    def __contains__(self, passage: str) -> bool:
        return (
            self.corpus is not None
            and self.corpus.has_passage(passage)
            and split_passage_name(passage)[0] not in self.removed
        )

    @property
    def corpus_name(self) -> str:
        return self.name

    @property
    def documents(self) -> Corpus:
        return self.corpus or open_corpus(self.name)

    @property
    def merges(self) -> EntityMerges:
        return read_merges(self.corpus) if self.corpus else EntityMerges()

    def digest(self, open_graph: Callable[[str], KnowledgeGraph]) -> str:
        return self.documents.digest

    @property
    def sets(self) -> Mapping[str, str]:
        corpus = self._description()
        return {} if corpus is None else corpus.sets

    def questions(self, set_name: str) -> Sequence[Question]:
        return self.documents.questions(set_name)

    def draw_question(self, set_name: str, seed: int) -> Question:
        return Random(seed).choice(self.questions(set_name))

    def find_question(self, text: str) -> Question | None:
        with suppress(HopscopeError):  # a fault is reported when the corpus is opened
            corpus = self.documents
            for set_name in reversed(corpus.sets):
                for question in corpus.questions(set_name):
                    if question.text == text:
                        return question
        return None

    def open(self, engine: GraphOpener, watch: Watch = NO_WATCH) -> AnswerSource:
        if self.graph is not None:
            return replace(self, graph=edit_graph(self.graph, self.edits))
        corpus = self.corpus or open_corpus(self.name, watch)
        graph = edit_graph(engine.environment.open_build(corpus, watch=watch), self.edits)
        return replace(self, corpus=corpus, graph=graph)

    def ask(
        self,
        question: Question,
        seed: int = 0,
        uses_reader: bool = True,
        uses_model: bool = True,
        watch: Watch = NO_WATCH,
    ) -> SourceQuestion:
        question = replace(question, text=check_question(question.text))
        return SourceQuestion(self, question, (), seed, uses_reader, uses_model)

    def open_build(
        self,
        environment: Environment,
        build: str,
        watch: Watch = NO_WATCH,
        mended: bool = True,
        make: bool = False,
    ) -> Any:
        corpus = self.documents if self.is_available else None
        merge_edits = read_merges(corpus).edits if mended and corpus is not None else ()
        return edit_graph(
            environment.open_build(corpus, build, watch, make), (*merge_edits, *self.edits)
        )


def available_sources() -> dict[AnswerSource, str]:
    """Return the titles of all sources.

    Graphs come first, then graphs that cannot be opened, as their titles say, then corpora.
    """
    known_graphs = datasets()
    titles: dict[AnswerSource, str] = {
        GraphSource(name): dataset.title for name, dataset in known_graphs.items()
    }
    for name in unreadable_graphs(known_graphs):
        titles[GraphSource(name)] = f"{name} (cannot be opened)"
    for name, corpus in corpora().items():
        titles[CorpusSource(name)] = corpus.title
    return titles


def corpus_of_set(set_name: str) -> CorpusSource | None:
    """Return the corpus of a question set.

    The result is None if the set is a graph's or unknown.
    """
    for name, corpus in reversed(corpora().items()):
        if set_name in corpus.sets:
            return CorpusSource(name)
    return None


SOURCE_KINDS: dict[str, type[AnswerSource]] = {cls.kind: cls for cls in (CorpusSource, GraphSource)}


def source_in(parameters: Mapping[str, Any]) -> AnswerSource | None:
    """Return the source in the parameters of a web address.

    The result is None if they name none.
    """
    for kind, source_class in SOURCE_KINDS.items():
        if name := parameters.get(kind):
            return source_class(name)
    return None
