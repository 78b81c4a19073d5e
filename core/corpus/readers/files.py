"""Read files, folders and zips as documents.

A file that cannot be read is reported; the others are read all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from core.corpus.document import Document, Origin, sound
from core.corpus.readers.markdown import markdown
from core.corpus.readers.options import Columns, Note, Options
from core.corpus.readers.packed import (
    MAX_FILE_BYTES,
    Within,
    bare,
    bytes_of,
    file_at,
    on_disk,
    zipped,
)
from core.corpus.readers.separate import LIBRARIES, SeparateReader
from core.corpus.readers.table import columnar, json_lines, table
from core.corpus.readers.text import plain
from core.errors import BadInput, shorten
from core.io.encoding import known_encoding
from core.io.files import Source
from core.io.recoded import as_utf8
from core.runtime.row_files import COLUMNAR
from core.watch import NO_WATCH, Watch

SUFFIXES = tuple(
    f".{kind}"
    for kind in "txt md html pdf docx xlsx pptx epub eml ipynb csv tsv jsonl json parquet".split()
)
MOST_TEXT = 1 << 27  # bytes of a text that becomes one document
WHOLE: Mapping[str, Callable[[str, bytes, Watch, Note, Options], list[Document]]] = {
    **dict.fromkeys((".txt", ".text", ".rst", ".tex", ".log"), plain),
    **dict.fromkeys((".md", ".markdown"), markdown),
}
ROWS: Mapping[str, Callable[[Source, Columns, Watch, Note], list[Document]]] = {
    **dict.fromkeys((".csv", ".tsv"), table),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), json_lines),
}
KINDS = {*WHOLE, *ROWS, *LIBRARIES, *COLUMNAR}
OTHERS = {  # formats of other programs, and the format to save them in
    **dict.fromkeys((".doc", ".odt", ".rtf", ".pages"), "docx"),
    **dict.fromkeys((".xls", ".ods", ".numbers"), "xlsx"),
    **dict.fromkeys((".ppt", ".odp", ".key"), "pptx"),
    ".mobi": "epub",
    ".msg": "eml",
}
HIDDEN = (".", "__MACOSX", "~$", "Thumbs.db", "desktop.ini")
NAMED = 5  # files or sentences that one message lists


@dataclass
class Read:
    """The result of reading files.

    Parameters
    ----------
    documents : in the order of the files.
    notes : a sentence for each thing that was left out, guessed or is odd.
    origins : origins of the files that were read, by name. The name is the `source` of the file's
        documents.
    failed : names of the files that could not be read.
    """

    documents: list[Document] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    origins: dict[str, Origin] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)


def read_files(
    paths: Iterable[str | Path],
    columns: Columns | None = None,
    watch: Watch = NO_WATCH,
    encoding: str = "",
) -> Read:
    """Read the documents of files, of folders with all their subfolders, and of zips.

    The id of a document is the name of its file, within its folder or zip if it has one. Rows of
    tables add their own id: `reports/may.pdf`, `mails.csv:17`.

    Parameters
    ----------
    columns : the columns of tables, as `readers.table.columns_of` returns them.
    watch : called often, also within long files; an error that it raises ends the reading.
    encoding : the encoding of texts that are not UTF-8.

    Raises
    ------
    BadInput
        If no document was found, with the reasons.
    """
    read, options = Read(), Options(columns or {}, known_encoding(encoding))
    files = _listed(paths, read)
    with SeparateReader() as separate:
        for number, (name, (source, folder)) in enumerate(files.items()):
            part = watch.part(
                number / len(files), (number + 1) / len(files), f"Reading {shorten(name, 40)}"
            )
            part.step(0.0)
            notes: list[str] = []
            try:
                read.documents += _documents(name, source, options, separate, part, notes.append)
                read.origins[bare(name)] = Origin(folder, tuple(notes))
                read.notes += notes
            except BadInput as error:
                read.notes.append(str(error))
                read.failed.add(bare(name))
    if not read.documents:
        more = len(read.notes) - NAMED
        raise BadInput(
            " ".join(read.notes[:NAMED]) + (f" And {more:,} more." if more > 0 else "")
            or "There is no file to read."
        )
    read.notes += _same(read.documents)
    return read


def _documents(
    name: str, source: Source, options: Options, separate: SeparateReader, watch: Watch, note: Note
) -> list[Document]:
    """Return the documents of one file, by the suffix of its name. Raises BadInput."""
    suffix = PurePosixPath(bare(name).lower()).suffix
    if suffix not in KINDS:
        if suffix in OTHERS:
            hint = f"save it as {OTHERS[suffix]} first"
        else:
            hint = f"known are {', '.join(SUFFIXES)} and .zip"
        raise BadInput(f"{name} is of a kind that cannot be read; {hint}.")
    if suffix in LIBRARIES:
        documents, notes = separate.read(name, source, watch, options)
        for sentence in notes:
            note(sentence)
        return documents
    if suffix in COLUMNAR:
        with on_disk(source) as path:
            return columnar(bare(name), path, options.columns, watch, note)
    if suffix in ROWS:
        rows = as_utf8(
            Within(name, source),
            watch.quiet,
            note,
            options.encoding,
            MAX_FILE_BYTES,
        )
        return ROWS[suffix](rows, options.columns, watch, note)
    return WHOLE[suffix](bare(name), bytes_of(source, MOST_TEXT), watch, note, options)


def _listed(paths: Iterable[str | Path], read: Read) -> dict[str, tuple[Source, str]]:
    """Return the files at some paths by name, each with the folder or zip that holds it.

    Of several files of one name, the first is taken.
    """
    files: dict[str, tuple[Source, str]] = {}
    for path in map(Path, paths):
        try:
            found = _files(path, read)
        except BadInput as error:
            read.notes.append(str(error))
            continue
        folder = path.name if path.is_dir() or path.suffix.lower() == ".zip" else ""
        for name, source in found.items():
            if files.setdefault(name, (source, folder))[0] is not source:
                read.notes.append(
                    f"Two of these files are called {name}; only the first is read. Add a "
                    "folder that holds both instead."
                )
    return files


def _files(path: Path, read: Read) -> Mapping[str, Source]:
    """Return the files at a path by name.

    Raises BadInput for a folder or zip without any readable file.
    """
    if path.is_dir():
        inner = [
            file for file in sorted(path.rglob("*")) if file.is_file() and not file.is_symlink()
        ]
        return _readable(
            path.name,
            {sound(file.relative_to(path).as_posix()): file_at(file) for file in inner},
            read,
        )
    if path.suffix.lower() == ".zip":
        inside, notes = zipped(path)
        read.notes += notes
        return _readable(path.name, inside, read)
    return {sound(path.name): file_at(path)}


def _readable(folder: str, files: Mapping[str, Source], read: Read) -> Mapping[str, Source]:
    """Return the readable files of a folder or zip. The others are reported, except hidden ones."""
    shown = [name for name in files if not any(part.startswith(HIDDEN) for part in name.split("/"))]
    fit = [name for name in shown if PurePosixPath(bare(name.lower())).suffix in KINDS]
    others = [name for name in shown if name not in set(fit)]
    named = ", ".join(others[:NAMED]) + (" and others" if len(others) > NAMED else "")
    if not fit:
        raise BadInput(
            f"{folder} holds no file that can be read "
            f"({', '.join(SUFFIXES)}){f'; it has {named}' if others else ''}."
        )
    if others:
        read.notes.append(
            f"{folder}: {len(others):,} file{'s' * (len(others) != 1)} of other kinds left "
            f"out: {named}."
        )
    return {name: files[name] for name in fit}


def _same(documents: Sequence[Document]) -> list[str]:
    """Return a sentence on documents with equal texts.

    They are kept, as each may be asked for by its id.
    """
    first: dict[str, str] = {}
    same = [
        (one.id, first[one.text])
        for one in documents
        if first.setdefault(one.text, one.id) != one.id
    ]
    if not same:
        return []
    more = f", and {len(same) - 1:,} more are such" if len(same) > 1 else ""
    return [f"{same[0][0]} holds the same text as {same[0][1]}{more}; remove what is not needed."]
