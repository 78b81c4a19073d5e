"""Choice of the columns of tables with the text, the title and the id of documents."""

from __future__ import annotations

import streamlit as st

from core.corpus.readers.delimited import NO, YES
from core.corpus.readers.options import Columns
from core.corpus.readers.packed import Held
from core.corpus.readers.separate import sheet_columns
from core.corpus.readers.table import HEADER, guessed, has_header, header
from core.errors import BadInput
from pages.parts.shared.wording import tr

LINES = (".csv", ".tsv")
WORKBOOK = ".xlsx"
TABLES = (*LINES, ".jsonl", ".ndjson", ".json", WORKBOOK)
ROLES = {
    "text": (tr("Text"), ""),
    "title": (tr("Title"), tr("none: the file's name")),
    "id": (tr("Id"), tr("none: the row's number")),
}
WHOLE = tr("none: a document a workbook")
SENTENCE = tr("none: each row as a sentence")


def choose_columns(files: list) -> Columns | None:
    """Draw and return the choice of columns, if all tables have some in common.

    None if there is nothing to choose.
    """
    tables = [file for file in files if file.name.lower().endswith(TABLES)]
    if not tables:
        return None
    first, known = tables[0], f"{tables[0].file_id}-{len(tables)}"
    said = ""
    if all(file.name.lower().endswith(LINES) for file in tables):
        named = st.checkbox(
            tr("The first row names the columns"),
            _has_header(first.file_id, first.name, first),
            key=f"texts_header_{known}",
        )
        said = YES if named else NO
    headers = [_header(file.file_id, file.name, said, file) for file in tables]
    common = [name for name in headers[0] if all(name in other for other in headers)]
    if not common:
        st.caption(
            tr(
                "These tables have no column in common, so each is read by its own. To choose "
                "one, add them one after the other."
            )
        )
        return None
    guess = guessed(common)
    # Without a named column, a workbook is read as one document.
    whole = first.name.lower().endswith(WORKBOOK) and "text" not in guess
    if len(common) == 1 and not whole:
        guess = {"text": common[0]} | guess
    without = WHOLE if whole else "" if said == NO else SENTENCE
    roles = ROLES | {"text": (tr("Text"), without)}
    with st.container(horizontal=True):
        chosen = {
            role: _column(role, roles[role], common, guess.get(role, ""), f"{known}-{said}")
            for role in roles
        }
    if not chosen["text"]:
        if whole:
            return None
        # The reader searches nested fields for texts before it makes sentences of the rows.
        if "text" not in guess:
            del chosen["text"]
    return {**chosen, HEADER: said}


def _column(role: str, words_for: tuple[str, str], names: list[str], guess: str, key: str) -> str:
    """Draw and return the column of a role.

    Empty for none, if that is allowed.
    """
    label, none = words_for
    options = ["", *names] if none else names
    start = options.index(guess) if guess in options else 0 if none else len(options) - 1
    words = lambda name: name or none
    return st.selectbox(
        tr("Column: {label}", label=label),
        options,
        start,
        words,
        key=f"texts_column_{role}_{key}",
        width=200,
    )


@st.cache_data(max_entries=32, show_spinner=tr("Looking at the columns …"))
def _header(id: str, name: str, said: str, _file) -> list[str]:
    """Return the columns of a file.

    Empty if the file cannot be read, which its reader reports.
    """
    if name.lower().endswith(WORKBOOK):
        return sheet_columns(name, _file.getvalue())
    try:
        return header(Held(name, _file.getvalue()), said)
    except BadInput:
        return []


@st.cache_data(max_entries=32, show_spinner=tr("Looking at the columns …"))
def _has_header(id: str, name: str, _file) -> bool:
    """Return whether the first row of a file names its columns.

    True if the file cannot be read.
    """
    try:
        return has_header(Held(name, _file.getvalue()))
    except BadInput:
        return True
