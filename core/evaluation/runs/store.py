"""Store of evaluations in SQLite: runs, their questions, and a row per method and question.

Saved specifications, questions and outcomes are JSON texts with a digest, which reveals damage.
"""

from __future__ import annotations

import json
import threading
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from core.errors import BadInput, StoreError
from core.evaluation.metrics.outcome import Outcome
from core.evaluation.runs.plan import DrawnQuestion, evaluation_key
from core.evaluation.runs.saved_sources import read_source
from core.io import digests
from core.io.home import home_folder
from core.io.plain_data import from_plain, to_plain
from core.io.rows import RowFile, Schema, transaction
from core.sharing import change_refusal, check_may_change, forget_owner, record_owner
from core.types import Question, ReaderAnswer, Usage

EVALUATION_STATEMENTS = (
    "CREATE TABLE runs (\n"
    "  id INTEGER PRIMARY KEY, key TEXT NOT NULL, spec TEXT NOT NULL, created REAL NOT NULL, "
    "status TEXT NOT NULL)",
    "CREATE TABLE questions (\n"
    "  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, place INTEGER NOT NULL, "
    "id TEXT NOT NULL, told TEXT NOT NULL,\n"
    "  PRIMARY KEY (run, place), UNIQUE (run, id))",
    "CREATE TABLE rows (\n"
    "  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, instance TEXT NOT NULL, "
    "question TEXT NOT NULL,\n"
    "  outcome TEXT, error TEXT, states BLOB, UNIQUE (run, instance, question))",
    "CREATE INDEX runs_by_key ON runs (key)",
)
# Created at the first write, because older stores lack this table.
SPENT_STATEMENT = (
    "CREATE TABLE IF NOT EXISTS spent (\n"
    "  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, model TEXT NOT NULL, "
    "calls INTEGER NOT NULL, tokens_in INTEGER NOT NULL,\n"
    "  tokens_out INTEGER NOT NULL, PRIMARY KEY (run, model))"
)
# Created at the first write, like `spent`. `answer` is a saved `ReaderAnswer`.
READINGS_STATEMENT = (
    "CREATE TABLE IF NOT EXISTS readings (\n"
    "  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, instance TEXT NOT NULL, "
    "question TEXT NOT NULL, context TEXT NOT NULL,\n"
    "  answer TEXT NOT NULL, PRIMARY KEY (run, instance, question, context))"
)
# Rows of repeats, apart from the first runs, so that earlier versions read those as before.
REPEATS_STATEMENT = (
    "CREATE TABLE IF NOT EXISTS repeats (\n"
    "  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, instance TEXT NOT NULL, "
    "question TEXT NOT NULL,\n"
    "  number INTEGER NOT NULL, outcome TEXT, error TEXT, "
    "PRIMARY KEY (run, instance, question, number))"
)
# The application number is "HopS" in the header of the file.
EVALUATION_SCHEMA = Schema(
    "the evaluations", EVALUATION_STATEMENTS, application=0x486F7053, version=1
)
ROW_ADDRESS_KEY = "of"  # key, in a saved outcome, of the ids of its method and question
EVALUATION_OWNER_KIND = "evaluation"
MAX_SQLITE_INTEGER = (1 << 63) - 1
RUN_RUNNING = "running"
RUN_DONE = "done"
RUN_CANCELLED = "cancelled"


@dataclass(frozen=True)
class Run:
    """A saved evaluation: its specification (`Plan.spec`), creation time and progress.

    `key` is the specification's key (`evaluation_key`). `created` is in seconds since 1970.
    `status` is one of the `RUN_...` constants.
    """

    id: int
    key: str
    spec: dict[str, Any]
    created: float
    status: str
    done: int  # number of rows without an error
    failed: int  # number of rows with an error

    @property
    def total(self) -> int:
        """Number of rows that the run has when it is finished, repeats included."""
        repeated = (self.spec.get("repeats", 1) - 1) * len(self.spec.get("varied", ()))
        return self.spec["sample"] * (len(self.spec["instances"]) + repeated)


