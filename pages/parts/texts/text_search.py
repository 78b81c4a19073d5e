"""Search for rows of a table of texts by words."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.graph.columns import Table
from pages.parts.shared.wording import tr


@st.cache_data(max_entries=64, show_spinner=tr("Searching …"))
def matching_rows(digest: str, words: str, columns: tuple[str, ...], _table: Table) -> np.ndarray:
    """Return the rows with these words in sequence in one of the columns, ascending.

    Upper and lower case, and the white space between the words, do not matter. Streamlit caches the
    result by the other arguments than `_table`, so `digest` must identify the table.
    """
    import pyarrow.compute as pc

    phrase = r"\s+".join(_escape_word(word) for word in words.split())
    hits = np.zeros(len(_table), bool)
    for name in columns:
        hits |= pc.match_substring_regex(
            _table.arrow.column(name), phrase, ignore_case=True
        ).to_numpy()
    return np.flatnonzero(hits)


def _escape_word(word: str) -> str:
    """Return a pattern that matches a word literally.

    It is for RE2, which Arrow uses.
    """
    return "".join(
        letter if letter.isalnum() or letter == "_" else f"\\x{{{ord(letter):x}}}"
        for letter in word
    )
