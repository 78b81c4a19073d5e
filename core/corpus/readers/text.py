"""Reader of plain text in any encoding, and titles of files.

Many files state a title that a program made up, such as “untitled 3”; `clean_title` drops these.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from core.corpus.document import Document, utf8_text
from core.corpus.readers.options import DEFAULT_OPTIONS, Note, ReadingOptions
from core.errors import BadInput
from core.io.encoding import check_first_bytes, decode_text, ignore_note
from core.watch import NO_WATCH, Watch

# Default titles, some only by their beginning, and names of files: “untitled 3”, “microsoft word -
# letter.doc”, “slide 1”, “scan_0012”, “report.pdf”.
PROGRAM_TITLE = re.compile(
    r"[(<\[]?(untitled|anonymous|unbenannt|ohne titel|sans titre|unknown|no title|none|null)"
    r"[^a-z]{0,9}([a-z]{1,12}[- ]?\d{0,3})?[)>\]]?\Z"
    r"|microsoft (word|powerpoint|excel)\b"
    r"|(powerpoint[- ])?"
    r"(document|dokument|presentation|pr[eä]sentation|book|layout|slide|folie) ?\d{0,3}\Z"
    r"|(new|word|neues|html|untitled) (page|document|dokument)\Z"
    r"|(print|scan|scanned|img|image)[-_ ]?\d{0,20}\Z"
    r"|[^ ]{0,200}\."
    r"(docx?|pdf|dvi|tex|indd|qxd|pptx?|xlsx?|odt|rtf|html?|txt|eps|ps|tiff?|jpe?g|png)\Z"
)
# Addresses, which a browser prints as the title of a page that has none: “https://example.org/a”,
# “about:blank”, “localhost:8501”, “c:\letters\a.doc”.
ADDRESS_TITLE = re.compile(
    r"[a-z][a-z0-9+.-]*://\S*"
    r"|(?:about|blob|chrome|data|edge|file|javascript|view-source):\S*"
    r"|www\.\S+"
    r"|(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,})(?::\d+(?:/\S*)?|/\S*)"
    r"|localhost"
    r"|[a-z]:\\.*|\\\\.*|/(?:[^/ ]+/)+[^/ ]*"
)
# Titles of program windows, a file and the program: “*notes.txt - editor”.
WINDOW_TITLE = re.compile(
    r"\*?(?:(?:untitled|unbenannt|ohne titel|sans titre|document|dokument)[- ]?\d{0,3}|"
    r"new[- ]\d{1,3}|.*\.[a-z]{2,5})\*? [-–—] .*"
)


def read_plain(
    name: str,
    data: bytes,
    watch: Watch = NO_WATCH,
    note: Note = ignore_note,
    options: ReadingOptions = DEFAULT_OPTIONS,
) -> list[Document]:
    """Read a text file as one document.

    Parameters
    ----------
    name : name of the file, for the document and for messages.
    data : the bytes of the file.
    watch : not used; a parameter of all readers.
    note : receives a sentence on a guessed encoding.
    options : options of reading, of which only the encoding is used.

    Returns
    -------
    One document.

    Raises
    ------
    BadInput : see `decode_file`.
    """
    return [Document(name, decode_file(name, data, note, options), file_stem(name), name)]


def decode_file(
    name: str, data: bytes, note: Note = ignore_note, options: ReadingOptions = DEFAULT_OPTIONS
) -> str:
    """Return the text of a file with line feeds as line ends.

    Parameters
    ----------
    name : name of the file, for errors.
    data : the bytes of the file.
    note : receives a sentence on a guessed encoding.
    options : options of reading, of which only the encoding is used.

    Returns
    -------
    The text.

    Raises
    ------
    BadInput : it is blank, no text, or in an encoding that is neither named nor detected.
    """
    check_first_bytes(name, data)
    text = decode_text(name, data, choice=options.encoding, note=note)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise BadInput(f"{name} is empty.")
    return utf8_text(text)


def file_stem(name: str) -> str:
    """Return the name of a file without its folders and suffix."""
    return PurePosixPath(name).stem or name


def clean_title(title: str) -> str:
    """Return a stated title on one line; empty if a program made it up."""
    title = " ".join(utf8_text(title).split())
    return "" if _is_generated_title(title.casefold()) else title


def _is_generated_title(title: str) -> bool:
    """Return whether a program made up a title, which is given in lower case.

    Such a title is a default like “untitled 3”, a file name, an address or a window title.
    """
    # `PROGRAM_TITLE` itself marks the end of most titles; after “microsoft word” any text may
    # follow.
    return any(
        (PROGRAM_TITLE.match(title), ADDRESS_TITLE.fullmatch(title), WINDOW_TITLE.fullmatch(title))
    )
