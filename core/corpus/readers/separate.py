"""Files that a library reads, each in a process of its own that may take so much memory and time."""

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
from core.corpus.readers.packed import Held, bare, bytes_of
from core.corpus.readers.pdf import pdf
from core.corpus.readers.word import word
from core.errors import BadInput, Cancelled, HopscopeError
from core.io.durations import span
from core.io.files import OnDisk, Source, size_text
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
# of the processor's time: two minutes, for a file of more than 16 MB in proportion to it
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
    """The processor's time that a file of so many bytes may take."""
    return max(LEAST_SECONDS, size / BYTES_A_SECOND)


class SeparateReader:
    """Reads files one after another in one process, or in another one after a file that was too much for it."""

    def __init__(self) -> None:
        self._worker = Worker(MOST_MEMORY)

    def __enter__(self) -> SeparateReader:
        return self

    def __exit__(self, *raised: object) -> None:
        self._worker.__exit__(*raised)

    def read(
        self, name: str, source: Source, watch: Watch = NO_WATCH, options: Options = USUAL
    ) -> tuple[list[Document], list[str]]:
        """The documents of one file, and a sentence for each thing in it that was left out or guessed. `watch` receives the
        share read, or None, some ten times a second; what it raises ends the reading. Raises BadInput for a file that cannot be read, or
        only with more memory or time than it may take."""
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
                    f"{name} takes more than {size_text(allowed_memory(MOST_MEMORY))} of memory to be read; {instead}."
                ) from None
            if error.limit == TIME:
                raise BadInput(
                    f"{name} takes longer than {span(seconds)} to be read; {instead}."
                ) from None
            raise BadInput(
                f"{name} cannot be read: the program that reads it breaks down; save it anew, or as plain text."
            ) from None
        except HopscopeError as error:
            raise BadInput(str(error)) from None


def sheet_columns(name: str, data: bytes) -> list[str]:
    """The columns that the first rows of a workbook's sheets name, each once, read in a process of its own; none where it cannot be read,
    which is said when it is."""
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
    """In the other process: the documents of a file, and what was left out of them."""
    read, notes = LIBRARIES[PurePosixPath(bare(name).lower()).suffix], list[str]()
    documents = read(bare(name), bytes_of(file), watch, notes.append, options)
    return documents, notes
