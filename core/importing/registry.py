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
from core.corpus.readers.files import FAMILIES, read_files
from core.corpus.readers.options import counted
from core.corpus.readers.packed import bytes_of, file_at
from core.databases.address import BOLT, CYPHER, SPARQL
from core.datasets.graph_files import ZIP, graph_files
from core.errors import BadInput
from core.graph.readers.formats import AUTO
from core.graph.readers.formats import FORMATS as GRAPH_FORMATS
from core.importing import sniffing
from core.importing.importer import (
    CASES,
    DATABASE,
    DOCUMENTS,
    GRAPH,
    INDEX,
    QUESTIONS,
    RUN,
    SET,
    Importer,
    ReadFile,
)
from core.io.files import PACKED
from core.questions import GOLD, read_file
from core.questions.reading import FORMATS as QUESTION_FORMATS
from core.questions.reading import MAX_BYTES as MAX_QUESTION_BYTES
from core.questions.rows import ROW_FORMATS
from core.retrievers.runs.formats import FORMATS as RUN_FORMATS
from core.retrievers.runs.formats import TREC, read_run_file
from core.runtime.row_files import COLUMNAR
from core.watch import Watch

ROW_SUFFIXES = (".json", ".jsonl", ".ndjson", *COLUMNAR)
FAMILY_TITLES = {
    "txt": ("Plain text", ""),
    "md": ("Markdown", "headings; the text is not changed"),
    "html": ("HTML", "headings; scripts, styles, the head and what a browser hides are dropped"),
    "pdf": ("PDF", "pages: `page 3`"),
    "docx": ("Word", "headings; a row of a table is a line, its cells separated by a bar"),
    "xlsx": (
        "Excel",
        "a document for each row where the first row names a column of texts, else one document, "
        "its sheets as places",
    ),
    "pptx": ("PowerPoint", "slides: `slide 3 Results`"),
    "epub": ("Books", "headings"),
    "eml": ("Mails", ""),
    "ipynb": ("Notebooks", "headings of the text cells"),
    "csv": ("Tables", "a document for each row"),
    "jsonl": ("JSON rows", "a document for each row"),
    "parquet": ("Parquet and Arrow", "a document for each row; of Arrow by its title"),
}
"""What a family of documents is called, and what marks a place in them."""
SET_TITLES = {
    published.ROWS: "Questions with their passages",
    published.PASSAGE_ROWS: "Passages with their titles",
    published.GRAPHRAG_BENCH: "GraphRAG-Bench",
    published.BEIR: "BEIR",
    "book": "One plain text as a book",
}


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
        example = f"{GRAPH}/{name}{next(iter(one.suffixes), '.txt')}"
        yield Importer(GRAPH, name, one.title, one.suffixes, of(name), read, example, **about)
    for name, title, suffixes, example, taken in (
        (sniffing.NODES, "A table of nodes beside edges", (), f"{GRAPH}/nodes.csv", "ids, labels"),
        (sniffing.ZIPPED, "A zip of files of a graph", (ZIP,), f"{GRAPH}/zip.zip", "its files"),
        (sniffing.CRAG, "CRAG's folder cragkg", (), "", "facts of databases and tables"),
    ):
        read = partial(_triples, name)
        yield Importer(GRAPH, name, title, suffixes, of(name), read, example, taken=taken)


def _document_rows() -> Iterator[Importer]:
    of = partial(sniffing.by_kind, sniffing.documents)
    for name, suffixes in FAMILIES.items():
        title, taken = FAMILY_TITLES[name]
        example = f"{DOCUMENTS}/{name}{suffixes[0]}"
        yield Importer(DOCUMENTS, name, title, suffixes, of(name), _documents, example, taken=taken)
    files = sniffing.FILES
    title = "A folder or a zip of documents"
    example = f"{DOCUMENTS}/{files}{ZIP}"
    yield Importer(DOCUMENTS, files, title, (ZIP,), of(files), _documents, example)


def _set_rows() -> Iterator[Importer]:
    of = partial(sniffing.by_kind, sniffing.sets)
    suffixes = {published.BEIR: (ZIP,), published.PASSAGE_ROWS: (".arrow",), "book": (".txt",)}
    for name, title in SET_TITLES.items():
        ends = suffixes.get(name, ROW_SUFFIXES)
        example, taken = f"{SET}/{name}{ends[0]}", published.TITLES.get(name, "")
        read = partial(_published, name)
        yield Importer(SET, name, title, ends, of(name), read, example, taken=taken)


def _question_rows() -> Iterator[Importer]:
    of = partial(sniffing.by_kind, sniffing.questions)
    for name, words in QUESTION_FORMATS.items():
        title, _, taken = words.partition(": ")
        text = (".csv", ".tsv") if name == "csv" else (".txt", ".tsv")
        suffixes = ROW_SUFFIXES if name in ROW_FORMATS else text
        read, example = partial(_questions, name), f"{QUESTIONS}/{name}{suffixes[0]}"
        yield Importer(QUESTIONS, name, title, suffixes, of(name), read, example, taken=taken)


def _run_rows() -> Iterator[Importer]:
    of = partial(sniffing.by_kind, sniffing.runs)
    for name, one in RUN_FORMATS.items():
        about = {"tools": one.written_by, "taken": one.taken, "left": one.left}
        suffixes = (".trec", ".run", ".txt") if name == TREC else (*ROW_SUFFIXES, ".csv")
        read, example = partial(_run, name), f"{RUN}/{name}{suffixes[0]}"
        yield Importer(RUN, name, one.title, suffixes, of(name), read, example, **about)


def _index_rows() -> Iterator[Importer]:
    of = partial(sniffing.by_kind, sniffing.indexes)
    for name, one in TOOLS.items():
        about = {"tools": one.versions, "taken": one.taken, "left": one.left}
        example = f"{INDEX}/{name}{ZIP}"
        yield Importer(INDEX, name, one.title, (ZIP,), of(name), _index, example, **about)


def _other_rows() -> Iterator[Importer]:
    title = "Comparisons that were exported"
    example = f"{CASES}/case{EXTENSION}"
    yield Importer(CASES, "cases", title, (EXTENSION,), sniffing.cases, _cases, example)
    schemes = (f"{SPARQL}+https", f"{SPARQL}+http", "https", "http")
    for name, title, ends in (
        (SPARQL, "A SPARQL endpoint", schemes),
        (BOLT, "Neo4j and what else speaks Bolt and Cypher", CYPHER),
    ):
        addresses = tuple(f"{end}://" for end in ends)
        yield Importer(DATABASE, name, title, addresses, sniffing.no_guess, _database)


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
