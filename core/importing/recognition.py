"""Recognition of the formats that a file, folder, zip or database address may have."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.corpus.readers.files import OTHER_FORMATS
from core.databases.address import address_of, is_address
from core.errors import BadInput, shorten, suggest_name
from core.graph.readers.formats import FORMATS as GRAPH_FORMATS
from core.graph.readers.formats import SUFFIX_ADVICE
from core.graph.readers.source import bare_suffix
from core.importing.file_head import FileHead
from core.importing.importer import IMPORT_KINDS, Importer, KindName
from core.importing.registry import IMPORTERS
from core.io.home import graphs_folder

MIN_CONFIDENCE = 0.1  # guesses below this confidence are left out
# Kinds of which several files can be imported together.
KINDS_OF_SEVERAL_FILES = frozenset({KindName.GRAPH, KindName.DOCUMENTS, KindName.SET})


@dataclass(frozen=True)
class Recognition:
    """A format that a file, folder, zip or address may have.

    Parameters
    ----------
    importer : the importer of the format.
    confidence : from 0 to 1.
    reason : why the format is likely, as the end of a sentence: “its name ends in .ttl”.
    paths : the paths of the files, folder or zip, or the address.
    is_chosen : True if a person chose the format. The command then has to name it.
    """

    importer: Importer
    confidence: float
    reason: str
    paths: tuple[str, ...]
    is_chosen: bool = False

    @property
    def action(self) -> str:
        """The action that imports the paths, in words."""
        return IMPORT_KINDS[self.importer.kind].action

    @property
    def needs_source(self) -> bool:
        """True if the command has to name a graph or corpus."""
        return "{source}" in IMPORT_KINDS[self.importer.kind].command

    @property
    def command(self) -> str:
        """The command that imports the paths, with words in capitals for missing arguments."""
        return shlex.join(["hopscope", *self.arguments()])

    def arguments(self, name: str = "", source: Sequence[str] = ("--graph", "GRAPH")) -> list[str]:
        """Return the words of the command after `hopscope`.

        Parameters
        ----------
        name : of the graph, corpus or question set that is made; empty leaves `NAME`.
        source : the option that names the graph or corpus of questions and runs.
        """
        values: dict[str, Sequence[str]] = {
            "{path}": self.paths,
            "{source}": source,
            "{format}": self._format_option(),
            "{name}": (name or "NAME",),
            "{folder}": (str(graphs_folder() / name) if name else "FOLDER",),
        }
        words = IMPORT_KINDS[self.importer.kind].command.split()
        return [part for word in words for part in values.get(word, (word,))]

    def _format_option(self) -> tuple[str, ...]:
        """Return the option that names the format. Empty if the command recognises the format."""
        importer = self.importer
        is_needed = self.is_chosen
        if importer.kind == KindName.GRAPH and importer.name in GRAPH_FORMATS:
            is_by_content = GRAPH_FORMATS[importer.name].delimited or len(self.paths) > 1
            is_by_suffix = bare_suffix(Path(self.paths[0])) in importer.suffixes
            is_needed = is_needed or not (is_by_content or is_by_suffix)
        return ("--format", importer.name) if is_needed else ()


def recognise(path: str | Path, encoding: str = "") -> list[Recognition]:
    """Return the formats that a source may have, best first.

    The source is a file, folder, zip or database address. Only the head of a file is read.
    `encoding` is that of a text that is not UTF-8; if it is empty, it is detected.

    Raises
    ------
    BadInput
        If there is no such file, or it has no known format. The message gives the reason.
    """
    if is_address(str(path)):
        address = address_of(str(path))
        importer = IMPORTERS[f"{KindName.DATABASE}/{address.kind}"]
        return [Recognition(importer, 1.0, f"it is the address {address.title}", (str(path),))]
    path = Path(path)
    if not path.exists():
        raise BadInput(f"There is no file {path}.")
    head = FileHead(path, encoding)
    if not head.has_several_files and not head.data.strip():
        raise BadInput(f"{head.name} is empty.")
    recognitions = []
    for importer in IMPORTERS.values():
        guess = importer.guess(head)
        if guess.confidence >= MIN_CONFIDENCE:
            recognitions.append(Recognition(importer, guess.confidence, guess.reason, (str(path),)))
    if not recognitions:
        raise BadInput(_unknown_format_message(head))
    return _best_first(recognitions)


def recognise_together(paths: Sequence[str | Path], encoding: str = "") -> list[Recognition]:
    """Return the ways to import several files together, best first.

    There is at most one for each kind. The files of one graph may have several formats, and so may
    documents. The importer and the reason are those of the file with the highest confidence. The
    confidence is that of the file with the lowest.

    Raises
    ------
    BadInput
        As `recognise` does, and if no kind fits all files.
    """
    by_file = [recognise(path, encoding) for path in paths]
    if len(by_file) == 1:
        return by_file[0]
    # For each file, the best recognition of each kind. The best comes last, and so replaces others.
    best_by_file = [{one.importer.kind: one for one in reversed(results)} for results in by_file]
    shared_kinds = KINDS_OF_SEVERAL_FILES.intersection(*best_by_file)
    if not shared_kinds:
        raise BadInput("These files cannot be added together. Add them one by one.")
    together = []
    for kind in shared_kinds:
        candidates = [best_by_kind[kind] for best_by_kind in best_by_file]
        surest = _best_first(candidates)[0]
        lowest = min(candidate.confidence for candidate in candidates)
        together.append(Recognition(surest.importer, lowest, surest.reason, tuple(map(str, paths))))
    return _best_first(together)


def _best_first(recognitions: Sequence[Recognition]) -> list[Recognition]:
    return sorted(recognitions, key=lambda recognition: -recognition.confidence)


def importers_named(text: str) -> list[Importer]:
    """Return the importers of a `KIND`, or that of a `KIND/NAME`.

    Raises BadInput for an unknown name; the message suggests the nearest known one.
    """
    importers = [entry for entry in IMPORTERS.values() if text in (entry.kind, entry.key)]
    if not importers:
        names = [*IMPORT_KINDS, *IMPORTERS]
        raise BadInput(
            f"There is no kind of file “{shorten(text, 40)}”.{suggest_name(text, names)}"
        )
    return importers


def _unknown_format_message(head: FileHead) -> str:
    """Return the reason why a file has no known format.

    It has advice if the suffix of the file is known.
    """
    if head.has_several_files:
        return f"{head.name} holds no file that can be read."
    if head.suffix in SUFFIX_ADVICE:
        return f"{head.name} cannot be read. {SUFFIX_ADVICE[head.suffix]}"
    if head.suffix in OTHER_FORMATS:
        return f"{head.name} cannot be read. Save it as {OTHER_FORMATS[head.suffix]} first."
    text, fault = head.text_or_fault
    if not text.strip():
        return fault or f"{head.name} is empty."  # but for a byte order mark
    first_line = shorten(next(iter(head.lines), ""), 60)
    return f"{head.name} has no known format. It begins with “{first_line}”."
