"""Store of finished runs in the user's folder.

It finds the row of a question. Each run belongs to one source, a graph or a corpus. Methods and
evaluations use the rows in place of a retrieval.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from sqlite3 import Connection

from core.corpus.quotations import single_line
from core.errors import BadInput, BadParameter, StoreError, shorten, suggest_name
from core.io.home import home_folder
from core.io.plain_data import from_plain, to_plain
from core.io.rows import RowFile, Schema
from core.retrievers.document_matching import id_in_corpus
from core.retrievers.runs.formats import AUTO_RUN_FORMAT, read_run_file
from core.retrievers.runs.run_rows import RunRow
from core.retrievers.runs.trec import read_qrels
from core.sharing import check_may_change, forget_owner, record_owner
from core.sources import AnswerSource, GraphSource
from core.sources.kinds import SOURCE_KINDS
from core.types import Question

RUN_TABLE_STATEMENTS = (
    "CREATE TABLE runs (name TEXT PRIMARY KEY, about TEXT NOT NULL)",
    """CREATE TABLE rows (
  run TEXT NOT NULL REFERENCES runs ON DELETE CASCADE, place INTEGER NOT NULL, id TEXT NOT NULL, \
text TEXT NOT NULL, row BLOB NOT NULL,
  PRIMARY KEY (run, place))""",
    "CREATE INDEX rows_by_id ON rows (run, id)",
    "CREATE INDEX rows_by_text ON rows (run, text)",
)
# SQLite's application id, in the header of the file, spells "HopF".
SAVED_RUNS_SCHEMA = Schema(
    "the finished runs", RUN_TABLE_STATEMENTS, application=0x486F7046, version=1
)
RUN_OWNED_KIND = "finished run"  # kind of thing in the records of owners
MAX_RUN_NAME_CHARACTERS = 40
MAX_RECEIVED_TRACES = 2_000  # the last ones of a running retriever
MAX_RECEIVED_RUNS = 50  # running retrievers whose answers are saved
UNFIT_RUN_NAME_CHARACTERS = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class FileRun:
    """A saved run, described by its file, its source and its counts of questions.

    `digest` is the hash of the bytes of the file, and of its file of qrels if there is one. `file`
    is the name of the file. `notes` are sentences on the parts that were left out.
    """

    name: str
    title: str
    file: str
    format: str
    digest: str
    source_kind: str
    source_name: str
    questions: int  # number of questions with a result
    with_documents: int  # number of questions with documents
    with_answers: int
    known: int  # number of questions that are in the source's question sets
    notes: tuple[str, ...] = ()
    with_paths: int = 0
    judged: bool = False  # True if a file of qrels says which documents are relevant
    # The `service.name` of a running retriever that sends its traces; empty for a file.
    service: str = ""

    @property
    def source(self) -> AnswerSource:
        """The graph or corpus that the questions are asked of."""
        return SOURCE_KINDS[self.source_kind](self.source_name)

    def find_row(self, question: Question) -> RunRow | None:
        """Return the row of a question; None if the run has none.

        It is found by the question's text, else by its id among the rows without a text.
        """
        run_row = _find_row(self.name, self.digest, question.id, _comparable_text(question.text))
        return run_row if run_row is not None and run_row.has_results else None

    def list_questions(self) -> tuple[Question, ...]:
        """Return the questions of the run as they are in the source's question sets.

        Questions that are in no set get the known answers of the file. Rows with an id alone are
        left out. If the run is judged, only judged questions are returned, with the gold passages
        of the qrels.
        """
        # reversed, so that the first of equal questions stays
        known_questions = {
            _comparable_text(question.text): question
            for question in reversed(_known_questions(self.source))
        }
        questions: dict[str, Question] = {}
        for number, row in enumerate(self.rows(), 1):
            if not row.question or (self.judged and not row.gold):
                continue
            fallback = Question(
                row.question, row.id or f"{self.name}-{number}", answers=row.references
            )
            question = known_questions.get(_comparable_text(row.question), fallback)
            if self.judged:
                question = replace(question, gold=row.gold)
            questions.setdefault(question.id, question)
        return tuple(questions.values())

    def rows(self) -> tuple[RunRow, ...]:
        """Return every row, in the order of the file, also rows with judgements only."""
        packed_rows = _file().query(
            "SELECT row FROM rows WHERE run = ? ORDER BY place", (self.name,)
        )
        return tuple(_unpack_row(data) for (data,) in packed_rows)

    def describe(self) -> str:
        """Describe the contents of the run in words.

        For example: 40 questions, 40 with documents, 38 with answers. Of these 37 in the question
        sets of “x”.
        """
        counts = ", ".join([_count_questions(self.questions), *self._count_words()])
        known_count = "all" if self.known == self.questions else f"{self.known:,}"
        return f"{counts}. Of these {known_count} in the question sets of “{self.source_name}”."

    def _count_words(self) -> list[str]:
        counts = [(self.with_documents, "documents"), (self.with_answers, "answers")]
        if self.source_kind == GraphSource.kind:
            counts[0] = (self.with_paths, "paths")
        return [f"{'none' if not count else f'{count:,}'} with {what}" for count, what in counts]


def save_run_file(
    path: str | Path,
    source: AnswerSource,
    format: str = AUTO_RUN_FORMAT,
    title: str = "",
    qrels: str | Path = "",
) -> FileRun:
    """Read the run in a file and save it for a source.

    If a run of the same bytes and source is saved already, that one is returned. Questions are
    recognised by their texts, or by the ids of the source's question sets. Raises BadInput,
    StoreError.

    Parameters
    ----------
    path : the file of the run.
    source : the graph or corpus that the questions are asked of.
    format : a key of `formats.FORMATS`; recognised by default.
    title : the name on screens; the file's name if empty.
    qrels : a file of relevance judgements; empty if there is none.
    """
    path = Path(path)
    files = [path, qrels] if qrels else [path]
    digest = _digest(*files)
    saved_run = _saved_run(digest, source)
    if saved_run is not None:
        return saved_run
    parsed_run = read_run_file(path, format)
    _check_kind(path.name, parsed_run.rows, source)
    run_rows = _with_gold(parsed_run.rows, _relevant(qrels, source)) if qrels else parsed_run.rows
    rows, n_known = _match_rows(run_rows, _known_questions(source))
    rows_with_results = [row for row in rows if row.has_results]
    name = _free_name(path.name.split(".")[0], runs_by_name())
    notes = [*parsed_run.notes, *_unknown_notes(rows_with_results, n_known, source)]
    if qrels:
        notes += _judgement_notes(rows, source)
    file_run = FileRun(
        name,
        title=" ".join(title.split())[:200] or path.name,
        file=path.name,
        format=parsed_run.format,
        digest=digest,
        source_kind=source.kind,
        source_name=source.name,
        questions=len(rows_with_results),
        with_documents=sum(bool(row.documents) for row in rows_with_results),
        with_answers=sum(row.answer is not None for row in rows_with_results),
        known=n_known,
        notes=tuple(notes),
        with_paths=sum(bool(row.paths) for row in rows_with_results),
        judged=bool(qrels),
    )
    _save(file_run, rows)
    return file_run


def record_row(
    service: str, source: AnswerSource, row: RunRow, known_texts: Collection[str]
) -> FileRun | None:
    """Save an answer of a running retriever, and return its run. None if it was saved before.

    It replaces the earlier answer to its question, and the row with its id. Raises BadInput for one
    retriever too many, StoreError.

    Parameters
    ----------
    service : the `service.name` of the retriever.
    source : the corpus that it searches.
    row : the answer, with the id of its trace.
    known_texts : the questions of the source, as `known_texts` returns them.
    """
    text, packed_row = _comparable_text(row.question), _pack_row(row)
    with _file().open_for_writing() as database:
        run = _run_of_service(database, service, source)
        is_new = not run.digest
        rows = database.execute(
            "SELECT ifnull(max(place), -1) + 1 FROM rows WHERE run = ?", (run.name,)
        )
        place = rows.fetchone()[0]
        condition = "run = ? AND (id = ? OR text = ? OR place <= ?)"
        values = (run.name, row.id, text, place - MAX_RECEIVED_TRACES)
        removed = database.execute(f"SELECT row FROM rows WHERE {condition}", values).fetchall()
        if removed == [(packed_row,)]:
            return None
        database.execute(f"DELETE FROM rows WHERE {condition}", values)
        run = _count_row(run, row, 1, known_texts)
        for (data,) in removed:
            run = _count_row(run, _unpack_row(data), -1, known_texts)
        digest = hashlib.sha256(run.digest.encode() + packed_row).hexdigest()
        run = replace(run, digest=digest)
        _insert(database, run, [row], place)
    if is_new:
        record_owner(RUN_OWNED_KIND, run.name)
    return run


def _run_of_service(database: Connection, service: str, source: AnswerSource) -> FileRun:
    """Return the run of a running retriever on a source: the saved one, else an empty one."""
    runs = _parse_runs(database.execute("SELECT name, about FROM runs"))
    received = [run for run in runs.values() if run.service]
    for run in received:
        if (run.service, run.source_kind, run.source_name) == (service, source.kind, source.name):
            return run
    if len(received) >= MAX_RECEIVED_RUNS:
        raise BadInput(f"answers of more than {MAX_RECEIVED_RUNS} retrievers")
    name = _free_name(service, runs)
    about = (name, service, "received", "openinference", "", source.kind, source.name, 0, 0, 0, 0)
    return FileRun(*about, service=service)


def _count_row(run: FileRun, row: RunRow, sign: int, known_texts: Collection[str]) -> FileRun:
    """Return a run with the counts after a row was added (1) or removed (-1)."""
    return replace(
        run,
        questions=run.questions + sign,
        with_documents=run.with_documents + sign * bool(row.documents),
        with_answers=run.with_answers + sign * (row.answer is not None),
        known=run.known + sign * (_comparable_text(row.question) in known_texts),
    )


def known_texts(source: AnswerSource) -> frozenset[str]:
    """Return the comparable texts of the questions in all sets of a source."""
    return frozenset(_comparable_text(question.text) for question in _known_questions(source))


def _saved_run(digest: str, source: AnswerSource) -> FileRun | None:
    """Return the saved run with this digest and source; None if there is none."""
    for run in runs_by_name().values():
        if (run.digest, run.source_kind, run.source_name) == (digest, source.kind, source.name):
            return run
    return None


def _check_kind(file: str, rows: Sequence[RunRow], source: AnswerSource) -> None:
    """Raise BadInput if a run has neither answers nor results of the source's kind."""
    if any(row.answer is not None for row in rows):
        return
    if source.is_corpus:
        if not any(row.documents for row in rows):
            raise BadInput(
                f"{file} holds paths, and neither documents nor answers; “{source.name}” is a "
                "corpus, so choose a graph for it."
            )
    elif not any(row.paths for row in rows):
        raise BadInput(
            f"{file} holds documents, and neither answers nor paths; “{source.name}” is a "
            "graph of triples, so choose a corpus for it."
        )


