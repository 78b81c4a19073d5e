"""Choice of the columns of uploaded tables.

The columns have the text, the title and the id of documents.
"""

from __future__ import annotations

import streamlit as st

from core.corpus.readers.delimited_table import HEADER_NO, HEADER_YES
from core.corpus.readers.file_sources import MemoryFile
from core.corpus.readers.options import Columns
from core.corpus.readers.reader_process import sheet_columns
from core.corpus.readers.table import HEADER_OPTION, column_names, guess_roles, has_header
from core.errors import BadInput
from pages.parts.shared.wording import tr

CSV_SUFFIXES = (".csv", ".tsv")
WORKBOOK_SUFFIX = ".xlsx"
TABLE_SUFFIXES = (*CSV_SUFFIXES, ".jsonl", ".ndjson", ".json", WORKBOOK_SUFFIX)
# For each role of a column, its label, and the label of no column; empty if one must be chosen.
COLUMN_ROLES = {
    "text": (tr("Text"), ""),
    "title": (tr("Title"), tr("none: the file name")),
    "id": (tr("Id"), tr("none: the row number")),
}
WHOLE_WORKBOOK = tr("none: one document per workbook")
ROW_SENTENCES = tr("none: each row as a sentence")


def choose_columns(files: list) -> Columns | None:
    """Draw and return the choice of columns.

    It is None if the readers choose the columns. The result has the chosen column of each role and
    the choice of the header.
    """
    tables = [file for file in files if file.name.lower().endswith(TABLE_SUFFIXES)]
    if not tables:
        return None
    tables_key = f"{tables[0].file_id}-{len(tables)}"
    header_choice = _choose_header(tables, tables_key)
    common = _common_columns(tables, header_choice)
    if not common:
        st.caption(
            tr(
                "These tables have no column in common, so each is read by its own columns. To "
                "choose columns, add the tables one by one."
            )
        )
        return None
    guess = guess_roles(common)
    # Without a named column, a workbook is read as one document.
    is_whole_workbook = tables[0].name.lower().endswith(WORKBOOK_SUFFIX) and "text" not in guess
    if len(common) == 1 and not is_whole_workbook:
        guess = {"text": common[0]} | guess
    no_text_label = _no_text_label(is_whole_workbook, header_choice)
    columns = _draw_columns(common, guess, no_text_label, f"{tables_key}-{header_choice}")
    if is_whole_workbook and not columns["text"]:
        return None
    # The reader searches nested fields for texts before it makes sentences of the rows.
    if not columns["text"] and "text" not in guess:
        del columns["text"]
    return {**columns, HEADER_OPTION: header_choice}


def _choose_header(tables: list, key: str) -> str:
    """Draw and return the choice whether tables have a header.

    It is empty if not all are CSV tables.
    """
    if not all(file.name.lower().endswith(CSV_SUFFIXES) for file in tables):
        return ""
    first_table = tables[0]
    is_header = st.checkbox(
        tr("The first row names the columns"),
        _has_header(first_table.file_id, first_table.name, first_table),
        key=f"texts_header_{key}",
    )
    return HEADER_YES if is_header else HEADER_NO


def _common_columns(tables: list, header_choice: str) -> list[str]:
    """Return the columns that all tables have, in the order of the first one."""
    headers = [_header(file.file_id, file.name, header_choice, file) for file in tables]
    return [name for name in headers[0] if all(name in other for other in headers)]


def _draw_columns(
    names: list[str], guess: dict[str, str], no_text_label: str, key: str
) -> dict[str, str]:
    """Draw and return the column of each role."""
    roles = COLUMN_ROLES | {"text": (tr("Text"), no_text_label)}
    with st.container(horizontal=True):
        return {
            role: _draw_column(role, labels, names, guess.get(role, ""), key)
            for role, labels in roles.items()
        }


def _no_text_label(is_whole_workbook: bool, header_choice: str) -> str:
    """Return the label of no column for the text.

    It is empty if there must be a column.
    """
    if is_whole_workbook:
        return WHOLE_WORKBOOK
    return "" if header_choice == HEADER_NO else ROW_SENTENCES


def _draw_column(role: str, labels: tuple[str, str], names: list[str], guess: str, key: str) -> str:
    """Draw and return the choice of the column of a role.

    It is empty for no column. `labels` are those of the role and of no column. No column can be
    chosen only if it has a label.
    """
    label, none_label = labels
    options = ["", *names] if none_label else names
    # Without a guess, no column is selected, else the last one.
    if guess in options:
        start = options.index(guess)
    else:
        start = 0 if none_label else len(options) - 1
    return st.selectbox(
        tr("Column: {label}", label=label),
        options,
        start,
        lambda name: name or none_label,
        key=f"texts_column_{role}_{key}",
        width=200,
    )


@st.cache_data(max_entries=32, show_spinner=tr("Looking at the columns …"))
def _header(id: str, name: str, header_choice: str, _file) -> list[str]:
    """Return the names of a table's columns.

    The list is empty if the table cannot be read. The error is left to the reader of the documents.
    Streamlit caches the result by the other arguments than `_file`.
    """
    if name.lower().endswith(WORKBOOK_SUFFIX):
        return sheet_columns(name, _file.getvalue())
    try:
        return column_names(MemoryFile(name, _file.getvalue()), header_choice)
    except BadInput:
        return []


@st.cache_data(max_entries=32, show_spinner=tr("Looking at the columns …"))
def _has_header(id: str, name: str, _file) -> bool:
    """Return whether a table has a header.

    It is true if the table cannot be read.
    """
    try:
        return has_header(MemoryFile(name, _file.getvalue()))
    except BadInput:
        return True
