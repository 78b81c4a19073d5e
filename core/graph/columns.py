"""Tables that a graph carries in addition to its triples, stored as Arrow files.

A graph may have a table of its nodes, its edges, the chunks of the texts it was extracted from, and
its communities. `Columns` holds these tables, `Table` is one of them, and `IdLists` is a column of
id lists, such as the chunks that mention each node.
"""

from __future__ import annotations

import hashlib
import mmap
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from core.errors import StoreError, damage_error

# Number of a column's texts that are added to its digest at a time.
DIGEST_BATCH_TEXTS = 10_000
# Largest size in bytes of a new text column in memory; a larger one goes into a temporary file.
MAX_HELD_TEXT_BYTES = 64 << 20
# Memory maps of temporary text files, by the address of their first byte.
TEXT_MAPS: WeakValueDictionary[int, mmap.mmap] = WeakValueDictionary()
# Number of texts above which they are read in one call; below that, one by one is faster.
MAX_SINGLE_READS = 16
COLUMN_TYPES = {
    "type": "string",  # of a node
    "description": "string",  # of a node or an edge
    "keywords": "string",  # of an edge
    "weight": "float",  # of an edge: how often or how strongly the texts state it
    "chunks": "ids",  # of a node or an edge: rows of the chunks that mention it
    "level": "int",  # of a node in a tree, 0 for its leaves; of a community, 0 for the coarsest
    "id": "string",  # of a chunk: the same in every graph of a corpus
    "document": "string",  # of a chunk: the id of its document
    "title": "string",  # of a chunk or a community
    "place": "string",  # of a chunk: its position in the document, such as a page or a heading
    "text": "string",  # of a chunk
    "tokens": "int",  # of a chunk
    "parent": "int",  # of a community: row of its parent, or -1
    "members": "ids",  # of a community: ids of its nodes
    "report": "string",  # of a community, empty if it has none
    "rating": "float",  # of a community, as in its report
}
"""Names and types of the columns that tables may have."""


@dataclass(frozen=True, eq=False)
class IdLists:
    """A list of ids for each of n rows, in CSR form.

    Row `i` is `ids[indptr[i]:indptr[i + 1]]`.

    >>> from core.graph.columns import IdLists
    >>> rows = IdLists.from_lists([[1], [], [0, 2]])
    >>> rows[2].tolist(), len(rows), rows.invert(3).to_lists()
    ([0, 2], 3, [[2], [0], [2]])
    """

    indptr: np.ndarray  # int64 [n + 1]
    ids: np.ndarray  # int64

    @classmethod
    def from_lists(cls, lists: Iterable[Sequence[int]]) -> IdLists:
        """Build the rows from lists of ids."""
        arrays = [np.asarray(ids, np.int64) for ids in lists]
        return cls(
            row_offsets([len(ids) for ids in arrays]),
            np.concatenate([*arrays, np.empty(0, np.int64)]),
        )

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, row: int) -> np.ndarray:
        return self.ids[self.indptr[row] : self.indptr[row + 1]]

    @property
    def counts(self) -> np.ndarray:
        """Number of ids of each row, int64 [n]."""
        return np.diff(self.indptr)

    def concat_rows(self, rows: np.ndarray) -> np.ndarray:
        """Return the ids of some rows as one array.

        The array is int64 and follows the order of `rows`.

        >>> from core.graph.columns import IdLists
        >>> IdLists.from_lists([[1], [], [0, 2]]).concat_rows(np.array([2, 0])).tolist()
        [0, 2, 1]
        """
        first, counts = self.indptr[rows], self.indptr[np.asarray(rows) + 1] - self.indptr[rows]
        offsets = np.cumsum(counts) - counts
        return self.ids[np.repeat(first - offsets, counts) + np.arange(counts.sum())]

    def take(self, rows: np.ndarray) -> IdLists:
        """Return some of the rows, in the order of `rows`.

        >>> from core.graph.columns import IdLists
        >>> IdLists.from_lists([[1], [], [0, 2]]).take(np.array([2, 1])).to_lists()
        [[0, 2], []]
        """
        counts = self.indptr[np.asarray(rows) + 1] - self.indptr[rows]
        return IdLists(row_offsets(counts), self.concat_rows(rows))

    def limit_rows(self, limit: int) -> IdLists:
        """Keep at most the first `limit` ids of each row.

        >>> from core.graph.columns import IdLists
        >>> IdLists.from_lists([[1], [], [0, 2]]).limit_rows(1).to_lists()
        [[1], [], [0]]
        """
        counts = self.counts
        is_first = np.arange(len(self.ids)) - np.repeat(self.indptr[:-1], counts) < limit
        return IdLists(row_offsets(np.minimum(counts, limit)), self.ids[is_first])

    def to_lists(self) -> list[list[int]]:
        """Return the rows as lists."""
        return [self[row].tolist() for row in range(len(self))]

    def filter_ids(self, mask: np.ndarray) -> IdLists:
        """Keep the ids for which `mask` is True, and renumber them.

        `mask` is bool by id. New ids count from 0.

        >>> from core.graph.columns import IdLists
        >>> IdLists.from_lists([[0, 1], [2], [1]]).filter_ids(np.array([True, False, True])).to_lists()
        [[0], [1], []]
        """
        is_included, new_ids = mask[self.ids], np.cumsum(mask, dtype=np.int64) - 1
        return IdLists(row_offsets(is_included)[self.indptr], new_ids[self.ids[is_included]])

    def invert(self, n: int) -> IdLists:
        """Return the rows that contain each id from 0 to `n` - 1.

        The rows of an id are ascending.
        """
        order = np.argsort(self.ids, kind="stable")
        rows = np.repeat(np.arange(len(self)), self.counts)[order]
        return IdLists(row_offsets(np.bincount(self.ids, minlength=n)), rows)