def runs_by_name() -> dict[str, FileRun]:
    """Return the saved runs by name, in the order in which they were saved.

    Raises StoreError for a damaged file.
    """
    file = home_folder() / "runs.sqlite"
    try:
        state = file.stat()
    except OSError:
        return {}
    # recent changes may be only in SQLite's write-ahead log
    log = file.with_name(f"{file.name}-wal")
    log_state = (log.stat().st_mtime_ns, log.stat().st_size) if log.exists() else (0, 0)
    return dict(_read_runs(file, state.st_mtime_ns, state.st_size, log_state))


def find_run(name: str) -> FileRun:
    """Return the saved run of a name.

    Raises BadParameter for an unknown name, with the most similar one in the message.
    """
    runs = runs_by_name()
    if name in runs:
        return runs[name]
    if not runs:
        raise BadParameter(
            f"There is no finished run “{shorten(name, 40)}”: none was brought from a file."
        )
    raise BadParameter(f"There is no finished run “{shorten(name, 40)}”.{suggest_name(name, runs)}")


def remove_saved_run(name: str) -> None:
    """Remove a saved run.

    Raises BadParameter for an unknown name, NotAllowed for a run of another person.
    """
    find_run(name)
    check_may_change(RUN_OWNED_KIND, name)
    with _file().open_for_writing() as database:
        database.execute("DELETE FROM rows WHERE run = ?", (name,))
        database.execute("DELETE FROM runs WHERE name = ?", (name,))
    forget_owner(RUN_OWNED_KIND, name)


