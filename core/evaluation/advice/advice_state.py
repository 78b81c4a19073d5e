"""Saved state of the work on “do I need a graph?”.

The work answers this question for a corpus. Its state is saved in the folder of the corpus after
each step, so that the work can be resumed. The sentences of the answer are not saved; `answer.py`
makes them from the rows of the evaluation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from operator import attrgetter
from pathlib import Path

from core.corpus import Corpus
from core.datasets.own_sets import clean_name
from core.evaluation.questions.name_questions import MADE_SET_SUFFIX
from core.indexes.index_storage import write_atomically
from core.io import digests
from core.io.plain_data import from_plain

ADVICE_FILE_NAME = "advice.json"  # file name in the folder of a corpus
ADVICE_VERSION = 1
QUESTIONS_BY_MODEL = "model"
QUESTIONS_BY_NAMES = "names"
# Letters of a corpus's name in the name of its question set, which ends with `MADE_SET_SUFFIX`.
MAX_CORPUS_NAME_LETTERS = 34
advice_settings = attrgetter("version", "corpus", "by", "seed", "minutes")


@dataclass(frozen=True)
class Advice:
    """State of an answer to “do I need a graph?”.

    Parameters
    ----------
    corpus : digest of the documents.
    by : source of the questions, `QUESTIONS_BY_MODEL` or `QUESTIONS_BY_NAMES`.
    seed : seed of the questions and the evaluation.
    minutes : time that the answer may take.
    graphs : by the title of each graph that methods run on, True if its build asks a language
        model.
    set : name of the question set, empty until the questions are made.
    counts : number of questions by kind.
    left : number of rejected candidates for questions, by kind and reason.
    notes : sentences on how the questions were made.
    size : number of questions to ask, 0 until it is measured.
    run : number of the evaluation, 0 before it begins.
    seconds : time taken so far, over all calls.
    done : True if the answer is finished.
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

    def has_same_settings(self, other: Advice) -> bool:
        """Return whether another advice has the same documents and settings."""
        return advice_settings(self) == advice_settings(other)


def load_advice(corpus: Corpus) -> Advice | None:
    """Return the saved advice on a corpus, None if nothing readable is saved.

    It may be unfinished. It may also belong to earlier documents; its field `corpus` is their
    digest.
    """
    try:
        record = json.loads(_advice_path(corpus).read_text("utf-8"))
        return from_plain(Advice, digests.check_own_digest(record))
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
    record = json.loads(json.dumps(asdict(advice)))  # with lists in place of tuples
    text = json.dumps(digests.with_digest(record), indent=1)
    write_atomically(_advice_path(corpus), lambda stream: stream.write(text.encode()))
    return advice


def made_set_name(corpus: str) -> str:
    """Return the name of the set of questions made from a corpus.

    >>> from core.evaluation.advice.advice_state import made_set_name
    >>> made_set_name("reports")
    'reports-made'
    """
    return f"{clean_name(corpus[:MAX_CORPUS_NAME_LETTERS])}{MADE_SET_SUFFIX}"


def _advice_path(corpus: Corpus) -> Path:
    return corpus.folder / ADVICE_FILE_NAME
