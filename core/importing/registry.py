"""Registry of importers, made from the tables of formats of each kind."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import core.importing.format_guesses as format_guesses
from core.cases.file import CASES_EXTENSION, read_cases
from core.cases.file import MAX_UNPACKED_CASES_BYTES as MAX_CASE_TEXT
from core.corpus import published_corpora
from core.corpus.file_content import FILES_FORM, read_content
from core.corpus.indexes.opened_indexes import preview_index
from core.corpus.indexes.tools import TOOLS
from core.corpus.readers.file_sources import disk_file, read_bytes
from core.corpus.readers.files import read_files
from core.corpus.readers.options import count_with_noun
from core.databases.address import BOLT, BOLT_SCHEMES, SPARQL
from core.datasets.graph_files import ZIP_SUFFIX, open_graph_files
from core.errors import BadInput
from core.graph.readers.formats import AUTO_TRIPLE_FORMAT
from core.graph.readers.formats import FORMATS as GRAPH_FORMATS
from core.importing.file_head import FileHead
from core.importing.importer import Guess, Importer, ImportRequest, KindName, ReadFile
from core.io.files import PACKED_SUFFIXES
from core.questions import GOLD_KEYS, read_question_file
from core.questions.question_files import CSV_FORMAT
from core.questions.question_files import FORMATS as QUESTION_FORMATS
from core.questions.question_files import MAX_QUESTION_FILE_BYTES as MAX_QUESTION_BYTES
from core.questions.rows import ROW_FORMATS
from core.retrievers.runs.formats import FORMATS as RUN_FORMATS
from core.retrievers.runs.formats import TREC_FORMAT, read_run_file
from core.runtime.row_files import ARROW_SUFFIXES, COLUMNAR_SUFFIXES

FILES_OF_ROWS = "JSON, Parquet, Arrow"
ROW_SUFFIXES = (".json", ".jsonl", ".ndjson", *COLUMNAR_SUFFIXES)


def _read_triples(request: ImportRequest) -> ReadFile:
    # Files that are read together may have several formats, so each is recognised again.
    is_single = len(request.paths) == 1
    if request.format == format_guesses.NODES_FORMAT and is_single:
        name = request.paths[0].name
        raise BadInput(f"{name} is a table of nodes. Add it together with the file of edges.")
    has_format = request.format in GRAPH_FORMATS and is_single
    form = request.format if has_format else AUTO_TRIPLE_FORMAT
    with tempfile.TemporaryDirectory() as folder:
        source = open_graph_files(
            request.paths,
            Path(folder),
            format=form,
            most=request.max_bytes,
            encoding=request.encoding,
        )
        items = tuple(source.read(request.watch))
    return ReadFile(items, count_with_noun(len(items), "triple"), tuple(source.tally.sentences()))


def _read_documents(request: ImportRequest) -> ReadFile:
    _check_sizes(request)
    content = read_files(request.paths, None, request.watch, request.encoding)
    words = count_with_noun(len(content.documents), "document")
    return ReadFile(tuple(content.documents), words, tuple(content.notes))


def _read_published_set(request: ImportRequest) -> ReadFile:
    _check_sizes(request)
    name = request.paths[0].name
    form = request.format if len(request.paths) == 1 else FILES_FORM
    content = read_content(
        name.split(".")[0], request.paths, None, form, "", request.watch, request.encoding
    )
    if not content.documents:
        raise BadInput(f"{name} holds no documents.")
    questions = sum(len(one.questions) for one in content.sets.values())
    words = f"{count_with_noun(len(content.documents), 'document')}, {count_with_noun(questions, 'question')}"
    notes = (*content.notes, *filter(None, (one.note() for one in content.sets.values())))
    return ReadFile(tuple(content.documents), words, notes)


def _read_questions(request: ImportRequest) -> ReadFile:
    question_file = read_question_file(
        request.paths[0],
        format=request.format,
        max_bytes=request.max_bytes or MAX_QUESTION_BYTES,
        watch=request.watch,
        gold=GOLD_KEYS,
        encoding=request.encoding,
    )
    words = count_with_noun(len(question_file.questions), "question")
    return ReadFile(question_file.questions, words, tuple(filter(None, [question_file.note()])))


def _read_run(request: ImportRequest) -> ReadFile:
    _check_sizes(request)
    run_file = read_run_file(request.paths[0], request.format, request.watch, request.encoding)
    return ReadFile(run_file.rows, count_with_noun(len(run_file.rows), "question"), run_file.notes)


def _read_index(request: ImportRequest) -> ReadFile:
    _check_sizes(request)
    preview = preview_index(request.paths[0], request.watch)
    return ReadFile(tuple(preview.counts.items()), preview.words(), tuple(preview.sentences()))


def _read_cases(request: ImportRequest) -> ReadFile:
    _check_sizes(request)
    cases = []
    for case, _ in read_cases(read_bytes(disk_file(request.paths[0]), MAX_CASE_TEXT)):
        request.watch.check()
        cases.append(case)
    return ReadFile(tuple(cases), count_with_noun(len(cases), "comparison"))


def _read_database(request: ImportRequest) -> ReadFile:
    raise BadInput("A database is read as it is copied; give its address to `build`.")


def _check_sizes(request: ImportRequest) -> None:
    """Raise BadInput if a file holds too much text. The check is for readers that take no bound."""
    if request.max_bytes is None:
        return
    for path in request.paths:
        if path.is_file():
            read_bytes(disk_file(path), request.max_bytes)


# For each kind, the function that guesses its formats and the one that reads its files.
GuessFunction = Callable[[FileHead], Mapping[str, Guess]]
ReadFunction = Callable[[ImportRequest], ReadFile]
KIND_HANDLERS: dict[KindName, tuple[GuessFunction, ReadFunction]] = {
    KindName.GRAPH: (format_guesses.guess_graphs, _read_triples),
    KindName.DOCUMENTS: (format_guesses.guess_documents, _read_documents),
    KindName.SET: (format_guesses.guess_sets, _read_published_set),
    KindName.QUESTIONS: (format_guesses.guess_questions, _read_questions),
    KindName.RUN: (format_guesses.guess_runs, _read_run),
    KindName.INDEX: (format_guesses.guess_indexes, _read_index),
    KindName.CASES: (format_guesses.guess_cases, _read_cases),
    KindName.DATABASE: (format_guesses.no_guess, _read_database),
}


def _importer(
    kind: KindName, name: str, title: str, suffixes: Sequence[str] = (), **details: str
) -> Importer:
    """Return an importer; `details` are further fields of it."""
    defaults = {"example": f"{kind}/{name}{next(iter(suffixes), '.txt')}"}
    guess, read = KIND_HANDLERS[kind]
    return Importer(kind, name, title, tuple(suffixes), guess, read, **(defaults | details))


def _graph_importers() -> Iterator[Importer]:
    importer = partial(_importer, KindName.GRAPH)
    for name, one in GRAPH_FORMATS.items():
        details = {"tools": one.tools, "contents": one.contents, "omissions": one.omissions}
        yield importer(name, one.title, one.suffixes, **details)
    details = {"example": "graph/nodes.csv", "contents": "ids, labels, types, descriptions"}
    yield importer(format_guesses.NODES_FORMAT, "A table of nodes beside edges", **details)
    title = "A zip of files of a graph"
    yield importer(format_guesses.ZIP_FORMAT, title, [ZIP_SUFFIX], contents="its files")
    details = {"example": "", "contents": "facts of its databases"}
    yield importer(format_guesses.CRAG_FORMAT, "CRAG's folder cragkg", **details)


def _text_importers() -> Iterator[Importer]:
    for name, (title, suffixes, contents) in format_guesses.DOCUMENT_FAMILIES.items():
        yield _importer(KindName.DOCUMENTS, name, title, suffixes, contents=contents)
    form_suffixes = {
        published_corpora.BEIR_FORM: [ZIP_SUFFIX],
        published_corpora.PASSAGES_FORM: ARROW_SUFFIXES,
        published_corpora.BOOK_FORM: [".txt"],
    }
    for name, words in published_corpora.FORM_TITLES.items():
        title = words[0].upper() + words[1:]
        yield _importer(KindName.SET, name, title, form_suffixes.get(name, ROW_SUFFIXES))
    for name, tool in TOOLS.items():
        details = {"tools": tool.versions, "contents": tool.read_items, "omissions": tool.not_read}
        details["files"] = tool.recognised_by
        yield _importer(KindName.INDEX, name, tool.title, [ZIP_SUFFIX], **details)


def _question_and_run_importers() -> Iterator[Importer]:
    for name, words in QUESTION_FORMATS.items():
        title, _, contents = words.partition(": ")
        details = {"contents": contents}
        suffixes: tuple[str, ...] = (".csv", ".tsv") if name == CSV_FORMAT else (".txt", ".tsv")
        if name in ROW_FORMATS:
            suffixes = ROW_SUFFIXES
            details["files"] = FILES_OF_ROWS
        yield _importer(KindName.QUESTIONS, name, title, suffixes, **details)
    for name, one in RUN_FORMATS.items():
        details = {"tools": one.written_by, "contents": one.read_parts}
        details["omissions"] = one.ignored_parts
        suffixes = (".trec", ".run", ".txt")
        if name != TREC_FORMAT:
            suffixes = (*ROW_SUFFIXES, ".csv")
            details["files"] = f"{FILES_OF_ROWS}, CSV"
        yield _importer(KindName.RUN, name, one.title, suffixes, **details)
    yield _importer(KindName.CASES, "cases", "Comparisons that were exported", [CASES_EXTENSION])


def _database_importers() -> Iterator[Importer]:
    sparql_schemes = (f"{SPARQL}+https", f"{SPARQL}+http", "https", "http")
    for name, title, schemes in (
        (SPARQL, "A SPARQL endpoint", sparql_schemes),
        (BOLT, "Neo4j and what else speaks Bolt and Cypher", BOLT_SCHEMES),
    ):
        prefixes = [f"{scheme}://" for scheme in schemes]
        yield _importer(KindName.DATABASE, name, title, prefixes, example="")


IMPORTERS = {
    one.key: one
    for one in (
        *_graph_importers(),
        *_text_importers(),
        *_question_and_run_importers(),
        *_database_importers(),
    )
}
"""All importers by kind and name, such as `graph/turtle`."""
IMPORT_SUFFIXES = (
    *PACKED_SUFFIXES,
    *dict.fromkeys(end for one in IMPORTERS.values() for end in one.suffixes if end[0] == "."),
)
"""The suffixes of all files that can be read."""
