"""Plain text, in whatever encoding it was saved."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from core.corpus.document import Document, sound
from core.corpus.readers.options import USUAL, Note, Options, ignored
from core.errors import BadInput
from core.io.encoding import check_first_bytes, decoded
from core.watch import NO_WATCH, Watch

OF_PROGRAMS = re.compile(  # titles that programs write unasked, and names of files
    r"[(<\[]?(untitled|anonymous|unbenannt|ohne titel|sans titre|unknown|no title|none|null)[^a-z]{0,9}([a-z]{1,12}[- ]?\d{0,3})?[)>\]]?\Z"
    r"|microsoft (word|powerpoint|excel)\b"
    r"|(powerpoint[- ])?(document|dokument|presentation|pr[eä]sentation|book|layout|slide|folie) ?\d{0,3}\Z"
    r"|(new|word|neues|html|untitled) (page|document|dokument)\Z"
    r"|(print|scan|scanned|img|image)[-_ ]?\d{0,20}\Z"
    r"|[^ ]{0,200}\.(docx?|pdf|dvi|tex|indd|qxd|pptx?|xlsx?|odt|rtf|html?|txt|eps|ps|tiff?|jpe?g|png)\Z"
)

ADDRESS = re.compile(  # what a browser writes that prints a page without a title
    r"[a-z][a-z0-9+.-]*://\S*"
    r"|(?:about|blob|chrome|data|edge|file|javascript|view-source):\S*"
    r"|www\.\S+"
    r"|(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,})(?::\d+(?:/\S*)?|/\S*)"
    r"|localhost"
    r"|[a-z]:\\.*|\\\\.*|/(?:[^/ ]+/)+[^/ ]*"
)
WINDOW = re.compile(  # the title of a program's window: a file, and the program
    r"\*?(?:(?:untitled|unbenannt|ohne titel|sans titre|document|dokument)[- ]?\d{0,3}|new[- ]\d{1,3}|.*\.[a-z]{2,5})\*? [-–—] .*"
)


def plain(
    name: str, data: bytes, watch: Watch = NO_WATCH, note: Note = ignored, options: Options = USUAL
) -> list[Document]:
    """A text file as one document. Raises BadInput as `text_of` does."""
    return [Document(name, text_of(name, data, note, options), stem(name), name)]


def text_of(name: str, data: bytes, note: Note = ignored, options: Options = USUAL) -> str:
    """The text of a file that is not blank, with line ends as one character. Raises BadInput where it is blank, no text, or in an encoding
    that is neither sure nor named."""
    check_first_bytes(name, data)
    text = (
        decoded(name, data, named=options.encoding, note=note)
        .replace("\r\n", "\n")
        .replace("\r", "\n")
    )
    if not text.strip():
        raise BadInput(f"{name} is empty.")
    return sound(text)


def stem(name: str) -> str:
    """The name of a file without its folders and suffix."""
    return PurePosixPath(name).stem or name


def given_title(title: str) -> str:
    """The title that a file states about itself on one line; empty where it is what a program writes there unasked."""
    title = " ".join(sound(title).split())
    return "" if _is_of_program(title.casefold()) else title


def _is_of_program(title: str) -> bool:
    """Whether a title is an address, the name of a file, or that of a program's window for one."""
    return any((OF_PROGRAMS.match(title), ADDRESS.fullmatch(title), WINDOW.fullmatch(title)))
