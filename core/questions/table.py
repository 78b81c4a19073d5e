"""Questions from a table, such as a CSV file saved by a spreadsheet.

The first row names the columns, unless the caller does.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import chain
from pathlib import Path as FilePath
from typing import Any

from core.errors import BadInput, nearest, shorten
from core.io.files import EXCEL_SEPARATOR, LONGEST_LINE, Source, lines, size_text
from core.questions.answers import ANY, ONE, known_answers
from core.questions.collected import Collected
from core.questions.forms import CONTEXTS, rows_within, usual_name
from core.questions.gold import GOLD, gold_of
from core.questions.rows import IDS, like_answers, with_options
from core.questions.values import listed, text_of
from core.types import Question
from core.watch import NO_WATCH, Watch

EXAMPLE = (
    "question,answers,entities\n"
    "who directed Inception,Christopher Nolan,Inception\n"
    '"who starred in The Good, the Bad and the Ugly",Clint Eastwood|Eli Wallach,"The Good, the '
    'Bad and the Ugly"\n'
)
GOLD_EXAMPLE = (
    "question,answers,gold\n"
    "Who directed Inception?,Christopher Nolan,films.csv:17\n"
    '"In which towns, if any, do they live?",Turku|Malmö,may.pdf|june.pdf\n'
)
COLUMNS = {
    "question": ("question", "questions", "query", "text"),
    "answers": ("answers", "answer", *ONE),
    "any of": ANY,
    "entities": ("entities", "entity", "q_entity", "subj"),
    "hops": ("hops",),
    "id": IDS,
    "options": ("options",),
    "gold": GOLD,
    "contexts": CONTEXTS,
}
# Names of evaluation tools, used where no column has a usual name.
OF_TOOLS = {"question": ("user_input", "input")}
SEPARATORS = ",;\t"  # spreadsheets write semicolons in some languages
# The separator of several values in a cell, and the name of a column that is left out.
SEVERAL, LEFT_OUT = "|", "-"
LONGEST_CELL = 1 << 20  # characters


def is_table(name: str, first: str) -> bool:
    """Return whether a file with that name and first line is a table.

    Its header names a “question”, or its name ends in `.csv` and the line has no tab.
    """
    return separator(first) is not None or (
        ".csv" in FilePath(name.lower()).suffixes and "\t" not in first
    )


def separator(header: str) -> str | None:
    """Return the separator of the columns in a header.

    The result is None where no column is called “question”.
    """
    for mark in SEPARATORS:
        known = (*COLUMNS["question"], *OF_TOOLS["question"])
        if any(name in known for name in _names(header, mark)):
            return mark
    return None


def columns_of(text: str) -> tuple[str, ...]:
    """Return the column names in a text such as `id,question,answers,-`, in their order.

    “-” stands for a column to leave out. An empty text gives no names. Raises BadInput for an
    unknown name, for a name that occurs twice, and where the question's column is missing.
    """
    names = (
        tuple(part.strip().casefold() or LEFT_OUT for part in text.split(","))
        if text.strip()
        else ()
    )
    for name in names:
        if name != LEFT_OUT and name not in COLUMNS:
            raise BadInput(
                f"There is no column “{shorten(name, 40)}” of questions.{nearest(name, COLUMNS)}"
            )
        if name != LEFT_OUT and names.count(name) > 1:
            raise BadInput(f"The column “{name}” is named twice.")
    if names and "question" not in names:
        raise BadInput("One of the columns must be the question, as in question,answers,entities.")
    return names


def table_questions(
    path: str | FilePath | Source,
    collected: Collected,
    most: int | None = None,
    columns: Sequence[str] = (),
    watch: Watch = NO_WATCH,
    gold: bool = False,
) -> Iterator[tuple[str, Question]]:
    """Yield the questions of a CSV file with their rows, counted as in a spreadsheet.

    The header is row 1. Columns are found by name, in any order. `question` is needed. `answers`,
    `entities`, `options`, `hops` and `id` are optional. Other columns are left out and noted in
    `collected`. A cell holds several values separated by “|”, or as a list. Raises BadInput, naming
    file and row, for a row that cannot be read.

    Parameters
    ----------
    path : the file.
    collected : the questions so far; it notes the columns with a value and those that were read.
    most : the most bytes of text to read; None for no bound.
    columns : the columns in their order, as `columns_of` returns them. No header is needed then,
        and one that is there is skipped.
    watch : receives the share that was read, and can cancel.
    gold : True if columns of the documents that an answer rests on are read.

    Returns
    -------
    Pairs of a place such as `row 2` and the question.
    """
    path = FilePath(path) if isinstance(path, str) else path
    rows = _rows(path, most, watch)
    number, header = next(rows, (1, []))
    if columns:
        places, width = (
            {name: place for place, name in enumerate(columns) if name != LEFT_OUT},
            len(header),
        )
        if width < len(columns):
            raise BadInput(
                f"{path.name}, row {number}: {len(columns)} columns are named, but this row has "
                f"{width}."
            )
        if " ".join(header[places["question"]].casefold().split()) not in COLUMNS["question"]:
            rows = chain([(number, header)], rows)
    else:
        places, width = _places(path.name, header, gold)
        collected.note(cell for cell in map(str.strip, header) if cell)
        collected.seen |= {header[place].strip() for place in places.values()}
    for number, cells in rows:
        where = f"row {number}"
        if len(cells) > width:
            raise BadInput(
                f"{path.name}, {where}: found {len(cells)} cells where the header has {width}; "
                "put a cell that holds the separator into "
                f"quotes, as in “{shorten(_quoted(cells, width), 60)}”."
            )
        row = {
            column: cells[place].strip() if place < len(cells) else ""
            for column, place in places.items()
        }
        if any(row.values()):
            yield where, _question(path.name, where, row)


def _question(file: str, where: str, row: dict[str, str]) -> Question:
    within = rows_within({"input": row["question"], "expected_output": row.get("answers", "")})[0]
    row = {**row, "question": _text(within, "question", "input")}
    if "expected_output" not in within:
        row["answers"] = _text(within, "answer")
    text, hops = " ".join(row["question"].split()), row.get("hops", "")
    if not text:
        raise BadInput(f"{file}, {where}: the question is empty.")
    if hops and not (hops.isascii() and hops.isdecimal() and 0 < int(hops) < 100):
        raise BadInput(
            f"{file}, {where}: “hops” should be a whole number such as 2, not "
            f"“{shorten(hops, 40)}”."
        )
    entities, named, options = (
        _several(row.get(column, "")) for column in ("entities", "answers", "options")
    )
    answers, aliases = known_answers(
        {"answers": list(named) or None, ANY[0]: list(_several(row.get("any of", "")))},
        ("answers",),
        text_of,
    )
    judged = {"gold": _several(row.get("gold", "")), CONTEXTS[0]: _several(row.get("contexts", ""))}
    gold = gold_of({key: list(texts) for key, texts in judged.items()}, ("gold",))
    id = row.get("id", "")
    return Question(
        with_options(text, options),
        id,
        entities,
        answers,
        int(hops) if hops else None,
        gold,
        options,
        aliases,
    )


def _text(row: Mapping[str, Any], *keys: str) -> str:
    return next((str(row[key]) for key in keys if row.get(key) is not None), "")


def _several(cell: str) -> tuple[str, ...]:
    """Return the values of a cell: a list of JSON or Python, or parts separated by a bar."""
    parts = listed(cell) if cell.startswith("[") else cell.split(SEVERAL)
    texts = cell.split(SEVERAL) if parts == [cell] else map(str, parts)
    return tuple(dict.fromkeys(part for part in map(str.strip, texts) if part))


def _rows(
    path: FilePath | Source, most: int | None, watch: Watch = NO_WATCH
) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not blank with its number, the header first. Raises BadInput."""
    taken: list[int] = []  # numbers of the lines of the row that is being read

    def recorded() -> Iterator[str]:
        size = 0
        for number, line in lines(path, watch, most):
            size = len(line) + (size if taken else 0)
            if size > LONGEST_LINE:
                raise BadInput(
                    f"{path.name}, line {number}: a row of more than {size_text(LONGEST_LINE)} is "
                    "too long."
                )
            taken.append(number)
            yield line + "\n"

    source = recorded()
    header = next(source, "")
    named = EXCEL_SEPARATOR.match(header)
    header = next(source, "") if named else header
    mark = named[1] if named else separator(header) or _usual(header)
    csv.field_size_limit(LONGEST_CELL)
    yield (taken or [1])[-1], _cells(header, mark)
    # `within` counts the line breaks inside cells so far.
    reader, within = (csv.reader(source, delimiter=mark, strict=True, skipinitialspace=True), 0)
    while True:
        taken.clear()
        try:
            cells = next(reader, None)
        except csv.Error as error:
            where = f"{path.name}, row {(taken or [1])[0] - within}"
            if "unexpected end" in str(error):
                raise BadInput(f"{where}: a quote is opened here that is never closed.") from None
            raise BadInput(f"{where}: it cannot be read as CSV ({error}).") from None
        if cells is None:
            return
        yield taken[0] - within, cells
        within += taken[-1] - taken[0]


