"""Files of a graph that a user imports: one or several files, a zip, or CRAG's folder."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.corpus.readers.file_sources import zip_members
from core.errors import BadInput, HopscopeError
from core.graph.readers.crag import crag_triples, is_crag
from core.graph.readers.triple_file import TripleFile, sort_graph_files
from core.io.files import size_text
from core.runtime.subprocess_worker import Worker, WorkerEndedError
from core.watch import NO_WATCH, Watch

ZIP_SUFFIX = ".zip"
# Limits of the process that reads CRAG's folder.
MAX_CRAG_MEMORY_BYTES = 1 << 33
MAX_CRAG_SECONDS = 1800.0


def open_graph_files(paths: Sequence[Path], folder: Path, **options: Any) -> TripleFile:
    """Open some files as one graph, and return its reader.

    Parameters
    ----------
    paths : files, zips of files, or CRAG's folder “cragkg”.
    folder : a folder for temporary files. Zips are unpacked there, and CRAG's folder is written
        there as lines of triples.
    options : settings of `core.graph.readers.triple_file.sort_graph_files`, which tells files of
        nodes from files of edges. Its `most`, in bytes, also limits the unpacked files of a zip.

    Raises
    ------
    BadInput : a zip is damaged or empty, or no file holds edges.
    """
    notes: list[str] = []
    files: list[Path] = []
    for path in paths:
        files += _inner_files(path, folder, options.get("most"), notes)
    file = sort_graph_files(files, **options)
    file.tally.notes += notes
    if len(files) > 1:
        names = [path.name for path in (file.path, *file.more)]
        file.tally.note(f"Edges are read from {', '.join(names)}.")
    return file


def _inner_files(path: Path, folder: Path, limit: int | None, notes: list[str]) -> list[Path]:
    """Return the files to read for a file, zip or folder.

    Notes on them are added to `notes`. `limit` is the most bytes that a zip may unpack to, None for
    no limit.
    """
    if path.suffix.lower() == ZIP_SUFFIX:
        return _unpack(path, folder, limit, notes)
    if not is_crag(path):
        return [path]
    file = folder / f"{path.name}.tsv"
    notes += _convert_crag(path, file)
    return [file]


def _convert_crag(path: Path, file: Path) -> list[str]:
    """Write CRAG's folder as lines of triples, and return notes.

    This runs in a separate process, as the folder's pickled files and databases are untrusted.
    """
    try:
        with Worker(MAX_CRAG_MEMORY_BYTES) as worker:
            work = (path.absolute(), file.absolute())
            return worker.run(_write_crag, *work, watch=NO_WATCH, seconds=MAX_CRAG_SECONDS)
    except WorkerEndedError as error:
        raise BadInput(f"Reading {path} ends before its end. {error}") from None
    except HopscopeError as error:
        raise BadInput(str(error)) from None


def _write_crag(path: Path, file: Path, watch: Watch = NO_WATCH) -> list[str]:
    """Write CRAG's triples, one tab-separated line each, and return notes.

    The worker passes a watch to every function, which is not used here.
    """
    notes: list[str] = []
    with open(file, "w", encoding="utf-8", errors="replace") as out:
        out.writelines("\t".join(triple) + "\n" for triple in crag_triples(path, notes))
    return notes


def _unpack(path: Path, folder: Path, limit: int | None, notes: list[str]) -> list[Path]:
    """Unpack a zip into the folder, and return its files.

    Each file keeps the last part of its name, in a folder of its own, as several folders of the
    zip may have files of one name. Hidden files are left out.
    """
    members, zip_notes = zip_members(path)
    notes += zip_notes
    visible_members = [
        (name, member)
        for name, member in members.items()
        if not any(part.startswith((".", "__")) for part in name.split("/"))
    ]
    if not visible_members:
        raise BadInput(f"{path.name} holds no files.")
    if limit is not None and sum(member.size for _, member in visible_members) > limit:
        raise BadInput(
            f"{path.name} would unpack to more than {size_text(limit)}, so it is not read."
        )
    unpacked_files: list[Path] = []
    for number, (name, member) in enumerate(visible_members):
        target = folder / f"{path.stem}-{number}" / name.rsplit("/", 1)[-1]
        target.parent.mkdir(parents=True, exist_ok=True)
        with member.open() as source, open(target, "wb") as out:
            shutil.copyfileobj(source, out)
        unpacked_files.append(target)
    return unpacked_files
