"""Training groups of the reranker: a question, its evidence texts, and similar wrong texts."""

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

MAX_LOOKALIKES = 20  # wrong texts of a question


@dataclass(frozen=True)
class Group:
    """A question with its evidence texts, and wrong texts that share its words."""

    question: str
    positives: tuple[str, ...]
    negatives: tuple[str, ...]


def question_half(question: Question) -> int:
    """Return 0 for a training question, and 1 for a test question.

    The half depends on a hash of the text alone, not on the other questions of a set. Trained
    models depend on it. So the text is normalized here, and not by `core.languages.spelling`, which
    may change.

    >>> from core.finetune.reranker_data import question_half
    >>> from core.types import Question
    >>> [question_half(Question(text)) for text in ("Who?", "What?", "Where?", "When?")]
    [1, 0, 1, 1]
    """
    return hashlib.sha256(" ".join(question.text.casefold().split()).encode()).digest()[0] % 2


class Lookalikes:
    """An index that finds the texts most similar to a query by BM25."""

    def __init__(self, texts: Sequence[str]):
        import bm25s

        self.texts = texts
        self._index = bm25s.BM25()
        self._index.index([search_terms(text) for text in texts], show_progress=False)

    def group(self, query: str, right: Collection[int]) -> Group | None:
        """Return a query with its right texts and the most similar other texts.

        `right` are the rows of the right texts. The result is None if there are no other texts.
        """
        known_words = [word for word in search_terms(query) if word in self._index.vocab_dict]
        scores = np.zeros(len(self.texts))
        if known_words:
            scores = np.asarray(self._index.get_scores(known_words))
        # Enough rows for `MAX_LOOKALIKES` wrong texts, even if all right texts are among them.
        best_rows = np.argsort(-scores, kind="stable")[: MAX_LOOKALIKES + len(right)].tolist()
        wrong_rows = [row for row in best_rows if row not in right][:MAX_LOOKALIKES]
        if not wrong_rows:
            return None
        positives = tuple(self.texts[row] for row in sorted(right))
        return Group(query, positives, tuple(self.texts[row] for row in wrong_rows))


def question_groups(
    corpus: Corpus, half: int, limit: int, seed: int, watch: Watch = NO_WATCH
) -> list[Group]:
    """Return groups of the questions of one half of a corpus's first question set.

    Positives are the questions' gold documents. Negatives are the most similar documents by BM25.
    Raises BadInput if the corpus has no question with gold documents.

    Parameters
    ----------
    corpus : the corpus.
    half : 0 or 1, as `question_half` returns it.
    limit : number of questions to draw; 0 for all.
    seed : seed of the draw.
    watch : receives the progress and may raise RunCancelled.
    """
    usable_questions = [
        question
        for question in corpus.questions(next(iter(corpus.sets), ""))
        if question_half(question) == half and any(id in corpus for id in question.gold)
    ]
    if not usable_questions:
        raise BadInput(
            f"The corpus “{corpus.name}” has no questions with known documents to learn from."
        )
    # The title and the text, without an empty one and without a text that repeats the title.
    texts = ["\n".join(dict.fromkeys(filter(None, pair))) for pair in _titled_texts(corpus)]
    queries = []
    for index in _sample(len(usable_questions), limit, [seed, half]):
        question = usable_questions[index]
        gold_rows = {corpus.row(id) for id in question.gold if id in corpus}
        queries.append((question.text, gold_rows))
    return _make_groups(Lookalikes(texts), queries, watch)


def title_groups(corpus: Corpus, limit: int, seed: int, watch: Watch = NO_WATCH) -> list[Group]:
    """Return groups that use titles as questions.

    The text under the title is the positive, and the most similar other texts are negatives.
    `limit` of the documents with a title and a text are drawn with a seed (0: all).
    """
    pairs = _titled_texts(corpus)
    titled_rows = [
        row for row, (title, text) in enumerate(pairs) if title and text and title != text
    ]
    drawn_indices = _sample(len(titled_rows), limit, [seed, len(titled_rows)])
    drawn_rows = [titled_rows[index] for index in drawn_indices]
    queries = [(pairs[row][0], {row}) for row in drawn_rows]
    return _make_groups(Lookalikes([text for _, text in pairs]), queries, watch)


def _titled_texts(corpus: Corpus) -> list[tuple[str, str]]:
    """Return the title and the text of each document."""
    return list(zip(corpus.table.texts("title"), corpus.table.texts("text")))


def _sample(count: int, limit: int, seed: Sequence[int]) -> list[int]:
    """Return `limit` random indices below `count` (0: all), ascending."""
    return sorted(np.random.default_rng(seed).permutation(count)[: limit or count].tolist())


def _make_groups(
    texts: Lookalikes, queries: Iterable[tuple[str, set[int]]], watch: Watch = NO_WATCH
) -> list[Group]:
    groups = []
    for query, right in queries:
        watch.check()
        group = texts.group(query, right)
        if group is not None:
            groups.append(group)
    return groups


def path_groups(examples: Iterable[TrainingExample]) -> list[Group]:
    """Return groups of questions on a graph of triples.

    Positives are the texts of paths that lead to an answer, and negatives those of other paths.
    """
    groups = []
    for example in examples:
        paths = example.candidates("path")
        if paths.negatives:
            negatives = paths.negatives[:MAX_LOOKALIKES]
            groups.append(Group(example.question, paths.positives, negatives))
    return groups


def ranking_candidates(group: Group) -> tuple[Sequence[str], frozenset[int]]:
    """Return a group's texts in the order of ranking.

    The second result has the indices of the right ones.
    """
    return (*group.positives, *group.negatives), frozenset(range(len(group.positives)))
