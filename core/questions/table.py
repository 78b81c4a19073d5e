"""Questions from a table, such as a CSV file saved by a spreadsheet.

The first row has the names of the columns, unless the caller gives them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import chain
from pathlib import Path as FilePath
from typing import Any

from core.errors import BadInput, shorten, suggest_name
from core.io.files import EXCEL_SEPARATOR, MAX_LINE_BYTES, FileSource, numbered_lines, size_text
from core.questions.answers import ANY_OF_ANSWERS_KEYS, OTHER_ANSWER_KEYS, known_answers
from core.questions.collector import QuestionCollector
from core.questions.forms import EVIDENCE_TEXT_KEYS, question_rows, usual_name
from core.questions.gold import GOLD_KEYS, gold_passages_of
from core.questions.rows import QUESTION_ID_KEYS, likely_answer_name, with_options
from core.questions.values import as_list, text_of
from core.types import Question
from core.watch import NO_WATCH, Watch

TABLE_EXAMPLE = (
    "question,answers,entities\nwho directed Inception,Christopher Nolan,Inception\n"
    '"who starred in The Good, the Bad and the Ugly",Clint Eastwood|Eli Wallach,"The Good, the '
    'Bad and the Ugly"\n'
)
GOLD_EXAMPLE = (
    "question,answers,gold\nWho directed Inception?,Christopher Nolan,films.csv:17\n"
    '"In which towns, if any, do they live?",Turku|Malmö,may.pdf|june.pdf\n'
)
# For each column that is read, the names under which it is found. “any of” has the names of one
# answer, of which any is correct.
COLUMN_NAMES = {
    "question": ("question", "questions", "query", "text"),
    "answers": ("answers", "answer", *OTHER_ANSWER_KEYS),
    "any of": ANY_OF_ANSWERS_KEYS,
    "entities": ("entities", "entity", "q_entity", "subj"),
    "hops": ("hops",),
    "id": QUESTION_ID_KEYS,
    "options": ("options",),
    "gold": GOLD_KEYS,
    "contexts": EVIDENCE_TEXT_KEYS,
}
GOLD_COLUMNS = ("gold", "contexts")  # columns of the gold passages
# Further names, of evaluation tools, for a column that is found under none of its usual names.
TOOL_COLUMN_NAMES = {"question": ("user_input", "input")}
COLUMN_SEPARATORS = ",;\t"  # spreadsheets write semicolons in some languages
VALUE_SEPARATOR = "|"  # separates several values in a cell
SKIPPED_COLUMN = "-"  # name of a column that is left out
MAX_CELL_CHARACTERS = 1 << 20
CLOSE_NAME_RATIO = 0.75  # of `difflib`, from which a name counts as a misspelling of another


def is_table(name: str, first_line: str) -> bool:
    """Return whether a file with that name and first line is a table.

    A table has a question's column in its header, or its name ends in `.csv` and the line has no
    tab.
    """
    return find_separator(first_line) is not None or (
        ".csv" in FilePath(name.lower()).suffixes and "\t" not in first_line
    )


def find_separator(header: str) -> str | None:
    """Return the separator of the columns in a header.

    The result is None if no column has a usual name of the question's column.
    """
    question_names = {*COLUMN_NAMES["question"], *TOOL_COLUMN_NAMES["question"]}
    for separator in COLUMN_SEPARATORS:
        if not question_names.isdisjoint(map(usual_name, _cells(header, separator))):
            return separator
    return None


def parse_columns(text: str) -> tuple[str, ...]:
    """Return the column names in a text such as `id,question,answers,-`, in their order.

    A column “-” is left out. An empty text has no names. Raises BadInput for an unknown name, for a
    name that occurs twice, and if the question's column is missing.
    """
    if not text.strip():
        return ()
    names = tuple(part.strip().casefold() or SKIPPED_COLUMN for part in text.split(","))
    for name in names:
        if name != SKIPPED_COLUMN and name not in COLUMN_NAMES:
            raise BadInput(
                f"There is no column “{shorten(name, 40)}” of questions."
                f"{suggest_name(name, COLUMN_NAMES)}"
            )
        if name != SKIPPED_COLUMN and names.count(name) > 1:
            raise BadInput(f"The column “{name}” is named twice.")
    if "question" not in names:
        raise BadInput("One of the columns must be the question, as in question,answers,entities.")
    return names


def table_questions(
    path: str | FilePath | FileSource,
    collector: QuestionCollector,
    max_bytes: int | None = None,
    columns: Sequence[str] = (),
    watch: Watch = NO_WATCH,
    gold: bool = False,
) -> Iterator[tuple[str, Question]]:
    """Yield the questions of a CSV file with their rows.

    Rows are counted as in a spreadsheet. The header is row 1. Columns are found by the names in
    `COLUMN_NAMES`, in any order. Only `question` is needed. Other columns are left out and noted in
    `collector`. A cell may have several values, separated by “|” or as a list. Raises BadInput,
    naming file and row, for a row that cannot be read.

    Parameters
    ----------
    path : the file.
    collector : the questions so far; it notes the columns with a value and those that were read.
    max_bytes : largest number of bytes of text to read; None for no limit.
    columns : the columns in their order, as `parse_columns` returns them. No header is needed then,
        and a header is skipped.
    watch : receives the fraction that was read, and can cancel.
    gold : True to read the columns of gold passages too.

    Yields
    ------
    A position such as `row 2`, and the question.
    """
    path = FilePath(path) if isinstance(path, str) else path
    rows = _rows(path, max_bytes, watch)
    number, header = next(rows, (1, []))
    if columns:
        column_indices = {
            name: index for index, name in enumerate(columns) if name != SKIPPED_COLUMN
        }
        width = len(header)
        if width < len(columns):
            raise BadInput(
                f"{path.name}, row {number}: {len(columns)} columns are named, but this row has "
                f"{width}."
            )
        first_question = " ".join(header[column_indices["question"]].casefold().split())
        if first_question not in COLUMN_NAMES["question"]:  # the first row is no header
            rows = chain([(number, header)], rows)
    else:
        column_indices, width = _locate_columns(path.name, header, gold)
        collector.note_keys(cell for cell in map(str.strip, header) if cell)
        collector.read_keys |= {header[index].strip() for index in column_indices.values()}
    for number, cells in rows:
        where = f"row {number}"
        if len(cells) > width:
            raise BadInput(
                f"{path.name}, {where}: found {len(cells)} cells where the header has {width}; "
                "put a cell that holds the separator into "
                f"quotes, as in “{shorten(_quote_surplus(cells, width), 60)}”."
            )
        row = {
            column: cells[index].strip() if index < len(cells) else ""
            for column, index in column_indices.items()
        }
        if any(row.values()):
            yield where, _make_question(path.name, where, row)


def _make_question(file: str, where: str, row: dict[str, str]) -> Question:
    """Return the question of a row, whose keys are those of `COLUMN_NAMES`. Raises BadInput."""
    # Cells of evaluation tools may be objects, from which `question_rows` takes the texts.
    cells = {"input": row["question"], "expected_output": row.get("answers", "")}
    (flat_row,) = question_rows(cells)
    row = {**row, "question": _first_cell(flat_row, "question", "input")}
    if "expected_output" not in flat_row:
        row["answers"] = _first_cell(flat_row, "answer")
    text = " ".join(row["question"].split())
    hops = row.get("hops", "")
    if not text:
        raise BadInput(f"{file}, {where}: the question is empty.")
    if hops and not (hops.isascii() and hops.isdecimal() and 0 < int(hops) < 100):
        raise BadInput(
            f"{file}, {where}: “hops” should be a whole number such as 2, not "
            f"“{shorten(hops, 40)}”."
        )
    entities, answer_names, options = (
        _split_cell(row.get(column, "")) for column in ("entities", "answers", "options")
    )
    answer_row = {
        "answers": list(answer_names) or None,
        ANY_OF_ANSWERS_KEYS[0]: list(_split_cell(row.get("any of", ""))),
    }
    answers, aliases = known_answers(answer_row, ("answers",), text_of)
    gold_row = {
        "gold": list(_split_cell(row.get("gold", ""))),
        EVIDENCE_TEXT_KEYS[0]: list(_split_cell(row.get("contexts", ""))),
    }
    gold = gold_passages_of(gold_row, ("gold",))
    return Question(
        with_options(text, options),
        row.get("id", ""),
        entities,
        answers,
        int(hops) if hops else None,
        gold,
        options,
        aliases,
    )


def _first_cell(row: Mapping[str, Any], *keys: str) -> str:
    return next((str(row[key]) for key in keys if row.get(key) is not None), "")


def _split_cell(cell: str) -> tuple[str, ...]:
    """Return the values of a cell: a list of JSON or Python, or parts between bars."""
    parts = as_list(cell) if cell.startswith("[") else [cell]
    # A cell that begins with a bracket, but is no list, is split at bars like any other.
    texts = cell.split(VALUE_SEPARATOR) if parts == [cell] else map(str, parts)
    return tuple(dict.fromkeys(part for part in map(str.strip, texts) if part))


def _rows(
    path: FilePath | FileSource, max_bytes: int | None, watch: Watch = NO_WATCH
) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not blank with its number, the header first.

    Rows are numbered as in a spreadsheet, where line breaks inside cells begin no row. Raises
    BadInput.
    """
    line_numbers: list[int] = []  # of the lines of the row that is being read

    def read_lines() -> Iterator[str]:
        size = 0
        for number, line in numbered_lines(path, watch, max_bytes):
            size = len(line) + (size if line_numbers else 0)
            if size > MAX_LINE_BYTES:
                raise BadInput(
                    f"{path.name}, line {number}: a row of more than {size_text(MAX_LINE_BYTES)} is "
                    "too long."
                )
            line_numbers.append(number)
            yield line + "\n"

    lines = read_lines()
    header = next(lines, "")
    separator_line = EXCEL_SEPARATOR.match(header)
    if separator_line:
        header = next(lines, "")
        separator = separator_line[1]
    else:
        separator = find_separator(header) or _likely_separator(header)
    csv.field_size_limit(MAX_CELL_CHARACTERS)
    yield (line_numbers or [1])[-1], _cells(header, separator)
    reader = csv.reader(lines, delimiter=separator, strict=True, skipinitialspace=True)
    inner_breaks = 0  # line breaks inside cells so far
    while True:
        line_numbers.clear()
        try:
            cells = next(reader, None)
        except csv.Error as error:
            where = f"{path.name}, row {(line_numbers or [1])[0] - inner_breaks}"
            if "unexpected end" in str(error):
                raise BadInput(f"{where}: a quote is opened here that is never closed.") from None
            raise BadInput(f"{where}: it cannot be read as CSV ({error}).") from None
        if cells is None:
            return
        yield line_numbers[0] - inner_breaks, cells
        inner_breaks += line_numbers[-1] - line_numbers[0]


