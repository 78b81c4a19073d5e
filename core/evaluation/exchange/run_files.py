"""Export of an evaluation for other tools.

The formats are TREC runs and qrels (for trec_eval), RAGAS rows and BenchmarkQED answers.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

from core.corpus.quotations import split_passage_name
from core.diagnosis.passages import chunk_order, shown_chunks
from core.errors import BadInput, HopscopeError
from core.evaluation.repairs.lost_questions import reopen_question
from core.evaluation.runs.plan import DrawnQuestion
from core.evaluation.runs.store import Run, Store
from core.graph.protocol import KnowledgeGraph
from core.graph.texts import chunk_text
from core.io.json_text import json_text
from core.io.names import avoid_device_name
from core.types import Question, State
from core.watch import NO_WATCH, Watch

TREC_UNSAFE = re.compile(r"[\s%]")
FILE_NAME_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
README_TEXT = (
    "What is in these files, and what is not, is in docs/formats.md (Finished runs, out again)."
)


@dataclass(frozen=True)
class ExportedResult:
    """Result of a method for a question.

    `documents` are ids with scores, best first. `contexts` are the texts in the prompt. `answer` is
    empty if there is none.
    """

    question: Question
    documents: tuple[tuple[str, float], ...]
    contexts: tuple[str, ...]
    answer: str


def run_files(engine: Any, store: Store, run: Run, watch: Watch = NO_WATCH) -> dict[str, str]:
    """Return the texts of the exported files, by file name.

    Each method has a TREC run, a file of RAGAS rows and one of BenchmarkQED answers. One file has
    the qrels of all questions. Empty files are left out.

    Parameters
    ----------
    engine : opens the graphs that the states refer to.
    store : the store with the rows and states.
    run : the run.
    watch : receives the progress and may raise RunCancelled.

    Returns
    -------
    Texts by file name.

    Raises
    ------
    BadInput : no question of the run can be opened.
    """
    sample = store.drawn_questions(run.id)
    answers = {
        (row.method, row.question.id): row.outcome.answer.text
        for row in store.rows(run.id)
        if row.outcome and row.outcome.answer
    }
    files: dict[str, str] = {}
    for spec in run.spec["instances"]:
        results = list(exported_results(engine, store, run, spec, sample, answers, watch))
        name = (
            avoid_device_name(FILE_NAME_UNSAFE.sub("-", spec["id"]).strip("-.")[:60]) or "instance"
        )
        for file_name, text in _method_files(results, name).items():
            files[_free_file_name(file_name, files)] = text
    if not files:
        raise BadInput("Nothing that could be written is kept of this evaluation.")
    if qrels := _qrels(sample):
        files["qrels.txt"] = qrels
    return files


def write_run_files(
    engine: Any, store: Store, run: Run, folder: Path, watch: Watch = NO_WATCH
) -> list[Path]:
    """Write the exported files of a run into a folder.

    The folder is created if missing.

    Parameters
    ----------
    engine : opens the graphs that the states refer to.
    store : the store with the rows and states.
    run : the run.
    folder : the folder.
    watch : receives the progress and may raise RunCancelled.

    Returns
    -------
    The written files.

    Raises
    ------
    BadInput : nothing of the run can be opened, or the folder cannot be written.
    """
    files = run_files(engine, store, run, watch)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, "utf-8", newline="\n")
    except OSError as error:
        raise BadInput(f"{folder} cannot be written: {error.strerror or error}.") from None
    return [folder / name for name in files]


def run_zip(engine: Any, store: Store, run: Run) -> bytes:
    """Return the exported files of a run as a zip file.

    Parameters
    ----------
    engine : opens the graphs that the states refer to.
    store : the store with the rows and states.
    run : the run.

    Returns
    -------
    A zip file with the exported files and a README.

    Raises
    ------
    BadInput : nothing of the run can be opened.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as out:
        for name, text in run_files(engine, store, run).items():
            out.writestr(name, text)
        out.writestr("README.txt", f"{README_TEXT}\n")
    return buffer.getvalue()


def trec_id(id: str) -> str:
    """Return an id that fits into TREC's columns, which blanks separate.

    Blanks and per cent signs are percent-encoded, such as %20. An empty id becomes “-”.

    >>> from core.evaluation.exchange.run_files import trec_id
    >>> trec_id("Ed Wood (film)"), trec_id("d7")
    ('Ed%20Wood%20(film)', 'd7')
    """
    return TREC_UNSAFE.sub(lambda blank: quote(blank.group()), id) or "-"


Answers = dict[tuple[str, str], str]  # texts by id of the method and id of the question