@dataclass(frozen=True)
class StoredRow:
    """Result of one method on one question: an outcome, or the sentence of its error.

    `readings` has the answers of its reader to other contexts, by context
    (`core.diagnosis.reading`). It is empty until they were asked for.
    `repeats` holds the results of the method's repeats by their numbers, from 1 on.
    """

    method: str
    question: Question
    outcome: Outcome | None
    error: str | None = None
    readings: Mapping[str, ReaderAnswer] = field(default_factory=dict, kw_only=True)
    repeats: Mapping[int, StoredRow] = field(default_factory=dict, kw_only=True)


class Store:
    """Evaluations in one SQLite file, which is created at the first write.

    Every row is a transaction of its own. The store is thread-safe. Opening it raises StoreError,
    and writes nothing, if the file is damaged, belongs to another program, or has a newer version.
    """

    def __init__(self, file: Path):
        self.file = Path(file)
        self._lock = threading.RLock()
        self._rows = RowFile(self.file, EVALUATION_SCHEMA)
        self._db = self._rows.open(check_same_thread=False)
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute("PRAGMA foreign_keys = ON")

    def begin_run(
        self, spec: dict[str, Any], questions: Sequence[DrawnQuestion], again: bool = False
    ) -> Run:
        """Return the newest run with this specification, to be resumed, or a new run.

        A new run is created if there is none, if that run is unfinished and belongs to another
        user, or if `again` is set. Specifications that differ only in the names of methods count as
        the same, because a name may change when the catalogue gets a similar method.

        Parameters
        ----------
        spec : the specification of the plan.
        questions : the plan's questions, in order.
        again : True to create a new run in any case.

        Returns
        -------
        The run.

        Raises
        ------
        StoreError : the file cannot be used.
        """
        spec_key = evaluation_key(spec)
        with self._write():
            query = "SELECT max(id) FROM runs WHERE key = ?"
            same_run = self._db.execute(query, (spec_key,)).fetchone()[0]
            run_number: Any = same_run or self._find_renamed(spec)
            if run_number is None or again or self._is_another_users(run_number):
                values = (spec_key, _json_with_digest(spec), time.time(), RUN_RUNNING)
                run_number = self._db.execute(
                    "INSERT INTO runs (key, spec, created, status) VALUES (?, ?, ?, ?)", values
                ).lastrowid
                rows = [
                    (run_number, index, drawn.question.id, _drawn_text(drawn))
                    for index, drawn in enumerate(questions)
                ]
                self._db.executemany("INSERT INTO questions VALUES (?, ?, ?, ?)", rows)
                record_owner(EVALUATION_OWNER_KIND, str(run_number))
        return self.run(run_number)

    def set_status(self, run: int, status: str) -> None:
        """Set a run's status.

        Parameters
        ----------
        run : number of the run.
        status : one of the `RUN_...` constants.

        Raises
        ------
        StoreError : the file cannot be used.
        """
        with self._write():
            self._db.execute("UPDATE runs SET status = ? WHERE id = ?", (status, run))

    def save_row(
        self,
        run: int,
        method: str,
        question: str,
        outcome: Outcome | None,
        error: str | None,
        states: dict | None,
        repeat: int = 0,
    ) -> None:
        """Save one row, replacing an earlier row of the same method and question.

        Parameters
        ----------
        run : number of the run.
        method : id of the method.
        question : id of the question.
        outcome : the outcome; None for a failed question.
        error : why the question failed, as a sentence; None for an answered question.
        states : frozen states of the lane (`core.snapshot`); None to save none.
        repeat : number of the repeat; 0 for the first run. A repeat has no states.

        Raises
        ------
        StoreError : the file cannot be used.
        """
        facts = blob = None
        if outcome is not None:
            facts = _json_with_digest({**outcome.to_dict(), ROW_ADDRESS_KEY: [method, question]})
        if states is not None:
            blob = zlib.compress(_json(states).encode(), 6)
        with self._write():
            if repeat:
                self._db.execute(REPEATS_STATEMENT)
                self._db.execute(
                    "INSERT OR REPLACE INTO repeats VALUES (?, ?, ?, ?, ?, ?)",
                    (run, method, question, repeat, facts, error),
                )
                return
            self._db.execute(
                "INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?, ?, ?)",
                (run, method, question, facts, error, blob),
            )

    def save_usage(self, run: int, usage: Mapping[str, Usage]) -> None:
        """Save a run's usage of each language model, replacing the earlier figures.

        Parameters
        ----------
        run : number of the run.
        usage : calls and tokens by model.

        Raises
        ------
        StoreError : the file cannot be used.
        """
        rows = [
            (run, name, each.calls, each.tokens_in, each.tokens_out) for name, each in usage.items()
        ]
        if not rows:
            return
        with self._write():
            self._db.execute(SPENT_STATEMENT)
            self._db.executemany("INSERT OR REPLACE INTO spent VALUES (?, ?, ?, ?, ?)", rows)

    def usage(self, run: int) -> dict[str, Usage]:
        """Return a run's usage of each language model, by name.

        The result is empty for runs from before usage was recorded.
        """
        if not self._all("SELECT name FROM sqlite_master WHERE name = 'spent'"):
            return {}
        usage_rows = self._all(
            "SELECT model, calls, tokens_in, tokens_out FROM spent WHERE run = ?", (run,)
        )
        return {name: Usage(*counts) for name, *counts in usage_rows}

    def save_readings(
        self, run: int, method: str, question: str, answers: Sequence[ReaderAnswer]
    ) -> None:
        """Save the answers of a method's reader to other contexts, replacing earlier ones.

        Parameters
        ----------
        run : number of the run.
        method : id of the method.
        question : id of the question.
        answers : one for each context.

        Raises
        ------
        StoreError : the file cannot be used.
        """
        rows = [
            (run, method, question, answer.context, _json(to_plain(answer))) for answer in answers
        ]
        with self._write():
            self._db.execute(READINGS_STATEMENT)
            self._db.executemany("INSERT OR REPLACE INTO readings VALUES (?, ?, ?, ?, ?)", rows)

    def _readings(self, run: int) -> dict[tuple[str, str], dict[str, ReaderAnswer]]:
        """Return the saved answers to other contexts by method, question and context."""
        readings: dict[tuple[str, str], dict[str, ReaderAnswer]] = {}
        if not self._all("SELECT name FROM sqlite_master WHERE name = 'readings'"):
            return readings
        query = "SELECT instance, question, context, answer FROM readings WHERE run = ?"
        for method, question, context, text in self._all(query, (run,)):
            answer = from_plain(ReaderAnswer, json.loads(text))
            readings.setdefault((method, question), {})[context] = answer
        return readings

    def finished_pairs(self, run: int) -> set[tuple[str, str]]:
        """Return the pairs of a run that need not be run again.

        A pair is a (method id, question id) with a row that has no error.
        """
        query = "SELECT instance, question FROM rows WHERE run = ? AND error IS NULL"
        return set(self._all(query, (run,)))

    def finished_repeats(self, run: int) -> dict[int, set[tuple[str, str]]]:
        """Return the pairs of `finished_pairs` of each repeat, by its number."""
        pairs: dict[int, set[tuple[str, str]]] = {}
        for method, question, number, _, error in self._repeat_rows(run):
            if error is None:
                pairs.setdefault(number, set()).add((method, question))
        return pairs

    def runs(self) -> list[Run]:
        """Return all runs, newest first."""
        return [self.run(run) for (run,) in self._all("SELECT id FROM runs ORDER BY id DESC")]

    def run(self, run: int) -> Run:
        """Return one run.

        Raises BadInput if there is none with that number.
        """
        run_rows = []
        if 0 < run <= MAX_SQLITE_INTEGER:
            query = "SELECT id, key, spec, created, status FROM runs WHERE id = ?"
            run_rows = self._all(query, (run,))
        if not run_rows:
            raise BadInput(f"There is no evaluation number {run}.")
        number, spec_key, spec, created, status = run_rows[0]
        query = "SELECT error IS NULL, count(*) FROM rows WHERE run = ? GROUP BY 1"
        counts = dict(self._all(query, (run,)))
        with self._report_damage():
            saved_spec = _read_json_with_digest(spec)
        done, failed = counts.get(1, 0), counts.get(0, 0)
        if saved_spec.get("repeats", 1) > 1:
            errors = [error for *_, error in self._repeat_rows(run)]
            done += errors.count(None)
            failed += len(errors) - errors.count(None)
        return Run(number, spec_key, saved_spec, created, status, done, failed)

    def rows(self, run: int) -> list[StoredRow]:
        """Return all rows of a run, ordered by question.

        Rows of a question are ordered by method, as in the plan.
        """
        questions = {drawn.question.id: drawn.question for drawn in self.drawn_questions(run)}
        question_order = {id: index for index, id in enumerate(questions)}
        specs = self.run(run).spec["instances"]
        method_order = {spec["id"]: index for index, spec in enumerate(specs)}
        query = "SELECT instance, question, outcome, error FROM rows WHERE run = ?"
        saved_rows = self._all(query, (run,))
        rows = []
        with self._report_damage():
            saved_rows.sort(key=lambda row: (question_order[row[1]], method_order[row[0]]))
            readings = self._readings(run)
            for method, question, facts, error in saved_rows:
                outcome = None if facts is None else _read_outcome(facts, method, question)
                answers = readings.get((method, question), {})
                row = StoredRow(method, questions[question], outcome, error, readings=answers)
                rows.append(row)
        return self._with_repeats(run, rows)

    def _with_repeats(self, run: int, rows: list[StoredRow]) -> list[StoredRow]:
        """Return rows with the results of their repeats."""
        repeats: dict[tuple[str, str], dict[int, StoredRow]] = {}
        by_key = {(row.method, row.question.id): row for row in rows}
        with self._report_damage():
            for method, question, number, facts, error in self._repeat_rows(run):
                if (method, question) not in by_key:  # its first run was interrupted
                    continue
                outcome = None if facts is None else _read_outcome(facts, method, question)
                repeated = replace(by_key[method, question], outcome=outcome, error=error)
                repeats.setdefault((method, question), {})[number] = repeated
        if not repeats:
            return rows
        return [replace(row, repeats=repeats.get(key, {})) for key, row in by_key.items()]

    def _repeat_rows(self, run: int) -> list[tuple]:
        """Return method, question, number, outcome and error of the repeats, in their order."""
        if not self._all("SELECT name FROM sqlite_master WHERE name = 'repeats'"):
            return []
        query = (
            "SELECT instance, question, number, outcome, error FROM repeats WHERE run = ? "
            "ORDER BY number, rowid"
        )
        return self._all(query, (run,))

    def drawn_questions(self, run: int) -> list[DrawnQuestion]:
        """Return the questions of a run, in the order in which they are asked."""
        query = "SELECT told FROM questions WHERE run = ? ORDER BY place"
        saved_questions = self._all(query, (run,))
        with self._report_damage():
            return [_read_drawn(text) for (text,) in saved_questions]

    def states(self, run: int, method: str, question: str) -> dict | None:
        """Return the saved states of a row for `core.snapshot.thaw_all`.

        Parameters
        ----------
        run : number of the run.
        method : id of the method.
        question : id of the question.

        Returns
        -------
        The states; None if there is no such row or it has no states.

        Raises
        ------
        StoreError : the file cannot be used or is damaged.
        """
        query = "SELECT states FROM rows WHERE run = ? AND instance = ? AND question = ?"
        saved_states = self._all(query, (run, method, question))
        with self._report_damage():
            if saved_states and saved_states[0][0] is not None:
                return json.loads(zlib.decompress(saved_states[0][0]))
            return None

    def copy_rows(self, source_run: int, run: int, methods: Sequence[str]) -> None:
        """Copy finished rows from another run of the same questions.

        Parameters
        ----------
        source_run : number of the other run.
        run : number of the run that receives them; its own rows are not replaced.
        methods : ids of the methods whose rows are copied.

        Raises
        ------
        StoreError : the file cannot be used.
        """
        marks = ", ".join("?" * len(methods))
        statement = (
            "INSERT OR IGNORE INTO rows SELECT ?, instance, question, outcome, error, states "
            f"FROM rows WHERE run = ? AND error IS NULL AND instance IN ({marks})"
        )
        with self._write():
            self._db.execute(statement, (run, source_run, *methods))
            if self._repeat_rows(source_run):
                statement = (
                    "INSERT OR IGNORE INTO repeats SELECT ?, instance, question, number, outcome, "
                    f"error FROM repeats WHERE run = ? AND error IS NULL AND instance IN ({marks})"
                )
                self._db.execute(statement, (run, source_run, *methods))

    def delete(self, run: int) -> None:
        """Delete a run with its rows.

        Raises NotAllowed if it belongs to another user.
        """
        check_may_change(EVALUATION_OWNER_KIND, str(run))
        with self._write():
            self._db.execute("DELETE FROM runs WHERE id = ?", (run,))
            forget_owner(EVALUATION_OWNER_KIND, str(run))

    def _find_renamed(self, spec: dict[str, Any]) -> int | None:
        """Return the newest run that differs only in names of methods.

        It is compared with a specification. Unreadable runs are skipped.
        """
        target = _without_names(json.loads(_json(spec)))
        for run, text in self._db.execute("SELECT id, spec FROM runs ORDER BY id DESC").fetchall():
            with suppress(ValueError, KeyError, TypeError):
                if _without_names(_read_json_with_digest(text)) == target:
                    return run
        return None

    def _is_another_users(self, run: int) -> bool:
        """Return whether a run is unfinished and belongs to another user."""
        saved_run = self.run(run)
        if saved_run.done >= saved_run.total:
            return False
        return bool(change_refusal(EVALUATION_OWNER_KIND, str(run)))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    @contextmanager
    def _report_damage(self) -> Iterator[None]:
        """Turn errors of reading a damaged row into StoreError."""
        try:
            yield
        except (ValueError, KeyError, TypeError, AttributeError, zlib.error) as error:
            sentence = (
                f"The evaluations in {self.file} are damaged ({error}). The file was left as it "
                f"is; move it away to begin anew."
            )
            raise StoreError(sentence) from error

    @contextmanager
    def _write(self) -> Iterator[None]:
        """Hold the lock and a transaction, which is committed unless the block raises."""
        with self._lock, self._rows.raise_store_errors(), transaction(self._db):
            yield

    def _all(self, query: str, values: tuple = ()) -> list[tuple]:
        """Return all rows of a query."""
        with self._lock, self._rows.raise_store_errors():
            return self._db.execute(query, values).fetchall()


