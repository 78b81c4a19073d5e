"""Training groups for a reranker: a question, its evidence texts, and similar wrong texts."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from core.corpus import Corpus
from core.errors import BadInput
from core.finetune.training_examples import TrainingExample
from core.languages.terms import search_terms
from core.types import Question
from core.watch import NO_WATCH, Watch

MAX_LOOKALIKES = 20  # texts with the most words in common with a question


@dataclass(frozen=True)
class Group:
    """A question with its evidence texts, and other texts that look like them."""

    question: str
    positives: tuple[str, ...]
    negatives: tuple[str, ...]


def question_half(question: Question) -> int:
    """Return 0 for questions that train, and 1 for questions that are never trained on.

    It is a hash of the text, so it does not depend on the other questions. Models are trained by
    it, so it must not change when `core.languages.spelling` changes.

    >>> from core.finetune.reranker_data import question_half
    >>> from core.types import Question
    >>> [question_half(Question(text)) for text in ("Who?", "What?", "Where?", "When?")]
    [1, 0, 1, 1]
    """
    return hashlib.sha256(" ".join(question.text.casefold().split()).encode()).digest()[0] % 2


class Lookalikes:
    """An index of texts by the words that they share with a query (BM25)."""

    def __init__(self, texts: Sequence[str]):
        import bm25s

        self.texts, self._index = texts, bm25s.BM25()
        self._index.index([search_terms(text) for text in texts], show_progress=False)

    def group(self, query: str, right: Collection[int]) -> Group | None:
        """Return the query with the texts at the rows `right`, and the texts most similar to it.

        The result is None where there are no other texts.
        """
        known_words = [word for word in search_terms(query) if word in self._index.vocab_dict]
        scores = (
            np.asarray(self._index.get_scores(known_words))
            if known_words
            else np.zeros(len(self.texts))
        )
        best = [
            row
            for row in np.argsort(-scores, kind="stable")[: MAX_LOOKALIKES + len(right)].tolist()
            if row not in right
        ]
        negatives = tuple(self.texts[row] for row in best[:MAX_LOOKALIKES])
        if negatives:
            return Group(query, tuple(self.texts[row] for row in sorted(right)), negatives)
        return None


def question_groups(
    corpus: Corpus, part: int, limit: int, seed: int, watch: Watch = NO_WATCH
) -> list[Group]:
    """Return groups of the questions of one half of a corpus's first set.

    Positives are the questions' gold documents. Negatives are the documents that share most words
    by BM25. Raises BadInput where the corpus has no question with gold documents.

    Parameters
    ----------
    corpus : the corpus.
    part : the half, as `question_half` returns it.
    limit : how many questions are drawn with the seed; 0 for all.
    """
    usable_questions = [
        one
        for one in corpus.questions(next(iter(corpus.sets), ""))
        if question_half(one) == part and any(id in corpus for id in one.gold)
    ]
    if not usable_questions:
        raise BadInput(
            f"The corpus “{corpus.name}” has no questions with known documents to learn from."
        )
    texts = ["\n".join(dict.fromkeys(filter(None, one))) for one in _titled_texts(corpus)]
    drawn_questions = (
        usable_questions[index] for index in _sample(len(usable_questions), limit, [seed, part])
    )
    return _make_groups(
        Lookalikes(texts),
        (
            (one.text, {corpus.row(id) for id in one.gold if id in corpus})
            for one in drawn_questions
        ),
        watch,
    )


def title_groups(corpus: Corpus, limit: int, seed: int, watch: Watch = NO_WATCH) -> list[Group]:
    """Return groups that use titles instead of questions.

    The document's own text is right, and texts that share words with the title are wrong. `limit`
    of the documents that have both are drawn with a seed.
    """
    pairs = _titled_texts(corpus)
    titled_rows = [
        row for row, (title, text) in enumerate(pairs) if title and text and title != text
    ]
    drawn_rows = (
        titled_rows[index] for index in _sample(len(titled_rows), limit, [seed, len(titled_rows)])
    )
    return _make_groups(
        Lookalikes([text for _, text in pairs]),
        ((pairs[row][0], {row}) for row in drawn_rows),
        watch,
    )


def _titled_texts(corpus: Corpus) -> list[tuple[str, str]]:
    """Return the title and the text of each document."""
    return list(zip(corpus.table.texts("title"), corpus.table.texts("text")))


def _sample(count: int, limit: int, seed: Sequence[int]) -> list[int]:
    """Return `limit` random indices below `count` (0: all), ascending."""
    return sorted(np.random.default_rng(seed).permutation(count)[: limit or count].tolist())


def _make_groups(
    texts: Lookalikes, queries: Iterable[tuple[str, set[int]]], watch: Watch = NO_WATCH
) -> list[Group]:
    found_groups = []
    for query, right in queries:
        watch.check()
        found_groups.append(texts.group(query, right))
    return [group for group in found_groups if group is not None]


def path_groups(examples: Iterable[TrainingExample]) -> list[Group]:
    """Return groups of questions to a graph of triples.

    Positives are the texts of paths that lead to an answer. Negatives are those of other paths.
    """
    parts = [(one.question, one.part("path")) for one in examples]
    return [
        Group(question, part.positives, part.negatives[:MAX_LOOKALIKES])
        for question, part in parts
        if part.negatives
    ]


def ranking_candidates(group: Group) -> tuple[Sequence[str], frozenset[int]]:
    """Return the texts of a group in the order of ranking, and the indices of the right ones."""
    return (*group.positives, *group.negatives), frozenset(range(len(group.positives)))
