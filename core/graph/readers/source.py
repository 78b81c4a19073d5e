"""A file of triples that is being read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path as FilePath

from core.errors import BadInput
from core.graph.readers.attributes import Attributes
from core.graph.readers.skip_report import Tally
from core.io.files import PACKED, Source, Unpacked, not_utf8, opened
from core.io.recoded import readable
from core.watch import NO_WATCH, Watch

Triple = tuple[str, str, str]  # head, relation, tail


@dataclass
class TripleSource:
    """A file of triples, how it is read, and the line that the reading has come to.

    Parameters
    ----------
    format : a name in the table of formats, or `auto` for delimited text.
    columns : those of head, relation and tail, from 1, where they were chosen.
    watch : receives the share of bytes read.
    most : bytes of text that the file may unpack to.
    tally : says whether bad lines may be left out, and counts them.
    line : the line that the reading has come to.
    language, labels, literals : of RDF, the language of the labels that things are called by (“none” for no labels), another file
        that has some, and what becomes of other literals: triples, attributes of their things, or left out.
    nodes : tables of nodes, by whose labels the ends of edges are called.
    attributes : receives what the file says beside its triples.
    header : “yes” or “no” where a person says whether the first row of delimited text names its columns.
    encoding : that of text which is not UTF-8, where a person names it.
    spaces : those of the ids of heads and of tails, where a header of Neo4j names them.
    """

    path: FilePath
    format: str = "auto"
    columns: tuple[int, int, int] | None = None
    watch: Watch = NO_WATCH
    most: int | None = None
    tally: Tally = field(default_factory=Tally)
    line: int = 0
    language: str = ""
    labels: FilePath | None = None
    literals: str = "triples"
    nodes: tuple[FilePath, ...] = ()
    attributes: Attributes = field(default_factory=Attributes)
    header: str = ""
    encoding: str = ""
    spaces: tuple[str, str] = ("", "")

    @property
    def name(self) -> str:
        return self.path.name

    @cached_property
    def text(self) -> Source:
        """The file as UTF-8; the tally hears in which encoding it was read.

        Damaged UTF-8 and what is of no sure encoding stays as it is, for the readers to name the line: names must not be guessed.
        Raises BadInput for an encoding that is not known.
        """
        return readable(self.path, self.tally.note, self.encoding, self.most, strict=True)

    def opened(self) -> AbstractContextManager[Unpacked]:
        """The text of the file as UTF-8. Raises BadInput where it cannot be read."""
        return opened(self.text, self.watch, self.most)

    def opened_raw(self) -> AbstractContextManager[Unpacked]:
        """The bytes of the file, unpacked: for XML, which says its encoding itself. Raises BadInput where it cannot be read."""
        return opened(self.path, self.watch, self.most)

    def lines(self) -> Iterator[tuple[int, str]]:
        """The lines that are not blank with their numbers from 1, line ends removed. Raises BadInput where the file cannot be read, and
        for bytes that are not UTF-8 unless such lines may be left out."""
        with self.opened() as bytes_of:
            for data in bytes_of.lines():
                self.line = bytes_of.line
                try:
                    text = data.decode("utf-8").rstrip("\r\n")
                except UnicodeDecodeError as error:
                    self.bad("not UTF-8", self.line, not_utf8(self.name, self.line, error.start))
                    continue
                if text.strip():
                    yield self.line, text

    def bad(self, why: str, line: int, fault: BadInput | str) -> None:
        """Count a line that is no triple, by the reason `why`, where such lines may be left out; else raise `fault`, a sentence about the
        line or the whole error."""
        if not self.tally.skip(why, line):
            raise (
                fault
                if isinstance(fault, BadInput)
                else BadInput(f"{self.name}, line {line}: {fault}")
            )


def bare_suffix(path: FilePath) -> str:
    """The suffix of a file's name in lower case, that of the file inside where it is packed."""
    return (path.with_suffix("") if path.suffix.lower() in PACKED else path).suffix.lower()
