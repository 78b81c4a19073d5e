"""Plain text, in whatever encoding it was saved."""

from __future__ import annotations

from pathlib import PurePosixPath

from core.corpus.document import Document, sound
from core.corpus.readers.encoding import BOMS, check_first_bytes, decoded, guess_sentence, guessed_encoding
from core.errors import BadInput
from core.io.files import Tell


def plain(name: str, data: bytes, tell: Tell = lambda share: None) -> list[Document]:
    """A text file as one document. Raises BadInput where it is empty or no text."""
    return [Document(name, text_of(name, data), stem(name), name)]


def text_of(name: str, data: bytes) -> str:
    """The text of a file that is not blank, with line ends as one character. Raises BadInput where it is blank or no text."""
    check_first_bytes(name, data)
    text = decoded(name, data).replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise BadInput(f"{name} is empty.")
    return sound(text)


def stem(name: str) -> str:
    """The name of a file without its folders and suffix."""
    return PurePosixPath(name).stem or name


def guess_note(name: str, data: bytes) -> str:
    """A sentence on a text whose encoding was guessed; empty where it tells its own or is UTF-8."""
    if data.startswith(tuple(mark for mark, _ in BOMS)):
        return ""
    try:
        data.decode("utf-8")
        return ""
    except UnicodeDecodeError:
        return guess_sentence(name, guessed_encoding(name, data))
