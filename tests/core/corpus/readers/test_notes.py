"""Notes on how documents were read: each note once, in full."""

from __future__ import annotations

import json

import pytest

from core.corpus.readers import read_files
from tests.core.corpus.readers.test_converted import book, letter, saved, sheets


def workbook(state: str = "visible", **rows: list) -> bytes:
    made = sheets(**rows)
    made[next(reversed(rows))].sheet_state = state
    return saved(made)


NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["Text."]},
        {"cell_type": "code", "source": ["x"], "outputs": [{"output_type": "stream"}]},
    ],
    "metadata": {},
    "nbformat": 4,
}


@pytest.mark.parametrize(
    "name, data, notes",
    [
        (
            "t.csv",
            b"id,text\n1,One, two\n2,\n",
            [
                "t.csv: 1 row without a text in the column “text” is left out.",
                "t.csv: 1 row has more cells than there are columns; these cells are left out.",
            ],
        ),
        (
            "t.csv",
            b"1,Ann kept the book.\n2,Bo sailed in May.\n",
            [
                "t.csv has no header by its first row; of its 2 columns these are read: text 2,"
                " id 1."
            ],
        ),
        (
            "a.xlsx",
            workbook(A=[["id", "text"], [1, "One."]], Sums=[["month"], ["May"]]),
            ["a.xlsx: 1 sheet without a column of texts is left out: Sums."],
        ),
        (
            "a.xlsx",
            workbook("hidden", Open=[["a"], ["=1+1"]], Secret=[["b"]]),
            [
                "a.xlsx: 1 hidden sheet is read as well: Secret.",
                "a.xlsx: 1 formula without a saved result is left out; open and save it in a"
                " spreadsheet program.",
                "a.xlsx names no column of texts in its first rows, so it is one document with a"
                " line for each row.",
            ],
        ),
        (
            "a.epub",
            book({"one": "<p>One.</p>", "cover": "<img src='x'/>"}, ["cover", "one"]),
            ["a.epub: 1 of 2 pages holds no text, as covers and pictures do."],
        ),
        (
            "a.eml",
            letter("The Heron.\n", list=b"x", map=b"y"),
            ["a.eml: 2 attachments are left out: list.pdf and map.pdf."],
        ),
        (
            "a.ipynb",
            json.dumps(NOTEBOOK).encode(),
            ["a.ipynb: the outputs of 1 cell are left out."],
        ),
    ],
)
def test_each_note_is_given_once_in_full(tmp_path, name, data, notes):
    (tmp_path / name).write_bytes(data)
    read = read_files([tmp_path / name])
    assert read.documents and list(read.notes) == notes
