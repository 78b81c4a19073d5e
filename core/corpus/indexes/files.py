"""The files of an index: those of a folder or a zip by their paths within it, read whole as JSON or as rows of Parquet."""

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

MOST_FILES, DEEPEST = 20_000, 4  # files and folders that are looked at, and folders within folders
MOST_BYTES, MOST_ROWS = 1 << 30, 5_000_000  # of one file, once it is unpacked
BATCH_ROWS = 64  # of a table that are unpacked at once, as they may share a long text
Row = Mapping[str, Any]


def files_of(path: Path) -> tuple[dict[str, Source], list[str]]:
    """The files of a folder, of a zip, or one file, by their paths within it, and a sentence for each thing that is passed over: links
    and what lies outside. Raises BadInput where there is nothing, or a folder holds too many files."""
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
                f"{folder} holds more than {MOST_FILES:,} files and folders; give the folder of the index itself."
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
    """What a JSON file holds. Raises BadInput where it is none, or too large."""
    try:
        return json.loads(bytes_of(file))
    except UnicodeDecodeError as error:
        raise BadInput(f"{file.name} is not UTF-8 text (byte {error.start + 1}).") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{file.name} is not JSON ({shorten(error, 120)}).") from None


def keyed(file: Source) -> dict[str, Row]:
    """The objects of a JSON file that holds one for each key. Raises BadInput where it holds something else."""
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
    """The rows of a Parquet file: the columns that are `needed`, and of `more` those that it has. Raises BadInput naming the columns that
    it lacks, and where it is damaged or too large."""
    with _parquet(file) as table:
        there = table.schema_arrow.names
        lacking = [name for name in needed if name not in there]
        if lacking:
            raise BadInput(
                f"{file.name} lacks the column{'s' * (len(lacking) > 1)} {', '.join(lacking)}; it has {', '.join(there[:20])}."
            )
        found: list[Row] = []
        taken = 0
        columns = [*needed, *(name for name in more if name in there)]
        for batch in table.iter_batches(BATCH_ROWS, columns=columns):
            batch.validate(full=True)
            taken += batch.nbytes
            if len(found) + batch.num_rows > MOST_ROWS or taken > MOST_BYTES:
                raise BadInput(
                    f"{file.name} holds more than {MOST_ROWS:,} rows or {size_text(MOST_BYTES)}; that is more than can be read here."
                )
            found += batch.to_pylist()
        return found


def columns_of(file: Source) -> list[str]:
    """The names of a Parquet file's columns. Raises BadInput where it is damaged."""
    with _parquet(file) as table:
        return table.schema_arrow.names


@contextmanager
def _parquet(file: Source) -> Iterator[Any]:
    """A Parquet file. Raises BadInput where it is damaged, also while it is read."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        yield pyarrow.parquet.ParquetFile(pa.BufferReader(bytes_of(file)))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadInput(
            f"{file.name} is damaged or no Parquet file ({shorten(error, 120)})."
        ) from None


def check_weight(file: str, columns: Iterable[Iterable[Any]]) -> None:
    """Raise BadInput where texts and lists are too long in all, each counted wherever it is shared."""
    weight = sum(
        len(value)
        for column in columns
        for value in column
        if isinstance(value, (str, bytes, list, tuple))
    )
    if weight > MOST_BYTES:
        raise BadInput(
            f"{file} holds more than {size_text(MOST_BYTES)} of text; that is more than can be read here."
        )


def text(value: Any) -> str:
    """A value as text; empty for what is none, such as a list, or a number that is no number."""
    if isinstance(value, bool) or value is None or value != value:
        return ""
    return sound(str(value)) if isinstance(value, (str, int, float)) else ""


def texts(value: Any) -> tuple[str, ...]:
    """The texts of a list, those that are empty left out; of anything else none."""
    return tuple(filter(None, map(text, value))) if isinstance(value, (list, tuple)) else ()


def number(value: Any, otherwise: float = 0.0) -> float:
    """A value as a finite number, else another."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return otherwise
    return found if abs(found) < 1e30 else otherwise  # NaN as well


def _kind(value: Any) -> str:
    return {dict: "an object", list: "a list", str: "a text", type(None): "null"}.get(
        type(value), "a number"
    )
