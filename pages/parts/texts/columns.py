"""Which column of a table, or field of JSON rows, holds the text, the title and the id of a document."""

from __future__ import annotations

import streamlit as st

from core.corpus.readers.packed import Held
from core.corpus.readers.table import Columns, guessed, header
from core.errors import BadInput

TABLES = (".csv", ".tsv", ".jsonl", ".json")
ROLES = {"text": ("Text", ""), "title": ("Title", "none: the file's name"), "id": ("Id", "none: the row's number")}


def choose_columns(files: list) -> Columns | None:
    """The choice of columns where some of the files are tables that have any in common; None where nothing is to be chosen."""
    tables = [file for file in files if file.name.lower().endswith(TABLES)]
    if not tables:
        return None
    headers = [_header(file.file_id, file.name, file) for file in tables]
    common = [name for name in headers[0] if all(name in other for other in headers)]
    if not common:
        st.caption("These tables have no column in common. Add them one after the other to choose which holds the text.")
        return None
    guess = guessed(common)
    known = f"{tables[0].file_id}-{len(tables)}"
    with st.container(horizontal=True):
        return {role: _column(role, common, guess.get(role, ""), known) for role in ROLES}


def _column(role: str, names: list[str], guess: str, key: str) -> str:
    """The column that was chosen for a role; empty for none."""
    label, none = ROLES[role]
    options = ["", *names] if none else names
    start = options.index(guess) if guess in options else 0 if none else len(options) - 1
    words = lambda name: name or none
    return st.selectbox(f"Column: {label}", options, start, words, key=f"texts_column_{role}_{key}", width=200)


@st.cache_data(max_entries=32, show_spinner="Looking at the columns …")
def _header(id: str, name: str, _file) -> list[str]:
    """The columns of a file; none where it cannot be read, which is said when it is."""
    try:
        return header(Held(name, _file.getvalue()))
    except BadInput:
        return []
