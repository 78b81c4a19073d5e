"""Recognise formats by file names and content, with a confidence for each.

There is one function for each kind of import. Each takes the head of a file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath

from core.cases.file import EXTENSION, FILE_KIND
from core.corpus import published
from core.corpus.beir import is_beir
from core.corpus.indexes.tools import TOOLS, recognised
from core.corpus.published import BEIR, ROWS, form_of_rows
from core.corpus.readers.files import KINDS as DOCUMENT_SUFFIXES
from core.corpus.readers.table import guessed
from core.errors import BadInput
from core.graph.readers.crag import is_crag
from core.graph.readers.delimited import bare_key, header_of
from core.graph.readers.formats import FORMATS as GRAPH_FORMATS
from core.graph.readers.json_graphs import EXTRACTED, LINKS, is_property_graph, triple_keys
from core.graph.readers.node_tables import IDS, LABELS
from core.importing.file_head import FileHead, Row
from core.importing.importer import NO_GUESS, Guess
from core.io.files import bare
from core.io.json_rows import HOLDS_ROWS
from core.questions.forms import rows_within, usual_name
from core.questions.reading import CSV, TOPICS, format_of_lines
from core.questions.rows import ANSWERS, QUESTIONS, format_of_row
from core.questions.table import separator
from core.retrievers.runs.formats import (
    ANSWER_KEYS,
    CONTEXT_KEYS,
    HELD,
    PREDICTIONS,
    TREC,
    format_of_rows,
)
from core.retrievers.runs.formats import FORMATS as RUN_FORMATS
from core.retrievers.runs.trec import is_run
from core.runtime.row_files import COLUMNAR

Guesses = dict[str, Guess]  # by format name within the kind
CRAG, NODES, ZIPPED, FILES = "crag", "nodes", "zip", "files"
SURE, LIKELY, POSSIBLE, UNLIKELY = 0.95, 0.8, 0.5, 0.2
MAX_QUERY_LETTERS = 200  # letters of a query's line; longer lines are passages with their ids
MOST_LINES = 0.8  # share of the first lines that must fit a format
COLUMN_FORMATS = {".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow"}
BY_SEPARATOR = {"\t": "tab", "|": "bar", ",": "comma", ";": "semicolon"}
BEGINNINGS = {
    "graphml": r"<graphml\b",
    "gexf": r"<gexf\b",
    "rdfxml": r"<rdf:RDF\b",
    "turtle": r"^\s*(@prefix|PREFIX)\s",
    "ntriples": r"\A\s*(<\w+:[^>\s]+>|_:\S+)\s+<\w+:[^>\s]+>\s",
    "gml": r"\bgraph\s*\[",
    "pajek": r"\A\s*\*vertices\b",
}
"""For each graph format, a pattern that matches the beginning of its texts."""
FAMILIES = {
    "txt": ("Plain text", (".txt", ".text", ".rst", ".tex", ".log"), ""),
    "md": ("Markdown", (".md", ".markdown"), "headings; the text is not changed"),
    "html": (
        "HTML",
        (".html", ".htm", ".xhtml"),
        "headings; scripts, styles and what is hidden are left out",
    ),
    "pdf": ("PDF", (".pdf",), "pages: `page 3`"),
    "docx": ("Word", (".docx",), "headings; a row of a table is a line, a bar between its cells"),
    "xlsx": ("Excel", (".xlsx",), "a document for each row of a column of texts, else sheets"),
    "pptx": ("PowerPoint", (".pptx",), "slides: `slide 3 Results`"),
    "epub": ("Books", (".epub",), "headings"),
    "eml": ("Mails", (".eml",), ""),
    "ipynb": ("Notebooks", (".ipynb",), "headings of the text cells"),
    "csv": ("Tables", (".csv", ".tsv"), "a document for each row"),
    "jsonl": ("JSON rows", (".jsonl", ".ndjson", ".json"), "a document for each row"),
    "parquet": ("Columns", COLUMNAR, "a document for each row; of Arrow by its title"),
    FILES: ("A folder or a zip of documents", (".zip",), "as of its files"),
}
"""Families of documents: the title, suffixes and kind of places of each."""
TABLES = ("csv", "jsonl", "parquet")  # families in which each row is a document
LINES = {CSV: "its first row names a question", TOPICS: "it begins as TREC's topics do"}
OF_LINES = "its lines have this form"
OWN_QUESTIONS = (*QUESTIONS[:-1], "RawQuestion", "utterance")  # keys that only questions have


def _ends(head: FileHead) -> str:
    return f"its name ends in {head.suffix}"


def _records(head: FileHead) -> Sequence[Row]:
    """Return the first rows of JSON, or of a table with a header.

    If the first JSON object holds a list of objects under a known key, that list is returned.
    """
    if not head.rows:
        return [dict(zip(head.header, cells)) for cells in head.table[1:4]]
    for key in (*HOLDS_ROWS, *HELD, "docs"):
        held = head.rows[0].get(key)
        if isinstance(held, list) and held and all(isinstance(one, Mapping) for one in held):
            return held
    return head.rows


@lru_cache(4)
def graphs(head: FileHead) -> Guesses:
    """Return the graph formats that a head may have."""
    if head.is_several:
        return _several_graphs(head)
    found = _tables_of_triples(head) | _json_graphs(head)
    for name, one in GRAPH_FORMATS.items():
        own = not (one.delimited or one.table or name == "rows")
        if own and head.suffix in one.suffixes:
            return {name: Guess(SURE if head.text else UNLIKELY, _ends(head))}
    for name, pattern in BEGINNINGS.items():
        if re.search(pattern, head.text[:2000], re.IGNORECASE | re.MULTILINE):
            found[name] = Guess(LIKELY, f"it begins as {GRAPH_FORMATS[name].title} does")
    return found


def _several_graphs(head: FileHead) -> Guesses:
    if is_crag(head.path):
        return {CRAG: Guess(SURE, "it holds the files of CRAG's graphs")}
    known = {suffix for one in GRAPH_FORMATS.values() for suffix in one.suffixes}
    suffixes = {PurePosixPath(bare(name.lower())).suffix for name in head.files}
    fits = suffixes & known if head.suffix == ".zip" else set()
    only_graphs = fits - DOCUMENT_SUFFIXES
    if not fits:
        return {}
    reason = f"it holds files that end in {', '.join(sorted(only_graphs or fits))}"
    return {ZIPPED: Guess(LIKELY if only_graphs else POSSIBLE, reason)}


def _tables_of_triples(head: FileHead) -> Guesses:
    """Return guesses for delimited text, Parquet, Arrow and tables of nodes."""
    form = COLUMN_FORMATS.get(head.suffix) or BY_SEPARATOR.get(head.separator, "")
    if not form or not head.header:
        return {}
    columns = header_of(head.header, head.table[1:])
    if columns is not None:
        shown = ", ".join(head.header[at - 1] for at in columns)
        return {form: Guess(SURE, f"its columns {shown} are head, relation and tail")}
    found = _lines_of_three(head, form)
    if not {*IDS, *LABELS}.isdisjoint(map(bare_key, head.header)):
        found[NODES] = Guess(0.3, "its columns are those of nodes; edges have to come too")
        found |= {form: replace(found[form], confidence=UNLIKELY)} if form in found else {}
    return found


def _lines_of_three(head: FileHead, form: str) -> Guesses:
    three = sum(len(cells) == 3 for cells in head.table)
    if not three or three < MOST_LINES * len(head.table):
        return {}
    sure = LIKELY if form in ("tab", "bar") else POSSIBLE
    named = separator(head.lines[0]) or guessed(head.header).get("text")
    found = {form: Guess(UNLIKELY if named else sure, "its lines hold three columns")}
    if form == "tab" and '"' in head.text:
        found["tab-quoted"] = Guess(POSSIBLE, "its lines hold tabs and quotes")
    return found


def _json_graphs(head: FileHead) -> Guesses:
    records = _records(head) if head.rows and head.suffix not in COLUMNAR else ()
    if not records:
        return {}
    whole, first = head.rows[0], records[0]
    if is_property_graph(first) or (
        "elements" in whole or any(key in whole for key in LINKS) and "nodes" in whole
    ):
        return {"rows": Guess(SURE, "it holds nodes and links")}
    if isinstance(whole.get("graph"), Mapping):
        return {"rows": Guess(LIKELY, "it holds a graph of nodes and links")}
    if EXTRACTED in first:
        return {"rows": Guess(SURE, f"its rows hold “{EXTRACTED}”")}
    if "graph" in first:
        return {"rows": Guess(POSSIBLE, "its rows bring graphs along")}
    keys = triple_keys(first)
    if keys is not None:
        return {"rows": Guess(SURE, f"its keys {', '.join(keys)} are head, relation and tail")}
    return {}


@lru_cache(4)
def documents(head: FileHead) -> Guesses:
    """Return the families of documents that a head may belong to, by suffix."""
    if head.is_several:
        suffixes = {PurePosixPath(bare(name.lower())).suffix for name in head.files}
        fits = sorted(suffixes & DOCUMENT_SUFFIXES)
        return {FILES: Guess(LIKELY, f"it holds {', '.join(fits[:6])}")} if fits else {}
    name = next((name for name, family in FAMILIES.items() if head.suffix in family[1]), "")
    if not name:
        return {}
    if name in TABLES:
        column = guessed(head.header).get("text")
        if column:
            return {name: Guess(LIKELY, f"its column “{column}” holds texts")}
        return {name: Guess(UNLIKELY, "each of its rows can be a text")}
    return {name: Guess(POSSIBLE if name == "txt" else SURE, _ends(head))}


@lru_cache(4)
def sets(head: FileHead) -> Guesses:
    """Return the forms of published sets that a head may have."""
    if head.is_several:
        return _several_sets(head)
    if head.suffix == ".txt":
        return {"book": Guess(0.1, "it may be one text")}
    records = _records(head)
    form = form_of_rows(head.suffix, records) if head.rows else ""
    if form != ROWS:
        return {form: Guess(SURE, published.TITLES[form])} if form else {}
    of_run = format_of_rows(records) not in ("", "rows", PREDICTIONS)
    named = any(one.title or one.whole for one in published.passages_of(records))
    sure = UNLIKELY if of_run else SURE if named else POSSIBLE
    return {form: Guess(sure, "its rows bring their passages along")}


def _several_sets(head: FileHead) -> Guesses:
    """Recognise BEIR's form by the names of the files in a folder or zip."""
    texts, asked = _folders_with(head, "corpus"), _folders_with(head, "queries")
    if is_beir(head.path) or texts & asked:
        return {BEIR: Guess(SURE, "it holds a corpus and queries in the form of BEIR")}
    return {}


