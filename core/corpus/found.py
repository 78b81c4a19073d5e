"""Documents, question sets and links of files that are imported into a corpus."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.corpus.beir import unpacked
from core.corpus.document import Document
from core.corpus.links import Link, links_beside
from core.corpus.published import BEIR, BRING_QUESTIONS, FORMATS, TITLES, form_of, read
from core.corpus.readers import Read, read_files
from core.corpus.readers.options import Columns
from core.corpus.titled import Titled
from core.errors import BadInput, nearest, shorten
from core.io.temporary import temporary_folder
from core.questions import GOLD, QuestionFile, read_file
from core.watch import NO_WATCH, Watch

FILES = "files"
UNFIT = re.compile(r"[^a-z0-9]+")  # characters that names of sets do not hold


@dataclass
class Found:
    """The content of files: documents, question sets by name, links, and notes.

    The notes are sentences on what was recognised and left out.
    """

    documents: list[Document] = field(default_factory=list)
    sets: dict[str, QuestionFile] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    plain: Read = field(default_factory=Read)  # the files in no published format


def found_in(
    name: str,
    files: Sequence[str | Path],
    columns: Columns | None,
    format: str,
    questions: str | Path,
    watch: Watch = NO_WATCH,
    encoding: str = "",
) -> Found:
    """Return the content of files, for a corpus of that name.

    The parameters are those of `core.corpus.bring`. Raises BadInput.
    """
    if format not in (FILES, *FORMATS):
        raise BadInput(
            f"There is no format “{shorten(format)}” of "
            f"documents.{nearest(format, [FILES, *FORMATS])}"
        )
    if format != FILES and len(files) != 1:
        raise BadInput(f"Give one file or folder in the format “{format}”, not {len(files)}.")
    found, others, folder, titled = Found(), list[Path](), temporary_folder(), Titled()
    try:
        for file in map(Path, files):
            if format != FILES and not file.exists():
                raise BadInput(f"There is no file {file}.")
            place = _folder_in(file, folder) or file
            form = form_of(place, columns) if format == FILES else format
            if not form:
                others.append(file)
                continue
            if format == FILES:
                found.notes.append(f"{file.name} holds {TITLES[form]} (format “{form}”).")
            wanted = _wanted(name, place, form, questions, found.sets)
            part = watch.part(text=f"Reading {shorten(file.name, 40)}")
            documents, sets = read(form, place, wanted, part, titled)
            found.documents += documents
            found.sets |= {
                set if set in wanted else f"{name}-{set}": asked for set, asked in sets.items()
            }
            if form == BEIR:
                found.links += links_beside(place)
                found.notes += (
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
    if others or not files:
        found.plain = read_files(others, columns, watch, encoding)
        found.documents += found.plain.documents
        found.notes += found.plain.notes
    if questions and name not in found.sets:
        found.sets[name] = read_file(questions, name, gold=GOLD)
        found.sets[name].check_known()
    return found


def _folder_in(file: Path, folder: Path) -> Path | None:
    """Unpack the BEIR folder of a zip and return it; None for any other file."""
    try:
        return unpacked(file, folder) if file.suffix.lower() == ".zip" and file.is_file() else None
    except BadInput:
        return None  # the reader of the zip reports the fault


def _wanted(
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
        own = f"{name}-{UNFIT.sub('-', file.name.split('.')[0].casefold()).strip('-')}"
    return {own: None} if form in BRING_QUESTIONS and not questions else {}