def _usual(line: str) -> str:
    """Return the separator of a line that is no header: a tab, else the most frequent mark."""
    return "\t" if "\t" in line else max(SEPARATORS, key=line.count)


def _cells(line: str, mark: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=mark, skipinitialspace=True), [])
    except csv.Error:
        return []


def _names(header: str, mark: str) -> list[str]:
    return list(map(usual_name, _cells(header, mark)))


def _places(file: str, header: Sequence[str], gold: bool) -> tuple[dict[str, int], int]:
    """Return the index of each known column, and the number of columns. Raises BadInput."""
    names = list(map(usual_name, header))
    places: dict[str, int] = {}
    of_gold = ("gold", "contexts")
    expected = {column: known for column, known in COLUMNS.items() if gold or column not in of_gold}
    for column, known in expected.items():
        found = [place for place, name in enumerate(names) if name in known]
        if not found:
            found = [names.index(name) for name in OF_TOOLS.get(column, ()) if name in names][:1]
        if len(found) > 1:
            raise BadInput(
                f"{file}, row 1: there are {len(found)} columns of {column}; one is expected."
            )
        if found:
            places[column] = found[0]
    if gold and "gold" not in places and "expected_output" in names and "context" in names:
        places["contexts"] = names.index("context")  # DeepEval
    if "question" not in places:
        raise BadInput(
            f"{file}, row 1: no column is called “question”. The first row should be: "
            "question,answers,entities."
        )
    others = (name for place, name in enumerate(header) if place not in places.values())
    if not {"answers", "any of"} & places.keys() and (like := like_answers(others)):
        raise BadInput(
            f"{file}, row 1: the column “{shorten(like, 40)}” seems to hold the answers; call it "
            "“answers”."
        )
    for place, name in enumerate(names):
        near = get_close_matches(
            name, [column for column in expected if column not in places], 1, 0.75
        )
        if near and place not in places.values():
            raise BadInput(
                f"{file}, row 1: there is a column “{shorten(header[place], 40)}”. Did you mean "
                f"“{near[0]}”?"
            )
    return places, len(header)


def _quoted(cells: Sequence[str], width: int) -> str:
    """Return the surplus cells and the one before them as one quoted cell, for an error message."""
    return '"' + ", ".join(cell.strip() for cell in cells[: len(cells) - width + 1]) + '"'
