"""The files of an index: those of a folder or a zip by their paths within it, read whole as JSON or as rows of Parquet."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.corpus.document import sound
from core.corpus.readers.packed import bytes_of, zipped
from core.errors import BadInput, shorten
from core.io.files import OnDisk, Source, size_text

MOST_FILES, DEEPEST = 20_000, 4  # files and folders that are looked at, and folders within folders
MOST_BYTES, MOST_ROWS = 1 << 31, 5_000_000  # of one Parquet file, once it is unpacked
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
    import pyarrow as pa
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.ParquetFile(pa.BufferReader(bytes_of(file)))
        there = table.schema_arrow.names
        lacking = [name for name in needed if name not in there]
        if lacking:
            raise BadInput(
                f"{file.name} lacks the column{'s' * (len(lacking) > 1)} {', '.join(lacking)}; it has {', '.join(there[:20])}."
            )
        about = table.metadata
        size = sum(about.row_group(at).total_byte_size for at in range(about.num_row_groups))
        if about.num_rows > MOST_ROWS or size > MOST_BYTES:
            raise BadInput(
                f"{file.name} holds more than {MOST_ROWS:,} rows or {size_text(MOST_BYTES)}; that is more than can be read here."
            )
        return table.read([*needed, *(name for name in more if name in there)]).to_pylist()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadInput(
            f"{file.name} is damaged or no Parquet file ({shorten(error, 120)})."
        ) from None


def columns_of(file: Source) -> list[str]:
    """The names of a Parquet file's columns. Raises BadInput where it is damaged."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        return pyarrow.parquet.ParquetFile(pa.BufferReader(bytes_of(file))).schema_arrow.names
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadInput(
            f"{file.name} is damaged or no Parquet file ({shorten(error, 120)})."
        ) from None


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
