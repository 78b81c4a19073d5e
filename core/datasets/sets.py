"""Question sets: files of questions, and the graphs that some files hold for each question."""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path as FilePath

from core.errors import BadInput, suggest_name
from core.graph.building.build import build_in_memory
from core.graph.readers.json_graphs import row_triples
from core.graph.readers.source import Triple
from core.graph.store import Graph
from core.io.data_folders import data_roots
from core.io.recoded_files import decode_if_certain
from core.questions.forms import ANSWERABLE_KEY, question_rows
from core.questions.question_files import (
    FORMATS,
    MAX_QUESTION_FILE_BYTES,
    MAX_QUESTION_ROW_BYTES,
    QuestionFile,
    count_rows_with_graphs,
    read_lines,
    read_question_file,
    text_without_brackets,
)
from core.runtime.row_files import file_rows, is_columnar
from core.types import Direction, Question

GRAPH_SCOPES = ("union", "question")


@dataclass(frozen=True)
class QuestionSet:
    """A file of questions, and how to read it.

    Parameters
    ----------
    hops : number of hops of the questions whose row does not say it; None if unknown.
    kinds : a file with the kind of each question, line by line; None if the set has no kinds.
    format : one of `FORMATS`, or "auto" to recognise it.
    graph_scope : "union" if all questions are asked on the data set's graph, "question" if each is
        asked on the `graph` of its own row.
    only : a field that must be true in a row that belongs to the set; empty for all rows.
    is_own : True if a user added the set.
    columns : the columns of a table, as `read_questions` takes them.
    encoding : the encoding of the file, as `read_questions` takes it.
    """

    name: str
    title: str
    file: FilePath
    hops: int | None = None
    kinds: FilePath | None = None
    format: str = "auto"
    graph_scope: str = "union"
    only: str = ""
    is_own: bool = False
    columns: str = ""
    encoding: str = ""

    @classmethod
    def from_description(
        cls, name: str, row: Mapping, folder: FilePath, own: bool = False
    ) -> QuestionSet:
        """Return the set that a row of a description describes.

        The description is that of a data set or an added set. Files are relative to `folder`. `own`
        is True if a user added the set. Raises KeyError for a missing value, BadInput for an
        unknown one.
        """
        kinds = folder / row["kinds"] if "kinds" in row else None
        graphs = row.get("graphs", "union")
        format = row.get("format", "auto")
        if graphs not in GRAPH_SCOPES:
            raise BadInput(
                f"The question set “{name}” has graphs = “{graphs}”."
                f"{suggest_name(str(graphs), GRAPH_SCOPES)}"
            )
        if format not in ("auto", *FORMATS):
            raise BadInput(
                f"The question set “{name}” has format = “{format}”."
                f"{suggest_name(str(format), FORMATS)}"
            )
        return cls(
            name=name,
            title=row.get("title", name),
            file=folder / row["file"],
            kinds=kinds,
            format=format,
            graph_scope=graphs,
            is_own=own,
            **{key: row[key] for key in ("hops", "only", "columns", "encoding") if key in row},
        )

    def questions(self) -> Sequence[Question]:
        """Return the questions; the file is read again only after it has changed."""
        return self._read().questions

    def note(self) -> str:
        """Return a sentence on the parts of a user's file that were not read.

        Empty if all was read, and for a shipped set.
        """
        if any(map(self.file.is_relative_to, data_roots())):
            return ""
        return self._read().note(self.name if self.is_own else "")

    def _read(self) -> QuestionFile:
        with _reading_lock:
            return _read_file(self, _stamp(self.file))

    def find_question(self, text: str) -> Question | None:
        """Return the question with exactly that text.

        If there are several, the last one is returned; None without one. The questions are not read
        if the file does not contain the text, which is quicker.
        """
        stamp = _stamp(self.file)
        file_text = _file_text(self.file, stamp, self.format, self.columns, self.encoding)
        if file_text is not None and text.replace("[", "").replace("]", "") not in file_text:
            return None
        return _questions_by_text(self, stamp).get(text)

    def question_kinds(self) -> Sequence[str]:
        """Return the kind of each question; empty if the set has no kinds."""
        return _read_kinds(self.kinds, _stamp(self.kinds)) if self.kinds else ()

    def has_question(self, question_id: str) -> bool:
        """Return whether the set has a question with that id."""
        return question_id in _row_indices(self, _stamp(self.file))

    def question_graph(self, question_id: str, name: str, direction: Direction) -> Graph:
        """Return the graph of a question's own row, in memory.

        Raises BadInput if the question is unknown or has no graph.
        """
        return _question_graph(self, _stamp(self.file), question_id, name, direction)

    def has_graphs(self) -> bool:
        """Return whether any row of the file includes a graph.

        Raises BadInput if the file cannot be read.
        """
        return _count_graphs(self.file, _stamp(self.file)) > 0

    def question_triples(self, question_id: str) -> list[Triple]:
        """Return the triples of a question's own row; empty if it has none.

        Raises BadInput for an unknown question.
        """
        index = _row_indices(self, _stamp(self.file)).get(question_id)
        if index is None:
            raise BadInput(f"The question set “{self.name}” has no question “{question_id}”.")
        graphs = _packed_graphs(self.file, _stamp(self.file), self.only)
        return [tuple(triple) for triple in json.loads(zlib.decompress(graphs[index]))]


