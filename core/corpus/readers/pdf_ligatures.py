"""Replacement of ligatures in a PDF's fonts by single signs for right-to-left pages.

The table “/ToUnicode” of a font may give a glyph several letters in reading order, such as lam and
alef. When a line is reversed, these letters must keep their order, so until then each such glyph is
a single sign.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

FIRST_SIGN, LAST_SIGN = 0xFDD4, 0xFDEF  # noncharacters, which no text holds
SEVERAL_LETTERS = re.compile(rb"<([0-9A-Fa-f]{8,32})>")


@contextmanager
def single_ligatures(page: Any) -> Iterator[dict[int, str]]:
    """Replace ligatures in the fonts of a pypdf page while the block runs.

    Yields the letters of each sign by its code point, for `str.translate`. It is filled before the
    block begins.
    """
    from pypdf.generic import DecodedStreamObject, NameObject

    letters: dict[int, str] = {}
    old_tables: list[tuple[Any, Any]] = []  # each changed font, and its table before
    try:
        for font in _fonts(page):
            old = font.raw_get("/ToUnicode")
            table = old.get_object().get_data()
            changed = SEVERAL_LETTERS.sub(lambda match: _single_sign(match, letters), table)
            if changed != table:
                stream = DecodedStreamObject()
                stream.set_data(changed)
                font[NameObject("/ToUnicode")] = stream
                old_tables.append((font, old))
        yield letters
    finally:
        for font, old in old_tables:
            font[NameObject("/ToUnicode")] = old


def _fonts(page: Any) -> Iterator[Any]:
    """Yield the fonts of a page that have a table “/ToUnicode”."""
    resources = page.get("/Resources")
    fonts = resources.get_object().get("/Font") if resources is not None else None
    for reference in fonts.get_object().values() if fonts is not None else ():
        font = reference.get_object()
        if isinstance(font, dict) and "/ToUnicode" in font:
            if hasattr(font["/ToUnicode"], "get_data"):
                yield font


def _single_sign(match: re.Match[bytes], letters: dict[int, str]) -> bytes:
    """Return the code of one sign for several right-to-left letters; other codes unchanged.

    Codes are hexadecimal in angle brackets. `letters` receives the letters of a new sign.
    """
    digits = match[1].decode()
    if len(digits) % 2:
        digits += "0"
    text = bytes.fromhex(digits).decode("utf-16-be", "replace")
    base = [sign for sign in text if not unicodedata.combining(sign)]
    if len(base) < 2 or not all(unicodedata.bidirectional(sign) in ("R", "AL") for sign in base):
        return match[0]
    codes = {ligature: code for code, ligature in letters.items()}
    code = codes.get(text, FIRST_SIGN + len(letters))
    if code > LAST_SIGN:
        return match[0]
    letters[code] = text
    return b"<%04X>" % code
