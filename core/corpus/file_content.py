"""Reading of files to import into a corpus: their documents, question sets and links.

A file in a published format, such as BEIR or HotpotQA, is recognised and read in that format. All
other files are read by `core.corpus.readers`.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path

from core.corpus.beir import unpack_beir
from core.corpus.document import Document
from core.corpus.links import DocumentLink, read_folder_links
from core.corpus.published_corpora import (
    BEIR_FORM,
    FORM_READERS,
    FORM_TITLES,
    QUESTION_FORMS,
    published_form,
    read_published,
    without_trivial_gold,
)
from core.corpus.readers import ReadingResult, read_files
from core.corpus.readers.options import Columns
from core.corpus.titled_documents import TitledDocuments
from core.errors import BadInput, shorten, suggest_name
from core.io.temporary_folders import temporary_folder
from core.questions import GOLD_KEYS, QuestionFile, read_question_file
from core.watch import NO_WATCH, Watch

FILES_FORM = "files"
UNFIT_CHARACTERS = re.compile(r"[^a-z0-9]+")  # not allowed in the names of question sets


@dataclass
class FileContent:
    """The content of files: documents, question sets by name, links, and notes.

    The notes are sentences on what was recognised and left out.
    """

    documents: list[Document] = field(default_factory=list)
    sets: dict[str, QuestionFile] = field(default_factory=dict)
    links: list[DocumentLink] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    # the result for the files in no published format
    plain_files: ReadingResult = field(default_factory=ReadingResult)

    def add_plain_files(self, plain_files: ReadingResult) -> None:
        """Add the documents and notes of the files in no published format."""
        self.plain_files = plain_files
        self.documents += plain_files.documents
        self.notes += plain_files.notes


@dataclass(frozen=True)
class _PublishedFile:
    """A file in a published format."""

    file: Path
    path: Path  # the folder to which it was unpacked, else the file itself
    form: str

    @property
    def note(self) -> str:
        return f"{self.file.name} holds {FORM_TITLES[self.form]} (format “{self.form}”)."


def read_content(
    name: str,
    files: Sequence[str | Path],
    columns: Columns | None,
    format: str,
    questions: str | Path,
    watch: Watch = NO_WATCH,
    encoding: str = "",
) -> FileContent:
    """Return the content of files for a corpus.

    Parameters
    ----------
    name : name of the corpus.
    files : files, folders or zips.
    columns : the columns of a table by role; None for those with usual names.
    format : one of `FORM_READERS`, or `FILES_FORM` to recognise the format of each file.
    questions : a file of questions for the set of the corpus's name; empty for none.
    watch : receives the progress and may raise RunCancelled.
    encoding : encoding of texts that are not UTF-8; empty to detect it.

    Returns
    -------
    Documents, question sets, links, and notes on them.

    Raises
    ------
    BadInput : a file is missing or cannot be read, or there is no such format.
    """
    _check_format(format, len(files))
    content = FileContent()
    plain_paths = list[Path]()
    folder = temporary_folder()
    builder = TitledDocuments()
    try:
        for file in map(Path, files):
            published = _published_file(file, folder, columns, format)
            if published is None:
                plain_paths.append(file)
                continue
            if format == FILES_FORM:
                content.notes.append(published.note)
            wanted_sets = _chosen_sets(name, published, questions, content.sets)
            part = watch.part(text=f"Reading {shorten(file.name, 40)}")
            documents, sets = read_published(
                published.form, published.path, wanted_sets, part, builder
            )
            content.documents += documents
            content.sets |= _rename_sets(sets, wanted_sets, name, content.sets)
            _add_links(content, published, has_judgements=bool(sets))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if plain_paths or not files:  # without files, `read_files` raises the error
        content.add_plain_files(read_files(plain_paths, columns, watch, encoding))
    if not questions:  # a person's own questions keep their gold
        content.sets = without_trivial_gold(content.sets, content.documents, builder)
    if questions and name not in content.sets:
        content.sets[name] = read_question_file(questions, name, gold=GOLD_KEYS)
        content.sets[name].check_known()
    return content


def _check_format(format: str, n_files: int) -> None:
    """Check that there is such a format.

    If it is a published format, there must be one file.
    """
    if format == FILES_FORM:
        return
    if format not in FORM_READERS:
        raise BadInput(
            f"There is no format “{shorten(format)}” of "
            f"documents.{suggest_name(format, [FILES_FORM, *FORM_READERS])}"
        )
    if n_files != 1:
        raise BadInput(f"Give one file or folder in the format “{format}”, not {n_files}.")


def _published_file(
    file: Path, folder: Path, columns: Columns | None, format: str
) -> _PublishedFile | None:
    """Return a file with its published format; None if it has none.

    The BEIR folder of a zip is unpacked into `folder`. Raises BadInput if a `format` is chosen and
    the file is missing.
    """
    if format != FILES_FORM and not file.exists():
        raise BadInput(f"There is no file {file}.")
    path = _unpack_folder(file, folder) or file
    form = published_form(path, columns) if format == FILES_FORM else format
    return _PublishedFile(file, path, form) if form else None


def _add_links(content: FileContent, published: _PublishedFile, has_judgements: bool) -> None:
    """Add the links of a BEIR folder.

    A note is added if it has no judgements.
    """
    if published.form != BEIR_FORM:
        return
    content.links += read_folder_links(published.path)
    if not has_judgements:
        content.notes.append(
            f"{published.file.name} holds no judgements (qrels/NAME.tsv), so its queries "
            "are left out."
        )


def _unpack_folder(file: Path, folder: Path) -> Path | None:
    """Unpack the BEIR folder of a zip and return it.

    The result is None for any other file.
    """
    if file.suffix.lower() != ".zip" or not file.is_file():
        return None
    try:
        return unpack_beir(file, folder)
    except BadInput:
        return None  # the reader of the zip reports the fault


def _rename_sets(
    sets: Mapping[str, QuestionFile],
    wanted_sets: Mapping[str, Path | None],
    name: str,
    existing: Mapping[str, QuestionFile],
) -> dict[str, QuestionFile]:
    """Put the corpus's name before the names of sets other than wanted ones."""
    return {
        key if key in wanted_sets else _unused_name(f"{name}-{key}", existing): questions
        for key, questions in sets.items()
    }


def _unused_name(name: str, existing: Container[str]) -> str:
    """Return a name that no existing set has.

    A number is added after the name if there is such a set already.
    """
    numbered = (f"{name}-{number}" for number in count(2))
    return next(each for each in chain([name], numbered) if each not in existing)


def _chosen_sets(
    name: str,
    published: _PublishedFile,
    questions: str | Path,
    existing: Mapping[str, QuestionFile],
) -> dict[str, Path | None]:
    """Return the names of the sets to read from a published file.

    Each has its file of questions, or None if the published file holds them. The first set has the
    corpus's name; that of a further file has the file's name after it, and a number if another
    file has the same name.
    """
    if questions:
        return {} if name in existing else {name: Path(questions)}
    if published.form not in QUESTION_FORMS:
        return {}
    if name not in existing:
        return {name: None}
    stem = published.path.name.split(".")[0].casefold()
    set_name = f"{name}-{UNFIT_CHARACTERS.sub('-', stem).strip('-')}"
    return {_unused_name(set_name, existing): None}
