"""What an answer to “do I need a graph?” rests on, saved beside its corpus while it is made, so that it goes on after a stop."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from core.corpus import Corpus
from core.datasets.own import clean_name
from core.evaluation.questions.from_names import MADE_SET
from core.indexes.place import keep
from core.io import digests
from core.io.plain import from_plain

FILE = "advice.json"  # in the folder of a corpus
VERSION = 1
BY_MODEL, BY_NAMES = "model", "names"
LONGEST_NAME = 34  # of a corpus, in the name of its set of made questions


@dataclass(frozen=True)
class Advice:
    """How far an answer is. `corpus` is the digest of the documents, `by` who writes the questions, `minutes` the time that it may take.

    `graphs` are the titles of the graphs that methods ran on, and whether a language model read or wrote for each. `set` is empty until
    the questions are made, `counts` says how many there are by kind, `left` how many candidates gave none, by kind and reason. `size` is
    how many of them are asked, 0 until that is measured, `run` the number of the evaluation, and `seconds` what it took so far. Once it
    is done, `headline` is the answer in a sentence.
    """

    corpus: str
    by: str = BY_MODEL
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
    version: int = VERSION

    def same(self, other: Advice) -> bool:
        """Whether the other answers the same for the same documents, however far it is."""
        parts = lambda one: (one.version, one.corpus, one.by, one.seed, one.minutes)
        return parts(self) == parts(other)


def saved_advice(corpus: Corpus) -> Advice | None:
    """The last answer of a corpus, or how far it is; None where there is none that can be read. Its digest says whether it is of the
    documents as they are."""
    try:
        return from_plain(
            Advice, digests.check_marked(json.loads(_file(corpus).read_text("utf-8")))
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def save(corpus: Corpus, advice: Advice) -> Advice:
    """The advice, saved beside its corpus. Raises StoreError."""
    keep(
        _file(corpus),
        lambda stream: stream.write(json.dumps(digests.marked(_plain(advice)), indent=1).encode()),
    )
    return advice


def set_name(corpus: str) -> str:
    """The name of the set of questions made from a corpus of that name.

    >>> from core.evaluation.advice.saved import set_name
    >>> set_name("reports")
    'reports-made'
    """
    return f"{clean_name(corpus[:LONGEST_NAME])}{MADE_SET}"


def _plain(advice: Advice) -> dict:
    return json.loads(json.dumps(asdict(advice)))


def _file(corpus: Corpus) -> Path:
    return corpus.folder / FILE
