"""Guesses of formats by file name and content: one function for each kind of import.

A function gets the head of a file, folder or zip and returns the formats of its kind that fit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from pathlib import PurePosixPath

from core.cases.file import CASES_EXTENSION, CASES_FILE_KIND
from core.corpus import published_corpora
from core.corpus.beir import is_beir
from core.corpus.indexes.tools import TOOLS, recognise_tool
from core.corpus.published_corpora import BEIR_FORM, ROWS_FORM, form_of_rows
from core.corpus.readers.files import READABLE_KINDS as DOCUMENT_SUFFIXES
from core.corpus.readers.table import guess_roles
from core.errors import BadInput
from core.graph.readers.crag import is_crag
from core.graph.readers.formats import FORMATS as GRAPH_FORMATS
from core.graph.readers.header_columns import bare_key, find_triple_columns
from core.graph.readers.json_graphs import (
    EXTRACTED_TRIPLES_KEY,
    LINK_LIST_KEYS,
    is_property_graph,
    triple_keys,
)
from core.graph.readers.node_tables import ID_COLUMN_NAMES, LABEL_COLUMN_NAMES
from core.importing.file_head import FileHead, Row
from core.importing.importer import NO_GUESS, Guess
from core.io.files import name_without_packing
from core.io.json_rows import ROW_HOLDER_KEYS
from core.questions.forms import question_rows, usual_name
from core.questions.question_files import CSV_FORMAT, TOPICS_FORMAT, format_of_lines
from core.questions.rows import ANSWER_KEYS_READ, ROW_QUESTION_KEYS, format_of_row
from core.questions.table import find_separator
from core.retrievers.runs.formats import (
    ANSWER_KEYS,
    CONTEXT_KEYS,
    PREDICTIONS_FORMAT,
    ROW_LIST_KEYS,
    TREC_FORMAT,
    format_of_rows,
)
from core.retrievers.runs.formats import FORMATS as RUN_FORMATS
from core.retrievers.runs.trec import is_run_line
from core.runtime.row_files import COLUMNAR_SUFFIXES

Guesses = dict[str, Guess]  # by format name within the kind
CRAG_FORMAT, NODES_FORMAT, ZIP_FORMAT, FILES_FORMAT = "crag", "nodes", "zip", "files"
SURE_CONFIDENCE = 0.95
LIKELY_CONFIDENCE = 0.8
POSSIBLE_CONFIDENCE = 0.5
UNLIKELY_CONFIDENCE = 0.2
MAX_QUERY_LETTERS = 200  # of the line of a query; longer lines are passages with their ids
MIN_FITTING_SHARE = 0.8  # share of the first lines that must fit a format
COLUMN_FORMATS = {".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow"}
SEPARATOR_FORMATS = {"\t": "tab", "|": "bar", ",": "comma", ";": "semicolon"}
GRAPH_FORMAT_PATTERNS = {
    "graphml": r"<graphml\b",
    "gexf": r"<gexf\b",
    "rdfxml": r"<rdf:RDF\b",
    "turtle": r"^\s*(@prefix|PREFIX)\s",
    "ntriples": r"\A\s*(<\w+:[^>\s]+>|_:\S+)\s+<\w+:[^>\s]+>\s",
    "gml": r"\bgraph\s*\[",
    "pajek": r"\A\s*\*vertices\b",
}
"""For each graph format, a pattern that matches the beginning of its texts."""
DOCUMENT_FAMILIES = {
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
    "parquet": ("Columns", COLUMNAR_SUFFIXES, "a document for each row; of Arrow by its title"),
    FILES_FORMAT: ("A folder or a zip of documents", (".zip",), "as of its files"),
}
"""Families of documents by name: the title, the suffixes, and the places to which hits refer."""
ROW_FAMILIES = ("csv", "jsonl", "parquet")  # families in which each row is a document
LINE_FORMAT_REASONS = {
    CSV_FORMAT: "its first row names a question",
    TOPICS_FORMAT: "it begins as TREC's topics do",
}
LINE_FORM_REASON = "its lines have this form"
# Keys that only rows of questions have. The last of `ROW_QUESTION_KEYS`, `text`, is left out.
QUESTION_ONLY_KEYS = (*ROW_QUESTION_KEYS[:-1], "RawQuestion", "utterance")
# Keys that mark a row as one of a finished run.
RUN_RESULT_KEYS = frozenset({*CONTEXT_KEYS, *ANSWER_KEYS, "results"}) - {"answer"}


def _suffix_reason(head: FileHead) -> str:
    return f"its name ends in {head.suffix}"


def _records(head: FileHead) -> Sequence[Row]:
    """Return the first rows of a file of JSON, columns or a table.

    If the first JSON object holds a list of objects under a known key, that list is returned.
    """
    if not head.rows:
        return [dict(zip(head.header, cells)) for cells in head.table[1:4]]
    for key in (*ROW_HOLDER_KEYS, *ROW_LIST_KEYS, "docs"):
        rows = head.rows[0].get(key)
        if isinstance(rows, list) and rows and all(isinstance(row, Mapping) for row in rows):
            return rows
    return head.rows


@lru_cache(4)
def guess_graphs(head: FileHead) -> Guesses:
    """Return the graph formats that a head may have."""
    if head.has_several_files:
        return _guess_several_graphs(head)
    guesses = _guess_triple_tables(head) | _guess_json_graphs(head)
    for name, graph_format in GRAPH_FORMATS.items():
        # The suffixes of tables and rows, such as .csv and .json, are used by other kinds too.
        has_own_suffix = not (graph_format.delimited or graph_format.table or name == "rows")
        if has_own_suffix and head.suffix in graph_format.suffixes:
            confidence = SURE_CONFIDENCE if head.text else UNLIKELY_CONFIDENCE
            return {name: Guess(confidence, _suffix_reason(head))}
    for name, pattern in GRAPH_FORMAT_PATTERNS.items():
        if re.search(pattern, head.text[:2000], re.IGNORECASE | re.MULTILINE):
            reason = f"it begins as {GRAPH_FORMATS[name].title} does"
            guesses[name] = Guess(LIKELY_CONFIDENCE, reason)
    return guesses


def _guess_several_graphs(head: FileHead) -> Guesses:
    """Return guesses for a folder or zip of files of a graph."""
    if is_crag(head.path):
        return {CRAG_FORMAT: Guess(SURE_CONFIDENCE, "it holds the files of CRAG's graphs")}
    known_suffixes = {suffix for one in GRAPH_FORMATS.values() for suffix in one.suffixes}
    graph_suffixes = _suffixes_of_files(head) & known_suffixes
    if head.suffix != ".zip" or not graph_suffixes:
        return {}
    suffixes_of_graphs_only = graph_suffixes - DOCUMENT_SUFFIXES
    confidence = LIKELY_CONFIDENCE if suffixes_of_graphs_only else POSSIBLE_CONFIDENCE
    suffixes = ", ".join(sorted(suffixes_of_graphs_only or graph_suffixes))
    return {ZIP_FORMAT: Guess(confidence, f"it holds files that end in {suffixes}")}


def _suffixes_of_files(head: FileHead) -> set[str]:
    """Return the suffixes of the files in a folder or zip, after unpacking."""
    return {PurePosixPath(name_without_packing(name.lower())).suffix for name in head.files}


def _guess_triple_tables(head: FileHead) -> Guesses:
    """Return guesses for tables of triples and of nodes. The triples are in text or columns."""
    form = COLUMN_FORMATS.get(head.suffix) or SEPARATOR_FORMATS.get(head.separator, "")
    if not form or not head.header:
        return {}
    columns = find_triple_columns(head.header, head.table[1:])
    if columns is not None:
        names = ", ".join(head.header[column - 1] for column in columns)
        return {form: Guess(SURE_CONFIDENCE, f"its columns {names} are head, relation and tail")}
    guesses = _guess_triple_lines(head, form)
    if not {*ID_COLUMN_NAMES, *LABEL_COLUMN_NAMES}.isdisjoint(map(bare_key, head.header)):
        guesses[NODES_FORMAT] = Guess(0.3, "its columns are those of nodes; edges have to come too")
        if form in guesses:
            guesses[form] = replace(guesses[form], confidence=UNLIKELY_CONFIDENCE)
    return guesses


def _guess_triple_lines(head: FileHead, form: str) -> Guesses:
    """Return guesses for lines of three columns without a known header."""
    n_triples = sum(len(cells) == 3 for cells in head.table)
    if not n_triples or n_triples < MIN_FITTING_SHARE * len(head.table):
        return {}
    confidence = LIKELY_CONFIDENCE if form in ("tab", "bar") else POSSIBLE_CONFIDENCE
    # The header has a column of questions or of texts.
    if find_separator(head.lines[0]) or guess_roles(head.header).get("text"):
        confidence = UNLIKELY_CONFIDENCE
    guesses = {form: Guess(confidence, "its lines hold three columns")}
    if form == "tab" and '"' in head.text:
        guesses["tab-quoted"] = Guess(POSSIBLE_CONFIDENCE, "its lines hold tabs and quotes")
    return guesses


def _guess_json_graphs(head: FileHead) -> Guesses:
    """Return guesses for graphs of nodes and links, and for triples, in JSON."""
    records = _records(head) if head.rows and head.suffix not in COLUMNAR_SUFFIXES else ()
    if not records:
        return {}
    head_row, record = head.rows[0], records[0]
    has_links = "nodes" in head_row and any(key in head_row for key in LINK_LIST_KEYS)
    if is_property_graph(record) or "elements" in head_row or has_links:
        return {"rows": Guess(SURE_CONFIDENCE, "it holds nodes and links")}
    if isinstance(head_row.get("graph"), Mapping):
        return {"rows": Guess(LIKELY_CONFIDENCE, "it holds a graph of nodes and links")}
    if EXTRACTED_TRIPLES_KEY in record:
        return {"rows": Guess(SURE_CONFIDENCE, f"its rows hold “{EXTRACTED_TRIPLES_KEY}”")}
    if "graph" in record:
        return {"rows": Guess(POSSIBLE_CONFIDENCE, "its rows bring graphs along")}
    keys = triple_keys(record)
    if keys is None:
        return {}
    reason = f"its keys {', '.join(keys)} are head, relation and tail"
    return {"rows": Guess(SURE_CONFIDENCE, reason)}


@lru_cache(4)
def guess_documents(head: FileHead) -> Guesses:
    """Return the families of documents that a head may belong to, by suffix."""
    if head.has_several_files:
        suffixes = sorted(_suffixes_of_files(head) & DOCUMENT_SUFFIXES)
        if not suffixes:
            return {}
        return {FILES_FORMAT: Guess(LIKELY_CONFIDENCE, f"it holds {', '.join(suffixes[:6])}")}
    names = [name for name, family in DOCUMENT_FAMILIES.items() if head.suffix in family[1]]
    if not names:
        return {}
    name = names[0]
    if name not in ROW_FAMILIES:
        confidence = POSSIBLE_CONFIDENCE if name == "txt" else SURE_CONFIDENCE
        return {name: Guess(confidence, _suffix_reason(head))}
    column = guess_roles(head.header).get("text")
    if column:
        return {name: Guess(LIKELY_CONFIDENCE, f"its column “{column}” holds texts")}
    return {name: Guess(UNLIKELY_CONFIDENCE, "each of its rows can be a text")}


@lru_cache(4)
def guess_sets(head: FileHead) -> Guesses:
    """Return the forms of published sets that a head may have."""
    if head.has_several_files:
        return _guess_beir(head)
    if head.suffix == ".txt":
        return {"book": Guess(0.1, "it may be one text")}
    records = _records(head)
    form = form_of_rows(head.suffix, records) if head.rows else ""
    if form != ROWS_FORM:
        return {form: Guess(SURE_CONFIDENCE, published_corpora.FORM_TITLES[form])} if form else {}
    confidence = POSSIBLE_CONFIDENCE
    if format_of_rows(records) not in ("", "rows", PREDICTIONS_FORMAT):  # rows of a run
        confidence = UNLIKELY_CONFIDENCE
    elif any(one.title or one.is_only_text for one in published_corpora.passages_of_rows(records)):
        confidence = SURE_CONFIDENCE
    return {form: Guess(confidence, "its rows bring their passages along")}


def _guess_beir(head: FileHead) -> Guesses:
    """Recognise BEIR's form by the names of the files in a folder or zip."""
    if is_beir(head.path) or _folders_with(head, "corpus") & _folders_with(head, "queries"):
        reason = "it holds a corpus and queries in the form of BEIR"
        return {BEIR_FORM: Guess(SURE_CONFIDENCE, reason)}
    return {}


