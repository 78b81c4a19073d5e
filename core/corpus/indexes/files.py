"""Files of an index, in a folder or zip, read whole as JSON or as rows of Parquet."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.corpus.document import sound
from core.corpus.readers.packed import bytes_of, zipped
from core.errors import BadInput, shorten
from core.io.files import OnDisk, Source, size_text

MOST_FILES, DEEPEST = 20_000, 4  # files and folders that are visited, and depth of nested folders
MOST_BYTES, MOST_ROWS = 1 << 30, 5_000_000  # bytes and rows of one file after unpacking
BATCH_ROWS = 64  # rows unpacked at once; they may share a long text that is stored once
Row = Mapping[str, Any]


def files_of(path: Path) -> tuple[dict[str, Source], list[str]]:
    """Return the files of a folder, zip or single path, by their paths within it.

    Also returns a sentence for each thing that is left out: links, and paths outside. Raises
    BadInput if nothing is there, or a folder holds too many files.
    """
    if path.is_dir():
        return _in_folder(path)
    if not path.is_file():
        raise BadInput(f"There is no folder or file {path}.")
    return zipped(path) if path.suffix.lower() == ".zip" else ({path.name: OnDisk(path)}, [])


def _in_folder(folder: Path) -> tuple[dict[str, Source], list[str]]:
    found: dict[str, Source] = {}
    links: list[str] = []
    seen = 0
    for at, folders, names in os.walk(folder):
        seen += len(folders) + len(names)
        if seen > MOST_FILES:
            raise BadInput(
                f"{folder} holds more than {MOST_FILES:,} files and folders; give the folder "
                "of the index itself."
            )
        inner = Path(at).relative_to(folder)
        linked = {name for name in (*folders, *names) if (Path(at) / name).is_symlink()}
        links += [(inner / name).as_posix() for name in sorted(linked)]
        folders[:] = (
            sorted(name for name in folders if name not in linked)
            if len(inner.parts) < DEEPEST
            else []
        )
        for name in sorted(set(names) - linked):
            if (Path(at) / name).is_file():
                found[(inner / name).as_posix()] = OnDisk(Path(at) / name)
    return found, [
        f"Left out, links: {len(links):,}, such as {shorten(links[0])}."
    ] if links else []


def json_of(file: Source) -> Any:
    """Return the content of a JSON file. Raises BadInput if it is no JSON, or too large."""
    try:
        return json.loads(bytes_of(file))
    except UnicodeDecodeError as error:
        raise BadInput(f"{file.name} is not UTF-8 text (byte {error.start + 1}).") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{file.name} is not JSON ({shorten(error, 120)}).") from None


def keyed(file: Source) -> dict[str, Row]:
    """Return the objects of a JSON file by their keys.

    Raises BadInput if the file does not hold one object of objects.
    """
    found = json_of(file)
    if not isinstance(found, dict):
        raise BadInput(
            f"{file.name} holds {_kind(found)}; expected an object with an entry for each key."
        )
    bad = next((key for key, value in found.items() if not isinstance(value, dict)), None)
    if bad is not None:
        raise BadInput(
            f"{file.name}: the entry “{shorten(bad)}” is {_kind(found[bad])}; expected an object."
        )
    return found


def rows_of(file: Source, needed: Sequence[str], more: Iterable[str] = ()) -> list[Row]:
    """Return the rows of a Parquet file.

    Parameters
    ----------
    needed : names of the columns to read.
    more : names of further columns, which are read if they exist.

    Raises
    ------
    BadInput
        If needed columns are missing, or the file is damaged or too large.
    """
    with _parquet(file) as table:
        there = table.schema_arrow.names
        lacking = [name for name in needed if name not in there]
        if lacking:
            raise BadInput(
                f"{file.name} lacks the column{'s' * (len(lacking) > 1)} "
                f"{', '.join(lacking)}; it has {', '.join(there[:20])}."
            )
        found: list[Row] = []
        taken = 0
        columns = [*needed, *(name for name in more if name in there)]
        for batch in table.iter_batches(BATCH_ROWS, columns=columns):
            batch.validate(full=True)
            taken += batch.nbytes
            if len(found) + batch.num_rows > MOST_ROWS or taken > MOST_BYTES:
                raise BadInput(
                    f"{file.name} holds more than {MOST_ROWS:,} rows or "
                    f"{size_text(MOST_BYTES)}; that is more than can be read here."
                )
            found += batch.to_pylist()
        return found


def columns_of(file: Source) -> list[str]:
    """Return the names of a Parquet file's columns. Raises BadInput if it is damaged."""
    with _parquet(file) as table:
        return table.schema_arrow.names


@contextmanager
def _parquet(file: Source) -> Iterator[Any]:
    """Open a Parquet file. Raises BadInput if it is damaged, also while it is read."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        yield pyarrow.parquet.ParquetFile(pa.BufferReader(bytes_of(file)))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadInput(
            f"{file.name} is damaged or no Parquet file ({shorten(error, 120)})."
        ) from None


def check_weight(file: str, columns: Iterable[Iterable[Any]]) -> None:
    """Raise BadInput if texts and lists are too long in total.

    A shared value counts each time it is used.
    """
    weight = sum(
        len(value)
        for column in columns
        for value in column
        if isinstance(value, (str, bytes, list, tuple))
    )
    if weight > MOST_BYTES:
        raise BadInput(
            f"{file} holds more than {size_text(MOST_BYTES)} of text; that is more than can "
            "be read here."
        )


def text(value: Any) -> str:
    """Return a value as text; empty for lists, NaN and other values that are no text."""
    if isinstance(value, bool) or value is None or value != value:
        return ""
    return sound(str(value)) if isinstance(value, (str, int, float)) else ""


def texts(value: Any) -> tuple[str, ...]:
    """Return the texts of a list without empty ones; empty for any other value."""
    return tuple(filter(None, map(text, value))) if isinstance(value, (list, tuple)) else ()


def number(value: Any, otherwise: float = 0.0) -> float:
    """Return a value as a finite number, or `otherwise` if it is none."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return otherwise
    return found if abs(found) < 1e30 else otherwise  # NaN fails this comparison too


def _kind(value: Any) -> str:
    return {dict: "an object", list: "a list", str: "a text", type(None): "null"}.get(
        type(value), "a number"
    )
