"""The encoding of a text, by its mark, its content, or what it looks like."""

from __future__ import annotations

import codecs
import re

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


def decoded(name: str, data: bytes, declared: str = "") -> str:
    """Bytes as text: by their byte order mark, as `declared`, as UTF-8, else in the encoding that they look like most. Raises BadInput
    where they are no text."""
    for mark, encoding in BOMS:
        if data.startswith(mark):
            return checked(name, _decoded(name, data, encoding))
    for encoding in filter(None, (declared, "utf-8")):
        try:
            return checked(name, data.decode(encoding))
        except (UnicodeDecodeError, LookupError):
            continue
    if b"\0" in data:
        raise no_text(name)
    return checked(name, _guessed(name, data))


def _guessed(name: str, data: bytes) -> str:
    return _decoded(name, data, guessed_encoding(name, data))


def guessed_encoding(name: str, data: bytes) -> str:
    """What bytes look like most; of encodings that fit as well, that of Western Europe. Raises BadInput where they look like no text."""
    from charset_normalizer import from_bytes

    found = from_bytes(data[:LOOKED_AT])
    best = found.best()
    if best is None:
        raise no_text(name)
    equal = [one for one in found if (one.chaos, one.coherence) == (best.chaos, best.coherence)]
    return WESTERN if any(WESTERN in one.could_be_from_charset for one in equal) else best.encoding


def _decoded(name: str, data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise not_so_encoded(name, encoding, error.start) from None


def checked(name: str, text: str) -> str:
    """The text. Raises BadInput where it holds what texts do not hold."""
    if "\0" in text or len(CONTROLS.findall(text[:LOOKED_AT])) > MANY_CONTROLS * min(len(text), LOOKED_AT):
        raise no_text(name)
    return text


def check_first_bytes(name: str, data: bytes) -> None:
    """Raises BadInput where bytes begin as another kind of file does."""
    for beginning, what in FOREIGN.items():
        if data.startswith(beginning):
            raise BadInput(f"{name} holds {what} by its first bytes, not text; give it the suffix of what it is.")


def guess_sentence(name: str, encoding: str) -> str:
    """That a text was read in an encoding which it looks like."""
    return f"{name} is not UTF-8; it was read as {encoding}, which it looks like. Save it as UTF-8 where letters are wrong."


def not_so_encoded(name: str, encoding: str, byte: int) -> BadInput:
    """That a text looks like an encoding and has a byte, from 0, which is not of it."""
    return BadInput(f"{name} looks like {encoding} but is not, at byte {byte + 1:,}; save it as UTF-8.")


def no_text(name: str) -> BadInput:
    """That a file holds no text."""
    return BadInput(f"{name} holds no text but binary data.")