def _folders_with(head: FileHead, part: str) -> set[str]:
    """Return the folders with a file of that part of BEIR's form."""
    path_parts = (path.rpartition("/") for path in head.files)
    return {folder for folder, _, name in path_parts if name.startswith(f"{part}.")}


@lru_cache(4)
def guess_questions(head: FileHead) -> Guesses:
    """Return the question formats that a head may have."""
    if head.has_several_files or not (head.rows or head.lines):
        return {}
    if head.rows:
        return _guess_question_rows(_records(head))
    name, share = format_of_lines(head.name, head.lines)
    if share < MIN_FITTING_SHARE:
        return {}
    # Other texts may fit these formats too, so the guess is sure only with a sign of questions.
    has_sign = True
    if name == CSV_FORMAT:
        has_sign = not {"question", "questions", "query"}.isdisjoint(map(usual_name, head.header))
    elif name == "queries":
        has_sign = any(len(line) < MAX_QUERY_LETTERS for line in head.lines)
    elif name == "metaqa":
        has_sign = any("[" in line or "?" in line for line in head.lines)
    confidence = SURE_CONFIDENCE if has_sign else UNLIKELY_CONFIDENCE
    return {name: Guess(confidence, LINE_FORMAT_REASONS.get(name, LINE_FORM_REASON))}