def row_offsets(counts: np.ndarray | Sequence[int]) -> np.ndarray:
    """Return the CSR offsets of rows with these numbers of entries.

    The offsets of n rows are int64 [n + 1].

    >>> from core.graph.columns import row_offsets
    >>> row_offsets([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


class Table:
    """A table whose columns have names and types from `COLUMN_TYPES`.

    A table opened from an Arrow file is memory-mapped, so only the accessed data is read.

    >>> from core.graph.columns import Table
    >>> table = Table.from_columns(id=["a", "b"], text=["First.", "Second."], weight=[1.0, 2.5])
    >>> len(table), table.text("text", 1), table.numbers("weight").tolist(), table.has_column("title")
    (2, 'Second.', [1.0, 2.5], False)
    """

    def __init__(self, arrow: Any):
        self.arrow = arrow  # pyarrow.Table of one chunk

    @classmethod
    def from_columns(cls, **columns: Sequence[Any] | np.ndarray | IdLists) -> Table:
        """Build a table from columns.

        A column of the type `ids` may be a list of lists or `IdLists`. An Arrow array is used
        without conversion.
        """
        import pyarrow as pa

        types = {
            "string": pa.large_string(),
            "float": pa.float32(),
            "int": pa.int32(),
            "ids": pa.large_list(pa.int64()),
        }

        def to_arrow(name: str, values: Any) -> Any:
            if isinstance(values, IdLists):
                return _id_lists_to_arrow(values)
            if isinstance(values, pa.Array):
                return values
            return pa.array(values, types[COLUMN_TYPES[name]])

        return cls(pa.table({name: to_arrow(name, values) for name, values in columns.items()}))

    @classmethod
    def open(cls, file: FilePath) -> Table:
        """Open the table in a file.

        Raises
        ------
        StoreError
            If it cannot be read.
        """
        import pyarrow as pa

        try:
            return cls(pa.ipc.open_file(pa.memory_map(str(file))).read_all())
        except (OSError, pa.ArrowInvalid) as error:
            raise damage_error(f"{file} is", error, "build it again") from None

    def save(self, file: FilePath) -> None:
        """Write the table as one Arrow file."""
        import pyarrow as pa

        with (
            pa.OSFile(str(file), "wb") as stream,
            pa.ipc.new_file(stream, self.arrow.schema) as writer,
        ):
            writer.write_table(self.arrow.combine_chunks())
        self.free_memory()

    def __len__(self) -> int:
        return self.arrow.num_rows

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.arrow.column_names)

    def has_column(self, name: str) -> bool:
        """Return whether the table has a column of that name."""
        return name in self.names

    def text(self, name: str, row: int) -> str:
        """Return the text of a row.

        The text is empty if the table has no such column.
        """
        return self.arrow.column(name)[int(row)].as_py() if self.has_column(name) else ""

    def texts(self, name: str, rows: Iterable[int] | None = None) -> list[str]:
        """Return the texts of some rows, or of all if `rows` is None.

        The texts are empty if the table has no such column.
        """
        if not self.has_column(name):
            return [""] * (len(self) if rows is None else len(list(rows)))
        column = self._flat(name)
        if rows is None:
            return column.to_pylist()
        row_list = rows if isinstance(rows, np.ndarray) else list(rows)
        if len(row_list) > MAX_SINGLE_READS:
            return column.take(np.asarray(row_list, np.int64)).to_pylist()
        return [column[int(row)].as_py() for row in row_list]

    def numbers(self, name: str) -> np.ndarray:
        """Return a column of numbers, float32 or int32 [n], without a copy."""
        return self._flat(name).to_numpy()

    def id_lists(self, name: str) -> IdLists:
        """Return a column of id lists, without a copy."""
        column = self._flat(name)
        return IdLists(column.offsets.to_numpy(), column.values.to_numpy())

    def with_columns(self, **columns: Sequence[Any] | np.ndarray | IdLists) -> Table:
        """Return the table with these columns added.

        A column of the same name is replaced.
        """
        new_columns, arrow = Table.from_columns(**columns).arrow, self.arrow
        for name in new_columns.column_names:
            if name in arrow.column_names:
                arrow = arrow.drop_columns([name])
            arrow = arrow.append_column(name, new_columns.column(name))
        return Table(arrow)

    def drop_column(self, name: str) -> Table:
        """Return the table without a column.

        This is the table itself if it has no such column.
        """
        return Table(self.arrow.drop_columns([name])) if self.has_column(name) else self

    def replace_ids(self, name: str, rows: IdLists) -> Table:
        """Return the table with a column of id lists replaced."""
        column = _id_lists_to_arrow(rows)
        return Table(self.arrow.set_column(self.names.index(name), name, column))

    def append_rows(self, other: Table) -> Table:
        """Return the rows of this table followed by those of another.

        Both must have the same columns.
        """
        import pyarrow as pa

        return Table(pa.concat_tables([self.arrow, other.arrow]).combine_chunks())

    def take(self, rows: np.ndarray) -> Table:
        """Return the table of some rows, in the order of `rows`."""
        return Table(self.arrow.take(rows).combine_chunks())

    def free_memory(self) -> None:
        """Free the memory of texts that `concat_texts` has put into temporary files.

        They are read from the file again when they are next needed.
        """
        for column in self.arrow.columns:
            for part in column.chunks:
                data = part.buffers()[-1]
                memory_map = TEXT_MAPS.get(data.address) if data is not None else None
                if memory_map is not None:
                    advise(memory_map, "MADV_DONTNEED")

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content, in hex."""
        digest = hashlib.sha256()
        for name in sorted(self.names):
            digest.update(f"{name} {len(self)}\n".encode())
            if COLUMN_TYPES[name] == "string":
                for batch in self._utf8_batches(name):
                    digest.update(
                        b"".join(len(data).to_bytes(8, "little") + data for data in batch)
                    )
                    self.free_memory()
            elif COLUMN_TYPES[name] == "ids":
                rows = self.id_lists(name)
                digest.update(np.ascontiguousarray(rows.indptr, "<i8").data)
                digest.update(np.ascontiguousarray(rows.ids, "<i8").data)
            else:
                digest.update(np.ascontiguousarray(self.numbers(name)).tobytes())
        return digest.hexdigest()

    def _utf8_batches(self, name: str) -> Iterator[list[bytes]]:
        """Yield a text column in UTF-8, `DIGEST_BATCH_TEXTS` texts at a time."""
        column = self._flat(name).cast("large_binary")
        return (
            column[first : first + DIGEST_BATCH_TEXTS].to_pylist()
            for first in range(0, len(column), DIGEST_BATCH_TEXTS)
        )

    def _flat(self, name: str) -> Any:
        """Return a column as one Arrow array."""
        column = self.arrow.column(name)
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def join_texts(rows: IdLists, texts: Sequence[str], separator: str) -> Any:
    """Join the texts of each row's ids with `separator`, into an Arrow column.

    `texts` are indexed by id.

    >>> from core.graph.columns import IdLists, join_texts
    >>> join_texts(IdLists.from_lists([[1, 0], [], [2]]), ["Ann", "Bob", "Eve"], ", ").to_pylist()
    ['Bob, Ann', '', 'Eve']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    # Only the texts that occur are copied, as there may be very many others.
    distinct_ids, id_positions = np.unique(rows.ids, return_inverse=True)
    distinct_texts = pa.array([texts[id] for id in distinct_ids.tolist()], pa.large_string())
    row_texts = distinct_texts.take(pa.array(id_positions))
    return pc.binary_join(
        pa.LargeListArray.from_arrays(pa.array(rows.indptr, pa.int64()), row_texts),
        pa.scalar(separator, pa.large_string()),
    )


def concat_texts(blocks: Iterable[Any]) -> Any:
    """Concatenate Arrow arrays of texts into one Arrow column, in little more memory.

    Texts of more than `MAX_HELD_TEXT_BYTES` bytes in total go into a temporary file, of which only
    the accessed pages are in memory. Raises StoreError if the file cannot be written.

    >>> import pyarrow as pa
    >>> from core.graph.columns import concat_texts
    >>> blocks = (["a", ""], [], ["bc"])
    >>> concat_texts(pa.array(block, pa.large_string()) for block in blocks).to_pylist()
    ['a', '', 'bc']
    """
    import pyarrow as pa

    size, offset_blocks = 0, [np.zeros(1, np.int64)]
    try:
        with tempfile.SpooledTemporaryFile(max_size=MAX_HELD_TEXT_BYTES) as file:
            for block in blocks:
                _, offsets, block_data = block.buffers()
                if len(block):  # a slice of an array shares its buffers, and starts at `offset`
                    bounds = np.frombuffer(offsets, np.int64, len(block) + 1, 8 * block.offset)
                else:
                    bounds = np.zeros(1, np.int64)
                offset_blocks.append(bounds[1:] - bounds[0] + size)
                if bounds[-1] > bounds[0]:
                    size += file.write(memoryview(block_data)[bounds[0] : bounds[-1]])
            file.seek(0)
            memory_map = None
            if size > MAX_HELD_TEXT_BYTES:
                memory_map = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
            data = pa.py_buffer(file.read() if memory_map is None else memory_map)
    except OSError as error:
        raise StoreError(
            "Very many texts are joined in a temporary file, which cannot be written: "
            f"{error.strerror or error}."
        ) from None
    if memory_map is not None:
        TEXT_MAPS[data.address] = memory_map
    offsets_of_all = np.concatenate(offset_blocks)
    return pa.LargeStringArray.from_buffers(
        len(offsets_of_all) - 1, pa.py_buffer(offsets_of_all), data
    )


def advise(memory_map: mmap.mmap, advice: str) -> None:
    """Advise the operating system on a memory map, such as MADV_RANDOM.

    On Windows, which has no such call, nothing happens.
    """
    if hasattr(memory_map, "madvise"):
        memory_map.madvise(getattr(mmap, advice))


def _id_lists_to_arrow(rows: IdLists) -> Any:
    import pyarrow as pa

    return pa.LargeListArray.from_arrays(
        pa.array(rows.indptr, pa.int64()), pa.array(rows.ids, pa.int64())
    )


@dataclass(frozen=True, eq=False)
class Columns:
    """Tables of a graph; a table that the graph lacks is None.

    A graph of triples has tables of nodes and edges if its source has attributes of them. A graph
    extracted from texts has chunks. Row `i` of `nodes` is node `i`, and row `i` of `edges` is edge
    `i`. Chunks and communities have their row numbers as ids.
    """

    nodes: Table | None = None
    edges: Table | None = None
    chunks: Table | None = None
    communities: Table | None = None

    def __bool__(self) -> bool:
        return any(self.tables().values())

    @property
    def has_texts(self) -> bool:
        """True if the graph was extracted from texts.

        Such a graph has chunks or communities.

        >>> from core.graph.columns import Columns, Table
        >>> Columns(nodes=Table.from_columns(type=["person"])).has_texts
        False
        >>> Columns(chunks=Table.from_columns(text=["One."])).has_texts
        True
        """
        return self.chunks is not None or self.communities is not None

    def tables(self) -> Mapping[str, Table]:
        """Return the existing tables by name."""
        return {
            f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None
        }

    def replace(self, **tables: Table | None) -> Columns:
        """Return these tables with some of them replaced; None removes a table."""
        return replace(self, **tables)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all tables, in hex."""
        return hashlib.sha256(
            "\n".join(f"{name} {table.digest}" for name, table in self.tables().items()).encode()
        ).hexdigest()

    def save(self, folder: FilePath) -> None:
        """Write each table into a folder, which is created."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in self.tables().items():
            table.save(folder / f"{name}.arrow")

    @classmethod
    def open(cls, folder: FilePath) -> Columns:
        """Open the tables in a folder.

        Raises
        ------
        StoreError
            If a table is damaged.
        """
        files = {f.name: folder / f"{f.name}.arrow" for f in fields(cls)}
        return cls(**{name: Table.open(file) for name, file in files.items() if file.exists()})


NO_TABLES = Columns()
"""Tables of a graph that has only triples."""
