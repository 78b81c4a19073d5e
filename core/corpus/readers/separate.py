"""Read files by libraries in a separate process with limits on memory and time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from core.corpus.document import Document
from core.corpus.readers.epub import epub
from core.corpus.readers.html import html
from core.corpus.readers.mail import mail
from core.corpus.readers.notebook import notebook
from core.corpus.readers.office import first_rows, slides, workbook
from core.corpus.readers.options import USUAL, Note, Options
from core.corpus.readers.packed import Held, bytes_of
from core.corpus.readers.pdf import pdf
from core.corpus.readers.word import word
from core.errors import BadInput, Cancelled, HopscopeError
from core.io.durations import span
from core.io.files import OnDisk, Source, bare, size_text
from core.runtime.subprocess_worker import (
    MEMORY,
    TIME,
    Ended,
    Worker,
    allowed_memory,
    allowed_seconds,
)
from core.watch import NO_WATCH, Watch

MOST_MEMORY = 1 << 31  # bytes that the process may take
# processor time: two minutes, and in proportion to the size of files above 16 MB
LEAST_SECONDS, BYTES_A_SECOND = (120, 140_000)
LIBRARIES: Mapping[str, Callable[[str, bytes, Watch, Note, Options], list[Document]]] = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), html),
    ".pdf": pdf,
    ".docx": word,
    ".xlsx": workbook,
    ".pptx": slides,
    ".epub": epub,
    ".eml": mail,
    ".ipynb": notebook,
}


def seconds_for(size: int) -> float:
    """Return the processor time in seconds that a file of `size` bytes may take."""
    return max(LEAST_SECONDS, size / BYTES_A_SECOND)


class SeparateReader:
    """Reads files one after another in one process.

    After a file that exceeded its limits, a new process is started.
    """

    def __init__(self) -> None:
        self._worker = Worker(MOST_MEMORY)

    def __enter__(self) -> SeparateReader:
        return self

    def __exit__(self, *raised: object) -> None:
        self._worker.__exit__(*raised)

    def read(
        self, name: str, source: Source, watch: Watch = NO_WATCH, options: Options = USUAL
    ) -> tuple[list[Document], list[str]]:
        """Read the documents of one file, with a sentence for each thing left out or guessed.

        `watch` receives the share read, or None, about ten times a second; an error that it raises
        ends the reading. Raises BadInput for a file that cannot be read within the limits.
        """
        seconds = allowed_seconds(seconds_for(source.size))
        file = source if isinstance(source, OnDisk) else Held(source.name, _as_it_lies(source))
        try:
            return self._worker.do(
                _read,
                name,
                file,
                options,
                watch=watch,
                seconds=seconds,
            )
        except Cancelled:
            raise
        except Ended as error:
            instead = "split it, or save it as plain text and bring that"
            if error.limit == MEMORY:
                raise BadInput(
                    f"{name} takes more than {size_text(allowed_memory(MOST_MEMORY))} of "
                    f"memory to be read; {instead}."
                ) from None
            if error.limit == TIME:
                raise BadInput(
                    f"{name} takes longer than {span(seconds)} to be read; {instead}."
                ) from None
            raise BadInput(
                f"{name} cannot be read: the program that reads it breaks down; save it "
                "anew, or as plain text."
            ) from None
        except HopscopeError as error:
            raise BadInput(str(error)) from None


def sheet_columns(name: str, data: bytes) -> list[str]:
    """Return the columns that the first rows of a workbook's sheets name, each once.

    They are read in a separate process. A file that cannot be read has none; the fault is reported
    when it is imported.
    """
    with Worker(MOST_MEMORY) as worker:
        try:
            rows = worker.do(
                _first_rows, name, data, watch=NO_WATCH, seconds=seconds_for(len(data))
            )
        except (Ended, HopscopeError):
            return []
    return list(dict.fromkeys(cell for row in rows for cell in row if cell))


def _first_rows(name: str, data: bytes, watch: Watch = NO_WATCH) -> list[list[str]]:
    return first_rows(name, data)


def _as_it_lies(source: Source) -> bytes:
    with source.open() as raw:
        return raw.read()


def _read(
    name: str, file: Source, options: Options, watch: Watch = NO_WATCH
) -> tuple[list[Document], list[str]]:
    """Read a file in the other process, with sentences on what was left out."""
    read, notes = LIBRARIES[PurePosixPath(bare(name).lower()).suffix], list[str]()
    documents = read(bare(name), bytes_of(file), watch, notes.append, options)
    return documents, notes
