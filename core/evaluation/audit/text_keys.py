"""Keys of questions on documents, searched in their evidence and in all documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

from core.corpus import Corpus
from core.corpus.quotations import split_passage_name
from core.diagnosis.answer_match import YES_NO_ANSWERS
from core.diagnosis.name_lookup import has_name, is_in_chunks, is_in_nodes
from core.diagnosis.targets import Target, answers_of
from core.evaluation.audit.findings import Finding
from core.languages.spelling import (
    ATTACHING_LETTER,
    WORD_JOINT,
    answer_words,
    contains_whole,
    normalize,
)
from core.types import Question
from core.watch import NO_WATCH, Watch

MAX_LITERAL_WORDS = 8  # longer answers are sentences, which documents say in other words
MAX_SEARCHED_ANSWERS = 1_000  # answers that are searched in all texts
MAX_SHOWN_LETTERS = 80


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
    graph: Any
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
                words |= _words_of(text)
        return frozenset(words)

    def findings(self) -> Iterator[Finding]:
        """Yield missing passages and answers, keys outside their evidence, and lost answers."""
        for question in self.questions:
            self.watch.check()
            for name in question.gold:
                if not self.corpus.has_passage(name):
                    text = f"No document holds the evidence “{name[:MAX_SHOWN_LETTERS]}”."
                    yield Finding(question.id, "missing_passage", text, (name,))
            evidence = self._evidence(question)
            for answer in () if question.abstract else answers_of(question):
                self.n_long += len(answer_words(answer.name)) > MAX_LITERAL_WORDS
                if is_literal(answer) and (found := self._check(answer, evidence)):
                    yield Finding(question.id, *found, (answer.name,))

    def _check(self, answer: Target, evidence: str) -> tuple[str, str] | None:
        """Return the kind and the reason of a finding on an answer. None without one."""
        is_held = holds_answer(evidence, answer.names)
        self.n_searched += 1
        is_over = self.n_searched > MAX_SEARCHED_ANSWERS
        if not is_held and not self._is_in_documents(answer, by_words=is_over):
            return "missing_answer", f"No document holds “{answer.name}”."
        if not is_held and evidence:
            return "contradicted", f"The evidence does not hold “{answer.name}”."
        if is_over:
            self.n_unsearched += not is_held
            return None
        for noun, is_there in self._stages:
            if not any(is_there(self.graph, name) for name in answer.names):
                if self._is_in_documents(answer):
                    return "lost_answer", f"Documents hold “{answer.name}”, but no {noun} does."
        return None

    @cached_property
    def _stages(self) -> list[tuple[str, Callable[[Any, str], bool]]]:
        """The stages after the documents that the graph has, each with its search for a name."""
        stages: list[tuple[str, Callable[[Any, str], bool]]] = []
        if self.graph is None:
            return stages
        columns = self.graph.columns
        if columns.chunks is not None:
            stages.append(("chunk", is_in_chunks))
        # Nodes with levels are summaries, not entities.
        is_summary = columns.nodes is not None and columns.nodes.has_column("level")
        if self.graph.n_nodes and not is_summary:
            stages.append(("entity or relation", is_in_nodes))
        return stages

    def notes(self) -> list[str]:
        """Return sentences on answers that were not searched."""
        counts = {
            "answers outside their evidence were not searched elsewhere": self.n_unsearched,
            "long answers were not searched word by word": self.n_long,
        }
        return [f"{count:,} {text}." for text, count in counts.items() if count]

    def _is_in_documents(self, answer: Target, by_words: bool = False) -> bool:
        """Return whether a document holds an answer; `by_words` if all have its words."""
        table = self.corpus.table
        return any(
            self._has_words(name) and (by_words or has_name(table, ("title", "text"), name))
            for name in answer.names
        )

    def _has_words(self, name: str) -> bool:
        """Return whether the documents have each word of a name that must be a word of theirs."""
        words_by_form = (filter(_is_whole_word, answer_words(form)) for form in _forms(name))
        return any(map(self._words.issuperset, words_by_form))

    def _evidence(self, question: Question) -> str:
        """Return the titles and texts of the evidence that the documents have."""
        documents = dict.fromkeys(split_passage_name(one)[0] for one in question.gold)
        there = [self.corpus.document(one) for one in documents if one in self.corpus]
        return "\n".join(f"{document.title}\n{document.text}" for document in there)


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
    if any(contains_whole(evidence, name) for name in names):
        return True
    words = _words_of(evidence)
    return any(words.issuperset(answer_words(name)) for name in names)


def _forms(text: str) -> tuple[str, str]:
    """Return a text, and the text with a space in each joint of two words."""
    return text, WORD_JOINT.sub(" ", text)


def _words_of(text: str) -> set[str]:
    """Return the words of both forms of a text."""
    return set(chain.from_iterable(map(answer_words, _forms(text))))


def _is_whole_word(word: str) -> bool:
    """Return whether a word of a name is a word of each text that `contains_whole` finds it in.

    The others may be part of one: 1990 is in “1990s”.
    """
    return len(word) == 1 or (word.isalpha() and not ATTACHING_LETTER.search(word))
