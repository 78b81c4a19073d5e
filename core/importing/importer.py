"""Importers: one for each format, with its recognition and reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from core.importing.file_head import FileHead
from core.watch import NO_WATCH, Watch


class KindName(StrEnum):
    """The kinds of things that can be imported. A set has documents and questions."""

    GRAPH = "graph"
    DOCUMENTS = "documents"
    SET = "set"
    QUESTIONS = "questions"
    RUN = "run"
    INDEX = "index"
    CASES = "cases"
    DATABASE = "database"


@dataclass(frozen=True)
class ImportKind:
    """Title of a kind of formats, the action that imports them, and its command.

    Parameters
    ----------
    title : the kind on screen, in the plural.
    action : the action in words.
    command : the words after `hopscope`. Words in braces are replaced: `{path}` by the paths,
        `{format}` by the format if it has to be named, `{name}` and `{folder}` by those of the
        result, `{source}` by the graph or corpus to which questions and runs belong.
    """

    title: str
    action: str
    command: str


IMPORT_KINDS = {
    KindName.GRAPH: ImportKind(
        "Graphs",
        "Build a graph of its triples",
        "build {path} {format} --out {folder} --name {name}",
    ),
    KindName.DOCUMENTS: ImportKind(
        "Documents", "Add its documents to a corpus", "corpus add {path} --name {name}"
    ),
    KindName.SET: ImportKind(
        "Published sets",
        "Add its documents and their questions to a corpus",
        "corpus add {path} {format} --name {name}",
    ),
    KindName.QUESTIONS: ImportKind(
        "Questions",
        "Save its questions as a set of a graph or a corpus",
        "questions {path} {format} {source} --name {name}",
    ),
    KindName.RUN: ImportKind(
        "Finished runs", "Evaluate what another program found", "evaluate --run {path} {source}"
    ),
    KindName.INDEX: ImportKind(
        "Indexes of other tools",
        "Make a corpus of its texts, with its graph",
        "corpus open {path} --name {name}",
    ),
    KindName.CASES: ImportKind("Saved comparisons", "Add its comparisons", "cases import {path}"),
    KindName.DATABASE: ImportKind(
        "Databases",
        "Copy its triples as a graph, or ask it live",
        "build {path} --out {folder} --name {name}",
    ),
}


@dataclass(frozen=True)
class Guess:
    """Confidence, from 0 to 1, that a file has a format.

    `reason` is the end of a sentence, such as “its name ends in .ttl”.
    """

    confidence: float
    reason: str = ""


NO_GUESS = Guess(0.0)


@dataclass(frozen=True)
class ReadFile:
    """The items read from a file, such as its triples, documents or questions.

    Parameters
    ----------
    items : the items.
    words : their number in words, such as “3 triples”.
    notes : sentences on what was guessed or left out.
    """

    items: tuple[Any, ...]
    words: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ImportRequest:
    """Files to read in a given format.

    Parameters
    ----------
    format : the name of the format within its kind.
    paths : the files, which are read together.
    watch : cancellation and progress.
    max_bytes : largest number of bytes of text in a file; None for no limit.
    encoding : the encoding of texts that are not UTF-8; empty to detect it.
    """

    format: str
    paths: Sequence[Path]
    watch: Watch
    max_bytes: int | None
    encoding: str


@dataclass(frozen=True)
class Importer:
    """A format that can be imported, with its reader.

    Parameters
    ----------
    kind, name : together the key of the format. Commands of a kind call the format by `name`.
    title : the format's name on screen.
    suffixes : suffixes of its files; empty if it is recognised by content alone.
    guess_formats : returns the formats of this kind that the head of a file may have.
    read_files : reads files of this kind.
    example : an example file below `data/formats`; empty if the format is not that of a file.
    files : words for its files, if the suffixes do not describe them.
    tools : programs that write the format, in words.
    contents, omissions : the parts of a file that are read, and those that are not, in words.
    """

    kind: KindName
    name: str
    title: str
    suffixes: tuple[str, ...]
    guess_formats: Callable[[FileHead], Mapping[str, Guess]]
    read_files: Callable[[ImportRequest], ReadFile]
    example: str = ""
    files: str = ""
    tools: str = ""
    contents: str = ""
    omissions: str = ""

    @property
    def key(self) -> str:
        """Kind and name, as the option `--as` takes them: `graph/turtle`."""
        return f"{self.kind}/{self.name}"

    def guess(self, head: FileHead) -> Guess:
        """Return the confidence that the file with this head has this format."""
        return self.guess_formats(head).get(self.name, NO_GUESS)

    def read_file(
        self,
        *paths: str | Path,
        watch: Watch = NO_WATCH,
        max_bytes: int | None = None,
        encoding: str = "",
    ) -> ReadFile:
        """Read a file, or several that belong together.

        The arguments are those of `ImportRequest`. Raises BadInput, and what `watch` raises.
        """
        watch.check()
        files = list(map(Path, paths))
        return self.read_files(ImportRequest(self.name, files, watch, max_bytes, encoding))
