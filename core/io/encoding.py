"""The encoding of a text: by its mark, its content, as a person names it, or what it looks like where that is sure."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple

from core.errors import BadInput, nearest, shorten

MARKED_UTF8 = "utf-8-sig"
Note = Callable[[str], None]  # receives a sentence on what was left out, guessed or not understood
BOMS = (
    (codecs.BOM_UTF8, MARKED_UTF8),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
UTF8, WESTERN, SEVEN_BITS = "utf-8", "cp1252", "iso2022_jp"
WIDE = {  # which bytes of each four are zero in letters of Europe, the share of them that is at least, and of the others at most
    "utf-32-le": ((2, 3), 0.9, 1.0),
    "utf-32-be": ((0, 1), 0.9, 1.0),
    "utf-16-le": ((1, 3), 0.05, 0.01),
    "utf-16-be": ((0, 2), 0.05, 0.01),
}
BY_NAME = {  # names that detectors and the web give to encodings which Python knows by another, or of which it knows a fuller one
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "euc-kr": "cp949",
    "gbk": "gb18030",
    "gb2312": "gb18030",
    "iso-8859-1": WESTERN,
    "latin-1": WESTERN,
    "latin1": WESTERN,
    "x-mac-cyrillic": "mac_cyrillic",
    "macintosh": "mac_roman",
    "iso-8859-8-i": "iso8859-8",
    "windows-874": "cp874",
}
ENCODINGS = {  # those that a person is offered, each with what it is for
    WESTERN: "Western Europe",
    "mac_roman": "Western Europe, older Macs",
    "cp850": "Western Europe, DOS",
    "iso8859-2": "Central Europe",
    "cp1250": "Central Europe, Windows",
    "cp852": "Central Europe, DOS",
    "cp1251": "Cyrillic, Windows",
    "koi8-r": "Cyrillic, KOI8",
    "cp866": "Cyrillic, DOS",
    "cp1253": "Greek",
    "cp1254": "Turkish",
    "cp1255": "Hebrew",
    "cp1256": "Arabic",
    "cp1257": "Baltic",
    "cp1258": "Vietnamese",
    "cp874": "Thai",
    "cp932": "Japanese, Shift-JIS",
    "euc_jp": "Japanese, EUC",
    "gb18030": "Chinese, simplified (GBK)",
    "big5": "Chinese, traditional (Big5)",
    "cp949": "Korean",
    "utf-16-le": "UTF-16 without a mark",
}
LOOKED_AT = 1 << 16  # bytes by which an encoding is guessed
SHOWN = 40  # characters of a text that are shown as they would read
CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
MANY_CONTROLS = 0.01  # the share of control characters from which bytes are no text
LEAST_WIDE = 8  # bytes from which zeros say something
GOOD_TO_BAD = (
    4  # letters of UTF-8 for each byte that is none, from which a text is UTF-8 with damage
)
ESCAPES = (b"\x1b$B", b"\x1b$@", b"\x1b(J")  # what switches to Japanese in a text of seven bits
ALPHABETS = frozenset({"LATIN", "CYRILLIC", "GREEK", "HEBREW", "ARABIC", "THAI", "ARMENIAN"})
WITHIN_WORDS, JOINING = "\u2019\u02bc\u2011\u2010\xad\xb7\xb0\u200c\u200d", "any"
IN_WORD = re.compile(r"[^\W\d_][^\s,.;:!?()\[\]{}<>\"/|\\*+=_#@&%$0-9-]{0,40}[^\W\d_]")
# a letter and a sign that opens a quotation or question
OPENING = re.compile("[^\\W\\d_][\u201a\u201e\xa1\xbf]")
MOST_LETTERS = 20_000  # of a text that are looked at in search of odd words
ASCII = frozenset(map(chr, range(128)))
# in texts of Western Europe, unlike what others look like there
COMMON = frozenset("äöüßÄÖÜéèêàâçîôûïëñáíóúåøæÉÀÇÑ‘’“”«»–—…€£§©°•")
# categories of characters: controls, unassigned, private
IN_NO_TEXT = frozenset({"Cc", "Cn", "Co"})
FOREIGN = {
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "a zip or an Office document",
    b"{\\rtf": "a document in RTF",
    b"\x89PNG": "a picture",
}


def ignored(_: object) -> None:
    """Receive what nobody asks for."""


class Encoding(NamedTuple):
    """How bytes become text: the name of the encoding, and what becomes of bytes that are not of it, as Python's decoders take it."""

    name: str
    errors: str = "strict"


