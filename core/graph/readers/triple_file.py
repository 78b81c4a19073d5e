"""Reader of the triples of a graph in files of any format.

The user's settings come with the files.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path as FilePath
from typing import Any

from core.errors import BadInput, shorten
from core.graph.readers.attributes import Attributes
from core.graph.readers.edge_list import DEFAULT_RELATION
from core.graph.readers.formats import AUTO_TRIPLE_FORMAT, format_named, format_of
from core.graph.readers.node_tables import is_node_table, name_ends
from core.graph.readers.rdf import LITERAL_TRIPLES, check_language, check_literals, is_label_file
from core.graph.readers.skip_report import Tally
from core.graph.readers.source import Triple, TripleSource
from core.watch import NO_WATCH, Watch

MEMORY_TEXT = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?")


@dataclass(frozen=True)
class TripleFile:
    """A file of triples and the settings with which it is read.

    The command line and the pages make one, and `core.graph.building.build` reads it. Reading
    raises BadInput, with file and line, for text that cannot be read as triples, and for a file
    without triples.

    Parameters
    ----------
    path : the file, which may be packed (`.gz`, `.zst`).
    format : a name in `FORMATS`; “auto” decides by the suffix, else by the first lines.
    columns : columns of head, relation and tail in delimited text, from 1, if lines hold more
        columns or in another order.
    most : largest number of bytes of text, after unpacking; None for no limit.
    drop : patterns of relations whose triples are left out (`common.*`, `*sameAs*`).
    skips : leave out bad lines; `tally` counts them.
    numbered : nodes and relations are numbers, which become their ids; no names are stored.
    memory : largest memory in bytes for building the graph; None to choose by the file's size.
    keep : retain the files of a stopped build, so that the next one continues it.
    language, labels, literals : for RDF, the language of labels (“none” for identifiers), a file of
        labels, and the use of other literals, one of `rdf.LITERAL_USES`.
    more : further files of edges, which are read after `path` with the same settings.
    nodes : tables of nodes, which name the ends of edges by id or label.
    header : “yes” or “no” if the user says whether the first row of delimited text names its
        columns; empty to detect it.
    encoding : encoding of text that is not UTF-8; empty to detect it.
    tally : receives counts of lines and triples left out, notes and warnings.
    attributes : receives the attributes of nodes and edges.

    >>> import pathlib, tempfile
    >>> from core.graph.readers.triple_file import TripleFile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "films.txt")
    >>> _ = file.write_text("Inception|directed_by|Christopher Nolan")
    >>> list(TripleFile(file).read())
    [('Inception', 'directed_by', 'Christopher Nolan')]
    """

    path: FilePath
    format: str = AUTO_TRIPLE_FORMAT
    columns: tuple[int, int, int] | None = None
    most: int | None = None
    drop: tuple[str, ...] = ()
    skips: bool = False
    numbered: bool = False
    memory: int | None = None
    keep: bool = True
    language: str = ""
    labels: FilePath | None = None
    literals: str = LITERAL_TRIPLES
    more: tuple[FilePath, ...] = ()
    nodes: tuple[FilePath, ...] = ()
    header: str = ""
    encoding: str = ""
    tally: Tally = field(default_factory=Tally, compare=False)
    attributes: Attributes = field(default_factory=Attributes, compare=False)

    def read(self, watch: Watch = NO_WATCH) -> Iterator[Triple]:
        """Yield the triples in the order of the files.

        Those that `drop` leaves out are not yielded. `tally` and `attributes` are filled meanwhile,
        and complete at the end.
        """
        find_pattern = lru_cache(None)(lambda relation: matching_pattern(relation, self.drop))
        self.attributes.clear()
        self.tally.may_skip = self.skips
        relations: set[str] = set()
        try:
            with closing(_triples(self._sources(watch))) as triples:
                for triple in triples:
                    if pattern := self.drop and find_pattern(triple[1]):
                        self.tally.drop(pattern, 1)
                        self.attributes.discard_edge()
                        continue
                    self.attributes.count_triple()
                    if len(relations) < 2:  # two are enough to know that there are several
                        relations.add(triple[1])
                    yield triple
        finally:
            for sentence in self.attributes.sentences():
                self.tally.note(sentence)
            self.warn_of_single_relation(relations)

    def warn_of_single_relation(self, relations: Iterable[str]) -> None:
        """Warn in the tally if the only relation may be wrong.

        The relation may have been read from the wrong column. This is likely if edges have other
        attributes than weights.
        """
        all_relations = tuple(relations)
        if len(all_relations) != 1:
            return
        relation = all_relations[0]
        if self.attributes.n_triples != 1 or relation == DEFAULT_RELATION:
            sentence = self.attributes.single_relation_warning(relation)
            if sentence:
                self.tally.warn(sentence)

    def _sources(self, watch: Watch) -> list[TripleSource]:
        paths = (self.path, *self.more)
        parts = [watch.part(i / len(paths), (i + 1) / len(paths)) for i in range(len(paths))]
        return [
            replace(self.source(part, self.tally), path=path)
            for part, path in zip(parts, paths, strict=True)
        ]

    def source(self, watch: Watch, tally: Tally, form: str = "") -> TripleSource:
        """Return the source of the file.

        `form` is the format if that is known already.
        """
        return TripleSource(
            self.path,
            form or self.format,
            self.columns,
            watch,
            self.most,
            tally,
            language=self.language,
            labels=self.labels,
            literals=self.literals,
            nodes=self.nodes,
            attributes=self.attributes,
            header=self.header,
            encoding=self.encoding,
        )


def _triples(sources: Sequence[TripleSource]) -> Generator[Triple, None, None]:
    """Yield the triples of several files, one file after the other.

    The files share the tables of nodes, which name the ends of edges.
    """
    if not sources[0].nodes:
        for source in sources:
            yield from _read_file(source)
        return
    triples = ((source, triple) for source in sources for triple in _read_file(source))
    yield from name_ends(sources[0], triples)


def _read_file(source: TripleSource) -> Iterator[Triple]:
    """Determine the format of a source, and yield its triples."""
    source.format = format_of(source.path, source.format)
    file_format = format_named(source.format)
    check_language(source.language)
    check_literals(source.literals)
    if source.columns and not (file_format.delimited or file_format.table):
        raise BadInput(
            f"Columns can be chosen in delimited text and tables only; {source.name} is read as "
            f"{file_format.title}."
        )
    has_triples = False
    for triple in file_format.read(source):
        has_triples = True
        yield triple
    if not has_triples:
        raise BadInput(f"{source.name} holds no triples.")


def sort_graph_files(paths: Sequence[FilePath], **how: Any) -> TripleFile:
    """Sort several files of one graph into tables of nodes, labels and edges.

    Tables of nodes are recognised by their columns and added to those in `nodes`. An RDF file with
    only labels becomes the file of labels. `how` holds the settings of the `TripleFile`.

    Raises
    ------
    BadInput
        If no file has edges.
    """
    given_nodes = tuple(how.pop("nodes", ()))
    settings: dict[str, Any] = {"most": how.get("most"), "encoding": how.get("encoding", "")}
    tables: list[FilePath] = []
    edges = list(paths)
    if len(paths) > 1:
        tables = [path for path in paths if is_node_table(TripleSource(path, **settings))]
        edges = [path for path in paths if path not in tables]
        if not how.get("labels"):
            label_files = (path for path in edges if is_label_file(TripleSource(path, **settings)))
            how["labels"] = next(label_files, None)
            edges = [path for path in edges if path != how["labels"]]
    if not edges:
        raise BadInput(
            "None of these files holds edges: they are tables of nodes, or labels; add the file "
            "that holds the edges."
        )
    return TripleFile(edges[0], **how, more=tuple(edges[1:]), nodes=(*given_nodes, *tables))


def matching_pattern(relation: str, patterns: tuple[str, ...]) -> str:
    """Return the first shell pattern that a relation matches.

    The result is empty if there is none. Case counts.
    """
    return next((pattern for pattern in patterns if fnmatchcase(relation, pattern)), "")


def parse_column_numbers(text: str) -> tuple[int, int, int]:
    """Parse column numbers from a text such as `1,2,3`.

    Raises
    ------
    BadInput
        If the text is not three numbers.
    """
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 3 or not all(part.isdecimal() and len(part) < 6 for part in parts):
        raise BadInput(
            "Columns are three different numbers from 1, for head, relation and tail, as in 1,2,3; "
            f"not “{shorten(text)}”."
        )
    return int(parts[0]), int(parts[1]), int(parts[2])


def parse_memory(text: str) -> int:
    """Parse a number of bytes such as 2GiB, 800 MB or 1000000.

    Raises
    ------
    BadInput
        For other texts, and for less than 64 MiB.
    """
    match = MEMORY_TEXT.fullmatch(text.strip().lower())
    # Each letter is a factor of 1024 more: none, k, m, g, t.
    size = int(float(match[1]) * 1024 ** " kmgt".index(match[2] or " ")) if match else 0
    if size < 1 << 26:
        raise BadInput(f"Memory is given as 2GiB, at least 64MiB; not “{shorten(text)}”.")
    return size
