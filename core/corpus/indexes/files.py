"""Files of a tool's index: listing them in a folder or zip, and reading JSON and Parquet.

An index may be damaged or malicious, so that every size has a bound.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.corpus.document import utf8_text
from core.corpus.readers.file_sources import read_bytes, zip_members
from core.errors import BadInput, shorten
from core.io.files import DiskFile, FileSource, size_text

MAX_INDEX_FILES = 20_000  # files and folders that are visited
MAX_INDEX_FOLDER_DEPTH = 4
MAX_INDEX_FILE_BYTES = 1 << 30  # of one file after unpacking
MAX_INDEX_FILE_ROWS = 5_000_000
PARQUET_BATCH_ROWS = 64  # rows unpacked at once; they may share a long text that is stored once
Row = Mapping[str, Any]


def files_at_path(path: Path) -> tuple[dict[str, FileSource], list[str]]:
    """Return the files of a folder, zip or single path.

    They are given by their paths within it. Also returns a sentence for each thing that is left
    out: symbolic links, and paths in a zip that lead out of it. Raises BadInput if there is no such
    file or folder, or it holds too many files.
    """
    if path.is_dir():
        return _files_in_folder(path)
    if not path.is_file():
        raise BadInput(f"There is no folder or file {path}.")
    return zip_members(path) if path.suffix.lower() == ".zip" else ({path.name: DiskFile(path)}, [])


def _files_in_folder(folder: Path) -> tuple[dict[str, FileSource], list[str]]:
    """Return the files of a folder by relative path, and notes on links."""
    index_files: dict[str, FileSource] = {}
    links: list[str] = []
    n_seen = 0
    for directory, folders, names in os.walk(folder):
        n_seen += len(folders) + len(names)
        if n_seen > MAX_INDEX_FILES:
            raise BadInput(
                f"{folder} holds more than {MAX_INDEX_FILES:,} files and folders; give the folder "
                "of the index itself."
            )
        inner = Path(directory).relative_to(folder)
        linked = {name for name in (*folders, *names) if (Path(directory) / name).is_symlink()}
        links += [(inner / name).as_posix() for name in sorted(linked)]
        # `os.walk` visits the folders that remain in the list.
        folders[:] = sorted(set(folders) - linked)
        if len(inner.parts) >= MAX_INDEX_FOLDER_DEPTH:
            folders.clear()
        for name in sorted(set(names) - linked):
            if (Path(directory) / name).is_file():
                index_files[(inner / name).as_posix()] = DiskFile(Path(directory) / name)
    if not links:
        return index_files, []
    return index_files, [f"Left out, links: {len(links):,}, such as {shorten(links[0])}."]


def read_index_json(file: FileSource) -> Any:
    """Return the content of a JSON file. Raises BadInput if it is no JSON, or too large."""
    try:
        return json.loads(read_bytes(file))
    except UnicodeDecodeError as error:
        raise BadInput(f"{file.name} is not UTF-8 text (byte {error.start + 1}).") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{file.name} is not JSON ({shorten(error, 120)}).") from None


def read_keyed_json(file: FileSource) -> dict[str, Row]:
    """Return the objects of a JSON file by their keys.

    Raises BadInput if the file does not hold one object of objects.
    """
    content = read_index_json(file)
    if not isinstance(content, dict):
        raise BadInput(
            f"{file.name} holds {_kind(content)}; expected an object with an entry for each key."
        )
    bad_key = next((key for key, value in content.items() if not isinstance(value, dict)), None)
    if bad_key is not None:
        raise BadInput(
            f"{file.name}: the entry “{shorten(bad_key)}” is {_kind(content[bad_key])}; expected "
            "an object."
        )
    return content


def read_parquet_rows(
    file: FileSource, required: Sequence[str], optional: Iterable[str] = ()
) -> list[Row]:
    """Return the rows of a Parquet file.

    Parameters
    ----------
    required : names of the columns to read.
    optional : names of further columns, which are read if they exist.

    Returns
    -------
    Values by column for each row.

    Raises
    ------
    BadInput
        If required columns are missing, or the file is damaged or too large.
    """
    with _parquet(file) as table:
        column_names = table.schema_arrow.names
        lacking = [name for name in required if name not in column_names]
        if lacking:
            raise BadInput(
                f"{file.name} lacks the column{'s' * (len(lacking) > 1)} "
                f"{', '.join(lacking)}; it has {', '.join(column_names[:20])}."
            )
        rows: list[Row] = []
        size = 0
        columns = [*required, *(name for name in optional if name in column_names)]
        for batch in table.iter_batches(PARQUET_BATCH_ROWS, columns=columns):
            batch.validate(full=True)
            size += batch.nbytes
            if len(rows) + batch.num_rows > MAX_INDEX_FILE_ROWS or size > MAX_INDEX_FILE_BYTES:
                raise BadInput(
                    f"{file.name} holds more than {MAX_INDEX_FILE_ROWS:,} rows or "
                    f"{size_text(MAX_INDEX_FILE_BYTES)}; that is more than can be read here."
                )
            rows += batch.to_pylist()
        return rows


def parquet_columns(file: FileSource) -> list[str]:
    """Return the names of a Parquet file's columns. Raises BadInput if it is damaged."""
    with _parquet(file) as table:
        return table.schema_arrow.names


@contextmanager
def _parquet(file: FileSource) -> Iterator[Any]:
    """Open a Parquet file. Raises BadInput if it is damaged, also while it is read."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        yield pyarrow.parquet.ParquetFile(pa.BufferReader(read_bytes(file)))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadInput(
            f"{file.name} is damaged or no Parquet file ({shorten(error, 120)})."
        ) from None


def check_weight(file: str, columns: Iterable[Iterable[Any]]) -> None:
    """Check that texts and lists are not too long in total.

    A value that is used several times counts each time, as a small pickle may expand to very much.

    Parameters
    ----------
    file : name of the file.
    columns : values of each column.

    Raises
    ------
    BadInput : they have more than `MAX_INDEX_FILE_BYTES` characters, bytes and items together.
    """
    total = 0
    for column in columns:
        total += sum(
            len(value) for value in column if isinstance(value, str | bytes | list | tuple)
        )
    if total > MAX_INDEX_FILE_BYTES:
        raise BadInput(
            f"{file} holds more than {size_text(MAX_INDEX_FILE_BYTES)} of text; that is more than can "
            "be read here."
        )


def text_value(value: Any) -> str:
    """Return a text or number as text; empty for NaN and other values."""
    if isinstance(value, bool) or value is None or value != value:  # only NaN differs from itself
        return ""
    return utf8_text(str(value)) if isinstance(value, (str, int, float)) else ""


def text_values(value: Any) -> tuple[str, ...]:
    """Return the texts of a list without empty ones; empty for any other value."""
    return tuple(filter(None, map(text_value, value))) if isinstance(value, (list, tuple)) else ()


def number_value(value: Any, otherwise: float = 0.0) -> float:
    """Return a value as a finite number.

    Parameters
    ----------
    value : anything.
    otherwise : returned for a value that is no number, or has 30 digits or more.

    Returns
    -------
    A number.
    """
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return otherwise
    return number if abs(number) < 1e30 else otherwise  # NaN fails this comparison too


def _kind(value: Any) -> str:
    """Return words for the type of a JSON value."""
    kinds = {dict: "an object", list: "a list", str: "a text", type(None): "null"}
    return kinds.get(type(value), "a number")