def known_encoding(name: str) -> str:
    """The encoding of a name as Python has it; empty for none. Raises BadInput where there is no such encoding of texts."""
    wanted = name.strip().lower()
    wanted = BY_NAME.get(wanted, wanted)
    try:
        return codecs.lookup(wanted).name if wanted and "a".encode(wanted) else ""
    except (LookupError, ValueError):
        raise BadInput(
            f"There is no encoding “{shorten(name, 40)}” of texts.{nearest(name, ENCODINGS)}"
        ) from None


def decoded(
    name: str, data: bytes, declared: str = "", named: str = "", note: Note = ignored
) -> str:
    """Bytes as text: by their byte order mark, as `declared` within, as UTF-8, in the encoding that a person has `named`, else in the one
    that they look like, which `note` receives. Raises BadInput where they are no text, or look like several as much."""
    encoding = Encoding(marked(data))
    if not encoding.name:
        for known in filter(None, (declared, UTF8)):
            try:
                text = data.decode(known)
                if known == declared or not in_other_bits(data):
                    return checked(name, text)
            except (UnicodeDecodeError, LookupError):
                continue
        encoding = found_encoding(name, telling(data), named, note)
    try:
        return checked(name, data.decode(*encoding))
    except UnicodeDecodeError as error:
        raise not_so_encoded(name, encoding.name, error.start) from None


def marked(data: bytes) -> str:
    """The encoding that a byte order mark at the beginning names; empty without one."""
    return next((encoding for mark, encoding in BOMS if data.startswith(mark)), "")


def in_other_bits(data: bytes) -> bool:
    """Whether bytes that are UTF-8 as well may be a text of another encoding: with zeros, or with switches to Japanese."""
    return b"\0" in data or any(escape in data for escape in ESCAPES)


def telling(data: bytes) -> bytes:
    """That part of a text by which its encoding may be recognised: from the line on where it leaves ASCII."""
    if in_other_bits(data[:LOOKED_AT]) or not (found := BEYOND_ASCII.search(data)):
        return data[:LOOKED_AT]
    start = data.rfind(b"\n", 0, found.start()) + 1
    return data[start : start + LOOKED_AT]


def found_encoding(name: str, data: bytes, named: str = "", note: Note = ignored) -> Encoding:
    """The encoding of a text without a mark that is not UTF-8, by a part of it: as it is `named`, else the one that it looks like.

    Switches speak for seven-bit Japanese, zeros for wide encodings, most of its letters for damaged UTF-8; else it is the one in which
    two detectors read the same text, or in which alone no words are read that nobody writes. Raises BadInput where that is not one, with
    how the text reads in each, and where it is no text.
    """
    if named:
        return Encoding(named)
    if any(escape in data for escape in ESCAPES):
        return _noted(name, Encoding(SEVEN_BITS), note)
    if b"\0" in data:
        return _noted(name, Encoding(_wide(name, data)), note)
    if _is_damaged_utf8(data):
        note(
            f"{name} is UTF-8 with bytes that are none; they are shown as �. Name its encoding where it is another."
        )
        return Encoding(UTF8, "replace")
    readings = {
        encoding: text for encoding in _detected(data) if (text := _reading(data, encoding))
    }
    if not readings:
        raise no_text(name)
    odd = {encoding: _odd_words(text) for encoding, text in readings.items()}
    likely = {
        encoding: text for encoding, text in readings.items() if odd[encoding] == min(odd.values())
    }
    if (
        len(set(likely.values())) > 1
        and WESTERN in likely
        and not odd[WESTERN]
        and set(likely[WESTERN]) - COMMON <= ASCII
    ):
        return _noted(name, Encoding(WESTERN), note)
    if len(set(likely.values())) > 1:
        raise _unsure(name, readings)
    return _noted(name, Encoding(next(iter(likely))), note)


def _detected(data: bytes) -> list[str]:
    """The encodings that two detectors find, that of Firefox and chardet.

    Those that a mark names are left out, as a mark counts at the beginning of a file alone.
    """
    import chardet
    from chardetng_py import EncodingDetector

    detector = EncodingDetector()
    detector.feed(data, last=False)
    names = [detector.guess(tld=None, allow_utf8=False), chardet.detect(data).get("encoding") or ""]
    marks = {encoding for _, encoding in BOMS}
    return [name for name in dict.fromkeys(map(known_encoding, names)) if name not in {"", *marks}]


