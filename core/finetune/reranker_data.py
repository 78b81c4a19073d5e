"""Training groups for a re-ranker: a question, a text that it rests on, and texts that share its words but are none of these."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from core.corpus import Corpus
from core.errors import BadInput
from core.finetune.data import Example
from core.finetune.loop import Check
from core.models.scorers import words
from core.types import Question

CANDIDATES = 20  # texts that share most words with a question


@dataclass(frozen=True)
class Group:
    """A question with the texts that it rests on and others that look like them."""

    question: str
    positives: tuple[str, ...]
    negatives: tuple[str, ...]


def half(question: Question) -> int:
    """0 for the questions that train, 1 for those that nothing is ever trained on: by a hash of the text, the same whatever else is asked.

    >>> from core.finetune.reranker_data import half
    >>> from core.types import Question
    >>> [half(Question(text)) for text in ("Who?", "What?", "Where?", "When?")]
    [1, 0, 1, 1]
    """
    return hashlib.sha256(" ".join(question.text.casefold().split()).encode()).digest()[0] % 2


def groups(corpus: Corpus, part: int, most: int, seed: int, check: Check) -> list[Group]:
    """Groups of the questions of one half of a corpus's first set, `most` drawn with a seed (0: all): positives are their gold documents,
    negatives those that share most words by BM25. Raises BadInput where the corpus has no question with gold documents."""
    import bm25s

    asked = [one for one in corpus.questions(next(iter(corpus.sets), "")) if half(one) == part and any(id in corpus for id in one.gold)]
    if not asked:
        raise BadInput(f"The corpus “{corpus.name}” has no questions with known documents to learn from.")
    order = np.random.default_rng([seed, part]).permutation(len(asked))[: most or len(asked)]
    texts = [_text(title, text) for title, text in zip(corpus.table.texts("title"), corpus.table.texts("text"))]
    index = bm25s.BM25()
    index.index([words(text) for text in texts], show_progress=False)
    found = []
    for place in sorted(order.tolist()):
        check()
        gold = {corpus.row(id) for id in asked[place].gold if id in corpus}
        known = [word for word in words(asked[place].text) if word in index.vocab_dict]
        scores = np.asarray(index.get_scores(known)) if known else np.zeros(len(texts))
        best = [row for row in np.argsort(-scores, kind="stable")[: CANDIDATES + len(gold)].tolist() if row not in gold]
        negatives = tuple(texts[row] for row in best[:CANDIDATES])
        if negatives:
            found.append(Group(asked[place].text, tuple(texts[row] for row in sorted(gold)), negatives))
    return found


def of_paths(examples: Iterable[Example]) -> list[Group]:
    """Groups of questions to a graph of triples: texts of paths that lead to an answer, and of others."""
    parts = [(one.question, one.part("path")) for one in examples]
    return [Group(question, part.positives, part.negatives[:CANDIDATES]) for question, part in parts if part.negatives]


def _text(title: str, text: str) -> str:
    return "\n".join(dict.fromkeys(filter(None, (title, text))))


def candidates(group: Group) -> tuple[Sequence[str], frozenset[int]]:
    """The texts of a group as they are ranked, and the places of those that are right."""
    return (*group.positives, *group.negatives), frozenset(range(len(group.positives)))