def _file() -> RowFile:
    return RowFile(home_folder() / "runs.sqlite", SAVED_RUNS_SCHEMA)


@lru_cache(maxsize=4)
def _read_runs(file: Path, mtime: int, size: int, log_state: tuple[int, int]) -> dict[str, FileRun]:
    """Return the runs in a file.

    The times (in ns) and sizes (in bytes) of the file and its log are keys of the cache.
    """
    rows = RowFile(file, SAVED_RUNS_SCHEMA).query("SELECT name, about FROM runs ORDER BY rowid")
    return _parse_runs(rows)


def _parse_runs(rows: Iterable[tuple[str, str]]) -> dict[str, FileRun]:
    """Return the runs of rows of a name and a description in JSON. Raises StoreError."""
    try:
        return {name: from_plain(FileRun, json.loads(about)) for name, about in rows}
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"The finished runs in {_file().file} are damaged ({error}); move the file away to "
            "start anew."
        ) from None


def _save(run: FileRun, rows: Sequence[RunRow]) -> None:
    with _file().open_for_writing() as database:
        _insert(database, run, rows)
    record_owner(RUN_OWNED_KIND, run.name)


def _insert(
    database: Connection, run: FileRun, rows: Iterable[RunRow], first_place: int = 0
) -> None:
    """Write a run and some of its rows. A run of its name is replaced, its rows remain."""
    database.execute(
        "INSERT INTO runs VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET about = excluded.about",
        (run.name, json.dumps(to_plain(run))),
    )
    packed_rows = (
        (run.name, place, row.id, _comparable_text(row.question), _pack_row(row))
        for place, row in enumerate(rows, first_place)
    )
    database.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?)", packed_rows)


