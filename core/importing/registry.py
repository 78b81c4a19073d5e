"""The registry of importers: one for each format, built from the tables of each kind."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import core.importing.sniffing as format_guesses
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
from core.importing.file_head import FileHead
from core.importing.importer import Guess, Importer, ImportRequest, KindName, ReadFile
from core.io.files import PACKED
from core.questions import GOLD, read_file
from core.questions.reading import CSV
from core.questions.reading import FORMATS as QUESTION_FORMATS
from core.questions.reading import MAX_BYTES as MAX_QUESTION_BYTES
from core.questions.rows import ROW_FORMATS
from core.retrievers.runs.formats import FORMATS as RUN_FORMATS
from core.retrievers.runs.formats import TREC, read_run_file
from core.runtime.row_files import ARROW, COLUMNAR

FILES_OF_ROWS = "JSON, Parquet, Arrow"
ROW_SUFFIXES = (".json", ".jsonl", ".ndjson", *COLUMNAR)


def _triples(asked: ImportRequest) -> ReadFile:
    several, first = len(asked.paths) > 1, asked.paths[0]
    if asked.format == format_guesses.NODES and not several:
        raise BadInput(f"{first.name} is a table of nodes; bring it with the file of edges.")
    format = asked.format if asked.format in GRAPH_FORMATS and not several else AUTO
    with tempfile.TemporaryDirectory() as folder:
        source = graph_files(
            asked.paths, Path(folder), format=format, most=asked.most, encoding=asked.encoding
        )
        items = tuple(source.read(asked.watch))
    return ReadFile(items, counted(len(items), "triple"), tuple(source.tally.sentences()))


def _documents(asked: ImportRequest) -> ReadFile:
    _check_sizes(asked)
    found = read_files(asked.paths, None, asked.watch, asked.encoding)
    words = counted(len(found.documents), "document")
    return ReadFile(tuple(found.documents), words, tuple(found.notes))


def _published(asked: ImportRequest) -> ReadFile:
    _check_sizes(asked)
    name = asked.paths[0].name
    form = asked.format if len(asked.paths) == 1 else FILES
    found = found_in(name.split(".")[0], asked.paths, None, form, "", asked.watch, asked.encoding)
    if not found.documents:
        raise BadInput(f"{name} holds no documents.")
    questions = sum(len(one.questions) for one in found.sets.values())
    words = f"{counted(len(found.documents), 'document')}, {counted(questions, 'question')}"
    notes = (*found.notes, *filter(None, (one.note() for one in found.sets.values())))
    return ReadFile(tuple(found.documents), words, notes)


def _questions(asked: ImportRequest) -> ReadFile:
    found = read_file(
        asked.paths[0],
        format=asked.format,
        most=asked.most or MAX_QUESTION_BYTES,
        watch=asked.watch,
        gold=GOLD,
        encoding=asked.encoding,
    )
    words = counted(len(found.questions), "question")
    return ReadFile(found.questions, words, tuple(filter(None, [found.note()])))


def _run(asked: ImportRequest) -> ReadFile:
    _check_sizes(asked)
    found = read_run_file(asked.paths[0], asked.format, asked.watch, asked.encoding)
    return ReadFile(found.rows, counted(len(found.rows), "question"), found.notes)


def _index(asked: ImportRequest) -> ReadFile:
    _check_sizes(asked)
    taken = look(asked.paths[0], asked.watch)
    return ReadFile(tuple(taken.counts.items()), taken.words(), tuple(taken.sentences()))


def _cases(asked: ImportRequest) -> ReadFile:
    _check_sizes(asked)
    found = []
    for case, _ in read_cases(bytes_of(file_at(asked.paths[0]), MAX_CASE_TEXT)):
        asked.watch.check()
        found.append(case)
    return ReadFile(tuple(found), counted(len(found), "comparison"))


def _database(asked: ImportRequest) -> ReadFile:
    raise BadInput("A database is read as it is copied; give its address to `build`.")


def _check_sizes(asked: ImportRequest) -> None:
    """Raise BadInput if a file holds too much text, for readers that take no bound."""
    if asked.most is None:
        return
    for path in asked.paths:
        if path.is_file():
            bytes_of(file_at(path), asked.most)


Guessing = Callable[[FileHead], Mapping[str, Guess]]
BY_KIND: dict[KindName, tuple[Guessing, Callable[[ImportRequest], ReadFile]]] = {
    KindName.GRAPH: (format_guesses.graphs, _triples),
    KindName.DOCUMENTS: (format_guesses.documents, _documents),
    KindName.SET: (format_guesses.sets, _published),
    KindName.QUESTIONS: (format_guesses.questions, _questions),
    KindName.RUN: (format_guesses.runs, _run),
    KindName.INDEX: (format_guesses.indexes, _index),
    KindName.CASES: (format_guesses.cases, _cases),
    KindName.DATABASE: (format_guesses.no_guess, _database),
}


def _row(
    kind: KindName, name: str, title: str, suffixes: Sequence[str] = (), **about: str
) -> Importer:
    usual = {"example": f"{kind}/{name}{next(iter(suffixes), '.txt')}"}
    guesses, read = BY_KIND[kind]
    return Importer(kind, name, title, tuple(suffixes), guesses, read, **(usual | about))


def _graphs() -> Iterator[Importer]:
    row = partial(_row, KindName.GRAPH)
    for name, one in GRAPH_FORMATS.items():
        about = {"tools": one.tools, "taken": one.taken, "left": one.left}
        yield row(name, one.title, one.suffixes, **about)
    nodes = {"example": "graph/nodes.csv", "taken": "ids, labels, types, descriptions"}
    yield row(format_guesses.NODES, "A table of nodes beside edges", **nodes)
    yield row(format_guesses.ZIPPED, "A zip of files of a graph", [ZIP], taken="its files")
    yield row(
        format_guesses.CRAG, "CRAG's folder cragkg", example="", taken="facts of its databases"
    )


def _texts() -> Iterator[Importer]:
    for name, (title, suffixes, taken) in format_guesses.FAMILIES.items():
        yield _row(KindName.DOCUMENTS, name, title, suffixes, taken=taken)
    ends = {published.BEIR: [ZIP], published.PASSAGE_ROWS: ARROW, published.BOOK: [".txt"]}
    for name, words in published.TITLES.items():
        title = words[0].upper() + words[1:]
        yield _row(KindName.SET, name, title, ends.get(name, ROW_SUFFIXES))
    for name, tool in TOOLS.items():
        about = {"tools": tool.versions, "taken": tool.taken, "left": tool.left}
        yield _row(KindName.INDEX, name, tool.title, [ZIP], files=tool.known_by, **about)


def _questions_and_runs() -> Iterator[Importer]:
    for name, words in QUESTION_FORMATS.items():
        title, _, taken = words.partition(": ")
        rows = name in ROW_FORMATS
        text_ends = (".csv", ".tsv") if name == CSV else (".txt", ".tsv")
        about = {"taken": taken, "files": FILES_OF_ROWS if rows else ""}
        yield _row(KindName.QUESTIONS, name, title, ROW_SUFFIXES if rows else text_ends, **about)
    for name, one in RUN_FORMATS.items():
        ends = [".trec", ".run", ".txt"] if name == TREC else [*ROW_SUFFIXES, ".csv"]
        about = {"tools": one.written_by, "taken": one.taken, "left": one.left}
        files = "" if name == TREC else f"{FILES_OF_ROWS}, CSV"
        yield _row(KindName.RUN, name, one.title, ends, files=files, **about)
    yield _row(KindName.CASES, "cases", "Comparisons that were exported", [EXTENSION])


def _databases() -> Iterator[Importer]:
    endpoints = (f"{SPARQL}+https", f"{SPARQL}+http", "https", "http")
    yield _database_row(SPARQL, "A SPARQL endpoint", endpoints)
    yield _database_row(BOLT, "Neo4j and what else speaks Bolt and Cypher", CYPHER)


def _database_row(name: str, title: str, schemes: Sequence[str]) -> Importer:
    addresses = [f"{scheme}://" for scheme in schemes]
    return _row(KindName.DATABASE, name, title, addresses, example="")


IMPORTERS = {one.key: one for one in (*_graphs(), *_texts(), *_questions_and_runs(), *_databases())}
"""All importers by kind and name, such as `graph/turtle`."""
SUFFIXES = (
    *PACKED,
    *dict.fromkeys(end for one in IMPORTERS.values() for end in one.suffixes if end[0] == "."),
)
"""The suffixes of all files that can be read."""