def _likely_separator(line: str) -> str:
    """Return the separator of an unknown line: a tab, else the most frequent mark."""
    return "\t" if "\t" in line else max(COLUMN_SEPARATORS, key=line.count)


def _cells(line: str, separator: str) -> list[str]:
    """Return the cells of a line. Empty if it cannot be read as CSV."""
    try:
        return next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])
    except csv.Error:
        return []


def _locate_columns(file: str, header: Sequence[str], gold: bool) -> tuple[dict[str, int], int]:
    """Return the index of each known column, and the number of columns. Raises BadInput."""
    names = list(map(usual_name, header))
    expected = {
        column: spellings
        for column, spellings in COLUMN_NAMES.items()
        if gold or column not in GOLD_COLUMNS
    }
    columns = _find_columns(file, names, expected)
    if gold and "gold" not in columns and "expected_output" in names and "context" in names:
        # In files of DeepEval, `context` has the gold passages.
        columns["contexts"] = names.index("context")
    if "question" not in columns:
        raise BadInput(
            f"{file}, row 1: no column is called “question”. The first row should be: "
            "question,answers,entities."
        )
    _check_answers_named(file, header, columns)
    missing_columns = [column for column in expected if column not in columns]
    _check_misspelt(file, header, columns, missing_columns)
    return columns, len(header)