@lru_cache(maxsize=512)
def _find_row(name: str, digest: str, id: str, text: str) -> RunRow | None:
    """Return the first row with a question's text.

    Without one, it is the first row with its id and no text. The digest is a key of the cache, as a
    run of this name may be replaced by another one.
    """
    file = _file()
    packed_rows = file.query(
        "SELECT row FROM rows WHERE run = ? AND text = ? AND text != '' ORDER BY place LIMIT 1",
        (name, text),
    )
    if not packed_rows and id:
        packed_rows = file.query(
            "SELECT row FROM rows WHERE run = ? AND id = ? AND text = '' ORDER BY place LIMIT 1",
            (name, id),
        )
    return _unpack_row(packed_rows[0][0]) if packed_rows else None


def _digest(*files: str | Path) -> str:
    """Return the sha256 of a file's bytes, or of several files together. Raises BadInput."""
    sha256 = hashlib.sha256()
    for file in files:
        try:
            with Path(file).open("rb") as stream:
                sha256.update(hashlib.file_digest(stream, "sha256").digest())
        except OSError as error:
            raise BadInput(
                f"{Path(file).name} cannot be read: {error.strerror or error}."
            ) from None
    return sha256.hexdigest()


def _relevant(qrels: str | Path, source: AnswerSource) -> dict[str, tuple[str, ...]]:
    """Return the relevant documents of each judged question, by their ids in the corpus."""
    documents = source.documents
    return {
        question: tuple(id_in_corpus(id, documents) for id in gold)
        for question, gold in read_qrels(qrels).items()
    }


def _with_gold(rows: Iterable[RunRow], qrels: Mapping[str, tuple[str, ...]]) -> list[RunRow]:
    """Return the rows with the judged documents.

    Each judged question without a row gets one.
    """
    judged_rows = [replace(row, gold=qrels.get(row.id, ())) for row in rows]
    row_ids = {row.id for row in judged_rows}
    missing_rows = [RunRow(id, gold=gold) for id, gold in qrels.items() if id not in row_ids]
    return judged_rows + missing_rows


