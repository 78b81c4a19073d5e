"""Documents, question sets and links of files that are imported into a corpus."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
)
from core.corpus.readers import ReadingResult, read_files
from core.corpus.readers.options import Columns
from core.corpus.titled_documents import TitledDocuments
from core.errors import BadInput, nearest, shorten
from core.io.temporary_folders import temporary_folder
from core.questions import GOLD_KEYS, QuestionFile, read_question_file
from core.watch import NO_WATCH, Watch

FILES_FORM = "files"
UNFIT_CHARACTERS = re.compile(r"[^a-z0-9]+")  # characters that names of sets do not hold


@dataclass
class FileContent:
    """The content of files: documents, question sets by name, links, and notes.

    The notes are sentences on what was recognised and left out.
    """

    documents: list[Document] = field(default_factory=list)
    sets: dict[str, QuestionFile] = field(default_factory=dict)
    links: list[DocumentLink] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    plain: ReadingResult = field(default_factory=ReadingResult)  # the files in no published format


def read_content(
    name: str,
    files: Sequence[str | Path],
    columns: Columns | None,
    format: str,
    questions: str | Path,
    watch: Watch = NO_WATCH,
    encoding: str = "",
) -> FileContent:
    """Return the content of files, for a corpus of that name.

    Parameters
    ----------
    name : name of the corpus.
    files : files, folders or zips.
    columns : the columns of a table by role; None for those with usual names.
    format : one of the published formats, or that of plain files.
    questions : a file of questions; empty for none.
    watch : receives the progress and may raise Cancelled.
    encoding : encoding of text files; empty to detect it.

    Returns
    -------
    Documents, question sets, links, and notes on them.

    Raises
    ------
    BadInput : a file is missing or cannot be read, or there is no such format.
    """
    if format not in (FILES_FORM, *FORM_READERS):
        raise BadInput(
            f"There is no format “{shorten(format)}” of "
            f"documents.{nearest(format, [FILES_FORM, *FORM_READERS])}"
        )
    if format != FILES_FORM and len(files) != 1:
        raise BadInput(f"Give one file or folder in the format “{format}”, not {len(files)}.")
    content = FileContent()
    plain_files = list[Path]()
    folder = temporary_folder()
    titled = TitledDocuments()
    try:
        for file in map(Path, files):
            if format != FILES_FORM and not file.exists():
                raise BadInput(f"There is no file {file}.")
            path = _folder_in(file, folder) or file
            form = published_form(path, columns) if format == FILES_FORM else format
            if not form:
                plain_files.append(file)
                continue
            if format == FILES_FORM:
                content.notes.append(f"{file.name} holds {FORM_TITLES[form]} (format “{form}”).")
            wanted_sets = _chosen_sets(name, path, form, questions, content.sets)
            part = watch.part(text=f"Reading {shorten(file.name, 40)}")
            documents, sets = read_published(form, path, wanted_sets, part, titled)
            content.documents += documents
            content.sets |= {
                set if set in wanted_sets else f"{name}-{set}": asked for set, asked in sets.items()
            }
            if form == BEIR_FORM:
                content.links += read_folder_links(path)
                content.notes += (
                    []
                    if sets
                    else [
                        (
                            f"{file.name} holds no judgements (qrels/NAME.tsv), so its queries "
                            "are left out."
                        )
                    ]
                )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if plain_files or not files:
        content.plain = read_files(plain_files, columns, watch, encoding)
        content.documents += content.plain.documents
        content.notes += content.plain.notes
    if questions and name not in content.sets:
        content.sets[name] = read_question_file(questions, name, gold=GOLD_KEYS)
        content.sets[name].check_known()
    return content


def _folder_in(file: Path, folder: Path) -> Path | None:
    """Unpack the BEIR folder of a zip and return it; None for any other file."""
    try:
        return (
            unpack_beir(file, folder) if file.suffix.lower() == ".zip" and file.is_file() else None
        )
    except BadInput:
        return None  # the reader of the zip reports the fault


def _chosen_sets(
    name: str, file: Path, form: str, questions: str | Path, taken: Mapping[str, QuestionFile]
) -> dict[str, Path | None]:
    """Return the names of the sets to read from a published file.

    Each has its file of questions, or None if the published file holds them.
    """
    if questions and name not in taken:
        return {name: Path(questions)}
    if name not in taken:
        own = name
    else:
        own = f"{name}-{UNFIT_CHARACTERS.sub('-', file.name.split('.')[0].casefold()).strip('-')}"
    return {own: None} if form in QUESTION_FORMS and not questions else {}