def _find_columns(
    file: str, names: Sequence[str], expected: Mapping[str, Sequence[str]]
) -> dict[str, int]:
    """Return the index of each expected column. Raises BadInput if there are several of one."""
    columns: dict[str, int] = {}
    for column, spellings in expected.items():
        indices = _indices(names, column, spellings)
        if len(indices) > 1:
            raise BadInput(
                f"{file}, row 1: there are {len(indices)} columns of {column}; one is expected."
            )
        if indices:
            columns[column] = indices[0]
    return columns


def _indices(names: Sequence[str], column: str, spellings: Sequence[str]) -> list[int]:
    """Return the indices of a column. They are found by its usual names, else by names of tools."""
    indices = [index for index, name in enumerate(names) if name in spellings]
    if indices:
        return indices
    tool_names = [name for name in TOOL_COLUMN_NAMES.get(column, ()) if name in names]
    return [names.index(name) for name in tool_names[:1]]


def _check_answers_named(file: str, header: Sequence[str], columns: Mapping[str, int]) -> None:
    """Raise BadInput if the answers seem to be in a column of another name."""
    if {"answers", "any of"} & columns.keys():
        return
    read_indices = columns.values()
    likely_name = likely_answer_name(
        name for index, name in enumerate(header) if index not in read_indices
    )
    if likely_name:
        raise BadInput(
            f"{file}, row 1: the column “{shorten(likely_name, 40)}” seems to hold the answers; call it "
            "“answers”."
        )


def _check_misspelt(
    file: str, header: Sequence[str], columns: Mapping[str, int], missing_columns: Sequence[str]
) -> None:
    """Raise BadInput if an unread column seems to be a misspelt missing one."""
    for index, name in enumerate(map(usual_name, header)):
        if index in columns.values():
            continue
        close_names = get_close_matches(name, missing_columns, 1, CLOSE_NAME_RATIO)
        if close_names:
            raise BadInput(
                f"{file}, row 1: there is a column “{shorten(header[index], 40)}”. Did you mean "
                f"“{close_names[0]}”?"
            )


def _quote_surplus(cells: Sequence[str], width: int) -> str:
    """Return surplus cells and the one before as a quoted cell. It is for a message."""
    return '"' + ", ".join(cell.strip() for cell in cells[: len(cells) - width + 1]) + '"'
