"""A file of triples and the settings with which it is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path as FilePath

from core.errors import BadInput
from core.graph.readers.attributes import Attributes
from core.graph.readers.skip_report import Tally
from core.io.files import PACKED_SUFFIXES, FileSource, UnpackedBytes, not_utf8_error, open_unpacked
from core.io.recoded_files import decode_if_certain
from core.watch import NO_WATCH, Watch

Triple = tuple[str, str, str]  # head, relation, tail


@dataclass
class TripleSource:
    """A file of triples, the settings of its reader, and the current line.

    `TripleFile` holds the user's settings for a whole graph. Its reading makes a source of each
    file.

    Parameters
    ----------
    format : a name in the table of formats, or `auto`, which detects delimited text.
    columns : columns of head, relation and tail, from 1, if they were chosen.
    watch : receives the share of bytes read, and may cancel.
    most : largest size in bytes that the file may unpack to; None for no limit.
    tally : decides if bad lines may be left out, and counts them.
    line : number of the current line, from 1; readers set it before they yield a triple.
    language : for RDF, the language of the labels used as names; “none” for identifiers, empty for
        English if there is a choice.
    labels : for RDF, another file with labels.
    literals : for RDF, the use of other literals, one of `rdf.LITERAL_USES`.
    nodes : tables of nodes, whose labels become the names of the edges' ends.
    attributes : receives the attributes of nodes and edges.
    header : “yes” or “no” if the user says whether the first row of delimited text names its
        columns; empty to detect it.
    encoding : encoding of text that is not UTF-8, if the user names it; empty to detect it.
    spaces : id spaces of heads and of tails, if a header for Neo4j's import names them.
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
    def text(self) -> FileSource:
        """The file as UTF-8.

        The tally notes the encoding. Damaged UTF-8, and text of an uncertain encoding, stay
        unchanged. Readers then report the bad line, since names must not be guessed.

        Raises
        ------
        BadInput
            If the named encoding is unknown.
        """
        return decode_if_certain(self.path, self.tally.note, self.encoding, self.most, strict=True)

    def open_text(self) -> AbstractContextManager[UnpackedBytes]:
        """Open the text of the file as UTF-8.

        Raises
        ------
        BadInput
            If it cannot be read.
        """
        return open_unpacked(self.text, self.watch, self.most)

    def open_raw(self) -> AbstractContextManager[UnpackedBytes]:
        """Open the bytes of the file, unpacked.

        This is for XML, which names its encoding itself.

        Raises
        ------
        BadInput
            If it cannot be read.
        """
        return open_unpacked(self.path, self.watch, self.most)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines that are not blank, and their numbers from 1.

        Line ends are removed.

        Raises
        ------
        BadInput
            If the file cannot be read, or for bytes that are not UTF-8, unless such lines may be
            left out.
        """
        with self.open_text() as stream:
            for data in stream.lines():
                self.line = stream.line
                try:
                    text = data.decode("utf-8").rstrip("\r\n")
                except UnicodeDecodeError as error:
                    self.report_bad_line(
                        "not UTF-8", self.line, not_utf8_error(self.name, self.line, error.start)
                    )
                    continue
                if text.strip():
                    yield self.line, text

    def report_bad_line(self, why: str, line: int, fault: BadInput | str) -> None:
        """Count a bad line under the reason `why`.

        If the line may not be left out, `fault` is raised. `fault` is a sentence about the line or
        the error itself.
        """
        if self.tally.skip(why, line):
            return
        if isinstance(fault, BadInput):
            raise fault
        raise BadInput(f"{self.name}, line {line}: {fault}")


def bare_suffix(path: FilePath) -> str:
    """Return the suffix of a file's name in lower case.

    The suffix of a packed file, such as `.gz`, is removed first.
    """
    if path.suffix.lower() in PACKED_SUFFIXES:
        path = path.with_suffix("")
    return path.suffix.lower()