def exported_results(
    engine: Any,
    store: Store,
    run: Run,
    spec: dict[str, str],
    sample: list[DrawnQuestion],
    answers: Answers,
    watch: Watch = NO_WATCH,
    passages: bool = False,
) -> Iterator[ExportedResult]:
    """Yield the result of a method for each question with saved states.

    Questions that can no longer be opened are left out.

    Parameters
    ----------
    engine : opens the graphs that the states refer to.
    store : the store with the rows and states.
    run : the run.
    spec : the method's entry in the specification of the run.
    sample : the questions of the run.
    answers : texts of the answers.
    watch : receives the progress and may raise RunCancelled.
    passages : True for the ids of passages in place of those of documents.
    """
    for drawn in sample:
        watch.check()
        try:
            reopened = reopen_question(engine, store, run, spec, drawn)
        except HopscopeError:
            continue
        if reopened is not None:
            graph = reopened.lane.graph
            state = reopened.lane.state
            answer = answers.get((spec["id"], drawn.question.id), "")
            documents = _documents(graph, state, "id" if passages else "document")
            yield ExportedResult(drawn.question, documents, _contexts(graph, state), answer)


def _method_files(results: list[ExportedResult], name: str) -> dict[str, str]:
    """Return the texts of a method's files, by file name."""
    texts = {}
    if any(result.documents for result in results):
        texts[f"{name}.trec"] = _trec(results, name)
    if results:
        ragas_rows = map(json_text, map(_ragas_row, results))
        texts[f"{name}.ragas.jsonl"] = "".join(f"{row}\n" for row in ragas_rows)
    qed_rows = [_qed_row(result) for result in results if result.answer]
    if qed_rows:
        texts[f"{name}.benchmark-qed.json"] = json_text(qed_rows, indent=1)
    return texts


def _documents(graph: KnowledgeGraph, state: State, column: str) -> tuple[tuple[str, float], ...]:
    """Return the documents of the retrieved chunks with scores, each at its first rank.

    With the column `id` in place of `document`, these are the chunks themselves.
    The scores are the ranking's if they fall strictly from document to document, else 1 / rank:
    trec_eval ranks by score, so equal scores would change the order.
    """
    order = chunk_order(graph, state)
    if order is None or graph.columns.chunks is None:
        return ()
    scores: dict[int, float] = {}
    if state.chunks is not None and state.chunks.scores is not None:
        scores = dict(zip(state.chunks.items, state.chunks.scores))
    first_rows: dict[str, int] = {}  # of the best chunk of each document
    for row in order[0]:
        first_rows.setdefault(graph.columns.chunks.text(column, row), row)
    document_scores = [float(scores[row]) for row in first_rows.values() if row in scores]
    has_all_scores = len(document_scores) == len(first_rows)
    if not has_all_scores or not all(a > b for a, b in pairwise(document_scores)):
        document_scores = [1 / rank for rank in range(1, len(first_rows) + 1)]
    return tuple(zip(first_rows, document_scores))


def _contexts(graph: KnowledgeGraph, state: State) -> tuple[str, ...]:
    """Return the texts in the prompt, or all retrieved texts.

    All retrieved texts are returned if there is no prompt. The texts are passages, or on a graph of
    triples the texts of paths.
    """
    if graph.columns.chunks is None:
        paths = state.paths.items if state.paths is not None else ()
        shown_count = state.prompt.paths if state.prompt is not None else None
        return tuple(graph.texts(paths[:shown_count]))
    order = chunk_order(graph, state)
    rows = order[0] if order is not None else ()
    shown_rows = shown_chunks(graph, state)
    return tuple(chunk_text(graph, row) for row in rows if shown_rows is None or row in shown_rows)


def _trec(results: list[ExportedResult], tag: str) -> str:
    """Return a TREC run: question, Q0, document, rank, score and the tag, one document a line."""
    lines = []
    for result in results:
        question = trec_id(result.question.id)
        for rank, (document, score) in enumerate(result.documents, 1):
            lines.append(f"{question} Q0 {trec_id(document)} {rank} {score:.9g} {tag}\n")
    return "".join(lines)


def _qrels(sample: list[DrawnQuestion]) -> str:
    """Return TREC qrels: question, 0, gold document and 1, one gold document a line."""
    lines: dict[str, None] = {}  # each once, in order
    for drawn in sample:
        for passage in drawn.question.gold:
            document = trec_id(split_passage_name(passage)[0])
            lines[f"{trec_id(drawn.question.id)} 0 {document} 1\n"] = None
    return "".join(lines)


def _ragas_row(result: ExportedResult) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": result.question.id,
        "user_input": result.question.text,
        "retrieved_contexts": list(result.contexts),
        "response": result.answer,
    }
    reference = " | ".join(result.question.answers)
    if reference:
        row["reference"] = reference
    return row


def _qed_row(result: ExportedResult) -> dict[str, str]:
    return {
        "question_id": result.question.id,
        "question_text": result.question.text,
        "answer": result.answer,
    }


def _free_file_name(name: str, files: dict[str, str]) -> str:
    """Return a file name, with a number added if it is taken.

    Names that differ only in case count as the same, because macOS and Windows do not distinguish
    them.
    """
    used_names = set(map(str.casefold, files))
    stem, _, ending = name.partition(".")
    count = 1
    while name.casefold() in used_names:
        count += 1
        name = f"{stem}-{count}.{ending}"
    return name
