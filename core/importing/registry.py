"""The importers: one row for each format that is read, made of the tables of each kind."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from core.cases.file import EXTENSION
from core.cases.file import MAX_TEXT as MAX_CASE_TEXT
from core.cases.file import read as read_cases
from core.corpus import published
from core.corpus.found import FILES, found_in
from core.corpus.indexes.opening import look
from core.corpus.indexes.tools import TOOLS
from core.corpus.readers.files import read_files
from core.corpus.readers.options import counted
from core.corpus.readers.packed import bytes_of, file_at
from core.databases.address import BOLT, CYPHER, SPARQL
from core.datasets.graph_files import ZIP, graph_files
from core.errors import BadInput
from core.graph.readers.formats import AUTO
from core.graph.readers.formats import FORMATS as GRAPH_FORMATS
from core.importing import sniffing
from core.importing.importer import Importer, KindName, ReadFile
from core.io.files import PACKED
from core.questions import GOLD, read_file
from core.questions.reading import FORMATS as QUESTION_FORMATS
from core.questions.reading import MAX_BYTES as MAX_QUESTION_BYTES
from core.questions.rows import ROW_FORMATS
from core.retrievers.runs.formats import FORMATS as RUN_FORMATS
from core.retrievers.runs.formats import TREC, read_run_file
from core.runtime.row_files import ARROW, COLUMNAR
from core.watch import Watch

FILES_OF_ROWS = "JSON, Parquet, Arrow"
ROW_SUFFIXES = (".json", ".jsonl", ".ndjson", *COLUMNAR)


def _triples(
    name: str, paths: Sequence[Path], watch: Watch, most: int | None, encoding: str
) -> ReadFile:
    if name == sniffing.NODES and len(paths) == 1:
        raise BadInput(f"{paths[0].name} is a table of nodes; bring it with the file of edges.")
    form = name if len(paths) == 1 and name in GRAPH_FORMATS else AUTO
    with tempfile.TemporaryDirectory() as folder:
        source = graph_files(paths, Path(folder), format=form, most=most, encoding=encoding)
        items = tuple(source.read(watch))
    return ReadFile(items, counted(len(items), "triple"), tuple(source.tally.sentences()))


def _documents(paths: Sequence[Path], watch: Watch, most: int | None, encoding: str) -> ReadFile:
    _check_sizes(paths, most)
    found = read_files(paths, None, watch, encoding)
    documents = tuple(found.documents)
    return ReadFile(documents, counted(len(documents), "document"), tuple(found.notes))


def _published(
    name: str, paths: Sequence[Path], watch: Watch, most: int | None, encoding: str
) -> ReadFile:
    _check_sizes(paths, most)
    form = name if len(paths) == 1 else FILES
    found = found_in(paths[0].name.split(".")[0], paths, None, form, "", watch, encoding)
    if not found.documents:
        raise BadInput(f"{paths[0].name} holds no documents.")
    questions = sum(len(one.questions) for one in found.sets.values())
    words = f"{counted(len(found.documents), 'document')}, {counted(questions, 'question')}"
    notes = (*found.notes, *filter(None, (one.note() for one in found.sets.values())))
    return ReadFile(tuple(found.documents), words, notes)


def _questions(
    name: str, paths: Sequence[Path], watch: Watch, most: int | None, encoding: str
) -> ReadFile:
    how = {"most": MAX_QUESTION_BYTES if most is None else most, "encoding": encoding}
    found = read_file(paths[0], format=name, watch=watch, gold=GOLD, **how)
    notes = tuple(filter(None, [found.note()]))
    return ReadFile(found.questions, counted(len(found.questions), "question"), notes)


def _run(
    name: str, paths: Sequence[Path], watch: Watch, most: int | None, encoding: str
) -> ReadFile:
    _check_sizes(paths, most)
    found = read_run_file(paths[0], name, watch, encoding)
    return ReadFile(found.rows, counted(len(found.rows), "question"), found.notes)


def _index(paths: Sequence[Path], watch: Watch, most: int | None, encoding: str) -> ReadFile:
    _check_sizes(paths, most)
    taken = look(paths[0], watch)
    return ReadFile(tuple(taken.counts.items()), taken.words(), tuple(taken.sentences()))


def _cases(paths: Sequence[Path], watch: Watch, most: int | None, encoding: str) -> ReadFile:
    _check_sizes(paths, most)
    found = []
    for case, _ in read_cases(bytes_of(file_at(paths[0]), MAX_CASE_TEXT)):
        watch.check()
        found.append(case)
    return ReadFile(tuple(found), counted(len(found), "comparison"))


def _database(paths: Sequence[Path], watch: Watch, most: int | None, encoding: str) -> ReadFile:
    raise BadInput("A database is read as it is copied; give its address to `build`.")


def _check_sizes(paths: Sequence[Path], most: int | None) -> None:
    """Raise BadInput for a file that unpacks to more than `most` bytes, of readers that take no bound."""
    for path in paths if most is not None else ():
        if path.is_file():
            bytes_of(file_at(path), most)


def _graph_rows() -> Iterator[Importer]:
    of = partial(sniffing.by_kind, sniffing.graphs)
    for name, one in GRAPH_FORMATS.items():
        about = {"tools": one.tools, "taken": one.taken, "left": one.left}
        read = partial(_triples, name)
        example = f"graph/{name}{next(iter(one.suffixes), '.txt')}"
        yield Importer(
            KindName.GRAPH, name, one.title, one.suffixes, of(name), read, example, **about
        )
    for name, title, suffixes, example, taken in (
        (sniffing.NODES, "A table of nodes beside edges", (), "graph/nodes.csv", "ids, labels"),
        (sniffing.ZIPPED, "A zip of files of a graph", (ZIP,), "graph/zip.zip", "its files"),
        (sniffing.CRAG, "CRAG's folder cragkg", (), "", "facts of databases and tables"),
    ):
        read = partial(_triples, name)
        yield Importer(KindName.GRAPH, name, title, suffixes, of(name), read, example, taken=taken)


def _document_rows() -> Iterator[Importer]:
    of = partial(sniffing.by_kind, sniffing.documents)
    for name, (title, suffixes, taken) in sniffing.FAMILIES.items():
        about = {"example": f"documents/{name}{suffixes[0]}", "taken": taken}
        kind = KindName.DOCUMENTS
        yield Importer(kind, name, title, suffixes, of(name), _documents, **about)


def _set_rows() -> Iterator[Importer]:
    of = partial(sniffing.by_kind, sniffing.sets)
    suffixes = {published.BEIR: (ZIP,), published.PASSAGE_ROWS: ARROW, published.BOOK: (".txt",)}
    for name, words in published.TITLES.items():
        title, ends = words[0].upper() + words[1:], suffixes.get(name, ROW_SUFFIXES)
        read, example = partial(_published, name), f"set/{name}{ends[0]}"
        yield Importer(KindName.SET, name, title, ends, of(name), read, example)


def _question_rows() -> Iterator[Importer]:
    of = partial(sniffing.by_kind, sniffing.questions)
    for name, words in QUESTION_FORMATS.items():
        title, _, taken = words.partition(": ")
        text = (".csv", ".tsv") if name == "csv" else (".txt", ".tsv")
        suffixes = ROW_SUFFIXES if name in ROW_FORMATS else text
        read, example = partial(_questions, name), f"questions/{name}{suffixes[0]}"
        about = {"taken": taken, "files": FILES_OF_ROWS if name in ROW_FORMATS else ""}
        yield Importer(KindName.QUESTIONS, name, title, suffixes, of(name), read, example, **about)


def _run_rows() -> Iterator[Importer]:
    of = partial(sniffing.by_kind, sniffing.runs)
    for name, one in RUN_FORMATS.items():
        about = {"tools": one.written_by, "taken": one.taken, "left": one.left}
        suffixes = (".trec", ".run", ".txt") if name == TREC else (*ROW_SUFFIXES, ".csv")
        about["files"] = "" if name == TREC else f"{FILES_OF_ROWS}, CSV"
        read, example = partial(_run, name), f"run/{name}{suffixes[0]}"
        yield Importer(KindName.RUN, name, one.title, suffixes, of(name), read, example, **about)


def _index_rows() -> Iterator[Importer]:
    of = partial(sniffing.by_kind, sniffing.indexes)
    for name, one in TOOLS.items():
        about = {"tools": one.versions, "taken": one.taken, "left": one.left}
        about["files"] = one.known_by
        example = f"index/{name}{ZIP}"
        yield Importer(KindName.INDEX, name, one.title, (ZIP,), of(name), _index, example, **about)


def _other_rows() -> Iterator[Importer]:
    title = "Comparisons that were exported"
    example = f"cases/case{EXTENSION}"
    yield Importer(KindName.CASES, "cases", title, (EXTENSION,), sniffing.cases, _cases, example)
    schemes = (f"{SPARQL}+https", f"{SPARQL}+http", "https", "http")
    for name, title, ends in (
        (SPARQL, "A SPARQL endpoint", schemes),
        (BOLT, "Neo4j and what else speaks Bolt and Cypher", CYPHER),
    ):
        addresses = tuple(f"{end}://" for end in ends)
        yield Importer(KindName.DATABASE, name, title, addresses, sniffing.no_guess, _database)


IMPORTERS: dict[str, Importer] = {
    one.key: one
    for rows in (
        _graph_rows,
        _document_rows,
        _set_rows,
        _question_rows,
        _run_rows,
        _index_rows,
        _other_rows,
    )
    for one in rows()
}
"""Every importer by its kind and name: `graph/turtle`."""
SUFFIXES = tuple(
    dict.fromkeys(
        suffix
        for one in IMPORTERS.values()
        for suffix in (*one.suffixes, *PACKED)
        if suffix.startswith(".")
    )
)
"""The ends of the names of all files that are read."""
