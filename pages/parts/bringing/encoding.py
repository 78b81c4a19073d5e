"""Choice of the encoding of files that are not UTF-8."""

from __future__ import annotations

from pathlib import PurePath

import streamlit as st

from core.io.encoding import ENCODINGS, encodings_that_fit, marked_encoding, may_be_other_encoding
from pages.parts.shared.sentences import caption
from pages.parts.shared.wording import tr

TEXT_SUFFIXES = (
    *(".txt", ".text", ".log", ".rst", ".tex", ".md", ".markdown", ".html", ".htm", ".csv", ".tsv"),
    *(".tab", ".sif", ".edgelist", ".edges", ".gml", ".net", ".nt", ".ttl", ".jsonl", ".json"),
)
DETECTED_ENCODING = ""


def choose_encoding(files: list, key: str = "upload_encoding") -> str:
    """Draw and return the encoding, if one of the files is not UTF-8.

    Empty if there is nothing to choose, or if the encoding shall be recognised.
    """
    texts = [file for file in files if PurePath(file.name.lower()).suffix in TEXT_SUFFIXES]
    odd_file = next(
        (
            (file.name, encodings)
            for file in texts
            if (encodings := _fitting_encodings(file.file_id, file))
        ),
        None,
    )
    if odd_file is None:
        return DETECTED_ENCODING
    name, encodings = odd_file
    words = lambda encoding: (
        f"{encoding}, {ENCODINGS[encoding]}: {encodings[encoding]}"
        if encoding
        else tr("detect automatically")
    )
    choice = st.selectbox(
        tr("Encoding of texts that are not UTF-8"),
        [DETECTED_ENCODING, *encodings],
        format_func=words,
        key=f"{key}_{name}",
        width=520,
        help=tr("Choose the one that shows the words correctly."),
    )
    caption("{name} is not UTF-8. Each choice shows some of its words.", name=name)
    return choice


@st.cache_data(max_entries=32, show_spinner=tr("Checking the encoding …"))
def _fitting_encodings(id: str, _file) -> dict[str, str]:
    """Return the encodings that fit a file, each with some decoded words.

    Empty if the file is UTF-8, or has a byte order mark.
    """
    data = _file.getvalue()
    if marked_encoding(data):
        return {}
    try:
        data.decode("utf-8")
        return dict(encodings_that_fit(data)) if may_be_other_encoding(data) else {}
    except UnicodeDecodeError:
        return dict(encodings_that_fit(data))