def evaluations_file() -> Path:
    """Return the file of the user's evaluations."""
    return home_folder() / "evaluations.sqlite"


def _without_names(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a specification without the names of its methods."""
    methods = []
    for method in spec["instances"]:
        methods.append({key: method[key] for key in method if key not in ("name", "title")})
    return {**spec, "instances": methods}


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _json_with_digest(value: dict[str, Any]) -> str:
    return _json(digests.with_digest(value))


def _read_json_with_digest(text: str) -> dict[str, Any]:
    """Read what `_json_with_digest` wrote, also in the earlier form without a digest.

    Raises ValueError if the digest does not match.
    """
    return digests.check_own_digest(json.loads(text))


def _read_outcome(text: str, method: str, question: str) -> Outcome:
    """Return a saved outcome; raises ValueError if it is that of another row."""
    facts = _read_json_with_digest(text)
    if facts.pop(ROW_ADDRESS_KEY, [method, question]) != [method, question]:
        raise ValueError("a row is of another method or question")
    return Outcome.from_dict(facts)


def _drawn_text(drawn: DrawnQuestion) -> str:
    """Return a drawn question as the text that `_read_drawn` reads."""
    question = to_plain(drawn.question)
    return _json_with_digest(
        {"question": question, "set": drawn.set, "graph": drawn.source.saved_name}
    )


def _read_drawn(text: str) -> DrawnQuestion:
    record = _read_json_with_digest(text)
    question = from_plain(Question, record["question"])
    return DrawnQuestion(question, record["set"], read_source(record["graph"]))
