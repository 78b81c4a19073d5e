"""Reader of files, folders and zips as documents.

The suffix of a file's name decides which reader takes it. A file that cannot be read is reported,
and the others are still read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from core.corpus.document import Document, DocumentOrigin, utf8_text
from core.corpus.readers.file_sources import (
    MAX_FILE_BYTES,
    FolderFile,
    disk_file,
    name_without_packing,
    path_on_disk,
    read_bytes,
    zip_members,
)
from core.corpus.readers.markdown import read_markdown
from core.corpus.readers.options import Columns, Note, ReadingOptions
from core.corpus.readers.reader_process import LIBRARY_READERS, SeparateReader
from core.corpus.readers.table import read_columnar, read_delimited_table, read_json_rows
from core.corpus.readers.text import read_plain
from core.errors import BadInput, shorten
from core.io.encoding import known_encoding
from core.io.files import FileSource
from core.io.recoded_files import as_utf8
from core.runtime.row_files import COLUMNAR_SUFFIXES
from core.watch import NO_WATCH, Watch

READABLE_SUFFIXES = tuple(
    f".{kind}"
    for kind in "txt md html pdf docx xlsx pptx epub eml ipynb csv tsv jsonl json parquet".split()
)
MAX_TEXT_BYTES = 1 << 27  # of a text that becomes one document
WHOLE_FILE_READERS: Mapping[
    str, Callable[[str, bytes, Watch, Note, ReadingOptions], list[Document]]
] = {
    **dict.fromkeys((".txt", ".text", ".rst", ".tex", ".log"), read_plain),
    **dict.fromkeys((".md", ".markdown"), read_markdown),
}
TABLE_FILE_READERS: Mapping[str, Callable[[FileSource, Columns, Watch, Note], list[Document]]] = {
    **dict.fromkeys((".csv", ".tsv"), read_delimited_table),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), read_json_rows),
}
READABLE_KINDS = {*WHOLE_FILE_READERS, *TABLE_FILE_READERS, *LIBRARY_READERS, *COLUMNAR_SUFFIXES}
OTHER_FORMATS = {  # formats of other programs, and the format to save them in
    **dict.fromkeys((".doc", ".odt", ".rtf", ".pages"), "docx"),
    **dict.fromkeys((".xls", ".ods", ".numbers"), "xlsx"),
    **dict.fromkeys((".ppt", ".odp", ".key"), "pptx"),
    ".mobi": "epub",
    ".msg": "eml",
}
# beginnings of the names of hidden files, and of files that systems and programs leave behind
HIDDEN_STARTS = (".", "__MACOSX", "~$", "Thumbs.db", "desktop.ini")
MAX_LISTED_FILES = 5  # files or sentences listed in one message


@dataclass
class ReadingResult:
    """The result of reading files.

    Parameters
    ----------
    documents : the documents in the order of the files.
    notes : a sentence for each thing that was left out, was guessed or deserves attention.
    origins : origins of the files that were read, by name. The name is the `source` of the file's
        documents.
    failed : names of the files that could not be read.
    """

    documents: list[Document] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    origins: dict[str, DocumentOrigin] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)


def read_files(
    paths: Iterable[str | Path],
    columns: Columns | None = None,
    watch: Watch = NO_WATCH,
    encoding: str = "",
) -> ReadingResult:
    """Read the documents of files, of folders with all their subfolders, and of zips.

    The id of a document is the path of its file within the given folder or zip, or the name of a
    single file. Rows of tables add their own id: “reports/may.pdf”, “mails.csv:17”.

    Parameters
    ----------
    paths : files, folders and zips.
    columns : the columns of tables, as `core.corpus.readers.table.parse_column_roles` returns them.
    watch : called often, also within long files; an error that it raises ends the reading.
    encoding : the encoding of texts that are not UTF-8; empty to detect it.

    Returns
    -------
    The documents, with notes on what was left out or guessed.

    Raises
    ------
    BadInput
        If no document was found, with the reasons.
    """
    result, options = ReadingResult(), ReadingOptions(columns or {}, known_encoding(encoding))
    files = _collect_files(paths, result)
    with SeparateReader() as separate:
        for number, (name, (source, folder)) in enumerate(files.items()):
            message = f"Reading {shorten(name, 40)}"
            part = watch.part(number / len(files), (number + 1) / len(files), message)
            part.step(0.0)
            notes: list[str] = []
            try:
                result.documents += _documents(name, source, options, separate, part, notes.append)
                result.origins[name_without_packing(name)] = DocumentOrigin(folder, tuple(notes))
                result.notes += notes
            except BadInput as error:
                result.notes.append(str(error))
                result.failed.add(name_without_packing(name))
    if not result.documents:
        reasons = result.notes[:MAX_LISTED_FILES] or ["There is no file to read."]
        n_more = len(result.notes) - MAX_LISTED_FILES
        if n_more > 0:
            reasons.append(f"And {n_more:,} more.")
        raise BadInput(" ".join(reasons))
    result.notes += _note_equal_texts(result.documents)
    return result


def _documents(
    name: str,
    source: FileSource,
    options: ReadingOptions,
    separate: SeparateReader,
    watch: Watch,
    note: Note,
) -> list[Document]:
    """Read the documents of one file by the reader of its suffix.

    `note` receives a sentence for each thing left out or guessed. Raises BadInput.
    """
    suffix = PurePosixPath(name_without_packing(name).lower()).suffix
    if suffix not in READABLE_KINDS:
        if suffix in OTHER_FORMATS:
            hint = f"save it as {OTHER_FORMATS[suffix]} first"
        else:
            hint = f"known are {', '.join(READABLE_SUFFIXES)} and .zip"
        raise BadInput(f"{name} is of a kind that cannot be read; {hint}.")
    if suffix in LIBRARY_READERS:
        documents, notes = separate.read(name, source, watch, options)
        for sentence in notes:
            note(sentence)
        return documents
    if suffix in COLUMNAR_SUFFIXES:
        with path_on_disk(source) as path:
            return read_columnar(name_without_packing(name), path, options.columns, watch, note)
    if suffix in TABLE_FILE_READERS:
        file = FolderFile(name, source)
        rows = as_utf8(file, watch.without_reports, note, options.encoding, MAX_FILE_BYTES)
        return TABLE_FILE_READERS[suffix](rows, options.columns, watch, note)
    data = read_bytes(source, MAX_TEXT_BYTES)
    return WHOLE_FILE_READERS[suffix](name_without_packing(name), data, watch, note, options)


def _collect_files(
    paths: Iterable[str | Path], result: ReadingResult
) -> dict[str, tuple[FileSource, str]]:
    """Return the files at some paths by name.

    Each comes with the folder or zip that holds it. Of several files with the same name, the first
    is taken. Paths without a file are noted.
    """
    files: dict[str, tuple[FileSource, str]] = {}
    for path in map(Path, paths):
        try:
            path_files = _files_at(path, result)
        except BadInput as error:
            result.notes.append(str(error))
            continue
        folder = path.name if path.is_dir() or path.suffix.lower() == ".zip" else ""
        for name, source in path_files.items():
            if files.setdefault(name, (source, folder))[0] is not source:
                result.notes.append(
                    f"Two of these files are called {name}; only the first is read. Add a "
                    "folder that holds both instead."
                )
    return files


def _files_at(path: Path, result: ReadingResult) -> Mapping[str, FileSource]:
    """Return the files at a path by name.

    These are the file itself, or the readable files of a folder or zip. Raises BadInput for a
    folder or zip without any readable file.
    """
    if path.is_dir():
        files: dict[str, FileSource] = {}
        for file in sorted(path.rglob("*")):
            if file.is_file() and not file.is_symlink():
                files[utf8_text(file.relative_to(path).as_posix())] = disk_file(file)
        return _readable_files(path.name, files, result)
    if path.suffix.lower() == ".zip":
        inside, notes = zip_members(path)
        result.notes += notes
        return _readable_files(path.name, inside, result)
    return {utf8_text(path.name): disk_file(path)}


def _readable_files(
    folder: str, files: Mapping[str, FileSource], result: ReadingResult
) -> Mapping[str, FileSource]:
    """Return the readable files of a folder or zip. The others are reported, except hidden ones."""
    readable: dict[str, FileSource] = {}
    others: list[str] = []
    for name, file in files.items():
        if any(part.startswith(HIDDEN_STARTS) for part in name.split("/")):
            continue
        if PurePosixPath(name_without_packing(name.lower())).suffix in READABLE_KINDS:
            readable[name] = file
        else:
            others.append(name)
    other_names = ", ".join(others[:MAX_LISTED_FILES])
    if len(others) > MAX_LISTED_FILES:
        other_names += " and others"
    if not readable:
        more = f"; it has {other_names}" if others else ""
        raise BadInput(
            f"{folder} holds no file that can be read ({', '.join(READABLE_SUFFIXES)}){more}."
        )
    if others:
        result.notes.append(
            f"{folder}: {len(others):,} file{'s' * (len(others) != 1)} of other kinds left "
            f"out: {other_names}."
        )
    return readable


def _note_equal_texts(documents: Sequence[Document]) -> list[str]:
    """Return a sentence on documents with equal texts.

    All of them are kept, as a question may name each by its id.
    """
    first_ids: dict[str, str] = {}
    pairs: list[tuple[str, str]] = []
    for document in documents:
        first_id = first_ids.setdefault(document.text, document.id)
        if first_id != document.id:
            pairs.append((document.id, first_id))
    if not pairs:
        return []
    more = f", and {len(pairs) - 1:,} more are such" if len(pairs) > 1 else ""
    return [f"{pairs[0][0]} holds the same text as {pairs[0][1]}{more}; remove what is not needed."]
