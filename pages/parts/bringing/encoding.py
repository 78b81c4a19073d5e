"""Choice of the encoding of files that are not UTF-8."""

from __future__ import annotations

from pathlib import PurePath

import streamlit as st

from core.corpus.readers.reader_process import LIBRARY_READERS
from core.importing import IMPORT_SUFFIXES, IMPORTERS
from core.io.encoding import ENCODINGS, encodings_that_fit, marked_encoding, may_be_other_encoding
from core.io.files import PACKED_SUFFIXES
from core.runtime.row_files import COLUMNAR_SUFFIXES
from pages.parts.shared.sentences import caption
from pages.parts.shared.wording import tr

XML_SUFFIXES = (".graphml", ".gexf", ".rdf", ".owl")  # XML names its encoding itself.
LIBRARY_SUFFIXES = LIBRARY_READERS.keys() - set(IMPORTERS["documents/html"].suffixes)
TEXT_SUFFIXES = frozenset(IMPORT_SUFFIXES).difference(
    PACKED_SUFFIXES, COLUMNAR_SUFFIXES, XML_SUFFIXES, LIBRARY_SUFFIXES, (".zip", ".cases.gz")
)
DETECTED_ENCODING = ""  # the reader of each file detects its encoding


def choose_encoding(files: list, key: str = "upload_encoding") -> str:
    """Draw and return the choice of an encoding.

    The choice is drawn if one of the files is not UTF-8, and shows words of the first such file.
    Without a choice, `DETECTED_ENCODING` is returned.
    """
    for file in files:
        if PurePath(file.name.lower()).suffix in TEXT_SUFFIXES:
            encodings = _fitting_encodings(file.file_id, file)
            if encodings:
                return _draw_encodings(file.name, encodings, f"{key}_{file.name}")
    return DETECTED_ENCODING


def _draw_encodings(name: str, encodings: dict[str, str], key: str) -> str:
    """Draw and return the choice among the encodings that fit a file."""
    words = {DETECTED_ENCODING: tr("detect automatically")}
    for encoding, sample in encodings.items():
        words[encoding] = f"{encoding}, {ENCODINGS[encoding]}: {sample}"
    choice = st.selectbox(
        tr("Encoding of texts that are not UTF-8"),
        list(words),
        format_func=words.__getitem__,
        key=key,
        width=520,
        help=tr("Choose the one that shows the words correctly."),
    )
    caption("{name} is not UTF-8. Each choice shows some of its words.", name=name)
    return choice


@st.cache_data(max_entries=32, show_spinner=tr("Checking the encoding …"))
def _fitting_encodings(id: str, _file) -> dict[str, str]:
    """Return the encodings that fit a file, each with some decoded words.

    The result is empty if the file is UTF-8, or has a byte order mark. Files of some other
    encodings, such as ISO-2022-JP, are valid UTF-8 too; for these it is not empty. Streamlit caches
    the result by `id`.
    """
    data = _file.getvalue()
    if marked_encoding(data):
        return {}
    try:
        data.decode("utf-8")
        return dict(encodings_that_fit(data)) if may_be_other_encoding(data) else {}
    except UnicodeDecodeError:
        return dict(encodings_that_fit(data))