def _reading(data: bytes, encoding: str) -> str:
    """A part of a text in an encoding; empty where it is not of it, or would hold characters that no text has."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(data)
    except (UnicodeDecodeError, LookupError):
        return ""
    if not any(
        unicodedata.category(sign) in IN_NO_TEXT for sign in set(text) - set("\n\r\t\f\v\x1b\x1a")
    ):
        return text
    return ""


def _odd_words(text: str) -> int:
    """How many words of a text are as nobody writes them: of letters of several scripts, with signs or capitals between their letters."""
    words = set(IN_WORD.findall(text[:MOST_LETTERS]))
    mixed = sum(len(set(map(_script, word)) - {JOINING}) > 1 for word in words)
    capitals = sum(
        any(a.islower() and b.isupper() and b not in ASCII for a, b in zip(word, word[1:]))
        for word in words
    )
    return mixed + capitals + len(OPENING.findall(text[:MOST_LETTERS]))


def _script(sign: str) -> str:
    """The script of a letter that shares no word with those of others, `JOINING` for what is in words of any, else a word for signs."""
    if sign < "\x80" or sign in WITHIN_WORDS:
        return "LATIN" if sign.isalpha() else JOINING
    first = unicodedata.name(sign, "").partition(" ")[0]
    if first in ALPHABETS:
        return first
    return JOINING if sign.isalpha() or unicodedata.category(sign).startswith("M") else "SIGN"


def _wide(name: str, data: bytes) -> str:
    """The wide encoding that zeros in bytes speak for. Raises BadInput where they speak for none."""
    zeros = [data[place::4].count(0) / max(1, len(data[place::4])) for place in range(4)]
    for encoding, (of, most, others) in WIDE.items():
        fits = min(zeros[place] for place in of) >= most and all(
            zeros[place] <= others for place in {0, 1, 2, 3} - set(of)
        )
        if fits and len(data) >= LEAST_WIDE and _reading(data, encoding):
            return encoding
    raise no_text(name)


def _is_damaged_utf8(data: bytes) -> bool:
    text = codecs.getincrementaldecoder(UTF8)("replace").decode(data)
    bad = text.count("�")
    return sum(sign > "\x7f" for sign in text) - bad >= GOOD_TO_BAD * bad


def _noted(name: str, encoding: Encoding, note: Note) -> Encoding:
    what = f" ({ENCODINGS[encoding.name]})" if encoding.name in ENCODINGS else ""
    note(
        f"{name} is not UTF-8; it was read as {encoding.name}{what}, which it looks like. Name its encoding where letters are wrong."
    )
    return encoding


def _unsure(name: str, readings: dict[str, str]) -> BadInput:
    """That a text looks like several encodings, with how it reads in each."""
    shown = [f"{encoding} (“{_beginning(text)}”)" for encoding, text in readings.items()]
    ways = "Name its encoding as the file is added, or save it as UTF-8."
    return BadInput(
        f"{name} is not UTF-8, and its encoding is not sure: {' or '.join(shown)}. {ways}"
    )


def _beginning(text: str) -> str:
    """Some words of a text around its first letter beyond ASCII."""
    words = " ".join(text.split())
    at = next((at for at, sign in enumerate(words) if sign > "\x7f"), 0)
    return words[max(0, at - SHOWN // 4) :][:SHOWN]


def encodings_that_fit(data: bytes) -> Iterator[tuple[str, str]]:
    """The encodings that a person is offered for bytes, each with some words as they read in it."""
    part = telling(data)
    for encoding in ENCODINGS:
        if text := _reading(part, encoding):
            yield encoding, _beginning(text)


def checked(name: str, text: str) -> str:
    """The text. Raises BadInput where it holds what texts do not hold."""
    if "\0" in text or len(CONTROLS.findall(text[:LOOKED_AT])) > MANY_CONTROLS * min(
        len(text), LOOKED_AT
    ):
        raise no_text(name)
    return text


def check_first_bytes(name: str, data: bytes) -> None:
    """Raises BadInput where bytes begin as another kind of file does."""
    for beginning, what in FOREIGN.items():
        if data.startswith(beginning):
            raise BadInput(
                f"{name} holds {what} by its first bytes, not text; give it the suffix of what it is."
            )


def not_so_encoded(name: str, encoding: str, byte: int) -> BadInput:
    """That a text has a byte, from 0, which is not of its encoding."""
    return BadInput(
        f"{name} is not {encoding} at byte {byte + 1:,}; name its encoding, or save it as UTF-8."
    )


def no_text(name: str) -> BadInput:
    """That a file holds no text."""
    return BadInput(f"{name} holds no text but binary data.")
