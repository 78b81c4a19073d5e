"""Reading of files by libraries in a separate process.

The process has limits on memory and time. A damaged or malicious file may exhaust memory, run
without end or crash its library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import PurePosixPath

from core.corpus.document import Document
from core.corpus.readers.epub import read_epub
from core.corpus.readers.file_sources import MemoryFile, read_bytes
from core.corpus.readers.html import read_html
from core.corpus.readers.mail import read_mail
from core.corpus.readers.notebook import read_notebook
from core.corpus.readers.office import first_rows, read_slides, read_workbook
from core.corpus.readers.options import DEFAULT_OPTIONS, Note, ReadingOptions
from core.corpus.readers.pdf import read_pdf
from core.corpus.readers.word import read_word
from core.errors import BadInput, HopscopeError, RunCancelled
from core.io.durations import duration_text
from core.io.files import DiskFile, FileSource, name_without_packing, size_text
from core.runtime.subprocess_worker import (
    LIMIT_MEMORY,
    LIMIT_TIME,
    Worker,
    WorkerEndedError,
    allowed_memory,
    allowed_seconds,
)
from core.watch import NO_WATCH, Watch

MAX_READING_MEMORY_BYTES = 1 << 31
# Processor time: two minutes, and in proportion to the size of files above 16 MB.
MIN_READER_SECONDS = 120
READER_BYTES_PER_SECOND = 140_000
LIBRARY_READERS: Mapping[
    str, Callable[[str, bytes, Watch, Note, ReadingOptions], list[Document]]
] = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), read_html),
    ".pdf": read_pdf,
    ".docx": read_word,
    ".xlsx": read_workbook,
    ".pptx": read_slides,
    ".epub": read_epub,
    ".eml": read_mail,
    ".ipynb": read_notebook,
}


def seconds_for(size: int) -> float:
    """Return the processor time in seconds that a file of `size` bytes may take."""
    return max(MIN_READER_SECONDS, size / READER_BYTES_PER_SECOND)


class SeparateReader:
    """Reader of files, one after another, in one separate process.

    If a file exceeds its limits, the process ends, and the next file gets a new one.
    """

    def __init__(self) -> None:
        self._worker = Worker(MAX_READING_MEMORY_BYTES)

    def __enter__(self) -> SeparateReader:
        return self

    def __exit__(self, *raised: object) -> None:
        self._worker.__exit__(*raised)

    def read(
        self,
        name: str,
        source: FileSource,
        watch: Watch = NO_WATCH,
        options: ReadingOptions = DEFAULT_OPTIONS,
    ) -> tuple[list[Document], list[str]]:
        """Read the documents of one file.

        Parameters
        ----------
        name : name of the file.
        source : the file.
        watch : called about ten times a second, with the share read or None if it is unknown; an
            error that it raises ends the reading.
        options : options of reading.

        Returns
        -------
        The documents, and a sentence for each thing left out or guessed.

        Raises
        ------
        BadInput : the file cannot be read within the limits.
        """
        seconds = allowed_seconds(seconds_for(source.size))
        file: FileSource = source
        if not isinstance(source, DiskFile):
            with source.open() as stream:
                file = MemoryFile(source.name, stream.read())
        try:
            return self._worker.run(_read_file, name, file, options, watch=watch, seconds=seconds)
        except RunCancelled:
            raise
        except WorkerEndedError as error:
            advice = "split it, or save it as plain text and bring that"
            if error.limit == LIMIT_MEMORY:
                memory = size_text(allowed_memory(MAX_READING_MEMORY_BYTES))
                raise BadInput(
                    f"{name} takes more than {memory} of memory to be read; {advice}."
                ) from None
            if error.limit == LIMIT_TIME:
                raise BadInput(
                    f"{name} takes longer than {duration_text(seconds)} to be read; {advice}."
                ) from None
            raise BadInput(
                f"{name} cannot be read: the program that reads it breaks down; save it "
                "anew, or as plain text."
            ) from None
        except HopscopeError as error:
            raise BadInput(str(error)) from None


def sheet_columns(name: str, data: bytes) -> list[str]:
    """Return the names of columns in the first rows of a workbook's sheets.

    The workbook is read in a separate process.

    Parameters
    ----------
    name : name of the file.
    data : the bytes of the file.

    Returns
    -------
    Each name once. A file that cannot be read has none; the fault is reported when it is imported.
    """
    seconds = seconds_for(len(data))
    with Worker(MAX_READING_MEMORY_BYTES) as worker:
        try:
            rows = worker.run(_first_rows_in_worker, name, data, watch=NO_WATCH, seconds=seconds)
        except (WorkerEndedError, HopscopeError):
            return []
    return list(dict.fromkeys(filter(None, chain.from_iterable(rows))))


def _first_rows_in_worker(name: str, data: bytes, watch: Watch = NO_WATCH) -> list[list[str]]:
    """Read the first rows in the other process, which passes a watch."""
    return first_rows(name, data)


def _read_file(
    name: str, file: FileSource, options: ReadingOptions, watch: Watch = NO_WATCH
) -> tuple[list[Document], list[str]]:
    """Read a file in the other process; return documents and notes."""
    read = LIBRARY_READERS[PurePosixPath(name_without_packing(name).lower()).suffix]
    notes = list[str]()
    documents = read(name_without_packing(name), read_bytes(file), watch, notes.append, options)
    return documents, notes
