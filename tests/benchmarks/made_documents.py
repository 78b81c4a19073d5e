"""Synthetic corpora of any size from shipped sentences, determined by size and seed.

Each document is about one name and has some 700 letters: sentences of the shipped encyclopaedic
corpora in which the subject and the other names have been replaced. Names combine words of shipped
names. There are twice as many as documents, drawn by rank with density 1 / rank, as names recur in
texts; the first ones are the documents' titles. So documents mention each other, a few names occur
in very many documents and most in one or two, and the number of distinct names grows with the
corpus.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from core.corpus import Corpus, Document, open_corpus, write_corpus
from core.corpus.sentences import sentence_spans
from core.io.home import home_folder
from core.types import Question

OF, SEED, LETTERS = ("hotpotqa", "2wikimultihopqa"), 7, 620
SHORTEST, LONGEST = 40, 320  # Letters of an accepted sentence.
PER_DOCUMENT = 2  # Names per document.
QUESTIONS, SET = 40, "made-questions"
NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,20}(?: [A-Z][a-z]{2,20}){1,2}")


@dataclass(frozen=True)
class SentenceTemplate:
    """A sentence in pieces, with a name between any two of them.

    Where `about`, the first name is that of the document.
    """

    pieces: tuple[str, ...]
    about: bool


@cache
def shipped_sentences() -> tuple[tuple[SentenceTemplate, ...], tuple[str, ...], tuple[str, ...]]:
    """Sentences of the shipped corpora without names, and first and last words of these names."""
    found, first, last = dict[SentenceTemplate, None](), dict[str, None](), dict[str, None]()
    for corpus in OF:
        for document in open_corpus(corpus):
            for start, end in sentence_spans(document.text):
                text = document.text[start:end]
                if not SHORTEST <= len(text) <= LONGEST or "\n" in text:
                    continue
                about = bool(document.title) and text.startswith(f"{document.title} ")
                rest = text[len(document.title) :] if about else text
                for name in NAME.findall(rest):
                    words = name.split()
                    first[words[0]], last[words[-1]] = None, None
                found[SentenceTemplate(tuple(NAME.split(rest)), about)] = None
    return tuple(found), tuple(first), tuple(last)


def names(n: int, seed: int = SEED) -> list[str]:
    """`n` different names of two words, out of some fifty million."""
    _, first, last = shipped_sentences()
    pairs = np.random.default_rng([seed, 1]).choice(len(first) * len(last), n, replace=False)
    return [f"{first[pair // len(last)]} {last[pair % len(last)]}" for pair in pairs.tolist()]


def documents(n: int, seed: int = SEED) -> Iterator[Document]:
    """Yield `n` documents."""
    for document, _ in _documents_and_mentions(n, seed):
        yield document


def _documents_and_mentions(n: int, seed: int) -> Iterator[tuple[Document, list[int]]]:
    """Yield the documents, each with the numbers of the other names in it."""
    known, called, rng = (
        shipped_sentences()[0],
        names(PER_DOCUMENT * n, seed),
        np.random.default_rng([seed, 2]),
    )
    abouts = [number for number, sentence in enumerate(known) if sentence.about]
    scattered = rng.permutation(len(called))  # Maps a rank to a name.
    for row in range(n):
        subject, mentioned, parts, letters = called[row], list[int](), list[str](), 0
        while letters < LETTERS:
            sentence = known[
                rng.integers(len(known)) if parts else abouts[rng.integers(len(abouts))]
            ]
            drawn = scattered[
                np.minimum(
                    len(called) ** rng.random(len(sentence.pieces) - 1), len(called) - 1
                ).astype(np.int64)
            ].tolist()
            text = sentence.pieces[0] + "".join(
                called[name] + piece for name, piece in zip(drawn, sentence.pieces[1:])
            )
            parts.append(f"{subject}{text}" if sentence.about else text)
            mentioned += [name for name in drawn if name != row]
            letters += len(parts[-1]) + 1
        yield Document(f"d{row:07}", " ".join(parts), subject, "made"), mentioned


def questions(n: int, count: int = QUESTIONS, seed: int = SEED) -> list[Question]:
    """Questions about documents spread over the corpus.

    Each asks how the subject of a document is related to a name in its text, preferably the subject
    of another document. These documents are the gold passages.
    """
    called, wanted = names(PER_DOCUMENT * n, seed), max(1, n // count)
    found = list[Question]()
    for row, (document, mentioned) in enumerate(_documents_and_mentions(n, seed)):
        if row % wanted == wanted - 1 and mentioned and len(found) < count:
            other = next((name for name in mentioned if name < n), mentioned[0])
            gold = (document.id, *([f"d{other:07}"] if other < n else []))
            found.append(
                Question(f"What has {document.title} to do with {called[other]}?", gold=gold)
            )
    return found


def made_corpus(n: int, seed: int = SEED, name: str = "") -> Corpus:
    """The corpus of `n` documents in this user folder, with its questions.

    It is written if it does not exist yet.
    """
    called = name or f"made-{n}"
    folder = home_folder() / "corpora" / called
    if (folder / "corpus.json").is_file():
        return Corpus.open(folder)
    return write_corpus(
        folder,
        documents(n, seed),
        f"{n:,} documents made of shipped sentences",
        sets={SET: ("Made questions", questions(n, seed=seed))},
    )
