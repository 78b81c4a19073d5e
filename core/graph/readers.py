"""Triples read from a file: tab-separated, comma-separated or `|`-separated, plain or gzipped."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path as FilePath

from core.errors import BadInput, shorten

Triple = tuple[str, str, str]
Row = tuple[int, list[str]]  # line number and columns

SEPARATORS = {"tab": "\t", "bar": "|", "comma": ","}
SUFFIXES = {".tsv": "tab", ".tab": "tab", ".csv": "comma"}
WORDS = {"tab": "a tab", "bar": "“|”", "comma": "a comma"}
HEADERS = {
    ("head", "relation", "tail"),
    ("subject", "predicate", "object"),
    ("subject", "relation", "object"),
    ("source", "relation", "target"),
}
SNIFFED, REPORT_EVERY = 20, 1 << 14


def read_triples(path: str | FilePath, progress: Callable[[float], None] | None = None) -> Iterator[Triple]:
    """The triples (head, relation, tail) of a file, in its order.

    The format goes by the suffix (`.tsv`, `.tab`, `.csv`, each also with `.gz`), else by the first lines: tabs, bars or
    commas. Only comma-separated files know quotes; in the others a name passes unchanged, spaces included. Blank lines
    are skipped, and so is a first line that reads head, relation, tail. `progress` hears the share of bytes read.
    Raises BadInput, naming file and line, for a missing or empty file, a wrong number of columns, an empty name, or
    bytes that are not UTF-8.
    """
    path = FilePath(path)
    lines = _lines(path, progress)
    first = list(islice(lines, SNIFFED))
    form = _format(path, first)
    rows = (_comma_rows if form == "comma" else _plain_rows)(path, chain(first, lines), form)
    found = False
    for index, (number, columns) in enumerate(rows):
        if index == 0 and tuple(column.strip().lower() for column in columns) in HEADERS:
            continue
        found = True
        yield _triple(path, number, columns, form)
    if not found:
        raise BadInput(f"{path.name} holds no triples; each line should hold head, relation and tail.")


def _triple(path: FilePath, number: int, columns: list[str], form: str) -> Triple:
    if len(columns) != 3:
        raise BadInput(
            f"{path.name}, line {number}: found {len(columns)} column{'s' * (len(columns) != 1)}, expected 3 "
            f"(head, relation, tail) separated by {WORDS[form]}: “{shorten(SEPARATORS[form].join(columns))}”."
        )
    for column, what in zip(columns, ("head", "relation", "tail")):
        if not column.strip():
            raise BadInput(f"{path.name}, line {number}: the {what} is empty; expected head, relation and tail.")
    return columns[0], columns[1], columns[2]


def _lines(path: FilePath, progress: Callable[[float], None] | None) -> Iterator[tuple[int, str]]:
    """The lines that are not blank with their numbers from 1, line ends removed. Raises BadInput for unreadable bytes."""
    number = 0
    try:
        size = path.stat().st_size
        with open(path, "rb") as raw:
            stream = gzip.GzipFile(fileobj=raw) if path.suffix.lower() == ".gz" else raw
            for number, line in enumerate(stream, 1):
                if progress and number % REPORT_EVERY == 0:
                    progress(min(1.0, raw.tell() / max(1, size)))
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if text.strip():
                    yield number, text
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{path.name}, line {number}: byte {error.start + 1} is not UTF-8 text; expected a text file of triples saved as UTF-8."
        ) from None
    except FileNotFoundError:
        raise BadInput(f"There is no file {path}.") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadInput(f"{path.name}, after line {number}: the gzip file is damaged or cut short ({error}).") from None
    except OSError as error:
        raise BadInput(f"{path.name} cannot be read: {error.strerror or error}.") from None


def _format(path: FilePath, first: list[tuple[int, str]]) -> str:
    """tab, bar or comma. Raises BadInput where the file is empty or no line could be a triple in any of them."""
    if not first:
        raise BadInput(f"{path.name} is empty; expected lines of head, relation and tail.")
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    if plain.suffix.lower() in SUFFIXES:
        return SUFFIXES[plain.suffix.lower()]
    fits = {form: sum(_columns(text, form) == 3 for _, text in first) for form in SEPARATORS}
    best = max(fits, key=lambda form: fits[form])  # the first of equals: tab, then bar, then comma
    if not fits[best]:
        number, text = first[0]
        raise BadInput(
            f"{path.name}, line {number}: expected head, relation and tail separated by tabs, “|” or commas, found “{shorten(text)}”."
        )
    return best


def _columns(text: str, form: str) -> int:
    if form != "comma":
        return text.count(SEPARATORS[form]) + 1
    try:
        return len(next(csv.reader([text])))
    except csv.Error:
        return 0


def _plain_rows(path: FilePath, lines: Iterator[tuple[int, str]], form: str) -> Iterator[Row]:
    separator = SEPARATORS[form]
    for number, text in lines:
        yield number, text.split(separator)


def _comma_rows(path: FilePath, lines: Iterator[tuple[int, str]], form: str) -> Iterator[Row]:
    """Rows of a comma-separated file; a quoted name may run over several lines, the number is then its last line's."""
    at = 0

    def texts() -> Iterator[str]:
        nonlocal at
        for number, text in lines:
            at = number
            yield text + "\n"

    reader = csv.reader(texts(), strict=True)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise BadInput(
                f"{path.name}, line {at}: not comma-separated text ({error}); expected head, relation, "
                "tail, with names that hold commas in double quotes."
            ) from None
        yield at, row
