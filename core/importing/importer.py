"""Importers: the formats that can be brought, what each becomes, and how a file of it is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from core.importing.file_head import FileHead
from core.watch import NO_WATCH, Watch


class KindName(StrEnum):
    """The kinds of things that are brought."""

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
    """What all formats of a kind become, and the command that does it.

    `command` holds the words behind `python -m core`. Those in braces are filled in: the paths, the
    format where it has to be named, the name of what is made, its folder, and the graph or corpus
    that questions and runs are of.
    """

    title: str
    action: str
    command: str


COMMANDS = {
    KindName.GRAPH: "build {path} {format} --out {folder} --name {name}",
    KindName.DOCUMENTS: "corpus add {path} --name {name}",
    KindName.SET: "corpus add {path} {format} --name {name}",
    KindName.QUESTIONS: "questions {path} {format} {source} --name {name}",
    KindName.RUN: "evaluate --run {path} {source}",
    KindName.INDEX: "corpus open {path} --name {name}",
    KindName.CASES: "cases import {path}",
    KindName.DATABASE: "build {path} --out {folder} --name {name}",
}
ACTIONS = {
    KindName.GRAPH: ("Graphs", "Build a graph of its triples"),
    KindName.DOCUMENTS: ("Documents", "Add its documents to a corpus"),
    KindName.SET: ("Published sets", "Add its documents and their questions to a corpus"),
    KindName.QUESTIONS: ("Questions", "Save its questions as a set of a graph or a corpus"),
    KindName.RUN: ("Finished runs", "Evaluate what another program found"),
    KindName.INDEX: ("Indexes of other tools", "Make a corpus of its texts, with its graph"),
    KindName.CASES: ("Saved comparisons", "Add its comparisons"),
    KindName.DATABASE: ("Databases", "Copy its triples as a graph, or ask it live"),
}
KINDS = {name: ImportKind(*ACTIONS[name], COMMANDS[name]) for name in KindName}


@dataclass(frozen=True)
class Guess:
    """How sure it is that a file is of a format, from 0 to 1, and the reason as a sentence's end."""

    confidence: float
    reason: str = ""


NO_GUESS = Guess(0.0)


@dataclass(frozen=True)
class ReadFile:
    """What was read of a file: the items, how many they are in words, and what was guessed or left out."""

    items: tuple[Any, ...]
    words: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ImportRequest:
    """Files to read in a format: each of at most `most` bytes of text, in an encoding where one is named."""

    format: str
    paths: Sequence[Path]
    watch: Watch
    most: int | None
    encoding: str


@dataclass(frozen=True)
class Importer:
    """A format that can be brought.

    Parameters
    ----------
    name : the word by which the present commands know the format, where they do.
    suffixes : ends of the names of its files; empty where content alone tells.
    guesses : the formats of its kind that a head of a file may be of.
    read : reads files of its kind.
    example : a file of it below `data/formats`; empty where it is no file.
    files : the files by which it is known, where their suffixes do not tell.
    tools : programs that write it. `taken`, `left` : what is read of it, and what is not.
    """

    kind: KindName
    name: str
    title: str
    suffixes: tuple[str, ...]
    guesses: Callable[[FileHead], Mapping[str, Guess]]
    read: Callable[[ImportRequest], ReadFile]
    example: str = ""
    files: str = ""
    tools: str = ""
    taken: str = ""
    left: str = ""

    @property
    def key(self) -> str:
        """Its kind and name, as `--as` takes them: `graph/turtle`."""
        return f"{self.kind}/{self.name}"

    def sniff(self, head: FileHead) -> Guess:
        """Return how sure it is that a head of a file is of the format."""
        return self.guesses(head).get(self.name, NO_GUESS)

    def read_file(
        self,
        *paths: str | Path,
        watch: Watch = NO_WATCH,
        most: int | None = None,
        encoding: str = "",
    ) -> ReadFile:
        """Read a file, or several that belong together. Raises BadInput, and what `watch` raises."""
        watch.check()
        found = list(map(Path, paths))
        return self.read(ImportRequest(self.name, found, watch, most, encoding))
