"""Saved state of the answer to “do I need a graph?”.

It is saved in the folder of the corpus while the work proceeds, so that the work can be resumed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from core.corpus import Corpus
from core.datasets.own_sets import clean_name
from core.evaluation.questions.name_questions import MADE_SET_SUFFIX
from core.indexes.index_storage import write_atomically
from core.io import digests
from core.io.plain_data import from_plain

ADVICE_FILE_NAME = "advice.json"  # file name in the folder of a corpus
ADVICE_VERSION = 1
QUESTIONS_BY_MODEL, QUESTIONS_BY_NAMES = "model", "names"
MAX_CORPUS_NAME_LETTERS = 34  # characters of a corpus's name that its question set's name keeps


@dataclass(frozen=True)
class Advice:
    """State of an answer to “do I need a graph?”.

    Parameters
    ----------
    corpus : digest of the documents.
    by : who writes the questions, `QUESTIONS_BY_MODEL` or `QUESTIONS_BY_NAMES`.
    minutes : time that the answer may take.
    graphs : for each graph that methods ran on, by title, whether a language model read or wrote
        for it.
    set : name of the question set, empty until the questions are made.
    counts : number of questions by kind.
    left : number of candidates that gave no question, by kind and reason.
    size : number of questions to ask, 0 until that is measured.
    run : number of the evaluation.
    seconds : time taken so far.
    done : whether the answer is finished.
    headline : the finished answer in one sentence.
    """

    corpus: str
    by: str = QUESTIONS_BY_MODEL
    seed: int = 0
    minutes: float = 10.0
    graphs: Mapping[str, bool] = field(default_factory=dict)
    set: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    left: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    size: int = 0
    run: int = 0
    seconds: float = 0.0
    done: bool = False
    headline: str = ""
    version: int = ADVICE_VERSION

    def same(self, other: Advice) -> bool:
        """Return whether another answer has the same documents and settings."""
        parts = lambda one: (one.version, one.corpus, one.by, one.seed, one.minutes)
        return parts(self) == parts(other)


def load_advice(corpus: Corpus) -> Advice | None:
    """Return the last answer of a corpus or its progress, None if nothing readable is saved.

    The answer's digest tells whether it belongs to the current documents.
    """
    try:
        return from_plain(
            Advice, digests.check_own_digest(json.loads(_advice_path(corpus).read_text("utf-8")))
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def save_advice(corpus: Corpus, advice: Advice) -> Advice:
    """Save the advice in the folder of its corpus and return it.

    Parameters
    ----------
    corpus : the corpus, whose folder receives the file.
    advice : the advice, finished or not.

    Returns
    -------
    The same advice.

    Raises
    ------
    StoreError : the file cannot be written.
    """
    write_atomically(
        _advice_path(corpus),
        lambda stream: stream.write(
            json.dumps(digests.with_digest(_plain_data(advice)), indent=1).encode()
        ),
    )
    return advice


def made_set_name(corpus: str) -> str:
    """Return the name of the set of questions made from a corpus.

    >>> from core.evaluation.advice.advice_state import made_set_name
    >>> made_set_name("reports")
    'reports-made'
    """
    return f"{clean_name(corpus[:MAX_CORPUS_NAME_LETTERS])}{MADE_SET_SUFFIX}"


def _plain_data(advice: Advice) -> dict:
    return json.loads(json.dumps(asdict(advice)))


def _advice_path(corpus: Corpus) -> Path:
    return corpus.folder / ADVICE_FILE_NAME