def _folders_with(head: FileHead, part: str) -> set[str]:
    """Return the folders that hold a file of the given part of BEIR's form."""
    split = (name.rpartition("/") for name in head.files)
    return {folder for folder, _, name in split if name.startswith(f"{part}.")}


@lru_cache(4)
def questions(head: FileHead) -> Guesses:
    """Return the question formats that a head may have."""
    if head.is_several or not (head.rows or head.lines):
        return {}
    if head.rows:
        return _question_rows(_records(head))
    name, share = format_of_lines(head.name, head.lines)
    if share < MOST_LINES:
        return {}
    asked = {CSV: {"question", "questions", "query"} & set(map(usual_name, head.header))}
    asked["queries"] = {line for line in head.lines if len(line) < MAX_QUERY_LETTERS}
    asked["metaqa"] = {sign for sign in "[?" for line in head.lines if sign in line}
    return {name: Guess(SURE if asked.get(name, True) else UNLIKELY, LINES.get(name, OF_LINES))}


def _question_rows(records: Sequence[Row]) -> Guesses:
    for row in (one for record in records for one in rows_within(record)):
        key = next((key for key in OWN_QUESTIONS if key in row), "")
        if key:
            sure = LIKELY if any(name in row for name in ANSWERS) else POSSIBLE
            return {format_of_row(row): Guess(sure, f"its rows hold “{key}”")}
    return {}