def _guess_question_rows(records: Sequence[Row]) -> Guesses:
    """Return the format of the first row that has a key of questions."""
    for row in chain.from_iterable(map(question_rows, records)):
        key = next((key for key in QUESTION_ONLY_KEYS if key in row), "")
        if key:
            has_answer = any(name in row for name in ANSWER_KEYS_READ)
            confidence = LIKELY_CONFIDENCE if has_answer else POSSIBLE_CONFIDENCE
            return {format_of_row(row): Guess(confidence, f"its rows hold “{key}”")}
    return {}


@lru_cache(4)
def guess_runs(head: FileHead) -> Guesses:
    """Return the formats of finished runs that a head may have."""
    if head.has_several_files:
        return {}
    if not head.rows and head.lines and all(map(is_run_line, head.lines)):
        return {TREC_FORMAT: Guess(SURE_CONFIDENCE, "its lines hold the six columns of a run")}
    records = _records(head)
    name = format_of_rows(records)
    if name == PREDICTIONS_FORMAT:
        confidence = UNLIKELY_CONFIDENCE if records is head.rows else 0.0
        if isinstance(records[0].get("answer"), Mapping):  # the form of HotpotQA's scorer
            confidence = SURE_CONFIDENCE
        return {name: Guess(confidence, "it holds a text for each key")}
    if not name:
        return {}
    result_keys = sorted(RUN_RESULT_KEYS & records[0].keys())
    reason = f"its rows hold {', '.join(result_keys[:3]) or RUN_FORMATS[name].read_parts}"
    if name not in ("rows", "ragas"):  # a format that no other data has
        return {name: Guess(0.9, reason)}
    confidence = LIKELY_CONFIDENCE + 0.05 if result_keys else POSSIBLE_CONFIDENCE
    if name == "rows" and guess_sets(head).get(ROWS_FORM, NO_GUESS).confidence >= confidence:
        confidence = UNLIKELY_CONFIDENCE
    return {name: Guess(confidence, reason)}


@lru_cache(4)
def guess_indexes(head: FileHead) -> Guesses:
    """Return the tool that wrote an index, by the names of its files."""
    try:
        tool, _ = recognise_tool(
            dict(head.files) or {head.name: None},  # type: ignore[dict-item]
            head.name,
        )
    except BadInput:
        return {}
    return {tool: Guess(0.98, f"it holds {TOOLS[tool].recognised_by}")}


def guess_cases(head: FileHead) -> Guesses:
    """Return the confidence that a file has saved comparisons."""
    if head.rows and head.rows[0].get("kind") == CASES_FILE_KIND:
        return {"cases": Guess(1.0, "its first line says so")}
    if head.name.endswith(CASES_EXTENSION):
        return {"cases": Guess(POSSIBLE_CONFIDENCE, _suffix_reason(head))}
    return {}


def no_guess(head: FileHead) -> Guesses:
    """Return no guess, for databases, which are recognised by their address alone."""
    return {}