def _stamp(file: FilePath) -> tuple[int, int]:
    """Return the size in bytes and the change time in ns.

    They identify the content of a file. Raises BadInput if the file is missing.
    """
    try:
        stat = file.stat()
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror or error}.") from None
    return stat.st_size, stat.st_mtime_ns


_reading_lock = threading.Lock()  # keeps two threads from reading the same file twice


# The caches below have the stamp of the file in their key, so a changed file is read again.
@lru_cache(maxsize=64)
def _read_file(question_set: QuestionSet, stamp: tuple) -> QuestionFile:
    return read_question_file(
        question_set.file,
        question_set.name,
        hops=question_set.hops,
        format=question_set.format,
        only=question_set.only,
        columns=question_set.columns,
        encoding=question_set.encoding,
    )


@lru_cache(maxsize=64)
def _read_kinds(file: FilePath, stamp: tuple) -> tuple[str, ...]:
    return read_lines(file)


@lru_cache(maxsize=16)
def _file_text(
    file: FilePath, stamp: tuple, format: str, columns: str, encoding: str
) -> str | None:
    return text_without_brackets(file, format, columns, encoding)


@lru_cache(maxsize=16)
def _count_graphs(file: FilePath, stamp: tuple) -> int:
    return count_rows_with_graphs(file)


@lru_cache(maxsize=16)
def _questions_by_text(question_set: QuestionSet, stamp: tuple) -> dict[str, Question]:
    return {question.text: question for question in question_set.questions()}


@lru_cache(maxsize=16)
def _row_indices(question_set: QuestionSet, stamp: tuple) -> dict[str, int]:
    return {question.id: index for index, question in enumerate(question_set.questions())}


@lru_cache(maxsize=4)
def _packed_graphs(file: FilePath, stamp: tuple, only: str) -> tuple[bytes, ...]:
    """Return the triples of each question, as compressed JSON because there may be millions.

    The order is that of `QuestionSet.questions`, so rows that are no questions are skipped here too.
    """
    text = file if is_columnar(file) else decode_if_certain(file, max_bytes=MAX_QUESTION_FILE_BYTES)
    rows = file_rows(text, max_bytes=MAX_QUESTION_FILE_BYTES, max_line_bytes=MAX_QUESTION_ROW_BYTES)
    graphs = []
    for position, row in rows:
        if only and row.get(only) is not True:
            continue
        for question_row in question_rows(row):
            if question_row.get(ANSWERABLE_KEY) is not False:
                triples = row_triples(file.name, position, question_row)
                graphs.append(zlib.compress(json.dumps(triples).encode(), 1))
    return tuple(graphs)


@lru_cache(maxsize=32)
def _question_graph(
    question_set: QuestionSet, stamp: tuple, question_id: str, name: str, direction: Direction
) -> Graph:
    triples = question_set.question_triples(question_id)
    if not triples:
        raise BadInput(
            f"The question “{question_id}” of “{question_set.name}” comes without a graph of its "
            "own."
        )
    return build_in_memory(triples, name, direction)
