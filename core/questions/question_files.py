"""Questions read from files of any known format.

The formats are CSV, the texts of MetaQA, PathQuestion and SimpleQuestions, queries, TREC topics,
and rows of JSON, Parquet or Arrow. The command line, the screens and the Python interface read
question sets by `read_question_file`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path as FilePath
from typing import Any

from core.errors import BadInput, shorten, suggest_name
from core.io.encoding import Note, ignore_note
from core.io.files import FileSource, numbered_lines, open_unpacked
from core.io.json_rows import numbered_rows, read_start
from core.io.recoded_files import decode_if_certain
from core.questions.collector import QuestionCollector
from core.questions.forms import ANSWERABLE_KEY, question_rows
from core.questions.gold import GOLD_KEYS
from core.questions.rows import ANSWER_KEYS_READ, ROW_FORMATS, question_of_row
from core.questions.table import is_table, parse_columns, table_questions
from core.questions.topics import are_queries, is_topics, read_query, read_topics
from core.questions.values import MAX_LISTED_KEYS
from core.runtime.row_files import file_rows, holds_rows, is_columnar
from core.types import Question
from core.watch import NO_WATCH, Watch

BRACKETED_ENTITY = re.compile(r"\[([^\[\]]+)\]")
# Bytes of text of a file. RoG's files include graphs, and CRAG's include web pages.
MAX_QUESTION_FILE_BYTES = 1 << 36
MAX_QUESTION_ROW_BYTES = 1 << 25  # of a row; one of CRAG has five web pages
# Lines and characters at the beginning of a file from which its format is recognised.
MAX_FORMAT_LINES = 100
MAX_FORMAT_CHARACTERS = 1 << 20
PATH_END_MARK = "<end>"  # the end of a path in PathQuestion
FREEBASE_PREFIX = "www.freebase.com/"

CSV_FORMAT = "csv"
TOPICS_FORMAT = "topics"
LINE_GAPS_TO_BLANKS = bytes.maketrans(b"\n\t", b"  ")
# Gaps in a text, other than single blanks, tabs and line feeds.
ODD_GAPS = (
    "  ",
    *"\x0b\x0c\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000",
)
ROW_GRAPH_KEY = "graph"  # key of a row's own graph, which `core.datasets` reads
# The beginning of LlamaIndex's sets for embeddings, a single object over many lines.
LLAMA_INDEX_BEGINNING = '{"queries":{'

# Formats by name, each with its title and its parts, in words.
FORMATS = {
    CSV_FORMAT: "CSV: question, answers, entities; several separated by “|”",
    "metaqa": "MetaQA: question with its [entity], tab, answers separated by “|”",
    "pathquestion": "PathQuestion: question, answer(answers/), path",
    "simplequestions-text": "SimpleQuestions: subject, relation, object, question",
    "queries": "Queries of MS MARCO, BEIR or pyserini: id, tab, query; no answers",
    TOPICS_FORMAT: "Topics of TREC: number, title; no answers",
    **ROW_FORMATS,
}


@dataclass(frozen=True)
class QuestionFile:
    """The questions of a file, and notes on how it was read.

    Parameters
    ----------
    questions : the questions in the order of the file.
    file : name of the file.
    ignored_keys : keys or columns with a value that were not read.
    reading_notes : sentences on the encoding and on questions that were left out.
    columns : all keys or columns with a value.
    """

    questions: tuple[Question, ...]
    file: str = ""
    ignored_keys: tuple[str, ...] = ()
    reading_notes: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    def note(self, name: str = "") -> str:
        """Return sentences on what was left out and not read. Empty if all was read.

        `name` replaces the file's name in the text.
        """
        return " ".join(filter(None, (*self.reading_notes, self._ignored_note(name))))

    def check_known(self) -> None:
        """Raise BadInput if keys were ignored and no question can be scored.

        The ignored keys probably have the answers then. A question can be scored if it has answers
        or gold passages, or asks for an overview. The message names the columns of the file and
        those that are read.
        """
        if self.ignored_keys and not any(
            question.answers or question.gold or question.abstract for question in self.questions
        ):
            column_names = ", ".join(shorten(name, 40) for name in self.columns[:MAX_LISTED_KEYS])
            raise BadInput(
                f"{self.file} has no answers and no evidence (gold documents) under a known name. "
                f"It has the columns {column_names}. Looked for {', '.join(ANSWER_KEYS_READ)} and "
                f"{', '.join(GOLD_KEYS)}. Rename the column, or name the columns of a table in "
                "their order."
            )

    def _ignored_note(self, name: str) -> str:
        if not self.ignored_keys:
            return ""
        keys = ", ".join(f"“{shorten(key, 40)}”" for key in self.ignored_keys[:MAX_LISTED_KEYS])
        n_more = len(self.ignored_keys) - MAX_LISTED_KEYS
        more = f" and {n_more:,} more" if n_more > 0 else ""
        return f"Not read in {name or self.file}: {keys}{more}."


def read_questions(
    path: str | FilePath, name: str = "", hops: int | None = None, **options: Any
) -> tuple[Question, ...]:
    """Return the questions of a file; `options` are those of `read_question_file`."""
    return read_question_file(path, name, hops, **options).questions


def read_question_file(
    path: str | FilePath,
    name: str = "",
    hops: int | None = None,
    format: str = "auto",
    only: str = "",
    max_bytes: int | None = MAX_QUESTION_FILE_BYTES,
    columns: str = "",
    watch: Watch = NO_WATCH,
    gold: Sequence[str] = (),
    encoding: str = "",
) -> QuestionFile:
    """Read the questions of a file, plain or packed.

    A question without an id gets `name-` and its line from 1. The line is also appended to an id
    that occurs again. Answers keep their order, without repeats.

    Parameters
    ----------
    path : the file.
    name : prefix of the ids; if empty, the file's own name.
    hops : the number of hops of questions whose row has none.
    format : one of `FORMATS`; `auto` recognises it by the first lines or rows.
    only : key that must be true in a row of JSON; other rows are left out. Empty for all rows.
    max_bytes : largest number of bytes of text; None for no limit.
    columns : the columns of a table or of lines without a header, in their order, as in
        `id,question,answers,-`.
    watch : receives the fraction that was read, and can cancel.
    gold : keys of the gold passages in rows, for questions to a corpus. In a table, the columns of
        `core.questions.gold.GOLD_KEYS` are read if any key is named here.
    encoding : the encoding of a file that is not UTF-8; empty to detect it.

    Raises
    ------
    BadInput : if text cannot be read, the file has no questions, its text has more than `max_bytes`
        bytes, or its questions take more than `core.questions.collector.MAX_QUESTION_BYTES` bytes
        of memory. The message names file and line.
    """
    path = FilePath(path)
    notes: list[str] = []
    if format != "auto" and format not in FORMATS:
        raise BadInput(
            f"There is no format “{format}” of questions.{suggest_name(format, FORMATS)}"
        )
    column_names = parse_columns(columns)
    if column_names and format not in ("auto", CSV_FORMAT):
        raise BadInput(f"Columns can be named where the format is that of a table, not “{format}”.")
    file = _open_text(path, max_bytes, encoding, notes.append)
    if format == "auto":
        format = _recognise_format(file, max_bytes, bool(column_names))
    collector = QuestionCollector(path.name, name or path.name.split(".")[0], hops)
    if format in LINE_READERS:
        questions = _text_questions(file, format, max_bytes, watch)
    elif format == TOPICS_FORMAT:
        questions = read_topics(file, max_bytes, watch)
    elif format == CSV_FORMAT:
        questions = table_questions(file, collector, max_bytes, column_names, watch, bool(gold))
    else:
        collector.read_keys |= {ROW_GRAPH_KEY, ANSWERABLE_KEY, only}
        questions = _row_questions(file, collector, format, only, max_bytes, watch, gold)
    for where, question in questions:
        collector.add(where, question)
    if not collector.questions:
        raise BadInput(f"{path.name} holds no questions.")
    return QuestionFile(
        tuple(collector.questions),
        path.name,
        collector.ignored_keys(),
        (*notes, *collector.left_out_notes()),
        tuple(collector.present_keys),
    )


def _open_text(
    path: FilePath, max_bytes: int | None, encoding: str = "", note: Note = ignore_note
) -> FilePath | FileSource:
    """Return a file of questions as UTF-8. A columnar file is returned unchanged."""
    return path if is_columnar(path) else decode_if_certain(path, note, encoding, max_bytes)


def _row_questions(
    path: FilePath | FileSource,
    collector: QuestionCollector,
    format: str,
    only: str,
    max_bytes: int | None,
    watch: Watch,
    gold: Sequence[str],
) -> Iterator[tuple[str, Question]]:
    """Yield the questions of a file of rows, each with its position.

    `collector` notes the keys of the file and those that were read.
    """
    rows = file_rows(path, watch, max_bytes, (ROW_GRAPH_KEY,), MAX_QUESTION_ROW_BYTES)
    if (
        not is_columnar(path)
        and read_start(path, len(LLAMA_INDEX_BEGINNING), max_bytes) == LLAMA_INDEX_BEGINNING
    ):
        rows = (
            (where, row) for _, where, row in numbered_rows(path, watch, max_bytes, (), single=True)
        )
    for where, row in rows:
        # 1 is accepted as well as true, as it equals True: the value of `split` in CRAG.
        if not only or row.get(only) in (True,):
            yield from questions_of_row(row, path.name, where, collector, format, gold)


def questions_of_row(
    row: Mapping[str, Any],
    file: str,
    where: str,
    collector: QuestionCollector,
    format: str = "auto",
    gold: Sequence[str] = (),
) -> Iterator[tuple[str, Question]]:
    """Yield the questions of a row, each with the row's position `where`.

    Unanswerable questions are left out. `collector` counts them, and notes the keys with a value
    and those that were read. Raises BadInput.
    """
    for question_row in question_rows(row):
        collector.note_keys(
            key for key, value in question_row.items() if value not in (None, "", [], {})
        )
        if question_row.get(ANSWERABLE_KEY) is False:
            collector.unanswerable_count += 1
        else:
            yield (
                where,
                question_of_row(file, where, question_row, format, gold, collector.read_keys),
            )


def count_rows_with_graphs(
    path: str | FilePath, max_bytes: int | None = MAX_QUESTION_FILE_BYTES, watch: Watch = NO_WATCH
) -> int:
    """Return how many rows of a file of questions include a graph.

    Raises BadInput if the file cannot be read.
    """
    file = _open_text(FilePath(path), max_bytes)
    if not holds_rows(file, max_bytes):
        return 0
    rows = file_rows(file, watch, max_bytes, max_line_bytes=MAX_QUESTION_ROW_BYTES)
    return sum(bool(row.get(ROW_GRAPH_KEY)) for _, row in rows)


def read_lines(path: str | FilePath) -> tuple[str, ...]:
    """Return the lines of a text file, plain or packed, without blank ones."""
    return tuple(
        text
        for _, text in numbered_lines(
            decode_if_certain(FilePath(path)), max_bytes=MAX_QUESTION_FILE_BYTES
        )
    )


def text_without_brackets(
    path: str | FilePath, format: str = "auto", columns: str = "", encoding: str = ""
) -> str | None:
    """Return the text of a file of questions on one line, without square brackets.

    A caller can look for a question in this text before it reads all questions. The result is None
    for JSON, CSV and topics, which may have escapes in their texts. Raises BadInput if the file
    cannot be read.
    """
    file = _open_text(FilePath(path), MAX_QUESTION_FILE_BYTES, encoding)
    if format == "auto":
        format = _recognise_format(file, MAX_QUESTION_FILE_BYTES, bool(columns))
    if format not in LINE_READERS:
        return None
    # The whole text at once: each of a set's files is looked into for a first question.
    with open_unpacked(file, max_bytes=MAX_QUESTION_FILE_BYTES) as source:
        data = source.read()
    data = data.translate(LINE_GAPS_TO_BLANKS, b"[]")
    text = data.decode("utf-8-sig", "replace")  # who reads the questions names such a byte
    # Splitting takes most of the time, and few files have other gaps than single blanks.
    return " ".join(text.split()) if any(map(text.__contains__, ODD_GAPS)) else text.strip()


def _recognise_format(path: FilePath | FileSource, max_bytes: int | None, has_names: bool) -> str:
    """Return the format of a file, by its first lines.

    It is `auto` for rows of JSON or Parquet, as each row is recognised separately. It is `csv` for
    a table, which has a known header or whose columns the caller names (`has_names`). Else it is
    the text format that most of the lines fit, or MetaQA's, whose reader then raises an error with
    the line. Raises BadInput if no format fits and the lines have more than two columns.
    """
    if holds_rows(path, max_bytes):
        if has_names:
            raise BadInput(
                f"Columns can be named in lines of text only; {path.name} holds "
                f"{'named columns' if is_columnar(path) else 'JSON'}."
            )
        return "auto"
    first_lines = list(_first_lines(path, max_bytes))
    if has_names:
        return TOPICS_FORMAT if first_lines and is_topics(first_lines[0]) else CSV_FORMAT
    best, share = format_of_lines(path.name, first_lines)
    if share < 0.5 and first_lines:
        [(width, _)] = Counter(line.count("\t") + 1 for line in first_lines).most_common(1)
        if width > 2:
            raise BadInput(
                f"{path.name}: most of its lines hold {width} columns that no format is known for; "
                "if these are questions, name them, as in question,answers,entities, in a first "
                "row or by themselves."
            )
    return best if share else "metaqa"


def format_of_lines(name: str, lines: Sequence[str]) -> tuple[str, float]:
    """Return the format that most lines fit, and the share of these lines.

    `name` is the file's name. The share is from 0 to 1.
    """
    rows = [line.split("\t") for line in lines]
    if rows and is_topics(rows[0][0]):
        return TOPICS_FORMAT, 1.0
    if rows and is_table(name, lines[0]):
        return CSV_FORMAT, 1.0
    if are_queries(rows):
        return "queries", 1.0
    line_counts = {format: sum(map(shape, rows)) for format, shape in LINE_SHAPES.items()}
    best = max(line_counts, key=line_counts.__getitem__)
    return best, line_counts[best] / max(1, len(rows))


def _first_lines(path: FilePath | FileSource, max_bytes: int | None) -> Iterator[str]:
    """Yield the first lines of a file, within bounds on their number and size."""
    size = 0
    for _, line in islice(numbered_lines(path, max_bytes=max_bytes), MAX_FORMAT_LINES):
        yield line
        size += len(line)
        if size > MAX_FORMAT_CHARACTERS:
            return


def _text_questions(
    path: FilePath | FileSource, format: str, max_bytes: int | None, watch: Watch = NO_WATCH
) -> Iterator[tuple[str, Question]]:
    expected, read_line = LINE_READERS[format]
    for number, line in numbered_lines(path, watch, max_bytes):
        question = read_line(line.split("\t"))
        if question is None or not question.text:
            raise BadInput(
                f"{path.name}, line {number}: expected {expected}, found “{shorten(line)}”."
            )
        text = " ".join(question.text.split())
        if text != question.text:  # few have other gaps, and a copy takes longer than the check
            question = replace(question, text=text)
        yield f"line {number}", question


# Each of the following readers returns None for columns that do not fit its format.
def _read_metaqa(columns: list[str]) -> Question | None:
    """Read a line of MetaQA: a question with its [entity], and answers separated by “|”."""
    if len(columns) != 2:
        return None
    text, answers = columns
    return Question(
        BRACKETED_ENTITY.sub(r"\1", text).strip(),
        entities=tuple(BRACKETED_ENTITY.findall(text)),
        answers=tuple(answer for answer in answers.split("|") if answer),
    )


def _read_pathquestion(columns: list[str]) -> Question | None:
    """Read a line of PathQuestion.

    The answers are `answer(answer1/answer2/)`, and the path is
    `subject#r1#e1#r2#answer#<end>#answer`. The first entity of the path is the question entity.
    """
    if len(columns) != 3 or "#" not in columns[2]:
        return None
    steps = columns[2].split("#")
    steps = steps[: steps.index(PATH_END_MARK)] if PATH_END_MARK in steps else steps
    answers = _parse_answer_set(columns[1].strip())
    if len(steps) < 3 or len(steps) % 2 == 0 or not steps[0].strip() or answers is None:
        return None
    return Question(columns[0].strip(), entities=(steps[0],), answers=answers, hops=len(steps) // 2)


def _parse_answer_set(text: str) -> tuple[str, ...] | None:
    """Return the answers of `answer(answer1/answer2/)`. None for a text of another form.

    Names may have brackets too. The bracket that opens the set is the first one after a name that
    is itself in the set.
    """
    for start in (index for index, letter in enumerate(text) if letter == "("):
        answers = tuple(part for part in text[start + 1 : -1].split("/") if part)
        if text.endswith(")") and text[:start] in answers:
            return answers
    return None


def _read_simplequestions(columns: list[str]) -> Question | None:
    """Read a line of SimpleQuestions: subject, relation, object and question.

    Entities such as `www.freebase.com/m/abc` are written as their ids, `m.abc`.
    """
    if len(columns) != 4:
        return None
    subject, _, answer = (
        column.strip().removeprefix(FREEBASE_PREFIX).replace("/", ".") for column in columns[:3]
    )
    if subject and answer:
        return Question(columns[3].strip(), entities=(subject,), answers=(answer,), hops=1)
    return None


# For each text format: the expected line in words, and the reader of its columns.
LINE_READERS: dict[str, tuple[str, Callable[[list[str]], Question | None]]] = {
    "metaqa": ("a question, a tab and its answers separated by “|”", _read_metaqa),
    "pathquestion": (
        "question, answer(answer1/answer2/) and subject#relation#...#answer, separated by tabs",
        _read_pathquestion,
    ),
    "simplequestions-text": (
        "subject, relation, object and question, separated by tabs",
        _read_simplequestions,
    ),
    "queries": ("an id, a tab and a query", read_query),
}
# For each text format, a test that tells if the columns of a line fit.
LINE_SHAPES: dict[str, Callable[[list[str]], bool]] = {
    "metaqa": lambda columns: len(columns) == 2,
    "pathquestion": lambda columns: (
        len(columns) == 3 and "#" in columns[2] and columns[1].rstrip().endswith(")")
    ),
    "simplequestions-text": lambda columns: (
        len(columns) == 4 and all(column.startswith(FREEBASE_PREFIX) for column in columns[:3])
    ),
}
