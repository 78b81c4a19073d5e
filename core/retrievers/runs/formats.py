"""File formats of finished runs, and the reader that recognises them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from core.corpus.readers.delimited_table import HEADER_YES, DelimitedTable
from core.errors import BadInput, shorten, suggest_name
from core.io.columnar import is_columnar
from core.io.files import FileSource, numbered_lines
from core.io.json_rows import numbered_rows, read_start
from core.io.recoded_files import decode_if_certain
from core.languages.spelling import fold
from core.retrievers.runs.run_paths import PATH_LIST_KEYS as PATH_KEYS
from core.retrievers.runs.run_paths import paths_in
from core.retrievers.runs.run_rows import RunRow, documents_in, list_in, text_in, texts_in
from core.retrievers.runs.traces import (
    is_langfuse,
    is_openinference,
    read_langfuse,
    read_openinference,
)
from core.retrievers.runs.trec import MAX_RUN_FILE_BYTES, is_qrels_line, is_run_line, read_run
from core.runtime.separate_columns import column_rows
from core.watch import NO_WATCH, Watch

AUTO_RUN_FORMAT, TREC_FORMAT, PREDICTIONS_FORMAT = "auto", "trec", "hotpotqa"
# Keys of an object under which a JSON file may have its list of rows.
ROW_LIST_KEYS = ("data", "rows", "results", "samples", "predictions", "responses", "traces")
MAX_FORMAT_ROWS = 20  # rows that are read before a format is chosen
Row = Mapping[str, Any]  # an object of a file


@dataclass(frozen=True)
class RunKeys:
    """The keys of a format's objects for each part of a run.

    Of several keys, the first that an object has is used.
    """

    question: tuple[str, ...] = ()
    id: tuple[str, ...] = ("id", "qid", "question_id", "query_id", "_id")
    documents: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()  # ids of the documents, in a list parallel to theirs
    scores: tuple[str, ...] = ()  # scores of the documents, in a parallel list too
    answer: tuple[str, ...] = ()
    references: tuple[str, ...] = ()  # the correct answers
    prompt: tuple[str, ...] = ()

    def read_row(self, row: Row) -> RunRow:
        """Convert an object to a row of a run."""

        def value_of(keys: Iterable[str]) -> Any:
            return next((row[key] for key in keys if row.get(key) is not None), None)

        documents, ids = value_of(self.documents), value_of(self.ids)
        if documents is None:  # the ids alone name the documents
            documents, ids = ids, None
        answer, prompt = value_of(self.answer), value_of(self.prompt)
        if answer is not None:
            lines = answer if isinstance(answer, list) else [answer]
            answer = "\n".join(map(text_in, lines))
        paths, odd = paths_in(row)
        return RunRow(
            id=text_in(value_of(self.id)).strip(),
            question=text_in(value_of(self.question)).strip(),
            documents=documents_in(documents, ids, value_of(self.scores)),
            answer=answer,
            references=texts_in(value_of(self.references)),
            prompt=None if prompt is None else text_in(prompt),
            paths=paths,
            odd=odd,
        )


def _never_fits(row: Row) -> bool:
    """Return False, as a TREC run has no objects.

    It is made of lines.
    """
    return False


def _no_rows(rows: Iterable[Row]) -> Iterator[RunRow]:
    """Return no rows, as `read_run` reads the lines of TREC runs."""
    return iter(())


@dataclass(frozen=True)
class RunFormat:
    """A format of finished runs.

    Parameters
    ----------
    written_by : the programs that write it, as text.
    read_parts, ignored_parts : the parts of a file that are read, and those that are not, as text.
    fits : returns whether an object has this format.
    read : converts the objects of a file to rows.
    """

    title: str
    written_by: str
    read_parts: str
    ignored_parts: str
    fits: Callable[[Row], bool] = _never_fits
    read: Callable[[Iterable[Row]], Iterator[RunRow]] = _no_rows


def _by_keys(keys: RunKeys) -> Callable[[Iterable[Row]], Iterator[RunRow]]:
    """Return a reader that converts each object by its keys."""
    return lambda rows: map(keys.read_row, rows)


def _has_keys(*required: str, any_of: Sequence[str] = ()) -> Callable[[Row], bool]:
    """Return a function that tests for all required keys.

    If `any_of` is given, one of these keys must be there too.
    """

    def fits(row: Row) -> bool:
        has_any = not any_of or any(key in row for key in any_of)
        return has_any and all(key in row for key in required)

    return fits


ANSWER_KEYS = (
    "answer",
    "prediction",
    "response",
    "generated_answer",
    "predicted_answer",
    "pred",
    "output",
    "generated",
    "model_answer",
)
REFERENCE_KEYS = (
    "ground_truth",
    "ground_truths",
    "reference",
    "references",
    "gold_answers",
    "gold_answer",
    "reference_answer",
)
CONTEXT_KEYS = (
    "contexts",
    "retrieved_contexts",
    "documents",
    "docs",
    "chunks",
    "passages",
    "ctxs",
    "retrieved",
    "context",
    "sources",
)
CONTEXT_ID_KEYS = (
    "document_ids",
    "doc_ids",
    "chunk_ids",
    "context_ids",
    "retrieved_ids",
    "retrieved_doc_ids",
    "retrieved_context_ids",
)
QUESTION_KEYS = ("question", "query", "user_input", "question_text", "input")
ID_KEYS = RunKeys().id
RAGAS_KEYS = RunKeys(
    question=("user_input",),
    documents=("retrieved_contexts",),
    ids=("retrieved_context_ids",),
    answer=("response",),
    references=("reference",),
)
HIPPORAG_KEYS = RunKeys(
    question=("question",),
    documents=("docs",),
    ids=("doc_ids",),
    scores=("doc_scores",),
    answer=("answer",),
    references=("gold_answers",),
)
GRAPHRAG_BENCH_KEYS = RunKeys(
    question=("question",),
    documents=("context",),
    answer=("generated_answer",),
    references=("ground_truth",),
)
BENCHMARK_QED_KEYS = RunKeys(
    question=("question_text",),
    id=("question_id",),
    documents=("context", "contexts"),
    answer=("answer",),
)
TOG_KEYS = RunKeys(question=("question",), answer=("results",))
GENERIC_ROW_KEYS = RunKeys(
    question=QUESTION_KEYS,
    documents=CONTEXT_KEYS,
    ids=CONTEXT_ID_KEYS,
    scores=("scores", "doc_scores"),
    answer=ANSWER_KEYS,
    references=REFERENCE_KEYS,
    prompt=("prompt",),
)


def _is_generic_row(row: Row) -> bool:
    """Return whether an object has a question and a result."""
    return not _missing_parts(row)


def _missing_parts(row: Row) -> list[str]:
    """Return the columns of a finished run that an object lacks, each as some of its names.

    The question may be an id. A result is documents, paths or an answer.
    """
    result_keys = (*CONTEXT_KEYS, *CONTEXT_ID_KEYS, *ANSWER_KEYS, *PATH_KEYS)
    parts = {
        "“question” or “id”": (*QUESTION_KEYS, *ID_KEYS),
        "“contexts”, “paths” or “answer”": result_keys,
    }
    return [names for names, keys in parts.items() if not any(key in row for key in keys)]


# The order matters: the first format that fits an object is used, so the generic ones come last.
FORMATS: dict[str, RunFormat] = {
    TREC_FORMAT: RunFormat(
        "TREC run",
        "trec_eval, ir_measures, Anserini, PyTerrier",
        "documents by score, ties by id as trec_eval",
        "ranks, tags",
    ),
    "openinference": RunFormat(
        "Traces of OpenInference",
        "Phoenix (20.26): its client's table of spans as Parquet, JSON or CSV; any OpenInference "
        "instrumentation (0.1.72) as "
        "OTLP/JSON, or by the exporter to the console",
        "a row a trace: the root's input and output, the documents of the last retriever or "
        "re-ranker, the last prompt",
        "tokens, costs, tools, embeddings",
        is_openinference,
        read_openinference,
    ),
    "langfuse": RunFormat(
        "Traces of Langfuse",
        "Langfuse's export of a trace, of traces or of observations, also of version 2 (langfuse "
        "5.0.4)",
        "a row a trace: input, output, the documents of the last retriever",
        "scores, costs, sessions, comments",
        is_langfuse,
        read_langfuse,
    ),
    "ragas": RunFormat(
        "RAGAS rows",
        "RAGAS 0.2 and later",
        "user_input, retrieved_contexts and their ids, response; reference as the correct answer",
        "turns of conversations, rubrics, reference_contexts",
        _has_keys("user_input"),
        _by_keys(RAGAS_KEYS),
    ),
    "hipporag": RunFormat(
        "Results of HippoRAG",
        "HippoRAG 2, its QuerySolution",
        "question, docs with doc_scores, answer; gold_answers as correct answers",
        "gold_docs",
        _has_keys("question", "docs", any_of=("doc_scores", "gold_docs")),
        _by_keys(HIPPORAG_KEYS),
    ),
    "graphrag-bench": RunFormat(
        "Results of GraphRAG-Bench",
        "GraphRAG-Bench's examples",
        "id, question, context, generated_answer; ground_truth as the correct answer",
        "evidence, question_type",
        _has_keys("question", "generated_answer", any_of=("context", "evidence", "question_type")),
        _by_keys(GRAPHRAG_BENCH_KEYS),
    ),
    "benchmark-qed": RunFormat(
        "Answers of BenchmarkQED",
        "BenchmarkQED, AutoE",
        "question_id, question_text, answer",
        "other keys",
        _has_keys("question_text", "answer"),
        _by_keys(BENCHMARK_QED_KEYS),
    ),
    "rog": RunFormat(
        "Predictions of RoG",
        "RoG (reasoning-on-graphs), GNN-RAG",
        "id, question, prediction; the paths that the prompt (input) shows; ground_truth as the "
        "correct answer",
        "the rest of the prompt",
        _has_keys("question", "prediction", "input"),
        _by_keys(GENERIC_ROW_KEYS),
    ),
    "tog": RunFormat(
        "Results of Think-on-Graph",
        "ToG",
        "question, results as the answer, reasoning_chains as paths",
        "",
        _has_keys("question", "results", "reasoning_chains"),
        _by_keys(TOG_KEYS),
    ),
    "rows": RunFormat(
        "Rows with a question or its id, and contexts, paths or an answer",
        "RAGAS 0.1, FlashRAG, DPR and programs of one's own",
        "question or id, contexts (or ids of documents), scores, answer, prompt; ground_truth as "
        "the correct answer; on triples paths, "
        "reasoning_paths, triples and the like",
        "other keys",
        _is_generic_row,
        _by_keys(GENERIC_ROW_KEYS),
    ),
    PREDICTIONS_FORMAT: RunFormat(
        "Predictions as HotpotQA's and SQuAD's scorers read them",
        "HotpotQA, 2WikiMultihopQA and MuSiQue baselines, SQuAD",
        "answers by the questions' ids; the titles under “sp” as documents",
        "sentence numbers, evidences",
        lambda row: bool(_predictions(row)),
        lambda rows: chain.from_iterable(map(_prediction_rows, rows)),
    ),
}


@dataclass(frozen=True)
class ParsedRun:
    """A finished run as read from a file: one row for each question.

    `format` is a key of `FORMATS`. `notes` are sentences on the parts that were left out.
    """

    format: str
    rows: tuple[RunRow, ...]
    notes: tuple[str, ...] = ()


def format_title(format: str) -> str:
    """Return the title of a format.

    It is the name itself if the format is unknown.
    """
    return FORMATS[format].title if format in FORMATS else format


def read_run_file(
    path: str | Path, format: str = AUTO_RUN_FORMAT, watch: Watch = NO_WATCH, encoding: str = ""
) -> ParsedRun:
    """Read the run in a file, which may be compressed.

    The file is a TREC run, JSON (an array, lines, or an object that holds rows), CSV with a header,
    or Parquet. Raises BadInput for an unknown format, and for a file that holds no run.

    Parameters
    ----------
    path : the file.
    format : a key of `FORMATS`, or `AUTO_RUN_FORMAT` to recognise the format.
    watch : receives the fraction that was read, and raises RunCancelled if the user cancels.
    encoding : the encoding of a file that is not UTF-8; empty to recognise it.
    """
    path = Path(path)
    reading_notes: list[str] = []
    rows: Iterator[Row]
    if format not in (AUTO_RUN_FORMAT, *FORMATS):
        raise BadInput(
            f"There is no format “{shorten(format, 40)}” of finished "
            f"runs.{suggest_name(format, FORMATS)}"
        )
    if is_columnar(path):
        rows = (row for _, row in column_rows(path, max_bytes=MAX_RUN_FILE_BYTES))
        start = ""  # no JSON
    else:
        file = decode_if_certain(path, reading_notes.append, encoding, MAX_RUN_FILE_BYTES)
        start = read_start(file, 1, MAX_RUN_FILE_BYTES)
        is_json = start in ("{", "[")
        may_be_trec = format == AUTO_RUN_FORMAT and not is_json
        if format == TREC_FORMAT or (may_be_trec and _is_trec(file)):
            run_rows = read_run(numbered_lines(file, watch, MAX_RUN_FILE_BYTES), path.name)
            return _collect_rows(path.name, TREC_FORMAT, run_rows, reading_notes)
        if is_json:
            json_rows = numbered_rows(file, watch, MAX_RUN_FILE_BYTES, ROW_LIST_KEYS, single=True)
            rows = (row for _, _, row in json_rows)
        else:
            rows = _table_rows(file, watch)
    first_rows = list(islice(rows, MAX_FORMAT_ROWS))
    single = start == "{" and len(first_rows) == 1
    if format == AUTO_RUN_FORMAT:
        format = _detect_format(path.name, first_rows, single)
    run_rows = FORMATS[format].read(chain(first_rows, rows))
    return _collect_rows(path.name, format, run_rows, reading_notes)


def _is_trec(file: FileSource) -> bool:
    """Return whether a file's first line belongs to a TREC run.

    Raises BadInput if the file holds relevance judgements.
    """
    line = next((text for _, text in numbered_lines(file, max_bytes=MAX_RUN_FILE_BYTES)), "")
    if not is_run_line(line) and is_qrels_line(line):
        raise BadInput(
            f"{file.name} holds judgements of relevance rather than a run; give it as the qrels "
            "of a run."
        )
    return is_run_line(line)


def format_of_rows(rows: Sequence[Row]) -> str:
    """Return the first format that fits the first of some objects.

    The result is empty if none does.
    """
    if not rows:
        return ""
    return next((key for key, form in FORMATS.items() if form.fits(rows[0])), "")


def _detect_format(name: str, rows: Sequence[Row], single: bool) -> str:
    """Return the format of a file's first objects. Raises BadInput if none fits.

    `single` is True if the file has only one object. Only such an object may map question ids to
    answers.
    """
    key = format_of_rows(rows)
    if key and (single or key != PREDICTIONS_FORMAT):
        return key
    keys = ", ".join(f"“{shorten(str(key), 30)}”" for key in list(rows[0] if rows else ())[:8])
    missing = f", and {' and '.join(_missing_parts(rows[0]))} is missing" if keys else ""
    has = f": its rows have {keys}{missing}" if keys else ""
    raise BadInput(
        f"{name} is no finished run that is known here{has}. A row needs a question or its id, and "
        "contexts, paths or an answer (docs/formats.md)."
    )


def _collect_rows(name: str, format: str, rows: Iterable[RunRow], notes: list[str]) -> ParsedRun:
    """Return the first row of each question, with notes on the others."""
    rows_by_question: dict[tuple[str, str], RunRow] = {}
    nameless = empty = repeated = odd_paths = 0
    for row in rows:
        key = (row.id, " ".join(fold(row.question).split()))
        odd_paths += row.odd
        if not any(key):
            nameless += 1
            continue
        empty += not row.has_results
        repeated += key in rows_by_question
        if row.has_results:
            rows_by_question.setdefault(key, row)
    if not rows_by_question:
        raise BadInput(
            f"{name} holds no row with a question or its id, and with documents, paths or an "
            "answer."
        )
    left_out = {
        "they have no question and no id of one": nameless,
        "they have no documents, paths or answer": empty,
        "an earlier row has their question": repeated,
    }
    for reason, count in left_out.items():
        if count:
            notes.append(f"Left out, as {reason}: {count:,} row{'' if count == 1 else 's'}.")
    if odd_paths:
        notes.append(
            f"Left out of their paths, as they are neither triples nor paths: {odd_paths:,}."
        )
    return ParsedRun(format, tuple(rows_by_question.values()), tuple(filter(None, notes)))


def _table_rows(file: FileSource, watch: Watch) -> Iterator[Row]:
    """Yield the rows of a delimited file with a header, without empty cells."""
    try:
        rows = DelimitedTable(file, watch, HEADER_YES).rows()
    except csv.Error as error:
        raise BadInput(f"{file.name} cannot be read as a table: {error}.") from None
    return ({key: value for key, value in row.items() if key and value} for _, row in rows)


def _predictions(row: Row) -> Mapping[str, Any]:
    """Return the answers of a file of predictions by question id.

    HotpotQA has the mapping under `answer`. SQuAD's whole file is the mapping. The result is empty
    if the file has another format.
    """
    answers = row.get("answer")
    if not isinstance(answers, Mapping):
        answers = row
    parts = chain.from_iterable(answers.items())
    return answers if all(isinstance(part, str) for part in parts) else {}


def _prediction_rows(row: Row) -> Iterator[RunRow]:
    """Yield a row for each answer of a file of predictions.

    HotpotQA's supporting facts, under `sp`, are pairs of title and sentence number by question id.
    """
    titles_field = row.get("sp")
    supporting = titles_field if isinstance(titles_field, Mapping) else {}
    for id, answer in _predictions(row).items():
        titles = dict.fromkeys(
            text_in(fact[0])
            for fact in list_in(supporting.get(id))
            if isinstance(fact, list) and fact
        )
        yield RunRow(
            id, "", documents_in([{"title": title} for title in titles if title]), text_in(answer)
        )
