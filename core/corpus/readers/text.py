"""Plain text, in whatever encoding it was saved."""

from __future__ import annotations

import codecs
import re
from pathlib import PurePosixPath

from core.corpus.document import Document, sound
from core.errors import BadInput

BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
WESTERN = "cp1252"
LOOKED_AT = 1 << 16  # bytes by which an encoding is guessed
CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
MANY_CONTROLS = 0.01  # the share of control characters from which bytes are no text
FOREIGN = {b"%PDF-": "a PDF", b"PK\x03\x04": "a zip or an Office document", b"{\\rtf": "a document in RTF", b"\x89PNG": "a picture"}


def plain(name: str, data: bytes) -> list[Document]:
    """A text file as one document. Raises BadInput where it is empty or no text."""
    return [Document(name, text_of(name, data), stem(name), name)]


def text_of(name: str, data: bytes) -> str:
    """The text of a file that is not blank, with line ends as one character. Raises BadInput where it is blank or no text."""
    for beginning, what in FOREIGN.items():
        if data.startswith(beginning):
            raise BadInput(f"{name} holds {what} by its first bytes, not text; give it the suffix of what it is.")
    text = decoded(name, data).replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise BadInput(f"{name} is empty.")
    return sound(text)


def decoded(name: str, data: bytes, declared: str = "") -> str:
    """Bytes as text: by their byte order mark, as `declared`, as UTF-8, else in the encoding that they look like most. Raises BadInput
    where they are no text."""
    for mark, encoding in BOMS:
        if data.startswith(mark):
            return _checked(name, _decoded(name, data, encoding))
    for encoding in filter(None, (declared, "utf-8")):
        try:
            return _checked(name, data.decode(encoding))
        except (UnicodeDecodeError, LookupError):
            continue
    if b"\0" in data:
        raise _no_text(name)
    return _checked(name, _guessed(name, data))


def stem(name: str) -> str:
    """The name of a file without its folders and suffix."""
    return PurePosixPath(name).stem or name


def guess_told(name: str, data: bytes) -> str:
    """A sentence on a text whose encoding was guessed; empty where it tells its own or is UTF-8."""
    if data.startswith(tuple(mark for mark, _ in BOMS)):
        return ""
    try:
        data.decode("utf-8")
        return ""
    except UnicodeDecodeError:
        return (
            f"{name} is not UTF-8; it was read as {_encoding(name, data)}, which it looks like. Save it as UTF-8 where letters are wrong."
        )


def _guessed(name: str, data: bytes) -> str:
    return _decoded(name, data, _encoding(name, data))


def _encoding(name: str, data: bytes) -> str:
    """What bytes look like most; of encodings that fit as well, that of Western Europe."""
    from charset_normalizer import from_bytes

    found = from_bytes(data[:LOOKED_AT])
    best = found.best()
    if best is None:
        raise _no_text(name)
    equal = [one for one in found if (one.chaos, one.coherence) == (best.chaos, best.coherence)]
    return WESTERN if any(WESTERN in one.could_be_from_charset for one in equal) else best.encoding


def _decoded(name: str, data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise BadInput(f"{name} looks like {encoding} but is not, at byte {error.start + 1:,}; save it as UTF-8.") from None


def _checked(name: str, text: str) -> str:
    if "\0" in text or len(CONTROLS.findall(text[:LOOKED_AT])) > MANY_CONTROLS * min(len(text), LOOKED_AT):
        raise _no_text(name)
    return text


def _no_text(name: str) -> BadInput:
    return BadInput(f"{name} holds no text but binary data.")
