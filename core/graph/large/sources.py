"""Sources of triples for a long build: a text file, or triples that a program computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

import numpy as np

from core.errors import BadInput, shorten
from core.graph.readers.formats import Format, format_named, format_of
from core.graph.readers.ntriples import name_candidates, term_of
from core.graph.readers.rdf import LITERAL_TRIPLES, MAX_LABEL_SEARCH_BYTES, text_bytes, uses_labels
from core.graph.readers.skip_report import Tally
from core.graph.readers.triple_file import TripleFile, matching_pattern
from core.graph.readers.unique_names import Namer
from core.io.files import size_text
from core.watch import NO_WATCH, Watch

if TYPE_CHECKING:
    from core.graph.readers.blocks import Block, BlockPosition

MAX_NODE_NUMBER = np.iinfo(np.int32).max - 1  # largest number of a node
MAX_WHOLE_TEXT_BYTES = MAX_LABEL_SEARCH_BYTES  # above this size of text, a file is read in blocks
IdColumns = tuple[np.ndarray, np.ndarray, np.ndarray]  # heads, relations, tails


@dataclass(frozen=True)
class NumberSource:
    """Computed triples of numbered nodes and relations, such as a benchmark's random graph.

    `count` is the number of triples. `read_from(first)` yields batches of (heads, relations,
    tails), starting at triple `first`. `key` identifies the source and must be JSON-serialisable.
    `memory_bytes` is the memory in bytes for the build, None for the default share. Without
    `resumes_after_stop`, a build that fails or is stopped leaves no files.
    """

    key: tuple
    count: int
    read_from: Callable[[int], Iterator[IdColumns]]
    memory_bytes: int | None = None
    resumes_after_stop: bool = True
    tally: Tally = field(default_factory=Tally, compare=False)

    def identity(self) -> list:
        return list(self.key)


@dataclass
class TextSource:
    """Triples of a text file; `form` is the name of its format."""

    file: TripleFile
    form: str
    _namer: Namer = field(default_factory=Namer, init=False, repr=False)
    _names: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    @property
    def path(self) -> FilePath:
        return self.file.path

    @property
    def tally(self) -> Tally:
        return self.file.tally

    @property
    def numbered(self) -> bool:
        return self.file.numbered

    @property
    def memory_bytes(self) -> int | None:
        """Memory in bytes for the build; None for the default share."""
        return self.file.memory

    @property
    def resumes_after_stop(self) -> bool:
        """True if the next build continues a stopped one."""
        return self.file.keep

    def identity(self) -> list:
        """Return the facts that identify a build.

        They are the state of the file and the settings of its reader.

        Raises
        ------
        BadInput
            If there is no file.
        """
        try:
            stat = self.path.stat()
        except OSError as error:
            raise BadInput(
                f"There is no file {self.path}."
                if error.errno == 2
                else f"{self.path} cannot be read: {error}."
            ) from None
        file = self.file
        identity = [
            str(self.path),
            stat.st_size,
            stat.st_mtime_ns,
            self.form,
            list(file.columns) if file.columns else None,
            list(file.drop),
            self.numbered,
            self.tally.may_skip,
            file.language,
            str(file.labels or ""),
        ]
        # At their defaults, these settings are left out. Builds that were started before the
        # settings existed can then be continued.
        if file.literals != LITERAL_TRIPLES:
            identity.append(file.literals)
        if file.header or file.encoding:
            identity += [file.header, file.encoding]
        return [*identity, *map(str, file.nodes)]

    def text_bytes(self) -> int:
        """Return an estimate of the size of the text in bytes."""
        return text_bytes(self.path)

    def blocks(self, start: BlockPosition, size: int, watch: Watch = NO_WATCH) -> Iterator[Block]:
        """Yield blocks of triples from a position on.

        Each block is of about `size` bytes of text.
        """
        return format_named(self.form).blocks(
            self.file.source(watch, self.tally, self.form), start, size
        )

    @property
    def has_term_names(self) -> bool:
        """True if names are derived from RDF terms.

        It is False if they are read from labels or tables of nodes.
        """
        if self.numbered or not format_named(self.form).terms:
            return False
        if self.file.literals != LITERAL_TRIPLES or self.file.nodes:
            return False
        return not self._has_labels

    @cached_property
    def _has_labels(self) -> bool:
        """True if the reader names the resources of an RDF file by their labels."""
        return uses_labels(self.file.source(NO_WATCH, self.tally, self.form))

    def relation_name(self, relation: str) -> str:
        """Return the name of a relation, given its text in the file.

        The relations must be given in the order of their appearance, because names are made unique
        in that order.
        """
        if not self.has_term_names:
            return relation
        if relation not in self._names:
            self._names[relation] = self._namer.name(relation, name_candidates(term_of(relation)))
        return self._names[relation]

    def exclusion_pattern(self, name: str) -> str:
        """Return the first pattern that excludes a relation of this name.

        The pattern is empty if none does.
        """
        return matching_pattern(name, self.file.drop) if self.file.drop else ""

    def parse_id_columns(self, block: Block) -> IdColumns:
        """Parse the head, relation and tail ids of a block, int32.

        Lines with other values than numbers are skipped and counted, if the reader may skip lines.

        Raises
        ------
        BadInput
            If a value is not a number and lines may not be skipped. The message has the line.
        """
        from core.graph.readers.text_loops import whole_numbers  # imports numba

        values = np.empty(len(block.starts), np.int64)
        whole_numbers(block.data, block.starts, block.lengths, MAX_NODE_NUMBER, values)
        rows = values.reshape(-1, 3)
        bad_rows = np.flatnonzero((rows < 0).any(1))
        for row in bad_rows.tolist():
            line = int(block.lines[row])
            if self.tally.skip("not a number", line):
                continue
            cell = 3 * row + int(np.argmax(rows[row] < 0))
            start = block.starts[cell]
            text = block.data[start : start + block.lengths[cell]].tobytes().decode("utf-8")
            raise BadInput(
                f"{self.path.name}, line {line}: “{shorten(text)}” is no whole number from 0 to "
                f"{MAX_NODE_NUMBER:,}, written in digits only."
            )
        heads, relations, tails = np.delete(rows, bad_rows, 0).astype(np.int32).T
        return heads, relations, tails


def prepare_block_source(file: TripleFile) -> TextSource | None:
    """Return the source of a file that must be read in blocks.

    The result is None for any other file. A file is read in blocks if it is large, its memory is
    limited, or parts of it are left out. Other files are read into memory. The function also sets
    in `file` whether its tally skips bad lines and whether attributes are collected.

    Raises
    ------
    BadInput
        If the format does not support the settings.
    """
    form = format_of(file.path, file.format)
    file_format = format_named(form)
    if file.columns and not (file_format.delimited or file_format.table):
        return None  # the reader of whole files will raise the error
    if file.numbered:
        _check_numbered(file, file_format)
    file.tally.may_skip = file.skips
    source = TextSource(file, form)
    if file.more:
        _check_several(file)
        return None
    is_large = file.path.exists() and source.text_bytes() > MAX_WHOLE_TEXT_BYTES
    file.attributes.is_wanted = not is_large and not file.numbered
    file.attributes.is_too_large = is_large
    return source if is_large or _needs_blocks(file, file_format) else None


def _check_numbered(file: TripleFile, file_format: Format) -> None:
    """Raise BadInput if nodes and relations of a file cannot be read as numbers."""
    if not file_format.delimited:
        raise BadInput("Numbers can be read from delimited text only.")
    if file.drop:
        raise BadInput("Relations that are numbers have no names by which to leave them out.")


def _needs_blocks(file: TripleFile, file_format: Format) -> bool:
    """Return whether the settings require reading in blocks, also of a small file."""
    drops_terms = file.drop and file_format.terms
    return bool(file.memory or file.skips or file.numbered or drops_terms)


def _check_several(file: TripleFile) -> None:
    """Raise BadInput if several files need reading in blocks.

    Only one file can be read in blocks.
    """
    paths = (file.path, *file.more)
    if (
        sum(text_bytes(path) for path in paths if path.exists()) > MAX_WHOLE_TEXT_BYTES
        or file.memory
        or file.numbered
    ):
        raise BadInput(
            f"{len(paths)} files of edges are read at once, up to {size_text(MAX_WHOLE_TEXT_BYTES)} together; "
            "make one file of them."
        )