@lru_cache(4)
def runs(head: FileHead) -> Guesses:
    """Return the formats of finished runs that a head may have."""
    if head.is_several:
        return {}
    if not head.rows and head.lines and all(map(is_run, head.lines)):
        return {TREC: Guess(SURE, "its lines hold the six columns of a run")}
    records = _records(head)
    name = format_of_rows(records)
    if name == PREDICTIONS:
        of_scorer = isinstance(records[0].get("answer"), Mapping)
        sure = SURE if of_scorer else UNLIKELY if records is head.rows else 0.0
        return {name: Guess(sure, "it holds a text for each key")}
    if not name:
        return {}
    found = sorted(RESULT_KEYS & records[0].keys())
    sure = LIKELY + 0.05 if found else POSSIBLE
    if name == "rows" and sets(head).get(ROWS, NO_GUESS).confidence >= sure:
        sure = UNLIKELY
    known = name not in ("rows", "ragas")
    words = f"its rows hold {', '.join(found[:3]) or RUN_FORMATS[name].taken}"
    return {name: Guess(0.9 if known else sure, words)}


RESULT_KEYS = frozenset({*CONTEXT_KEYS, *ANSWER_KEYS, "results"}) - {"answer"}


@lru_cache(4)
def indexes(head: FileHead) -> Guesses:
    """Return the tool whose index a head is, by the names of its files."""
    try:
        tool, _ = recognised(
            dict(head.files) or {head.name: None},  # type: ignore[dict-item]
            head.name,
        )
    except BadInput:
        return {}
    return {tool: Guess(0.98, f"it holds {TOOLS[tool].known_by}")}


def cases(head: FileHead) -> Guesses:
    """Return the confidence that a head is a file of saved comparisons."""
    if head.rows and head.rows[0].get("kind") == FILE_KIND:
        return {"cases": Guess(1.0, "its first line says so")}
    return {"cases": Guess(POSSIBLE, _ends(head))} if head.name.endswith(EXTENSION) else {}


def no_guess(head: FileHead) -> Guesses:
    """Return no guess, for kinds that are recognised by their address alone."""
    return {}