def _judgement_notes(rows: Sequence[RunRow], source: AnswerSource) -> list[str]:
    """Return sentences on gaps between the run, the judgements and the corpus.

    They count the judged questions that the run lacks, the questions that are not judged, and the
    relevant documents that the corpus lacks.
    """
    missing = sum(not row.has_results for row in rows)
    unjudged = sum(row.has_results and not row.gold for row in rows)
    documents = source.documents
    gold = set[str]().union(*(row.gold for row in rows))
    unknown_documents = sum(id not in documents for id in gold) if documents else 0
    sentences = []
    if missing:
        sentences.append(
            f"Judged and not in the run, so that they count as failed: {_count_questions(missing)}."
        )
    if unjudged:
        sentences.append(
            "In the run and without a relevant document in the qrels, so that they are left out: "
            f"{_count_questions(unjudged)}."
        )
    if unknown_documents:
        sentences.append(
            f"Judged relevant and not in “{source.name}”: {unknown_documents:,} of {len(gold):,} "
            "documents."
        )
    return sentences


def _count_questions(count: int) -> str:
    return f"{count:,} question{'' if count == 1 else 's'}"


def _known_questions(source: AnswerSource) -> tuple[Question, ...]:
    """Return the questions of all sets of a source.

    Sets that cannot be read are left out. The user sees the reason when choosing one.
    """
    questions: list[Question] = []
    for name in source.sets:
        try:
            questions += source.questions(name)
        except (BadInput, StoreError):
            continue
    return tuple(questions)


def _match_rows(rows: Iterable[RunRow], questions: Iterable[Question]) -> tuple[list[RunRow], int]:
    """Add the question's text to each row with an id alone.

    All rows are returned. The second result is the number of rows with results whose question is in
    `questions`.
    """
    by_id: dict[str, Question] = {}
    texts: set[str] = set()
    for question in questions:
        by_id.setdefault(question.id, question)
        texts.add(_comparable_text(question.text))
    matched_rows: list[RunRow] = []
    known_count = 0
    for row in rows:
        id = id_in_corpus(row.id, by_id)
        if not row.question and id in by_id:
            row = replace(row, id=id, question=by_id[id].text)
        known_count += (
            row.has_results and bool(row.question) and _comparable_text(row.question) in texts
        )
        matched_rows.append(row)
    return matched_rows, known_count


def _unknown_notes(rows: Sequence[RunRow], n_known: int, source: AnswerSource) -> list[str]:
    """Return sentences on the questions that are in no set, or have no text."""
    others = len(rows) - n_known
    nameless = sum(not row.question for row in rows)
    sentences = []
    if others:
        sentences.append(
            f"In no question set of “{source.name}”: {others:,} of its {len(rows):,} questions."
        )
    if nameless:
        sentences.append(f"With an id alone, so that nobody can ask them here: {nameless:,}.")
    return sentences


def _free_name(title: str, used_names: Collection[str]) -> str:
    """Return an unused name for a run, made of the name of its file or its retriever."""
    fit_name = UNFIT_RUN_NAME_CHARACTERS.sub("-", title).strip("-.")
    stem = fit_name[:MAX_RUN_NAME_CHARACTERS] or "run"
    name, number = stem, 1
    while name in used_names:
        number += 1
        name = f"{stem}-{number}"
    return name


def _comparable_text(text: str) -> str:
    """Return a question's text in a form for comparison: no brackets, double blanks or capitals.

    It is stored with the rows of runs, so it must not change when `core.languages.spelling`
    changes.
    """
    return single_line(text.replace("[", "").replace("]", "")).casefold()


def _pack_row(row: RunRow) -> bytes:
    return zlib.compress(json.dumps(to_plain(row)).encode(), 6)


def _unpack_row(data: bytes) -> RunRow:
    try:
        plain: Mapping = json.loads(zlib.decompress(data))
        return from_plain(RunRow, plain)
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise StoreError(
            f"A row of the finished runs is damaged ({error}); bring the file again."
        ) from None
