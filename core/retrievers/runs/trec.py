"""Readers of TREC's files: runs, and relevance judgements (qrels).

A line of a run is: question, Q0, document, rank, score, tag.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from core.errors import BadInput, shorten
from core.io.files import numbered_lines
from core.io.recoded_files import decode_if_certain
from core.retrievers.reply import ReplyDocument
from core.retrievers.runs.run_rows import MAX_ROW_DOCUMENTS, RunRow, to_number

MAX_RUN_FILE_BYTES = 1 << 30  # of text in a file, after decompression
BEIR_HEADER = ["query-id", "corpus-id"]  # the first columns of BEIR's qrels


def is_run_line(line: str) -> bool:
    """Return whether a line belongs to a TREC run: six columns, the fifth a number."""
    parts = line.split()
    return len(parts) == 6 and to_number(parts[4]) is not None


def is_qrels_line(line: str) -> bool:
    """Return whether a line belongs to a file of qrels.

    It has three or four columns that end in a whole number, or it is BEIR's header.

    >>> from core.retrievers.runs.trec import is_qrels_line
    >>> (is_qrels_line("1 0 d7 2"), is_qrels_line("query-id\\tcorpus-id\\tscore"),
    ...  is_qrels_line("1 Q0 d7 1 0.5 mine"))
    (True, True, False)
    """
    parts = line.split()
    if parts[:2] == BEIR_HEADER:
        return True
    return len(parts) in (3, 4) and _whole_number(parts[-1]) is not None


def read_run(lines: Iterable[tuple[int, str]], name: str) -> Iterator[RunRow]:
    """Yield the rows of a TREC run, question by question.

    Documents are ordered as by trec_eval: by score, ties by id in descending order. The column of
    ranks is ignored. Raises BadInput for a line that does not belong to a run.

    Parameters
    ----------
    lines : pairs of line number and text.
    name : the file's name, for error messages.
    """
    scores_by_question: dict[str, dict[str, float]] = {}
    for number, text in lines:
        parts = text.split()
        # with tabs between the columns, ids may contain blanks
        if text.count("\t") == 5:
            parts = [part.strip() for part in text.split("\t")]
        if not any(parts):
            continue
        score = to_number(parts[4]) if len(parts) == 6 else None
        if score is None:
            raise BadInput(
                f"{name}, line {number}: expected question, Q0, document, rank, score and tag, "
                f"found “{shorten(text, 60)}”."
            )
        scores_by_question.setdefault(parts[0], {}).setdefault(parts[2], score)
    for question, scores in scores_by_question.items():
        # `sorted` is stable, so equal scores keep the descending order of ids
        by_id = sorted(scores, reverse=True)
        ordered = sorted(by_id, key=lambda id: -scores[id])[:MAX_ROW_DOCUMENTS]
        documents = [ReplyDocument(id, score=scores[id]) for id in ordered]
        yield RunRow(question, documents=tuple(documents))


def read_qrels(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Return the relevant documents of each judged question, the most relevant first.

    The file has TREC's four columns or BEIR's three. A question whose documents are all judged
    irrelevant has an empty entry. Raises BadInput.
    """
    grades_by_question: dict[str, dict[str, int]] = {}
    file = decode_if_certain(Path(path))
    for number, text in numbered_lines(file, max_bytes=MAX_RUN_FILE_BYTES):
        parts = text.split("\t") if "\t" in text else text.split()
        if not text.strip() or parts[:2] == BEIR_HEADER:
            continue
        grade = _whole_number(parts[-1]) if len(parts) in (3, 4) else None
        if grade is None:
            raise BadInput(
                f"{Path(path).name}, line {number}: expected question, 0, document and relevance, "
                f"found “{shorten(text, 60)}”."
            )
        grades_by_question.setdefault(parts[0].strip(), {})[parts[-2].strip()] = grade
    if not grades_by_question:
        raise BadInput(f"{Path(path).name} holds no judgements.")
    return {question: _rank_relevant(grades) for question, grades in grades_by_question.items()}


def _rank_relevant(grades: Mapping[str, int]) -> tuple[str, ...]:
    """Return the documents with a grade above 0, the highest first, ties by id."""
    relevant = [id for id, grade in grades.items() if grade > 0]
    return tuple(sorted(relevant, key=lambda id: (-grades[id], id)))


def _whole_number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None
