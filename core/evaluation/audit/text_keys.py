"""Keys of questions on documents, searched in their evidence and in all documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from core.corpus import Corpus
from core.corpus.quotations import split_passage_name
from core.diagnosis.answer_match import YES_NO_ANSWERS, contains_answer
from core.diagnosis.name_lookup import has_name, is_in_chunks, is_in_nodes
from core.diagnosis.targets import Target, answers_of
from core.evaluation.audit.findings import Finding
from core.languages.spelling import answer_words, normalize
from core.types import Question
from core.watch import NO_WATCH, Watch

MAX_LITERAL_WORDS = 8  # longer answers are sentences, which documents say in other words
MAX_SEARCHED_ANSWERS = 500  # answers outside their evidence; each is searched in all texts


@dataclass(eq=False)
class TextKeys:
    """Evidence of documents on the keys of questions.

    Parameters
    ----------
    corpus : the documents.
    graph : graph of the documents, whose chunks and names are searched too; None for none.
    questions : questions of a set.
    watch : checked before each question.
    """

    corpus: Corpus
    graph: object
    questions: Sequence[Question]
    watch: Watch = field(default=NO_WATCH, repr=False)
    n_searched: int = field(default=0, init=False)
    n_unsearched: int = field(default=0, init=False)
    n_long: int = field(default=0, init=False)

    @cached_property
    def _words(self) -> frozenset[str]:
        """All words of the documents, as answers are compared."""
        words: set[str] = set()
        for name in ("title", "text"):
            for text in self.corpus.table.texts(name):
                words.update(answer_words(text))
        return frozenset(words)

    def findings(self) -> Iterator[Finding]:
        """Yield missing passages and answers, and keys that their evidence does not hold."""
        for question in self.questions:
            self.watch.check()
            yield from self._missing_passages(question)
            if not question.abstract:
                yield from self._answer_findings(question)

    def _missing_passages(self, question: Question) -> Iterator[Finding]:
        missing = tuple(one for one in question.gold if not self.corpus.has_passage(one))
        for name in missing:
            document, quote = split_passage_name(name)
            text = f"No document “{document}” is there."
            if quote and document in self.corpus:
                text = f"The document “{document}” does not hold the words “{quote[:80]}”."
            yield Finding(question.id, "missing_passage", text, (name,))

    def _answer_findings(self, question: Question) -> Iterator[Finding]:
        """Yield what is wrong with the answers of a question, one finding for each."""
        evidence = self._evidence(question)
        for answer in answers_of(question):
            self.n_long += len(answer_words(answer.name)) > MAX_LITERAL_WORDS
            if not is_literal(answer) or (evidence and holds_answer(evidence, answer.names)):
                continue
            if self.n_searched >= MAX_SEARCHED_ANSWERS:
                self.n_unsearched += 1
                continue
            self.n_searched += 1
            if not self._is_in_documents(answer):
                text = f"No document holds “{answer.name}”."
                yield Finding(question.id, "missing_answer", text, (answer.name,))
            elif evidence:
                text = f"The evidence does not hold “{answer.name}”; other documents do."
                yield Finding(question.id, "contradicted", text, (answer.name,))

    def lost_answers(self) -> Iterator[Finding]:
        """Yield answers of the documents that are in no chunk, or in no name of the graph."""
        graph = self.graph
        columns = getattr(graph, "columns", None)
        stages = []
        if columns is not None and columns.chunks is not None:
            stages.append(("chunk", is_in_chunks))
        if getattr(graph, "n_nodes", 0) and not _is_of_passages(columns):
            stages.append(("entity or relation", is_in_nodes))
        for question in self.questions:
            for answer in answers_of(question) if stages and not question.abstract else ():
                self.watch.check()
                if not is_literal(answer) or not self._count_search():
                    continue
                for noun, is_there in stages:
                    if not any(is_there(graph, name) for name in answer.names):
                        if self._is_in_documents(answer):
                            text = f"The documents hold “{answer.name}”, but no {noun} does."
                            yield Finding(question.id, "lost_answer", text, (answer.name,))
                        break

    def _count_search(self) -> bool:
        """Count a search; False if the bound is reached."""
        self.n_searched += 1
        return self.n_searched <= 2 * MAX_SEARCHED_ANSWERS

    def _is_in_documents(self, answer: Target) -> bool:
        for name in answer.names:
            if self._words.issuperset(answer_words(name)) and has_name(
                self.corpus.table, ("title", "text"), name
            ):
                return True
        return False

    def _evidence(self, question: Question) -> str:
        """Return the titles and texts of the evidence that the documents have."""
        documents = dict.fromkeys(split_passage_name(one)[0] for one in question.gold)
        there = [self.corpus.document(one) for one in documents if one in self.corpus]
        return "\n".join(f"{document.title}\n{document.text}" for document in there)


def _is_of_passages(columns) -> bool:
    """Return whether the nodes of a graph are passages or summaries and no entities."""
    return columns is not None and columns.nodes is not None and columns.nodes.has_column("level")


def is_literal(answer: Target) -> bool:
    """Return whether an answer is a name, date or number, which evidence holds word by word."""
    words = answer_words(answer.name)
    is_yes_or_no = normalize(answer.name) in YES_NO_ANSWERS
    return 0 < len(words) <= MAX_LITERAL_WORDS and not is_yes_or_no


def holds_answer(evidence: str, names: Sequence[str]) -> bool:
    """Return whether a text holds one of the names, or each word of it.

    >>> from core.evaluation.audit.text_keys import holds_answer
    >>> text = "He served from 1969 until his resignation in 1974."
    >>> holds_answer(text, ["1969 until 1974"]), holds_answer(text, ["1969 until 1973"])
    (True, False)
    """
    if any(contains_answer(evidence, name) for name in names):
        return True
    words = frozenset(answer_words(evidence))
    return any(words.issuperset(answer_words(name)) for name in names)
