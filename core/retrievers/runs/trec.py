"""TREC's files: runs (question, Q0, document, rank, score, tag) and judgements of relevance (qrels)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from core.errors import BadInput, shorten
from core.io.files import lines
from core.io.recoded import readable
from core.retrievers.reply import GivenDocument
from core.retrievers.runs.parts import MOST_DOCUMENTS, RunRow, number

MAX_BYTES = 1 << 30  # of a file's text


def is_run(line: str) -> bool:
    """Whether a line is one of a TREC run: six columns, of which the fifth is a number."""
    parts = line.split()
    return len(parts) == 6 and number(parts[4]) is not None


def is_qrels(line: str) -> bool:
    """Whether a line is one of qrels: four columns that end in a whole number, or BEIR's header or three columns.

    >>> from core.retrievers.runs.trec import is_qrels
    >>> is_qrels("1 0 d7 2"), is_qrels("query-id\\tcorpus-id\\tscore"), is_qrels("1 Q0 d7 1 0.5 mine")
    (True, True, False)
    """
    parts = line.split()
    return (len(parts) in (3, 4) and _whole(parts[-1]) is not None) or parts[:2] == [
        "query-id",
        "corpus-id",
    ]


def read_run(numbered: Iterable[tuple[int, str]], name: str) -> Iterator[RunRow]:
    """The rows of a TREC run, in the order of the questions in the file. As trec_eval does, documents go by their scores, those of the same
    score by their ids, the last one first; the column of ranks is not looked at. Raises BadInput for a line that is none of a run."""
    found: dict[str, dict[str, float]] = {}
    for line, text in numbered:
        parts = (
            [part.strip() for part in text.split("\t")] if text.count("\t") == 5 else text.split()
        )
        if not any(parts):
            continue
        score = number(parts[4]) if len(parts) == 6 else None
        if score is None:
            raise BadInput(
                f"{name}, line {line}: expected question, Q0, document, rank, score and tag, found “{shorten(text, 60)}”."
            )
        found.setdefault(parts[0], {}).setdefault(parts[2], score)
    for question, scores in found.items():
        by_id = sorted(scores, reverse=True)
        ordered = sorted(by_id, key=lambda document: -scores[document])[:MOST_DOCUMENTS]
        yield RunRow(
            question,
            documents=tuple(
                GivenDocument(document, score=scores[document]) for document in ordered
            ),
        )


def read_qrels(path: str | Path) -> dict[str, tuple[str, ...]]:
    """The relevant documents of each judged question, the most relevant first; none of one whose documents are all judged irrelevant.
    TREC's four columns, or BEIR's three. Raises BadInput."""
    found: dict[str, dict[str, int]] = {}
    for line, text in lines(readable(Path(path)), most=MAX_BYTES):
        parts = text.split("\t") if "\t" in text else text.split()
        if not text.strip() or parts[:2] == ["query-id", "corpus-id"]:
            continue
        grade = _whole(parts[-1]) if len(parts) in (3, 4) else None
        if grade is None:
            raise BadInput(
                f"{Path(path).name}, line {line}: expected question, 0, document and relevance, found “{shorten(text, 60)}”."
            )
        found.setdefault(parts[0].strip(), {})[parts[-2].strip()] = grade
    if not found:
        raise BadInput(f"{Path(path).name} holds no judgements.")
    rank = lambda grades: sorted(
        (one for one in grades if grades[one] > 0), key=lambda one: (-grades[one], one)
    )
    return {question: tuple(rank(grades)) for question, grades in found.items()}


def _whole(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None
